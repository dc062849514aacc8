"""A whole cluster scheduled in memory: which pods, in which order, with what outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.admission import AdmissionError
from scheduler.app.simulation import Simulation
from scheduler.client.kinds import PODS
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config, load_config
from scheduler.framework.interface import PermitPlugin
from scheduler.framework.status import Code, Status
from scheduler.framework.waiting import WaitingPods
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod, pod_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.framework.cycle import Cycle

GATES = FeatureGates()
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def simulation(
    *objects: Any, profiles: Any = None, registry: Any = IN_TREE, gates: FeatureGates = GATES, **options: Any
) -> Simulation:
    """A simulation of what builders make, for the default profile or these."""
    config = default_config(feature_gates=gates)
    if profiles is not None:
        given = {**HEADER, "profiles": profiles}
        config = load_config(given, source="test", known_plugins=registry, feature_gates=gates)
    built = [item.build() if hasattr(item, "build") else item for item in objects]
    return Simulation(built, config, registry=registry, gates=gates, **{"takes_all": profiles is None, **options})


async def run(*objects: Any, **options: Any) -> Sequence[PodDecision]:
    """The decisions of a simulation."""
    return await simulation(*objects, **options).run()


def outcomes(decisions: Sequence[PodDecision]) -> list[tuple[str, str, str | None]]:
    return [(decision.pod, decision.status, decision.node) for decision in decisions]


class TestWhichPods:
    async def test_pending_pods_of_any_scheduler_without_a_configuration(self) -> None:
        decisions = await run(node("n1"), pod("a"), pod("b").scheduler("other"), pod("c").on("n1"))
        assert [decision.pod for decision in decisions] == ["default/a", "default/b"]

    async def test_pods_of_the_profiles_with_a_configuration(self) -> None:
        profiles = [{"schedulerName": "x"}, {"schedulerName": "y"}]
        pods = [pod(name).scheduler(name) for name in ("x", "y", "z")]
        decisions = await run(node("n1"), *pods, profiles=profiles)
        assert [decision.pod for decision in decisions] == ["default/x", "default/y"]

    async def test_pods_of_others_are_left_alone_and_counted(self) -> None:
        pods = [pod("a").scheduler("x"), pod("b").scheduler("y"), pod("c").scheduler("y"), pod("d").scheduler("y")]
        it = simulation(node("n1"), *pods, pod("e").scheduler("y").on("n1"), profiles=[{"schedulerName": "x"}])
        await it.run()
        assert it.foreign == {"y": 3}

    async def test_others_count_where_they_run(self) -> None:
        running = pod("c").on("n1").cpu("3").scheduler("other")
        (decision,) = await run(node("n1").capacity(cpu="4"), running, pod("a").cpu("2"))
        assert decision.status == "Unschedulable"

    async def test_finished_and_terminating_pods_are_left_out(self) -> None:
        finished = pod("done").set("status.phase", "Succeeded")
        assert await run(node("n1"), finished, pod("going").terminating()) == []


class TestOrder:
    async def test_priority_then_order_of_the_input(self) -> None:
        pods = [pod("b"), pod("a"), pod("vip").priority(10)]
        decisions = await run(node("n1"), *pods)
        assert [decision.pod for decision in decisions] == ["default/vip", "default/b", "default/a"]

    async def test_gated_pods_come_last_by_name(self) -> None:
        pods = [pod("held-b").gate("g").priority(9), pod("held-a").gate("g"), pod("a")]
        decisions = await run(node("n1"), *pods)
        assert [decision.pod for decision in decisions] == ["default/a", "default/held-a", "default/held-b"]

    async def test_a_pod_that_could_be_helped_is_tried_again(self) -> None:
        wants_web = pod("follower").requires_pods(pod_term("kubernetes.io/hostname", {"app": "web"})).priority(5)
        decisions = await run(node("n1"), wants_web, pod("web").label(app="web"))
        assert outcomes(decisions) == [
            ("default/web", "Scheduled", "n1"),
            ("default/follower", "Scheduled", "n1"),
        ]

    async def test_the_same_without_popping_from_backoff(self) -> None:
        wants_web = pod("follower").requires_pods(pod_term("kubernetes.io/hostname", {"app": "web"})).priority(5)
        gates = FeatureGates.parse("SchedulerPopFromBackoffQ=false")
        decisions = await run(node("n1"), wants_web, pod("web").label(app="web"), gates=gates)
        assert [decision.status for decision in decisions] == ["Scheduled", "Scheduled"]

    async def test_the_same_seed_breaks_ties_the_same_way(self) -> None:
        objects = [*(node(f"n{i}") for i in range(8)), *(pod(f"p{i}") for i in range(8))]
        first, again = await run(*objects, seed=3), await run(*objects, seed=3)
        assert outcomes(first) == outcomes(again)
        others = [outcomes(await run(*objects, seed=seed)) for seed in range(4, 8)]
        assert any(other != outcomes(first) for other in others)


class TestOutcomes:
    async def test_scheduled(self) -> None:
        it = simulation(node("n1"), pod("a"))
        (decision,) = await it.run()
        assert outcomes([decision]) == [("default/a", "Scheduled", "n1")]
        assert decision.message == "Successfully assigned default/a to n1"
        bound = it.cluster.get(PODS, "default", "a")
        assert bound is not None
        assert bound.spec.node_name == "n1"

    async def test_unschedulable(self) -> None:
        (decision,) = await run(node("n1").capacity(cpu="1"), pod("a").cpu("2"))
        assert outcomes([decision]) == [("default/a", "Unschedulable", None)]
        assert decision.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert decision.record.reason == "Unschedulable"

    async def test_no_nodes(self) -> None:
        (decision,) = await run(pod("a"))
        assert (decision.status, decision.message) == ("Unschedulable", "no nodes available to schedule pods")

    async def test_gated(self) -> None:
        (decision,) = await run(node("n1"), pod("a").gate("example.com/quota"))
        assert outcomes([decision]) == [("default/a", "Gated", None)]
        assert decision.message == "waiting for scheduling gates: [example.com/quota]"
        assert decision.record.reason == "SchedulingGated"

    async def test_error(self) -> None:
        broken = {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-1"]}]}}
        path = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
        (decision,) = await run(node("n1"), node("n2"), pod("a").set(path, [broken]))
        assert outcomes([decision]) == [("default/a", "Error", None)]
        assert decision.record.reason == "SchedulerError"

    async def test_nominated_node_of_a_waiting_pod_is_looked_at_first(self) -> None:
        (decision,) = await run(node("n1"), node("n2").capacity(cpu="1"), pod("a").nominated("n2"), details=True)
        assert decision.node == "n2"
        assert decision.record.nominated_path


class TestDetails:
    async def test_scores_and_verdicts_of_all_nodes(self) -> None:
        nodes = [node("n1"), node("n2").taint("gpu")]
        (decision,) = await run(*nodes, pod("a"), details=True)
        assert decision.record.feasible["n1"].plugins["TaintToleration"] == 300
        assert decision.record.infeasible["n2"].plugin == "TaintToleration"
        assert decision.record.best == ("n1",)

    async def test_are_left_out_unless_asked_for(self) -> None:
        (decision,) = await run(node("n1"), pod("a"))
        assert decision.record.feasible == {}


class TestInput:
    def test_what_an_api_server_would_refuse(self) -> None:
        with pytest.raises(AdmissionError, match="no PriorityClass with name gold was found"):
            simulation(pod("a").set("spec.priorityClassName", "gold"))

    def test_a_configuration_that_can_not_be_built(self) -> None:
        score = {"score": {"enabled": [{"name": "NodeName"}]}}
        with pytest.raises(ConfigError, match="NodeName"):
            simulation(profiles=[{"schedulerName": "x", "plugins": score}])

    async def test_progress_is_told(self) -> None:
        seen: list[tuple[int, int]] = []
        await simulation(node("n1"), pod("a"), pod("b")).run(lambda done, total: seen.append((done, total)))
        assert seen == [(1, 2), (2, 2)]

    async def test_each_decision_is_handed_to_the_check(self) -> None:
        checked: list[str] = []
        objects = [node("n1"), pod("a"), pod("b").cpu("1000")]
        await run(*objects, checked=lambda _profile, entry, _decision: checked.append(entry.name))
        assert checked == ["a", "b"]


class TestPermit:
    """Pods that wait do not keep others from being scheduled, and what they come to is what counts."""

    async def test_pods_that_wait_for_each_other(self) -> None:
        decisions = await in_pairs("a", "b")
        assert outcomes(decisions) == [("default/a", "Scheduled", "n1"), ("default/b", "Scheduled", "n1")]

    async def test_a_pod_that_waits_in_vain_has_no_node(self) -> None:
        (decision,) = await in_pairs("a")
        assert outcomes([decision]) == [("default/a", "Unschedulable", None)]
        assert "still waiting when nothing was left to schedule" in decision.message
        assert decision.record.unschedulable_plugins == ("Pairs",)


class Pairs(PermitPlugin):
    """Lets pods go two at a time."""

    name = "Pairs"

    def __init__(self) -> None:
        self.waiting: WaitingPods = WaitingPods()

    def permit(self, cycle: Cycle, node: str) -> tuple[Status | None, float]:
        waiting = list(self.waiting)
        for other in waiting:
            other.allow(self.name)
        return (None, 0.0) if waiting else (Status(Code.WAIT), 60.0)


async def in_pairs(*names: str) -> Sequence[PodDecision]:
    """The decisions on pods that the plugin above lets go in pairs only."""
    pairs = Pairs()
    registry = {**IN_TREE, "Pairs": lambda _args, _handle: pairs}
    profiles = [{"schedulerName": "s", "plugins": {"multiPoint": {"enabled": [{"name": "Pairs"}]}}}]
    pods = [pod(name).scheduler("s") for name in names]
    it = simulation(node("n1"), *pods, profiles=profiles, registry=registry)
    pairs.waiting = it.scheduler.waiting
    return await it.run()
