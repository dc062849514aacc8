"""What the scheduler would decide now, with nothing changed by asking."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from scheduler.explain.evaluate import Evaluator
from scheduler.framework.status import unresolvable
from tests.builders import info, node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Gate

if TYPE_CHECKING:
    from scheduler.explain.views import Decision
    from tests.builders import PodBuilder


def evaluated(rig: Rig, wanted: PodBuilder) -> Decision:
    """The decision on a pod of the default profile."""
    return Evaluator(rig.scheduler, rig.clock).evaluate(info(wanted.scheduler(PROFILE), rig.state)).decision


class TestDecision:
    def test_every_plugins_scores_add_up_to_the_total(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="4", memory="8Gi"), node("n2").capacity(cpu="2", memory="8Gi"))
        found = evaluated(rig, pod("p").cpu("1"))
        assert found.summary.result == "Scheduled"
        assert (found.summary.node, found.ties, found.feasible.names) == ("n1", ("n1",), ("n1", "n2"))
        for place, total in enumerate(found.feasible.totals):
            assert total == sum(column.weighted[place] for column in found.feasible.columns)
        for column in found.feasible.columns:
            assert column.weighted == tuple(score * column.weight for score in column.normalized)

    def test_nodes_that_tie_are_named_and_none_is_drawn(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="4"), node("n2").capacity(cpu="4"))
        found = evaluated(rig, pod("p").cpu("1"))
        assert (found.summary.node, found.ties) == ("", ("n1", "n2"))

    def test_nodes_that_turn_the_pod_down_are_grouped_by_reason(self) -> None:
        rig = Rig()
        rig.put(
            *(node(f"n{number}").capacity(cpu="1") for number in range(3)), node("t").capacity(cpu="8").taint("gpu")
        )
        found = evaluated(rig, pod("p").cpu("2"))
        assert [(group.plugin, group.reasons, group.nodes) for group in found.rejected] == [
            ("NodeResourcesFit", ("Insufficient cpu",), ("n0", "n1", "n2")),
            ("TaintToleration", ("node(s) had untolerated taint(s)",), ("t",)),
        ]
        assert found.summary.message.startswith("0/4 nodes are available: ")

    def test_nodes_that_the_pod_does_not_name_are_left_out(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="1"), node("n2").capacity(cpu="1"))
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
        found = evaluated(rig, pod("p").cpu("2").requires_node(term))
        assert {group.nodes: group.left_out for group in found.rejected} == {("n1",): False, ("n2",): True}

    def test_a_refusal_by_prefilter_leaves_no_node(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="1"))
        found = evaluated(rig, pod("p").volume("data", persistentVolumeClaim={"claimName": "gone"}))
        (group,) = found.rejected
        assert (group.nodes, found.summary.evaluated) == (("n1",), 0)

    def test_without_nodes_there_is_a_message(self) -> None:
        found = evaluated(Rig(), pod("p"))
        assert (found.summary.result, found.summary.message) == ("Unschedulable", "no nodes available to schedule pods")

    def test_nodes_that_were_not_sampled_are_counted(self) -> None:
        rig = Rig(percentage=10)
        rig.put(*(node(f"n{number}").capacity(cpu="1") for number in range(200)))
        found = evaluated(rig, pod("p").cpu("1"))
        assert (found.summary.nodes, found.summary.evaluated, found.not_evaluated) == (200, 100, 100)

    def test_a_pod_behind_a_gate_is_decided_on_as_if_there_were_none(self) -> None:
        gate = Gate("G")
        gate.answer = unresolvable("not yet")
        rig = Rig(gate)
        rig.put(node("n1"))
        found = evaluated(rig, pod("p"))
        assert (found.summary.result, found.summary.message, found.summary.node) == ("Gated", "not yet", "")
        assert found.feasible.names == ("n1",)


class TestWithoutConsequences:
    async def test_a_placed_pod_is_decided_on_as_if_it_were_not_there(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="1"), node("n2").capacity(cpu="1"), pod("p").cpu("1").on("n1"))
        placed = rig.state.pods.on_node("n1")[0]
        found = Evaluator(rig.scheduler).evaluate(placed).decision
        assert found.ties == ("n1", "n2")
        assert [pod.name for pod in rig.state.pods.on_node("n1")] == ["p"]

    async def test_the_scheduler_goes_on_as_if_nobody_had_asked(self) -> None:
        """The search for nodes begins where it would have begun, and chance falls as it would have fallen."""
        chosen = []
        for asks in (0, 3):
            rig = Rig(percentage=50)
            rig.put(*(node(f"n{number}").capacity(cpu="8") for number in range(150)))
            for number in range(10):
                for _ in range(asks):
                    evaluated(rig, pod("other").cpu("1"))
                rig.put(pod(f"p{number}").cpu("1"))
                await rig.run()
            chosen.append([rig.node_of(f"p{number}") for number in range(10)])
        assert chosen[0] == chosen[1]

    def test_no_metric_counts_it(self) -> None:
        rig = Rig()
        rig.put(node("n1"))
        before = rig.metrics.attempt_counts()
        evaluated(rig, pod("p"))
        assert rig.metrics.attempt_counts() == before

    def test_what_changes_are_tried_with_can_be_asked_about(self) -> None:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="1"), pod("there").cpu("1").on("n1"))
        evaluator = Evaluator(rig.scheduler)
        wanted = info(pod("p").cpu("1").scheduler(PROFILE), rig.state)
        assert evaluator.decide(wanted)[1] is not None
        with rig.state.what_if() as trial:
            trial.remove(rig.state.pods.on_node("n1")[0])
            assert evaluator.decide(wanted)[1] is None
        assert evaluator.decide(wanted)[1] is not None

    def test_chance_is_not_asked(self) -> None:
        rig = Rig()
        rig.put(node("n1"), node("n2"))
        before = random.getstate()
        evaluated(rig, pod("p"))
        assert random.getstate() == before


class TestWhyNot:
    def rig(self) -> Rig:
        rig = Rig()
        rig.put(node("n1").capacity(cpu="4").taint("gpu"))
        return rig

    def test_what_would_help_a_pod_without_a_node(self) -> None:
        rig = self.rig()
        found = Evaluator(rig.scheduler, rig.clock).explain(info(pod("p").cpu("1").scheduler(PROFILE), rig.state))
        assert found.why_not is not None
        assert found.why_not.sentence == "p does not fit on the only node: n1 is tainted gpu:NoSchedule"
        assert [help_.kind for help_ in found.why_not.helps] == ["tolerate", "removeTaint"]

    async def test_the_loop_goes_on_between_two_steps(self) -> None:
        rig, turns = self.rig(), 0

        async def counting() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(counting())
        waiting = info(pod("p").cpu("1").scheduler(PROFILE), rig.state)
        found = await Evaluator(rig.scheduler, rig.clock).explain_in_turns(waiting)
        beside.cancel()
        assert found.why_not is not None
        assert turns > 5

    def test_nothing_is_asked_of_a_pod_that_fits_or_is_there(self) -> None:
        rig = self.rig()
        rig.put(node("n2").capacity(cpu="4"))
        fits = info(pod("p").cpu("1").scheduler(PROFILE), rig.state)
        evaluator = Evaluator(rig.scheduler, rig.clock)
        assert evaluator.explain(fits).why_not is None
        placed = info(pod("q").cpu("9").scheduler(PROFILE).on("n2"), rig.state)
        rig.state.set_pod(placed)
        assert evaluator.explain(placed).why_not is None
