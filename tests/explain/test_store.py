"""The records of the last attempts, in bounded memory."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from typing import Any

import pytest

from scheduler.explain.kept_record import FORGOTTEN
from scheduler.explain.store import RecordStore
from scheduler.framework.status import Code, Status, error, unschedulable
from tests.builders import NodeBuilder, PodBuilder, node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Filter, Permit, PreBind


class Recorded(Rig):
    """A rig whose attempts are recorded."""

    def __init__(self, *plugins: Any, limit: int = 1000, max_bytes: int = 64 << 20, **more: Any) -> None:
        self.store = RecordStore(limit, max_bytes, clock=lambda: 1000.0)
        super().__init__(*plugins, journal=self.store, **more)
        self.store.watch(self.scheduler)

    async def schedule(self, *items: PodBuilder | NodeBuilder) -> None:
        self.put(*items)
        await self.run()

    def told(self, **filters: Any) -> list[str]:
        return [summary.pod.removeprefix("default/") for summary in self.store.recent(**filters).items]


async def some_pods(rig: Recorded, count: int, cpu: str = "1m", first: int = 0) -> None:
    for number in range(first, first + count):
        await rig.schedule(pod(f"p{number}").cpu(cpu))


class TestReading:
    async def test_the_newest_come_first_page_by_page(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n").capacity(cpu="8"))
        await some_pods(rig, 5)
        page = rig.store.recent(2)
        assert [summary.pod for summary in page.items] == ["default/p4", "default/p3"]
        page = rig.store.recent(2, before=page.before)
        assert [summary.pod for summary in page.items] == ["default/p2", "default/p1"]
        page = rig.store.recent(2, before=page.before)
        assert ([summary.pod for summary in page.items], page.before) == (["default/p0"], None)

    async def test_they_are_filtered(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n").capacity(cpu="1"), pod("small").cpu("1m"), pod("large").cpu("4"))
        assert (
            rig.told(result="Unschedulable") == rig.told(plugin="NodeResourcesFit") == rig.told(pod="lar") == ["large"]
        )
        assert rig.told(node="n") == rig.told(result="Scheduled") == rig.told(pod="default/small") == ["small"]
        assert rig.told(plugin="TaintToleration") == []

    async def test_one_is_found_by_its_id_and_the_last_of_a_pod_by_its_name(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n").capacity(cpu="1"), pod("p").cpu("4"))
        await rig.schedule(node("m").capacity(cpu="8"))
        rig.clock.advance(10)
        rig.queue.flush_backoff()
        await rig.run()
        latest = rig.store.latest("default", "p")
        assert latest is not None
        assert (latest.summary.id, latest.summary.attempt, latest.summary.node) == (2, 2, "m")
        first = rig.store.get(1)
        assert first is not None
        assert (first.summary.result, first.summary.message[:26]) == ("Unschedulable", "0/1 nodes are available: 1")
        assert rig.store.get(3) is None
        assert rig.store.latest("default", "stranger") is None

    async def test_what_happened_to_it_in_the_queue_is_known_when_it_is_placed(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n"), pod("p"))
        assert [entry.what for entry in rig.store.history("default", "p")] == ["Added", "Popped", "Bound"]


class TestSteps:
    async def test_all_steps_up_to_the_bound_pod_are_told(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n"), node("m"), pod("p"))
        view = rig.store.latest("default", "p")
        assert view is not None
        points = [(step.point, step.plugin) for step in view.steps]
        assert points[:4] == [("PreFilter", ""), ("Filter", ""), ("PreScore", ""), ("Score", "")]
        assert points[-1] == ("Bind", "DefaultBinder")
        assert (view.under_way, view.summary.result, view.incomplete) == (False, "Scheduled", "")

    async def test_a_binding_cycle_that_goes_on_says_so(self) -> None:
        rig = Recorded()
        rig.put(node("n"), pod("p"))
        assert rig.scheduler.schedule_next()
        view = rig.store.latest("default", "p")
        assert view is not None
        assert view.under_way
        await rig.scheduler.settle()

    async def test_a_binding_cycle_that_fails_makes_the_attempt_fail(self) -> None:
        plugin = PreBind("P")
        plugin.answer = error("disk is gone")
        rig = Recorded(plugin)
        rig.put(node("n"), pod("p"))
        await rig.step()
        view = rig.store.latest("default", "p")
        assert view is not None
        assert (view.summary.result, view.summary.node) == ("Error", "n")
        assert "disk is gone" in view.summary.message
        assert [(step.plugin, step.code) for step in view.steps if step.point == "PreBind"] == [("P", "Error")]

    async def test_the_wait_for_permission_is_a_step(self) -> None:
        plugin = Permit("G")
        plugin.answer = Status(Code.WAIT), 60.0
        rig = Recorded(plugin)
        rig.put(node("n"), pod("p"))
        assert rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        (waiting,) = rig.scheduler.waiting
        waiting.reject("G", "not today")
        await rig.scheduler.settle()
        view = rig.store.latest("default", "p")
        assert view is not None
        assert [(s.code, s.timeouts) for s in view.steps if s.point == "Permit"] == [("Wait", {"G": 60.0})]
        assert [(s.code, s.error) for s in view.steps if s.point == "WaitOnPermit"] == [("Unschedulable", "not today")]
        assert view.summary.result == "Unschedulable"

    async def test_preemption_tells_its_victims_and_alternatives(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n").capacity(cpu="1"), node("m").capacity(cpu="1"))
        await rig.schedule(pod("a").cpu("1"), pod("b").cpu("1"))
        rig.put(pod("vip").cpu("1").priority(10))
        await rig.step()
        views = [view for number in range(1, 9) if (view := rig.store.get(number)) is not None]
        made_room = [view for view in views if view.post_filter is not None and view.post_filter.victims]
        assert made_room[0].summary.nominated_node in ("n", "m")
        assert made_room[0].post_filter is not None
        assert {eviction.node for eviction in made_room[0].post_filter.candidates} == {"n", "m"}


class TestBounds:
    async def test_the_oldest_go_when_there_are_too_many(self) -> None:
        rig = Recorded(limit=3)
        await rig.schedule(node("n").capacity(cpu="8"))
        await some_pods(rig, 5)
        assert (rig.told(), len(rig.store)) == (["p4", "p3", "p2"], 3)
        assert rig.store.get(1) is None
        assert rig.store.latest("default", "p0") is None

    async def test_the_last_attempt_of_a_waiting_pod_stays_whole(self) -> None:
        rig = Recorded(limit=3)
        await rig.schedule(node("n").capacity(cpu="8"), pod("huge").cpu("100"))
        await some_pods(rig, 20)
        view = rig.store.latest("default", "huge")
        assert view is not None
        assert [group.plugin for group in view.rejected] == ["NodeResourcesFit"]
        assert rig.store.get(view.summary.id) == view
        assert (rig.told()[-1], len(rig.store)) == ("huge", 4)

    async def test_until_it_is_tried_again(self) -> None:
        rig = Recorded(limit=3)
        await rig.schedule(node("n").capacity(cpu="8"), pod("huge").cpu("100"))
        await some_pods(rig, 20)
        rig.clock.advance(600)
        rig.queue.flush_unschedulable()
        await rig.run()
        assert len(rig.store) == 3
        assert rig.told(pod="huge") == ["huge"]

    async def test_or_goes(self) -> None:
        rig = Recorded(limit=3)
        huge = pod("huge").cpu("100")
        await rig.schedule(node("n").capacity(cpu="8"), huge, pod("too").cpu("100"))
        await some_pods(rig, 5)
        rig.delete(huge)
        for number in range(4):
            await rig.schedule(pod(f"large-{number}").cpu("100"))
            await some_pods(rig, 4, first=10 + 4 * number)
        assert rig.store.latest("default", "huge") is None
        assert rig.store.latest("default", "too") is not None

    async def test_where_memory_runs_out_older_ones_lose_nodes_and_scores_first(self) -> None:
        rig = Recorded(max_bytes=60_000)
        await rig.schedule(*(node(f"n{number}").capacity(cpu="8") for number in range(50)))
        await some_pods(rig, 40)
        assert rig.store.bytes <= 60_000
        oldest, newest = rig.store.recent(1000).items[-1], rig.store.recent(1).items[0]
        first, last = rig.store.get(oldest.id), rig.store.get(newest.id)
        assert first is not None
        assert last is not None
        assert (first.incomplete, first.feasible.names, first.summary.feasible) == (FORGOTTEN, (), 50)
        assert first.steps
        assert (last.incomplete, len(last.feasible.names)) == ("", 50)

    async def test_and_go_when_that_is_not_enough(self) -> None:
        rig = Recorded(max_bytes=20_000)
        await rig.schedule(node("n").capacity(cpu="8"))
        await some_pods(rig, 100)
        assert rig.store.bytes <= 20_000
        assert 3 <= len(rig.store) < 20
        assert rig.told()[0] == "p99"

    async def test_a_profile_that_was_replaced_is_not_kept_alive_but_its_records_are_good(self) -> None:
        rig = Recorded()
        await rig.schedule(node("n").capacity(cpu="8"), node("m").capacity(cpu="8"), pod("p").cpu("1"))
        before = rig.store.get(1)
        profile = rig.scheduler.profiles["default-scheduler"]
        profile.remake = None  # the twin has the same plugins, and nothing remembered
        rig.scheduler.change_profile(profile.on(rig.state))
        await rig.schedule(pod("q").cpu("1"))
        assert rig.store.get(1) == before

    @pytest.mark.parametrize("nodes", [20, 1000])
    async def test_the_memory_told_is_the_memory_taken(self, nodes: int) -> None:
        """As tracemalloc measures what is freed with the store, within a third."""
        rig = Recorded()
        await rig.schedule(*(node(f"n{number}").capacity(cpu="64") for number in range(nodes)))
        tracemalloc.start()
        try:
            for number in range(300):
                template = pod(f"p{number}").cpu(f"{number % 7 + 1}m")
                await rig.schedule(template.spreads("kubernetes.io/hostname", soft=True) if number % 3 else template)
                rig.outcomes.clear()
                rig.decisions.clear()
            gc.collect()
            told, before = rig.store.bytes, tracemalloc.get_traced_memory()[0]
            forget(rig.store)
            gc.collect()
            taken = before - tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert rig.store.bytes < told / 20
        assert 2 / 3 < told / taken < 4 / 3


def forget(store: RecordStore) -> None:
    """Let all records go."""
    while store._ring:
        store._evict()
    store._packer.clear()


async def test_users_plugins_are_recorded_as_well() -> None:
    plugin = Filter("F")
    plugin.answer = {"n": unschedulable("not here")}
    rig = Recorded(plugin)
    await rig.schedule(node("n"), node("m"), pod("p"))
    view = rig.store.latest("default", "p")
    assert view is not None
    assert [(group.plugin, group.reasons, group.nodes) for group in view.rejected] == [("F", ("not here",), ("n",))]
