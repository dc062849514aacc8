"""What is listed was tried: with the change applied to the manifests, the ordinary scheduler places the pod."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.explain.whynot import why_not
from scheduler.explain.whynot.bench import Bench
from tests.builders import expression, node, pod, pod_term, term
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import affinity, claim, volume

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ZONES = ("zone-a", "zone-b")
TAINTS = (("dedicated", "gpu"), ("other", ""), ("node.kubernetes.io/not-ready",))


@st.composite
def nodes(draw: st.DrawFn, index: int) -> Any:
    made = node(f"n{index}").capacity(cpu=draw(st.sampled_from(["1", "2", "4"])), memory="8Gi", pods="4")
    if draw(st.booleans()):
        made = made.zone(draw(st.sampled_from(ZONES)))
    if draw(st.integers(0, 3)) == 0:
        made = made.taint(
            *draw(st.sampled_from([("dedicated", "gpu"), ("other", ""), ("node.kubernetes.io/not-ready",)]))
        )
    if draw(st.integers(0, 5)) == 0:
        made = made.unschedulable().taint("node.kubernetes.io/unschedulable")
    return made.label(pool=draw(st.sampled_from(["a", "b"])))


@st.composite
def running(draw: st.DrawFn, index: int, names: list[str]) -> Any:
    made = pod(f"p{index}").cpu(draw(st.sampled_from(["100m", "500m", "1"]))).memory("1Gi")
    made = made.label(app=draw(st.sampled_from(["web", "db"]))).priority(draw(st.sampled_from([0, 5, 100])))
    if draw(st.integers(0, 4)) == 0:
        made = made.requires_pods(pod_term(draw(st.sampled_from([HOST, ZONE])), {"app": "web"}), anti=True)
    if draw(st.integers(0, 3)) == 0:
        made = made.host_port(8080)
    return made.on(draw(st.sampled_from(names)))


@st.composite
def waiting(draw: st.DrawFn) -> Any:
    made = pod("new").label(app="web").cpu(draw(st.sampled_from(["100m", "900m", "3"]))).memory("512Mi")
    made = made.priority(draw(st.sampled_from([0, 10])))
    if draw(st.integers(0, 2)) == 0:
        made = made.node_selector(pool=draw(st.sampled_from(["a", "b", "c"])))
    if draw(st.integers(0, 3)) == 0:
        made = made.requires_node(term(expression("pool", "In", "b", "c"), expression("disk", "Exists")))
    if draw(st.integers(0, 1)) == 0:
        fields = {"labelSelector": {"matchLabels": {"app": "web"}}}
        if draw(st.booleans()):
            fields |= {"minDomains": 3}
        made = made.spreads(draw(st.sampled_from([HOST, ZONE])), **fields)
    if draw(st.integers(0, 2)) == 0:
        made = made.requires_pods(pod_term(draw(st.sampled_from([HOST, ZONE])), {"app": "web"}), anti=True)
    if draw(st.integers(0, 4)) == 0:
        made = made.requires_pods(pod_term(ZONE, {"app": "db"}))
    if draw(st.integers(0, 3)) == 0:
        made = made.host_port(8080)
    if draw(st.integers(0, 3)) == 0:
        made = made.volume("data", persistentVolumeClaim={"claimName": "data"})
    if draw(st.integers(0, 5)) == 0:
        made = made.set("spec.preemptionPolicy", "Never")
    return made


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[Any], Any]:
    """Nodes, pods, other objects, and the pod that waits."""
    number = draw(st.integers(1, 4))
    there = [draw(nodes(index)) for index in range(number)]
    names = [f"n{index}" for index in range(number)]
    pods = [draw(running(index, names)) for index in range(draw(st.integers(0, 6)))]
    zone = draw(st.sampled_from(ZONES))
    where: dict[str, Any] = {"nodeAffinity": affinity(ZONE, zone)} if draw(st.booleans()) else {"labels": {ZONE: zone}}
    objects = [volume("pv", reserved="data", phase="Bound", **where), claim("data", volume="pv", phase="Bound")]
    return there, pods, objects, draw(waiting())


def everything(cluster: Cluster) -> dict[str, Any]:
    """All that decisions read of a state, rows and orders included."""
    state = cluster.state
    table, size = state.nodes, max(state.nodes.rows.values()) + 1
    return {
        "rows": dict(table.rows),
        "objects": [table.node(row) for row in table.rows.values()],
        "order": table.order.rows().tolist(),
        "live": table.live[:size].tolist(),
        "columns": [
            numbers[..., :size].tolist()
            for numbers in (table.allocatable[:3], table.requested[:3], table.nonzero, table.pod_count)
        ],
        "unschedulable": table.unschedulable[:size].tolist(),
        "taints": [table.taints.values[place] for place in table.taints.ids[:size]],
        "zones": [table.labels(ZONE).values[place] for place in table.labels(ZONE).ids[:size]],
        "ports": table.ports.used(),
        "pods": {name: [pod.uid for pod in state.pods.on_node(name)] for name in table.rows},
        "counted": {key: counts for key, counts in state.counters.snapshot().items() if counts},
        "volumes": (dict(state.volumes.claims), {row: list(pods) for row, pods in state.volumes.pods.items()}),
        "other": {
            kind: list(state.objects.all(kind)) for kind in state.objects.kinds() if list(state.objects.all(kind))
        },
        "assumed": dict(state.assumed),
    }


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
    answer = answered(why_not(cluster.state, cluster.profile, cluster.info(waits)))
    if answer is not None and not answer.sentence.startswith("new can't be placed"):
        assert sorted(name for group in answer.rejected for name in group.nodes) == sorted(cluster.state.nodes.rows)


def answered(steps: Any) -> Any:
    """What a generator comes to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class TestChangesBetweenTwoSteps:
    def test_nodes_may_come_and_go(self) -> None:
        cluster = Cluster([node(f"n{i}").capacity(cpu="1", memory="1Gi").taint("x").unschedulable() for i in range(5)])
        steps = why_not(cluster.state, cluster.profile, cluster.info(pod("new").cpu("900m")))
        next(steps)
        for index in range(5):
            cluster.state.remove_node(f"n{index}")
        cluster.state.set_node(node("late").capacity(cpu="1", memory="1Gi").taint("y").build())
        answer = answered(steps)
        assert answer.sentence == "new fits on none of 5 nodes: all are cordoned"
        assert [help_.sentence for help_ in answer.helps][:1] == ["a toleration for y:NoSchedule opens late"]

    def test_a_pod_that_fits_by_now_gets_no_advice_on_nodes_that_are_gone(self) -> None:
        cluster = Cluster([node("n1").taint("x")])
        steps = why_not(cluster.state, cluster.profile, cluster.info(pod("new")))
        next(steps)
        cluster.state.remove_node("n1")
        assert answered(steps).helps == ()


class TestBounds:
    def test_no_more_helps_than_asked_for(self) -> None:
        cluster = Cluster([node(f"n{i}").taint(f"t{i}") for i in range(9)])
        answer = answered(why_not(cluster.state, cluster.profile, cluster.info(pod("new")), shown=2))
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
        assert answered(why_not(cluster.state, cluster.profile, cluster.info(pod("new")))) is None
