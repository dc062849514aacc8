"""What is listed was tried: with the change applied to the manifests, the ordinary scheduler places the pod."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

from scheduler.explain.steps import in_one_go
from scheduler.explain.whynot import why_not
from scheduler.explain.whynot.bench import Bench
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster
from tests.explain.whynot.drawn import clusters, everything


@given(clusters())
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
def test_the_pod_is_placed_with_any_of_the_changes_that_are_listed(
    drawn: tuple[list[Any], list[Any], list[Any], Any],
) -> None:
    *parts, waits = drawn
    cluster = Cluster(*parts)
    for found in cluster.found(waits):
        decision = asyncio.run(cluster.placed(waits.build(), found.change))
        told = found.change.sentence(found.nodes)
        assert decision.node is not None, f"{told}: {decision.message}"
        if not found.change.evicts and not found.change.new:
            assert decision.victims == (), told


@given(clusters())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_every_step_leaves_the_state_as_it_was(drawn: tuple[list[Any], list[Any], list[Any], Any]) -> None:
    *parts, waits = drawn
    cluster = Cluster(*parts)
    asked = cluster.info(waits)
    Bench(cluster.state, cluster.profile, asked).survey()  # counters are made when they are first asked for
    before = everything(cluster)
    for _ in why_not(cluster.state, cluster.profile, asked):
        after = everything(cluster)
        assert {key: after["counted"].get(key) for key in before["counted"]} == before["counted"]
        assert {**after, "counted": {}} == {**before, "counted": {}}
    assert not np.any(cluster.state.nodes.live[len(cluster.nodes) :])


@given(clusters())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_every_node_is_told_of_once(drawn: tuple[list[Any], list[Any], list[Any], Any]) -> None:
    *parts, waits = drawn
    cluster = Cluster(*parts)
    answer = in_one_go(why_not(cluster.state, cluster.profile, cluster.info(waits)))
    if answer is not None and not answer.sentence.startswith("new can't be placed"):
        assert sorted(name for group in answer.rejected for name in group.nodes) == sorted(cluster.state.nodes.rows)


class TestChangesBetweenTwoSteps:
    def test_nodes_may_come_and_go(self) -> None:
        cluster = Cluster([node(f"n{i}").capacity(cpu="1", memory="1Gi").taint("x").unschedulable() for i in range(5)])
        steps = why_not(cluster.state, cluster.profile, cluster.info(pod("new").cpu("900m")))
        next(steps)
        for index in range(5):
            cluster.state.remove_node(f"n{index}")
        cluster.state.set_node(node("late").capacity(cpu="1", memory="1Gi").taint("y").build())
        answer = in_one_go(steps)
        assert answer.sentence == "new fits on none of 5 nodes: all are cordoned"
        assert [help_.sentence for help_ in answer.helps][:1] == ["a toleration for y:NoSchedule opens late"]

    def test_a_pod_that_fits_by_now_gets_no_advice_on_nodes_that_are_gone(self) -> None:
        cluster = Cluster([node("n1").taint("x")])
        steps = why_not(cluster.state, cluster.profile, cluster.info(pod("new")))
        next(steps)
        cluster.state.remove_node("n1")
        assert in_one_go(steps).helps == ()


class TestBounds:
    def test_no_more_helps_than_asked_for(self) -> None:
        cluster = Cluster([node(f"n{i}").taint(f"t{i}") for i in range(9)])
        answer = in_one_go(why_not(cluster.state, cluster.profile, cluster.info(pod("new")), shown=2))
        assert [help_.kind for help_ in answer.helps] == ["tolerate", "tolerate"]

    def test_two_changes_where_no_single_one_is_enough(self) -> None:
        cluster = Cluster([node("n1").capacity(cpu="1", memory="1Gi").taint("x")])
        answer = cluster.why_not(pod("new").cpu("2"))
        assert answer.helps[0].sentence == (
            "a toleration for x:NoSchedule and 1 less CPU (1 instead of 2) together open n1"
        )
        assert answer.helps[0].change == {"taints": "x:NoSchedule", "cpu": "1"}

    def test_nothing_is_told_of_a_pod_that_fits(self) -> None:
        cluster = Cluster([node("n1")])
        assert in_one_go(why_not(cluster.state, cluster.profile, cluster.info(pod("new")))) is None
