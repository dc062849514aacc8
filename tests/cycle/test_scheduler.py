"""The cycle: from the queue to a decision, and what follows from it."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from collections import Counter

import pytest

from scheduler.cycle import scheduler as module
from scheduler.framework.interface import PostFilterResult
from scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Filter, Permit, PostFilter, PreFilter, PreScore, Reserve, Score

NO = unschedulable("no")
FULL = {"n": NO}


async def outcome_of(*plugins, pods=(), nodes=("n",), **more):
    rig = Rig(*plugins, **more)
    rig.put(*(node(name) for name in nodes))
    rig.put(*(pods or [pod("p")]))
    await rig.step()
    return rig


class TestDecision:
    async def test_the_best_node_is_taken(self):
        rig = await outcome_of(Score("S", {"b": 5}), nodes="abc")
        assert rig.node_of("p") == "b"

    async def test_a_tie_is_broken_at_random_among_the_best_only(self):
        found = Counter()
        for seed in range(40):
            rig = Rig(Score("S", {"a": 5, "c": 5}))
            rig.scheduler._random = random.Random(seed)
            rig.put(*(node(name) for name in "abc"), pod("p"))
            await rig.step()
            found[rig.node_of("p")] += 1
        assert set(found) == {"a", "c"}

    async def test_with_one_seed_all_goes_the_same_way(self):
        async def run():
            rig = Rig(Score("S"))
            rig.put(*(node(f"n{i}") for i in range(9)), *(pod(f"p{i}") for i in range(20)))
            await rig.run()
            return [rig.node_of(f"p{i}") for i in range(20)]

        assert await run() == await run()

    @pytest.mark.parametrize("pod_name", ["fits", "stays"])
    async def test_nothing_of_an_attempt_waits_for_the_garbage_collector(self, pod_name):
        rig = Rig(Filter("A", {} if pod_name == "fits" else FULL))
        rig.put(node("n"), pod(pod_name))
        left = []
        rig.scheduler._decided = lambda _entry, decision, _failure, _node: left.append(weakref.ref(decision.rejections))
        gc.collect()
        gc.disable()
        try:
            await rig.step()
            assert [reference() for reference in left] == [None]
        finally:
            gc.enable()

    async def test_where_no_pod_is_ready_there_is_nothing_to_do(self):
        assert not await Rig(Filter("A")).step()


class TestFailure:
    async def test_without_nodes(self):
        rig = await outcome_of(Filter("A"), nodes=(), pods=[pod("p").nominated("gone")])
        condition = rig.condition("p")
        assert (condition.reason, condition.message) == ("Unschedulable", "no nodes available to schedule pods")
        assert rig.where("p") == "backoff"
        assert rig.pod("p").status.nominated_node_name == ""
        assert rig.metrics.schedule_attempts.labels("unschedulable", PROFILE).value == 1

    async def test_where_no_node_fits(self):
        rig = await outcome_of(Filter("A", FULL), pods=[pod("p").nominated("gone")])
        assert (rig.condition("p").reason, rig.condition("p").message) == (
            "Unschedulable",
            "0/1 nodes are available: 1 no.",
        )
        assert rig.where("p") == "unschedulable"
        assert rig.pod("p").status.nominated_node_name == ""

    async def test_who_expects_to_let_the_pod_go_is_kept_apart(self):
        rig = await outcome_of(Filter("A", {"n": Status(Code.PENDING, ("soon",))}))
        entry = rig.queue.get("default", "p")
        assert (entry.unschedulable_plugins, entry.pending_plugins) == ({"A"}, {"A"})

    @pytest.mark.parametrize(
        ("plugin", "message"),
        [
            (PreFilter("A", error("boom")), 'running PreFilter plugin "A": boom'),
            (PreFilter("A", PluginError("boom")), "boom"),
            (PreFilter("A", KeyError("boom")), "KeyError: 'boom'"),
            (Filter("A", {"n": error("boom")}), 'running "A" filter plugin: boom'),
            (PreScore("A", error("boom")), 'running PreScore plugin "A": boom'),
            (Reserve("A", error("boom")), 'running Reserve plugin "A": boom'),
            (Permit("A", error("boom")), 'running Permit plugin "A": boom'),
        ],
    )
    async def test_an_error_is_a_scheduler_error_and_the_pod_is_tried_again(self, plugin, message):
        # The second node fits and is scored, so that PreScore is reached.
        rig = await outcome_of(plugin, Score("S"), nodes="nm")
        condition = rig.condition("p")
        assert (condition.reason, condition.message) == ("SchedulerError", message)
        assert rig.where("p") == "backoff"
        assert len(rig.state.assumed) == 0

    @pytest.mark.parametrize("plugin", [Reserve("A", unresolvable("no")), Permit("A", unschedulable("no"))])
    async def test_a_refusal_after_a_node_was_found_reads_as_if_it_were_the_only_one(self, plugin):
        rig = await outcome_of(plugin, nodes="nm")
        assert (rig.condition("p").reason, rig.condition("p").message) == (
            "Unschedulable",
            "0/1 nodes are available: 1 no.",
        )
        assert rig.queue.get("default", "p").rejectors == {"A"}
        assert len(rig.state.assumed) == 0

    async def test_reservations_are_taken_back_in_reverse(self):
        diary = []
        await outcome_of(Reserve("A", None, diary), Reserve("B", NO, diary), Reserve("C", None, diary))
        assert diary == ["reserve A", "reserve B", "unreserve C", "unreserve B", "unreserve A"]

    async def test_a_pod_that_is_on_a_node_already_is_not_assumed_again(self):
        rig = Rig(Filter("A"))
        rig.put(node("n"), pod("p"))
        entry = rig.queue.pop()
        rig.queue.done(entry.pod.uid)
        rig.queue.add(entry.pod)
        rig.state.set_pod(entry.pod.on("n"))
        await rig.step()
        assert rig.outcomes[-1][1].message.startswith("pod default/p")


class TestPostFilter:
    async def test_its_message_follows_the_reasons(self):
        rig = await outcome_of(Filter("A", FULL), PostFilter("X", unschedulable("nothing helps")))
        assert rig.condition("p").message == "0/1 nodes are available: 1 no. nothing helps"

    async def test_the_node_that_it_makes_room_on_is_kept_for_the_pod(self):
        made = PostFilterResult(Status(Code.SUCCESS, ("made room",)), "n")
        rig = await outcome_of(Filter("A", FULL), PostFilter("X", made))
        assert rig.condition("p").message == "0/1 nodes are available: 1 no. made room"
        assert rig.pod("p").status.nominated_node_name == "n"
        assert rig.state.nominations.node_of(rig.pod("p").metadata.uid) == "n"

    async def test_if_it_says_nothing_of_the_nomination_that_stays(self):
        rig = await outcome_of(Filter("A", FULL), PostFilter("X", NO), pods=[pod("p").nominated("gone")])
        assert rig.pod("p").status.nominated_node_name == "gone"

    async def test_its_failure_leaves_the_pod_unschedulable(self):
        rig = await outcome_of(Filter("A", FULL), PostFilter("X", KeyError("boom")))
        assert (rig.condition("p").reason, rig.condition("p").message) == (
            "Unschedulable",
            "0/1 nodes are available: 1 no. KeyError: 'boom'",
        )

    async def test_it_sees_why_each_node_was_turned_down(self):
        seen = []

        class Looking(PostFilter):
            def post_filter(self, cycle):
                seen.append(cycle.rejections.statuses())
                return PostFilterResult(NO)

        await outcome_of(Filter("A", FULL), Looking("X"))
        assert seen == [{0: NO.by("A")}]

    async def test_it_is_not_asked_after_an_error(self):
        diary = []
        await outcome_of(Filter("A", {"n": error("boom")}), PostFilter("X", NO, diary))
        assert diary == []


class TestSkippedPods:
    async def test_a_pod_that_is_being_deleted_is_not_tried(self):
        rig = await outcome_of(Filter("A"), pods=[pod("p").terminating()])
        assert rig.notes() == ["skip schedule deleting pod: default/p"]
        assert rig.node_of("p") == ""
        assert (len(rig.queue.in_flight), rig.outcomes) == (0, [])

    async def test_nor_is_one_that_has_its_node_already(self):
        rig = Rig(Filter("A"))
        rig.put(node("n"), pod("p"))
        entry = rig.queue.pop()
        rig.queue.done(entry.pod.uid)
        rig.queue.add(entry.pod)
        rig.state.assume(entry.pod, "n")
        await rig.step()
        assert (rig.outcomes, len(rig.queue.in_flight)) == ([], 0)


class TestHooks:
    async def test_each_attempt_is_told_with_its_outcome(self):
        rig = Rig(Filter("A", {}))
        rig.put(node("n"), pod("p"))
        await rig.step()
        rig.scheduler.profiles[PROFILE].filter[0].answer = FULL
        rig.put(pod("q"))
        await rig.step()
        told = [(name, failure and failure.message, where) for name, failure, where in rig.outcomes]
        assert told == [("p", None, "n"), ("q", "0/1 nodes are available: 1 no.", "")]
        assert all(decision is not None for decision in rig.decisions)

    @pytest.mark.parametrize(
        ("plugin", "there"),
        [(PreFilter("A", error("boom")), False), (Filter("A", {"n": error("boom")}), True)],
    )
    async def test_there_is_a_decision_once_pre_filter_has_answered(self, plugin, there):
        rig = await outcome_of(plugin)
        assert (rig.decisions[0] is not None) is there

    async def test_a_decision_is_checked_before_it_takes_effect(self):
        def check(profile, checked_pod, decision):
            assert len(decision.cycle.state.pods) == 0
            raise RuntimeError("wrong")

        rig = await outcome_of(Filter("A"), checked=check)
        assert rig.node_of("p") == ""
        assert rig.condition("p").message == "RuntimeError: wrong"

    async def test_that_no_node_fits_is_checked_before_any_room_is_made(self):
        diary = []
        rig = await outcome_of(
            Filter("A", FULL),
            PostFilter("X", NO, diary),
            checked=lambda *told: diary.append(len(told[2].feasible)),
        )
        assert diary == [0, "X"]
        assert rig.where("p") == "unschedulable"


class TestLoop:
    async def test_it_schedules_what_comes_until_it_is_stopped(self):
        rig = Rig(Filter("A"))
        rig.put(node("n"))
        loop = asyncio.create_task(rig.scheduler.run())
        await asyncio.sleep(0)
        rig.put(pod("a"), pod("b"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert (rig.node_of("a"), rig.node_of("b")) == ("n", "n")
        rig.scheduler.stop()
        await loop
        rig.put(pod("c"))
        await asyncio.sleep(0)
        assert rig.node_of("c") == ""

    async def test_it_tells_how_many_were_tried_without_a_pause_and_how_long_a_bind_took(self):
        rig = Rig(Filter("A"))
        told: list[int] = []
        bound: list[float] = []
        rig.scheduler.pace(tried=told.append, bound=bound.append)
        rig.put(node("n"), pod("a"), pod("b"))
        loop = asyncio.create_task(rig.scheduler.run())
        await asyncio.sleep(0)
        rig.put(pod("c"))
        for _ in range(5):
            await asyncio.sleep(0)
        rig.scheduler.stop()
        await loop
        assert told == [2, 1]
        assert len(bound) == 3
        assert all(0 < seconds < 60 for seconds in bound)

    async def test_other_work_has_its_turn_between_slices(self, monkeypatch):
        monkeypatch.setattr(module, "TIME_SLICE", 0.0)
        rig = Rig(Filter("A"))
        rig.put(node("n"), *(pod(f"p{i}") for i in range(5)))
        turns = 0

        async def other():
            nonlocal turns
            while len(rig.queue):
                turns += 1
                await asyncio.sleep(0)

        loop = asyncio.create_task(rig.scheduler.run())
        await other()
        rig.scheduler.stop()
        await loop
        assert turns >= 5

    async def test_binding_cycles_that_have_begun_can_be_waited_for(self):
        rig = Rig(Permit("P", (Status(Code.WAIT), 600.0)))
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        assert rig.scheduler.binding == 1
        assert await rig.scheduler.settle(0.001) == 1
        rig.scheduler.waiting.get(rig.pod("p").metadata.uid).allow("P")
        assert await rig.scheduler.settle() == 0


class TestMetrics:
    async def test_points_and_evaluations(self):
        rig = await outcome_of(
            PreFilter("F"), Filter("A", {"n": NO}), Filter("B"), Score("S"), Reserve("R"), Permit("P"), nodes="nmo"
        )
        durations, evaluations = rig.metrics.framework_extension_point_duration, rig.metrics.plugin_evaluation
        for point in ("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"):
            assert durations.labels(point, "Success", PROFILE).count == 1, point
        assert durations.labels("PreBindPreFlight", "Skip", PROFILE).count == 1
        counts = {key: series.value for key, series in evaluations._series.items()}
        assert counts == {
            ("F", "PreFilter", PROFILE): 1,
            ("A", "Filter", PROFILE): 3,
            ("B", "Filter", PROFILE): 2,
            ("S", "PreScore", PROFILE): 1,
            ("S", "Score", PROFILE): 2,
        }

    @pytest.mark.parametrize(("chance", "count"), [(0.05, 1), (0.5, 0)])
    async def test_plugins_are_timed_in_a_tenth_of_the_cycles(self, monkeypatch, chance, count):
        monkeypatch.setattr(module.random, "random", lambda: chance)
        rig = await outcome_of(PreFilter("F"), Filter("A"), Score("S"), Reserve("R"), nodes="nm")
        for plugin, point in (("F", "PreFilter"), ("A", "Filter"), ("S", "Score"), ("DefaultBinder", "Bind")):
            assert rig.metrics.plugin_execution_duration.labels(plugin, point, "Success").count == count

    async def test_the_algorithm_is_timed_with_all_that_follows_a_misfit(self):
        rig = await outcome_of(Filter("A", FULL), PostFilter("X", NO))
        assert rig.metrics.scheduling_algorithm_duration.labels().count == 1
        assert rig.metrics.framework_extension_point_duration.labels("PostFilter", "Unschedulable", PROFILE).count == 1
        assert rig.metrics.cycle_cpu.labels(PROFILE).count == 1
