"""One attempt as it is kept: what is known of it at once, and what its binding cycle tells later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.cache.versions import Ledger
from scheduler.cycle.outcome import Failure
from scheduler.explain.keeping import details
from scheduler.explain.kept_record import FORGOTTEN, Record
from scheduler.explain.packing import Packer
from scheduler.framework.status import Code
from scheduler.framework.trace import Trace
from tests.builders import node, pod
from tests.cycle.rig import Rig

if TYPE_CHECKING:
    from scheduler.cycle.journal import Attempted
    from tests.builders import NodeBuilder, PodBuilder

NOW = 1_767_225_600.0
"""2026-01-01."""


class Keeper:
    """A journal that makes a record of each attempt and keeps them all."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.packer = Packer(self.ledger)
        self.attempts: list[Attempted] = []
        self.records: list[Record] = []

    def attempted(self, attempt: Attempted) -> None:
        kept = None
        if attempt.decision is not None and attempt.decision.begun:
            kept = details(attempt, attempt.decision, self.ledger, self.packer)
        self.attempts.append(attempt)
        self.records.append(Record(len(self.records) + 1, NOW, attempt, kept))


async def recorded(*objects: NodeBuilder | PodBuilder) -> list[Record]:
    keeper = Keeper()
    rig = Rig(journal=keeper)
    rig.put(*objects)
    await rig.run()
    return keeper.records


def small(name: str) -> NodeBuilder:
    return node(name).capacity(cpu="2", pods="10")


async def test_a_pod_that_was_placed() -> None:
    (record,) = await recorded(small("a"), small("b"), pod("p").uid("u").cpu("1"))
    summary = record.summary()
    assert (summary.id, summary.pod, summary.uid, summary.attempt) == (1, "default/p", "u", 1)
    assert (summary.result, summary.message) == ("Scheduled", "")
    assert summary.node in ("a", "b")
    assert (summary.nodes, summary.evaluated, summary.feasible) == (2, 2, 2)


async def test_its_time_is_when_the_pod_was_taken_up() -> None:
    keeper = Keeper()
    rig = Rig(journal=keeper)
    rig.put(small("a"), pod("p"))
    await rig.run()
    (attempt,) = keeper.attempts
    record = Record(1, NOW, attempt._replace(seconds=2.0), None)
    assert record.time == NOW - 2.0
    assert record.summary().time == "2025-12-31T23:59:58.000000Z"


async def test_a_pod_that_found_no_node() -> None:
    (record,) = await recorded(small("a"), pod("p").cpu("9"))
    assert (record.result, record.node, record.feasible) == ("Unschedulable", "", 0)
    assert record.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert record.turned_down_by("NodeResourcesFit")
    assert not record.turned_down_by("TaintToleration")


async def test_a_pod_that_was_refused_before_any_node_was_looked_at() -> None:
    (record,) = await recorded(small("a"), pod("p").volume("v", persistentVolumeClaim={"claimName": "none"}))
    assert (record.result, record.evaluated, record.feasible) == ("Unschedulable", 0, 0)
    assert record.turned_down_by("VolumeBinding") or record.turned_down_by("VolumeRestrictions")


class TestBindingCycle:
    """It goes on after the record was made, and says by itself how it ends."""

    async def begun(self) -> Record:
        (record,) = await recorded(small("a"), pod("p"))
        return record

    async def test_while_it_is_under_way_the_attempt_counts_as_a_success(self) -> None:
        record = await self.begun()
        record.trace.ended = False
        assert record.result == "Scheduled"
        assert record.view().under_way

    @pytest.mark.parametrize(("turned_down", "result"), [(True, "Unschedulable"), (False, "Error")])
    async def test_its_failure_is_the_attempts(self, turned_down: bool, result: str) -> None:
        record = await self.begun()
        record.trace.failure = (turned_down, "the server said no")
        assert (record.result, record.message) == (result, "the server said no")
        assert record.summary().result == result

    async def test_its_steps_are_shown_in_their_order(self) -> None:
        points = [step.point for step in (await self.begun()).view().steps]
        assert points == ["Reserve", "Bind"]

    async def test_whom_a_step_was_refused_by_is_among_those_who_turned_the_pod_down(self) -> None:
        record = await self.begun()
        record.trace = Trace()
        record.trace.step("Permit", 0.1, Code.SUCCESS, "Doorman")
        record.trace.step("Permit", 0.1, Code.UNSCHEDULABLE, "Gatekeeper", "not yet")
        assert record.turned_down_by("Gatekeeper")
        assert not record.turned_down_by("Doorman")


class TestMemory:
    async def test_what_it_takes_grows_with_what_is_told(self) -> None:
        placed, refused = await recorded(small("a"), pod("p").cpu("1").priority(1), pod("q").cpu("9"))
        assert refused.bytes - placed.bytes >= len(refused.message)

    async def test_victims_take_some_too(self) -> None:
        def full(*sizes: str) -> list[PodBuilder]:
            return [pod(f"low{place}").uid(f"low{place}").on("a").cpu(size) for place, size in enumerate(sizes)]

        one = (await recorded(small("a"), *full("2"), pod("high").cpu("2").priority(9)))[0]
        two = (await recorded(small("a"), *full("1", "1"), pod("high").cpu("2").priority(9)))[0]
        assert two.bytes > one.bytes

    async def test_without_its_details_the_nodes_are_gone_and_said_to_be(self) -> None:
        (record,) = await recorded(small("a"), pod("p"))
        whole = record.view()
        assert (whole.feasible.names, whole.incomplete) == (("a",), "")
        record.details, record.shed = None, True
        bare = record.view()
        assert (bare.feasible.names, bare.incomplete) == ((), FORGOTTEN)
        assert bare.summary == whole.summary
        assert bare.steps == whole.steps

    async def test_an_attempt_that_never_had_any_is_complete(self) -> None:
        (record,) = await recorded(small("a"), pod("p"))
        record.details = None
        assert record.view().incomplete == ""


async def test_victims_are_kept() -> None:
    records = await recorded(
        small("a"),
        pod("low").uid("low").on("a").cpu("2").priority(0),
        pod("high").uid("high").cpu("2").priority(9),
    )
    made_room = records[0].view().post_filter
    assert made_room is not None
    assert "low" in str(made_room.victims)
    assert records[0].summary().nominated_node == "a"


async def test_a_failure_without_a_decision_leaves_the_numbers_at_nothing() -> None:
    keeper = Keeper()
    rig = Rig(journal=keeper)
    rig.put(small("a"), pod("p"))
    await rig.run()
    (attempt,) = keeper.attempts
    failure: Any = Failure("SchedulerError", "it broke", frozenset())
    record = Record(2, NOW, attempt._replace(decision=None, failure=failure, node=""), None)
    assert (record.evaluated, record.feasible, record.nominated_path) == (0, 0, False)
    assert (record.result, record.message) == ("Error", "it broke")
    assert record.view().feasible.names == ()
