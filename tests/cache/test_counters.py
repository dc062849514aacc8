"""Counts of pods: by node, by domain, by the terms that pods carry."""

from __future__ import annotations

import gc

import msgspec
import numpy as np
import pytest

from scheduler.api.objects import Namespace
from scheduler.cache.counters import PREFERRED, REQUIRED, REQUIRED_ANTI, DomainTally
from tests.builders import info, node, pod, pod_term, state

BLUE = {"matchLabels": {"team": "blue"}}
ZONE = "topology.kubernetes.io/zone"
NODES = [node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2"), node("d")]


def web(name: str, on: str):
    return pod(name).label(app="web").on(on)


def is_web(label_class) -> bool:
    return label_class.labels.get("app") == "web"


def per_node(cluster, counter) -> dict[str, int]:
    counts = counter.per_node(cluster.nodes.size)
    return {name: int(counts[row]) for name, row in cluster.nodes.rows.items() if counts[row]}


def per_zone(cluster, tally, mask=None, version=None) -> dict[str, int]:
    sums = tally.sums(cluster.nodes.size, mask, version)
    return {tally.column.values[i]: int(count) for i, count in enumerate(sums) if count}


class TestMatching:
    def test_counts_the_pods_that_are_there_and_those_that_come_and_go(self):
        cluster = state(NODES, [web("p", "a"), pod("q").on("a")])
        counter = cluster.counters.match("web", is_web, terminating=False)
        assert per_node(cluster, counter) == {"a": 1}
        cluster.set_pod(info(web("r", "c"), cluster))
        cluster.remove_pod(web("p", "a").build().metadata.uid)
        assert (per_node(cluster, counter), counter.total) == ({"c": 1}, 1)

    def test_only_pods_with_the_label_that_all_must_have_are_asked_about(self):
        cluster = state(NODES, [web("p", "a"), pod("q").label(app="db").on("a"), pod("r").on("b")])
        asked = []

        def is_asked(label_class):
            asked.append(label_class.labels.get("app"))
            return True

        def counter(key, value):
            return cluster.counters.match((key, value), is_asked, terminating=False, label=(key, value))

        webs = counter("app", "web")
        cluster.set_pod(info(web("s", "c").label(tier="front"), cluster))
        cluster.set_pod(info(pod("t").label(app="db").on("c"), cluster))
        assert per_node(cluster, webs) == {"a": 1, "c": 1}
        dbs, fronts, nobody = counter("app", "db"), counter("tier", "front"), counter("tier", "back")
        assert (per_node(cluster, dbs), per_node(cluster, fronts)) == ({"a": 1, "c": 1}, {"c": 1})
        assert per_node(cluster, nobody) == {}
        assert asked == ["web", "web", "db", "web"]  # once for all pods with the same labels

    def test_pods_that_have_gone_are_not_found_by_their_labels(self):
        cluster = state(NODES, [web("p", "a"), web("q", "b")])
        first = cluster.counters.match("one", is_web, terminating=False, label=("app", "web"))
        for name, on in (("p", "a"), ("q", "b")):
            cluster.remove_pod(web(name, on).build().metadata.uid)
        second = cluster.counters.match("two", is_web, terminating=False, label=("app", "web"))
        cluster.set_pod(info(web("r", "c"), cluster))
        third = cluster.counters.match("three", is_web, terminating=False, label=("app", "web"))
        assert [per_node(cluster, counter) for counter in (first, second, third)] == [{"c": 1}] * 3

    @pytest.mark.parametrize(("terminating", "count"), [(True, 1), (False, 0)])
    def test_pods_that_end_count_on_request(self, terminating, count):
        cluster = state(NODES, [web("p", "a")])
        counter = cluster.counters.match("web", is_web, terminating=terminating)
        cluster.set_pod(info(web("p", "a").terminating(), cluster))
        assert counter.total == count
        assert cluster.counters.match("web again", is_web, terminating=terminating).total == count

    def test_equal_keys_share_a_counter_while_someone_holds_it(self):
        cluster = state(NODES)
        counter = cluster.counters.match("web", is_web, terminating=False)
        assert cluster.counters.match("web", is_web, terminating=False) is counter
        assert cluster.counters.match("web", is_web, terminating=True) is not counter

    def test_a_counter_that_nobody_holds_is_dropped(self):
        cluster = state(NODES, [web("p", "a")])
        cluster.counters.match("web", is_web, terminating=False)
        gc.collect()
        cluster.set_pod(info(web("q", "a"), cluster))
        assert cluster.counters.snapshot() == {}

    def test_where_counters_come_and_go_those_that_stay_count_on(self):
        cluster = state(NODES, [web("p", "a")])
        first = cluster.counters.match("web", is_web, terminating=False)
        for number in range(300):
            cluster.counters.match(number, is_web, terminating=False)
            if number % 50 == 0:
                cluster.set_pod(info(web(f"q-{number}", "b"), cluster))
        last = cluster.counters.match("last", is_web, terminating=False)
        cluster.set_pod(info(web("r", "c"), cluster))
        assert per_node(cluster, first) == per_node(cluster, last) == {"a": 1, "b": 6, "c": 1}

    def test_a_rule_is_put_to_each_namespace_with_its_labels_rather_than_to_each_pod(self):
        asked = []

        def rule(label_class):
            asked.append(label_class.labels["app"])
            return False

        cluster = state(NODES, [web(f"p-{number}", "a") for number in range(9)])
        kept = [cluster.counters.match("first", rule, terminating=False)]
        for number in range(5):
            kept.append(cluster.counters.match(number, is_web, terminating=False))
            cluster.set_pod(info(web(f"q-{number}", "b"), cluster))
        assert asked == ["web", "web"]  # when the counter is made, and when the first pod comes

    def test_pods_on_unknown_nodes_count_once_the_node_is_there(self):
        cluster = state([], [web("p", "a")])
        counter = cluster.counters.match("web", is_web, terminating=False)
        assert counter.total == 0
        cluster.set_node(node("a").build())
        assert per_node(cluster, counter) == {"a": 1}


class TestTallies:
    def test_sums_the_nodes_of_each_domain_and_leaves_out_those_without_the_label(self):
        cluster = state(NODES, [web(f"p{name}", name) for name in "abcd"])
        counter = cluster.counters.match("web", is_web, terminating=False)
        assert per_zone(cluster, cluster.counters.tally(counter, ZONE)) == {"z1": 2, "z2": 1}

    def test_follows_pods_and_nodes_that_move(self):
        cluster = state(NODES, [web("p", "a")])
        counter = cluster.counters.match("web", is_web, terminating=False)
        tally = cluster.counters.tally(counter, ZONE)
        assert per_zone(cluster, tally) == {"z1": 1}
        cluster.set_pod(info(web("q", "c"), cluster))
        assert per_zone(cluster, tally) == {"z1": 1, "z2": 1}
        cluster.set_node(node("a").zone("z9").build())
        assert per_zone(cluster, tally) == {"z9": 1, "z2": 1}

    def test_is_shared_by_all_who_ask_without_a_mask(self):
        cluster = state(NODES)
        counter = cluster.counters.match("web", is_web, terminating=False)
        assert cluster.counters.tally(counter, ZONE) is cluster.counters.tally(counter, ZONE)

    def test_counts_only_what_the_mask_lets_in(self):
        cluster = state(NODES, [web("p", "a"), web("q", "b")])
        counter = cluster.counters.match("web", is_web, terminating=False)
        tally = DomainTally(counter, cluster.nodes.labels(ZONE))
        rows = cluster.nodes.rows
        mask = np.ones(cluster.nodes.size, np.bool_)
        mask[rows["a"]] = False
        assert per_zone(cluster, tally, mask, 1) == {"z1": 1}
        cluster.set_pod(info(web("r", "a"), cluster))
        cluster.set_pod(info(web("s", "b"), cluster))
        assert per_zone(cluster, tally, mask, 1) == {"z1": 2}
        mask[:] = True
        assert per_zone(cluster, tally, mask, 2) == {"z1": 4}


class TestHeldTerms:
    def held(self, cluster, kind, **labels) -> dict[str, int]:
        label_class = cluster.shapes.label_class("default", labels)
        return {h.term.topology_key: h.counter.total for h in cluster.counters.held_matching(kind, label_class)}

    def test_finds_the_terms_that_are_about_a_pod(self):
        term = pod_term(ZONE, {"app": "web"})
        carriers = [
            pod("p").requires_pods(term).on("a"),
            pod("q").requires_pods(term, anti=True).on("a"),
            pod("r").requires_pods(term, anti=True).on("b"),
            pod("s").prefers_pods(3, term, anti=True).on("c"),
        ]
        cluster = state(NODES, carriers)
        assert self.held(cluster, REQUIRED, app="web") == {ZONE: 1}
        assert self.held(cluster, REQUIRED_ANTI, app="web") == {ZONE: 2}
        assert self.held(cluster, PREFERRED, app="web") == {ZONE: 1}
        assert self.held(cluster, REQUIRED_ANTI, app="db") == {}

    def test_a_term_that_nobody_carries_any_more_is_not_found(self):
        carrier = pod("p").requires_pods(pod_term(ZONE, {"app": "web"}), anti=True).on("a")
        cluster = state(NODES, [carrier])
        cluster.remove_pod(carrier.build().metadata.uid)
        assert self.held(cluster, REQUIRED_ANTI, app="web") == {}

    def test_preferred_terms_of_other_weight_are_kept_apart(self):
        term = pod_term(ZONE, {"app": "web"})
        cluster = state(NODES, [pod("p").prefers_pods(1, term).on("a"), pod("q").prefers_pods(2, term).on("a")])
        label_class = cluster.shapes.label_class("default", {"app": "web"})
        found = cluster.counters.held_matching(PREFERRED, label_class)
        assert sorted((held.weight, held.counter.total) for held in found) == [(1, 1), (2, 1)]

    def test_follows_the_labels_of_the_pods_namespace(self):
        term = pod_term(ZONE, {"app": "web"}, namespaceSelector=BLUE)
        cluster = state(NODES, [pod("p").requires_pods(term, anti=True).on("a")])
        label_class = cluster.shapes.label_class("default", {"app": "web"})
        assert cluster.counters.held_matching(REQUIRED_ANTI, label_class) == []
        document = {"metadata": {"name": "default", "labels": {"team": "blue"}}}
        cluster.set_namespace(msgspec.convert(document, Namespace))
        assert len(cluster.counters.held_matching(REQUIRED_ANTI, label_class)) == 1

    def test_terms_out_of_use_do_not_pile_up(self):
        cluster = state(NODES)
        for number in range(500):
            carrier = pod("p").requires_pods(pod_term(ZONE, {"app": f"a{number}"}), anti=True).on("a")
            cluster.set_pod(info(carrier, cluster))
        assert len(cluster.counters.held[REQUIRED_ANTI]) < 200
