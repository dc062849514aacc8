"""The one state that decisions read."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import ContainerStatus, Namespace, PodStatus
from scheduler.cache.changes import Change
from scheduler.cache.counters import REQUIRED_ANTI
from scheduler.cache.nodes import CPU
from scheduler.cache.pods import NO_ROW
from tests.builders import info, node, pod, pod_term, state

P = pod("p").cpu("1")


def requested(cluster) -> dict[str, int]:
    return {name: int(cluster.nodes.requested[CPU, row]) for name, row in cluster.nodes.rows.items()}


def uid(built) -> str:
    return built.build().metadata.uid


class TestPods:
    def test_a_pod_counts_on_its_node_only(self):
        cluster = state([node("a"), node("b")], [P.on("a")])
        assert requested(cluster) == {"a": 1000, "b": 0}
        cluster.set_pod(info(P.on("b"), cluster))
        assert requested(cluster) == {"a": 0, "b": 1000}
        cluster.remove_pod(uid(P))
        assert requested(cluster) == {"a": 0, "b": 0}

    def test_a_newer_version_that_counts_alike_takes_the_place_of_the_old_one_without_a_trace_in_the_log(self):
        cluster = state([node("a")], [P.on("a")])
        end = cluster.nodes.log.end
        newer = info(P.on("a").set("metadata.resourceVersion", "2"), cluster)
        old = cluster.set_pod(newer)
        assert (old.resource_version, cluster.pods.get(uid(P)), newer.row) == ("", newer, 0)
        assert cluster.nodes.log.end == end

    def test_labels_that_come_with_the_bind_change_nothing_of_what_is_requested(self):
        cluster = state([node("a")])
        cluster.assume(info(P, cluster), "a")
        start = cluster.nodes.log.end
        cluster.set_pod(info(P.label(zone="x").on("a"), cluster))
        assert cluster.nodes.log.kinds(start) == Change.PODS
        assert requested(cluster) == {"a": 1000}

    def test_pods_are_counted_by_the_labels_that_come_with_the_bind(self):
        cluster = state([node("a")])
        old, new = (
            cluster.counters.match(zone, lambda c, zone=zone: c.labels.get("zone") == zone, terminating=False)
            for zone in (None, "x")
        )
        cluster.assume(info(P, cluster), "a")
        assert (old.total, new.total) == (1, 0)
        cluster.set_pod(info(P.label(zone="x").on("a"), cluster))
        assert (old.total, new.total) == (0, 1)

    def test_a_pod_is_counted_by_the_terms_that_it_has_now(self):
        cluster = state([node("a")], [P.on("a")])
        apart = P.requires_pods(pod_term("kubernetes.io/hostname", {"app": "x"}), anti=True).on("a")
        cluster.set_pod(info(apart, cluster))
        shunned = cluster.shapes.label_class("default", {"app": "x"})
        held = cluster.counters.held_matching(REQUIRED_ANTI, shunned)
        assert [one.counter.total for one in held] == [1]
        cluster.set_pod(info(P.on("a"), cluster))
        assert [one.counter.total for one in held] == [0]

    def test_a_resize_counts(self):
        cluster = state([node("a")], [P.on("a")])
        status = PodStatus(container_statuses=(ContainerStatus(name="main", allocated_resources={"cpu": "3"}),))
        cluster.set_pod(cluster.info(msgspec.structs.replace(P.on("a").build(), status=status)))
        assert requested(cluster) == {"a": 3000}

    def test_pods_of_a_missing_node_are_known_and_count_once_it_is_there(self):
        cluster = state([], [P.on("a")])
        assert cluster.pods.get(uid(P)).row == NO_ROW
        cluster.set_node(node("a").build())
        assert requested(cluster) == {"a": 1000}
        cluster.remove_node("a")
        cluster.set_node(node("b").build())
        assert requested(cluster) == {"b": 0}
        cluster.set_node(node("a").build())
        assert requested(cluster) == {"b": 0, "a": 1000}

    def test_what_it_does_not_know_is_removed_without_complaint(self):
        cluster = state([node("a")])
        assert cluster.remove_pod("unknown") is None
        cluster.remove_node("unknown")
        cluster.remove_namespace("unknown")

    def test_a_pod_changes_requests_and_ports_of_its_row(self):
        cluster = state([node("a"), node("b")])
        start = cluster.nodes.log.end
        cluster.set_pod(info(P.host_port(80).on("b"), cluster))
        assert cluster.nodes.log.rows(start, Change.PORTS).tolist() == [1]
        assert cluster.nodes.log.rows(start, Change.REQUESTED).tolist() == [1]


class TestAssuming:
    def test_an_assumed_pod_counts_until_it_is_forgotten(self):
        cluster = state([node("a")])
        placed = cluster.assume(info(P, cluster), "a")
        assert (requested(cluster), cluster.is_assumed(placed.uid)) == ({"a": 1000}, True)
        assert cluster.forget(placed.uid) is placed
        assert (requested(cluster), cluster.is_assumed(placed.uid)) == ({"a": 0}, False)

    @pytest.mark.parametrize("where", ["a", "b"])
    def test_the_bound_pod_confirms_it_wherever_it_turns_up(self, where):
        cluster = state([node("a"), node("b")])
        cluster.assume(info(P, cluster), "a")
        cluster.set_pod(info(P.on(where), cluster))
        assert not cluster.is_assumed(uid(P))
        assert requested(cluster) == {"a": 0, "b": 0} | {where: 1000}
        assert cluster.forget(uid(P)) is None
        assert requested(cluster)[where] == 1000

    def test_a_pod_on_a_node_cannot_be_assumed(self):
        cluster = state([node("a")], [P.on("a")])
        with pytest.raises(ValueError, match=r"default/p .* is in the cache"):
            cluster.assume(info(P, cluster), "a")


class TestNamespaces:
    def test_the_version_moves_with_their_labels(self):
        cluster = state()

        def set_labels(labels):
            document = {"metadata": {"name": "n", "labels": labels}}
            cluster.set_namespace(msgspec.convert(document, Namespace))
            return cluster.namespaces_version

        first, same, other = set_labels({}), set_labels({}), set_labels({"a": "b"})
        assert first == same != other
        assert cluster.namespaces == {"n": {"a": "b"}}
        cluster.remove_namespace("n")
        assert cluster.namespaces_version != other
