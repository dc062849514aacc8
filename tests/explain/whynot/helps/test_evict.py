"""Fewer pods on a node: the least important ones that would make room, as preemption would pick them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.helps.evict import is_of_node, nodes_to_try, possible, removal, victims
from tests.builders import PodBuilder, info, node, pod
from tests.explain.whynot.cluster import Cluster

NEW = pod("new").cpu("2").priority(10)


def small(name: str) -> Any:
    return node(name).capacity(cpu="2", memory="8Gi", pods="10")


def there(name: str, on: str = "a", cpu: str = "1", priority: int = 0) -> PodBuilder:
    return pod(name).uid(name).on(on).cpu(cpu).priority(priority)


def survey(nodes: list[Any], *pods: PodBuilder, waits: PodBuilder = NEW) -> Any:
    cluster = Cluster(nodes, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def gone(looked: Any, name: str = "a") -> list[str]:
    return [each.name for found in victims(looked, name) for each in found.pods]


def helps(kinds: tuple[str, ...], waits: PodBuilder, nodes: list[Any], *pods: PodBuilder) -> list[str]:
    return [help_.sentence for help_ in Cluster(nodes, pods).why_not(waits).helps if help_.kind in kinds]


class TestWhoMayGo:
    def test_not_those_that_come_with_the_node(self) -> None:
        daemon = there("daemon").owned_by("DaemonSet", "logs")
        mirror = there("mirror").owned_by("Node", "a", "v1")
        assert [is_of_node(info(each)) for each in (daemon, mirror, there("web"))] == [True, True, False]
        looked = survey([small("a")], daemon, there("web"))
        assert [each.name for each in possible(looked, 0)] == ["web"]

    def test_nor_those_that_are_going(self) -> None:
        looked = survey([small("a")], there("leaving").terminating(), there("web"))
        assert [each.name for each in possible(looked, 0)] == ["web"]


class TestVictims:
    @pytest.mark.parametrize("order", [("dear", "cheap"), ("cheap", "dear")])
    def test_as_few_and_as_unimportant_ones_as_possible(self, order: tuple[str, str]) -> None:
        pods = {"dear": there("dear", priority=5), "cheap": there("cheap")}
        looked = survey([small("a")], *(pods[name] for name in order), waits=NEW.cpu("1"))
        assert gone(looked) == ["cheap"]

    def test_whatever_their_priority(self) -> None:
        """Preemption spares those that matter more; here somebody is told what would help."""
        assert gone(survey([small("a")], there("dear", cpu="2", priority=100))) == ["dear"]

    def test_nobody_where_even_an_empty_node_would_not_do(self) -> None:
        assert gone(survey([small("a")], there("x"), waits=NEW.cpu("3"))) == []

    def test_nobody_where_it_would_take_too_many(self) -> None:
        crowd = [there(f"p{number}", cpu="300m") for number in range(6)]
        assert gone(survey([small("a")], *crowd)) == []

    def test_what_another_change_may_satisfy_is_left_aside(self) -> None:
        (found,) = victims(survey([small("a").taint("gpu")], there("x", cpu="2")), "a")
        assert (found.solves, found.left) == ({"NodeResourcesFit"}, {"TaintToleration"})

    def test_a_node_that_has_gone_has_none(self) -> None:
        assert gone(survey([small("a")]), "gone") == []

    def test_the_state_is_as_it_was(self) -> None:
        looked = survey([small("a")], there("x", cpu="2"))
        before = looked.state.nodes.requested.tolist()
        assert gone(looked) == ["x"]
        assert looked.state.nodes.requested.tolist() == before
        assert [each.name for each in looked.state.pods] == ["x"]


class TestWhichNodes:
    def test_those_that_come_nearest_first(self) -> None:
        looked = survey([small("a"), small("b")], there("x", "a", "2"), there("y", "b", "1"))
        assert nodes_to_try(looked) == ["b", "a"]

    def test_not_those_where_pods_are_not_in_the_way(self) -> None:
        assert (
            nodes_to_try(survey([small("a").taint("gpu"), node("tiny").capacity(cpu="1")], there("x", "a", "0"))) == []
        )

    def test_with_one_thing_besides_at_most(self) -> None:
        one, two = small("a").taint("gpu"), small("b").taint("gpu").unschedulable()
        looked = survey([one, two], there("x", "a", "2"), there("y", "b", "2"))
        assert nodes_to_try(looked) == ["a"]


class TestWhatIsSaid:
    def test_whom_and_where_and_how_important(self) -> None:
        one = removal([info(there("x", priority=3))], solves=())
        assert one.sentence(["a"]) == "default/x gone from a (1 pod of priority 3) opens a"
        two = removal([info(there("x", priority=3)), info(there("y", "b"))], solves=())
        assert two.sentence(["a", "b"]) == (
            "default/x and default/y gone from a and b (2 pods of priority 3 at most) open a and b"
        )

    def test_more_pods_cost_more(self) -> None:
        pods = [info(there(f"p{number}")) for number in range(3)]
        costs = [removal(pods[:number], solves=()).cost for number in (1, 2, 3)]
        assert costs == sorted(set(costs))

    def test_only_the_node_where_it_hurts_least_is_told(self) -> None:
        told = helps(("removePods",), NEW, [small("a"), small("b")], there("x", "a", "2", 50), there("y", "b", "2", 20))
        assert told == ["default/y gone from b (1 pod of priority 20) opens b"]

    def test_pods_of_the_same_kind_would_only_want_to_come_back(self) -> None:
        nodes = [small("a"), small("b")]
        alike, other = there("web-1", "a", "2").label(app="web"), there("y", "b", "2", 5)
        told = helps(("removePods",), NEW.label(app="web"), nodes, alike, other)
        assert told[0].startswith("default/y gone from b")


class TestPriority:
    KINDS = ("raisePriority", "preemptionPolicy")

    def test_one_above_theirs_would_let_the_scheduler_evict_them(self) -> None:
        assert helps(self.KINDS, NEW, [small("a")], there("x", cpu="2", priority=50)) == [
            "a priority above 50, which would preempt default/x on a, opens a"
        ]

    def test_one_that_may_not_preempt_would_have_to_be_allowed_to(self) -> None:
        never = NEW.set("spec.preemptionPolicy", "Never")
        assert helps(self.KINDS, never, [small("a")], there("x", cpu="2")) == [
            "preemptionPolicy: PreemptLowerPriority, which would let it preempt default/x on a, opens a"
        ]
        assert helps(self.KINDS, never, [small("a")], there("x", cpu="2", priority=50)) == [
            "a priority above 50 and preemptionPolicy: PreemptLowerPriority, which would preempt default/x on a, "
            "opens a"
        ]

    @pytest.mark.parametrize("priority", [1_000_000_000, 2_000_001_000])
    def test_there_is_none_above_those_of_the_system(self, priority: int) -> None:
        assert helps(self.KINDS, NEW, [small("a")], there("x", cpu="2", priority=priority)) == []
