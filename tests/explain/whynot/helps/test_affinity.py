"""Pod (anti-)affinity: wished for instead of required, by node instead of by zone, or without the pods in the way."""

from __future__ import annotations

from typing import Any

from tests.builders import PodBuilder, node, pod, pod_term
from tests.explain.whynot.cluster import Cluster

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def small(name: str, zone: str) -> Any:
    return node(name).capacity(cpu="2", memory="8Gi", pods="10").zone(zone)


def there(name: str, on: str, **labels: str) -> PodBuilder:
    return pod(name).uid(name).on(on).label(**labels)


NODES = [small("a1", "z1"), small("a2", "z1")]
AWAY = pod("new").requires_pods(pod_term(ZONE, {"app": "db"}), anti=True)
NEAR = pod("new").requires_pods(pod_term(ZONE, {"app": "db"}))


def found(waits: PodBuilder, *pods: PodBuilder, nodes: list[Any] | None = None) -> dict[str, Any]:
    return {one.change.kind: one for one in Cluster(NODES if nodes is None else nodes, pods).found(waits)}


class TestAntiAffinity:
    def test_as_a_wish(self) -> None:
        one = found(AWAY, there("db", "a1", app="db"))["softenAntiAffinity"]
        affinity = one.change.edited(AWAY.build()).spec.affinity
        kind = affinity.pod_anti_affinity
        assert kind.required_during_scheduling_ignored_during_execution == ()
        (wish,) = kind.preferred_during_scheduling_ignored_during_execution
        assert wish.pod_affinity_term.topology_key == ZONE

    def test_by_node_instead_of_by_zone(self) -> None:
        one = found(AWAY, there("db", "a1", app="db"))["antiAffinityTopologyKey"]
        assert one.nodes == ["a2"]
        (term,) = one.change.edited(
            AWAY.build()
        ).spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
        assert term.topology_key == HOST

    def test_what_is_by_node_already_stays(self) -> None:
        by_node = pod("new").requires_pods(pod_term(HOST, {"app": "db"}), anti=True)
        assert "antiAffinityTopologyKey" not in found(by_node, there("x", "a1", app="db"), there("y", "a2", app="db"))

    def test_without_the_pods_where_there_are_fewest(self) -> None:
        nodes = [small("a1", "z1"), small("b1", "z2")]
        pods = [there("x", "a1", app="db"), there("y", "a1", app="db"), there("z", "b1", app="db")]
        one = found(AWAY, *pods, nodes=nodes)["removePods"]
        assert one.change.details["pods"] == "default/z"

    def test_not_without_many(self) -> None:
        crowd = [there(f"db-{number}", "a1", app="db") for number in range(6)]
        assert "removePods" not in found(AWAY, *crowd)

    def test_only_the_term_that_is_in_the_way_is_changed(self) -> None:
        two = pod("new").requires_pods(pod_term(ZONE, {"app": "x"}), pod_term(ZONE, {"app": "db"}), anti=True)
        one = found(two, there("db", "a1", app="db"))["softenAntiAffinity"]
        assert (one.change.details["selector"], one.change.details["term"]) == ("app=db", "1")


class TestAntiAffinityOfOthers:
    def test_nothing_of_the_pod_would_help(self) -> None:
        shy = there("shy", "a1").requires_pods(pod_term(ZONE, {"app": "web"}), anti=True)
        kinds = found(pod("new").label(app="web"), shy)
        assert "removePods" in kinds
        assert "softenAntiAffinity" not in kinds


class TestAffinity:
    def test_as_a_wish(self) -> None:
        one = found(NEAR)["softenAffinity"]
        kind = one.change.edited(NEAR.build()).spec.affinity.pod_affinity
        assert kind.required_during_scheduling_ignored_during_execution == ()
        assert len(kind.preferred_during_scheduling_ignored_during_execution) == 1

    def test_a_pod_to_be_near_to_started_first(self) -> None:
        one = found(NEAR)["startFirst"]
        assert one.change.details == {"labels": "app=db", "namespace": "default"}

    def test_not_where_there_are_such_pods_elsewhere(self) -> None:
        nodes = [small("a1", "z1"), small("b1", "z2").unschedulable()]
        assert "startFirst" not in found(NEAR, there("db", "b1", app="db"), nodes=nodes)

    def test_in_the_namespace_that_is_meant(self) -> None:
        elsewhere = pod("new").requires_pods(pod_term(ZONE, {"app": "db"}, namespaces=["data"]))
        assert found(elsewhere)["startFirst"].change.details["namespace"] == "data"

    def test_a_selector_that_takes_more_than_naming_values_is_not_guessed(self) -> None:
        term = {
            "topologyKey": ZONE,
            "labelSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
        }
        assert "startFirst" not in found(pod("new").label(app="web").requires_pods(term))
