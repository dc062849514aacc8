"""A decision beside one that was taken elsewhere."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from scheduler.app.profiles import build_profiles
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, Decision, FitError
from scheduler.cycle.outcome import Failure
from scheduler.explain.agreement import Agreement, Verdict, agreement, agreement_of
from scheduler.explain.record import record
from scheduler.framework.handle import Handle
from scheduler.plugins.registry import IN_TREE
from tests.builders import NodeBuilder, PodBuilder, info, node, pod, state

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
SLOW = node("slow").taint("slow", effect="PreferNoSchedule")
ONLY_N1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}


def both(
    wanted: PodBuilder, *nodes: NodeBuilder, chosen: str, percentage: int = 100, refused_by: tuple[str, ...] = ()
) -> tuple[Agreement, Agreement]:
    """What a decision says to a choice: from the decision itself, and from its record."""
    cluster = state(nodes)
    gates = FeatureGates()
    config = load_config({**HEADER, "profiles": [{"schedulerName": "s"}]}, source="", feature_gates=gates)
    (profile,) = build_profiles(config, IN_TREE, Handle(cluster, MemoryWriter(MemoryCluster()), gates.enabled)).values()
    begun: list[Decision] = []
    failure: Failure | None = None
    algorithm = Algorithm(cluster, percentage_of_nodes_to_score=percentage)
    try:
        algorithm.decide(profile, info(wanted, cluster), observe=begun.append)
    except FitError as problem:
        failure = Failure(outcome.UNSCHEDULABLE, str(problem), frozenset(problem.rejections.rejecting_plugins()))
    at_once = agreement(begun[0], profile, chosen, refused_by=refused_by)
    again: list[Decision] = []
    algorithm.next_start = begun[0].start
    with suppress(FitError):
        algorithm.decide(profile, info(wanted, cluster), details=True, observe=again.append)
    return at_once, agreement_of(record(again[0], failure), chosen, refused_by=refused_by)


def of(*args: Any, **more: Any) -> Agreement:
    """The same, where decision and record agree, as they must."""
    at_once, recorded = both(*args, **more)
    assert at_once == recorded
    return at_once


def test_a_node_among_the_best_is_the_same_decision() -> None:
    found = of(pod("p"), node("n1"), node("n2"), SLOW, chosen="n2")
    assert (found.agrees, found.ties) == (True, 2)
    assert str(found) == "n2 as well"


def test_no_node_for_either_is_the_same_decision() -> None:
    assert of(pod("p").cpu("64"), node("n1"), chosen="").agrees


def test_a_node_with_fewer_points_is_told_with_the_plugins_behind_the_difference() -> None:
    found = of(pod("p"), node("n1"), SLOW, chosen="slow")
    assert (found.verdict, found.best, found.behind) == (Verdict.ELSEWHERE, ("n1",), ("TaintToleration",))
    assert (found.lead, found.points) == (300, {"TaintToleration": 300})
    assert str(found) == "n1 instead of slow, by 300 points: TaintToleration +300"


def test_points_add_up_to_the_lead_also_where_some_speak_for_the_chosen_node() -> None:
    tilted = pod("p").cpu("8").prefers_node(1, ONLY_N1)
    small = node("n1").capacity(cpu="16", memory="256Gi").taint("slow", effect="PreferNoSchedule")
    found = of(tilted, small, node("n2"), chosen="n1")
    assert sum(found.points.values()) == found.lead > 0
    assert found.points["NodeAffinity"] == -200
    assert "NodeAffinity" not in found.behind


def test_a_node_that_does_not_fit_is_told_with_the_reason() -> None:
    found = of(pod("p"), node("n1"), node("n2").taint("gpu"), chosen="n2")
    assert (found.verdict, found.behind) == (Verdict.REFUSED, ("TaintToleration",))
    assert found.reasons == ("node(s) had untolerated taint(s)",)
    assert str(found) == "n1 instead of n2, which TaintToleration turns down: node(s) had untolerated taint(s)"


def test_a_node_that_a_prefilter_left_out_is_refused_by_it() -> None:
    found = of(pod("p").requires_node(ONLY_N1), node("n1"), node("n2"), chosen="n2")
    assert (found.verdict, found.behind) == (Verdict.REFUSED, ("NodeAffinity",))


def test_a_node_that_was_not_looked_at_is_told_apart() -> None:
    nodes = [node(f"n{index:03}") for index in range(200)]
    found = of(pod("p"), *nodes, chosen="n199", percentage=50)
    assert (found.verdict, found.behind) == (Verdict.NOT_LOOKED_AT, ("percentageOfNodesToScore",))
    assert found.ties == 100
    assert str(found).startswith("n000, n001, n002, n003, n004 or 95 more instead of n199")


def test_a_node_that_is_not_there() -> None:
    at_once, _ = both(pod("p"), node("n1"), chosen="gone")
    assert (at_once.verdict, at_once.behind) == (Verdict.NOT_LOOKED_AT, ())


def test_no_node_where_one_was_chosen() -> None:
    found = of(pod("p").cpu("64"), node("n1"), chosen="n1")
    assert (found.verdict, found.behind) == (Verdict.UNPLACED, ("NodeResourcesFit",))
    assert str(found) == "no node instead of n1: 0/1 nodes are available: 1 Insufficient cpu."


def test_a_node_where_none_was_chosen() -> None:
    found = of(pod("p"), node("n1"), chosen="", refused_by=("NodePorts",))
    assert (found.verdict, found.best, found.behind) == (Verdict.PLACED, ("n1",), ("NodePorts",))
    assert str(found) == "n1 instead of no node, where NodePorts turned nodes down"


@pytest.mark.parametrize("verdict", Verdict)
def test_only_one_verdict_means_agreement(verdict: Verdict) -> None:
    assert Agreement(verdict=verdict).agrees is (verdict is Verdict.SAME)
