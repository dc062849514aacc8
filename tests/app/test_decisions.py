"""The last decision on each pod."""

from __future__ import annotations

import logging

from scheduler.app.decisions import Decisions, PodDecision, gated_pods, unlogged
from scheduler.app.simulation import Simulation
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.cycle.outcome import Failure, error
from scheduler.plugins.registry import IN_TREE
from scheduler.queue.entry import QueuedPod
from tests.builders import PodBuilder, info, node, pod


def entry(name: str) -> QueuedPod:
    return QueuedPod(pod=info(pod(name)), timestamp=0.0)


class TestAdd:
    def test_scheduled(self) -> None:
        decisions = Decisions(details=False)
        decisions.add(entry("a"), None, None, "n1")
        (found,) = decisions.last.values()
        assert (found.pod, found.status, found.node) == ("default/a", "Scheduled", "n1")
        assert found.message == "Successfully assigned default/a to n1"

    def test_a_node_that_was_picked_in_vain_is_none(self) -> None:
        decisions = Decisions(details=False)
        decisions.add(entry("a"), None, Failure("Unschedulable", "turned down at Reserve"), "n1")
        (found,) = decisions.last.values()
        assert (found.status, found.node, found.message) == ("Unschedulable", None, "turned down at Reserve")

    def test_error(self) -> None:
        decisions = Decisions(details=True)
        decisions.add(entry("a"), None, error("it broke"), "")
        (found,) = decisions.last.values()
        assert (found.status, found.record.reason, found.record.message) == ("Error", "SchedulerError", "it broke")

    def test_nominated_node(self) -> None:
        decisions = Decisions(details=False)
        decisions.add(entry("a"), None, Failure("Unschedulable", "", nominated_node="n2"), "")
        decisions.add(entry("b"), None, Failure("Unschedulable", "", nominated_node=""), "")
        assert [found.nominated_node for found in decisions.last.values()] == ["n2", None]

    def test_another_attempt_takes_the_place_of_the_one_before(self) -> None:
        decisions = Decisions(details=False)
        decisions.add(entry("a"), None, Failure("Unschedulable", ""), "")
        decisions.add(entry("b"), None, None, "n1")
        decisions.add(entry("a"), None, None, "n1")
        assert [found.pod for found in decisions.last.values()] == ["default/b", "default/a"]
        assert decisions.attempts == 3


async def test_gated_pods_by_name() -> None:
    gates = FeatureGates()
    objects = [node("n1").build(), *(pod(name).gate("g").build() for name in ("c", "a", "b"))]
    it = Simulation(objects, default_config(feature_gates=gates), registry=IN_TREE, gates=gates, takes_all=True)
    await it.run()
    found = gated_pods(it.scheduler.queue, leaving_out={("default", "b")})
    assert [decision.pod for decision in found] == ["default/a", "default/c"]


def test_failed_attempts_can_be_kept_out_of_the_log() -> None:
    logger = logging.getLogger("scheduler.cycle.failure")
    with unlogged():
        assert logger.disabled
    assert not logger.disabled


class TestVictims:
    async def decided(self, *pods: PodBuilder) -> dict[str, PodDecision]:
        gates = FeatureGates()
        full = node("n1").capacity(cpu="2")
        objects = [item.build() for item in (full, *pods)]
        config = default_config(feature_gates=gates)
        it = Simulation(objects, config, registry=IN_TREE, gates=gates, takes_all=True, details=True)
        return {decision.pod: decision for decision in await it.run()}

    async def test_a_pod_keeps_those_that_went_for_it(self) -> None:
        low = pod("low").cpu("2").on("n1")
        found = (await self.decided(low, pod("urgent").cpu("1").priority(5)))["default/urgent"]
        assert (found.status, found.node, found.nominated_node) == ("Scheduled", "n1", "n1")
        assert found.victims == ("default/low",)
        assert found.record.postfilter is not None
        assert found.record.postfilter.victims == ("default/low",)

    async def test_others_have_none(self) -> None:
        low = pod("low").cpu("1").on("n1")
        found = await self.decided(low, pod("other").cpu("1").priority(5), pod("big").cpu("9").priority(9))
        assert {decision.victims for decision in found.values()} == {()}
        assert [decision.nominated_node for decision in found.values()] == [None, None]
