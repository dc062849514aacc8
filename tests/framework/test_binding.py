"""Running the PreBind, Bind and PostBind plugins."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from scheduler.framework.binding import run_bind, run_post_bind, run_pre_bind, run_pre_flights
from scheduler.framework.cycle import Cycle
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.status import SKIP, Code, PluginError, Status, error, unresolvable, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, pod, state
from tests.framework.stubs import Bind, PostBind, PreBind


def cycle_of(metrics=None):
    cluster = state()
    recorder = PluginRecorder(metrics, "p") if metrics is not None else None
    return Cycle(info(pod("a"), cluster), cluster, "p", recorder=recorder)


def flights(*answers):
    plugins = []
    for name, answer in zip("ABC", answers, strict=False):
        plugin = PreBind(name)
        plugin.flight = answer
        plugins.append(plugin)
    return run_pre_flights(plugins, cycle_of(), "n")


class TestPreFlight:
    @pytest.mark.parametrize(
        ("answers", "status", "active"), [([], SKIP, ""), ([SKIP, SKIP], SKIP, ""), ([SKIP, None, None], None, "BC")]
    )
    def test_those_with_work_to_do_are_named(self, answers, status, active):
        found = flights(*answers)
        assert found.status == status
        assert "".join(plugin.name for (plugin,) in found.active) == active

    @pytest.mark.parametrize(
        ("plugins", "groups"),
        [
            ("", []),
            ("A", ["A"]),
            ("-A", []),
            ("A*", ["A"]),
            ("-A*", []),
            ("A B", ["A", "B"]),
            ("A* B*", ["AB"]),
            ("A B* C* D", ["A", "BC", "D"]),
            ("A* B C*", ["A", "B", "C"]),
            ("A -B C", ["A", "C"]),
            ("A* -B* C*", ["AC"]),
            ("A* -B C*", ["A", "C"]),
            ("A B* -C D* -E* F* G H", ["A", "B", "DF", "G", "H"]),
        ],
    )
    def test_neighbours_that_may_work_in_parallel_work_together(self, plugins, groups):
        """Those with "*" may, those with "-" have nothing to do."""
        built = []
        for word in plugins.split():
            plugin = PreBind(word.strip("-*"))
            plugin.parallel = word.endswith("*")
            plugin.flight = SKIP if word.startswith("-") else None
            built.append(plugin)
        found = run_pre_flights(built, cycle_of(), "n").active
        assert ["".join(plugin.name for plugin in group) for group in found] == groups

    @pytest.mark.parametrize("answer", [error("boom"), PluginError("boom")])
    def test_an_error_ends_it(self, answer):
        assert flights(None, answer).status == error('running PreBindPreFlight "B": boom')

    def test_a_refusal_is_not_possible_here(self):
        assert flights(unschedulable("no")).status == error(
            'PreBindPreFlight A returned "Unschedulable", which is unsupported. '
            "It is supposed to return Success, Skip, or Error status"
        )


class TestPreBind:
    async def test_plugins_work_one_after_the_other(self):
        diary = []
        assert await run_pre_bind([[PreBind("A", None, diary)], [PreBind("B", None, diary)]], cycle_of(), "n") is None
        assert diary == ["prebind A", "prebind B"]

    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (unschedulable("no"), unschedulable("no").by("A")),
            (error("boom"), error('running PreBind plugin "A": boom').by("A")),
            (KeyError("boom"), error("running PreBind plugin \"A\": KeyError: 'boom'").by("A")),
        ],
    )
    async def test_the_first_that_does_not_succeed_ends_it(self, answer, status):
        diary = []
        assert await run_pre_bind([[PreBind("A", answer)], [PreBind("B", None, diary)]], cycle_of(), "n") == status
        assert diary == []

    @pytest.mark.parametrize(
        ("answers", "status", "asked"),
        [
            ([], None, ""),
            ([None], None, "A"),
            ([unresolvable("no")], unresolvable("no").by("A"), "A"),
            ([None, error("boom")], error('running PreBind plugin "B": boom').by("B"), "AB"),
            ([error("boom"), error("bang")], error('running PreBind plugin "A": boom').by("A"), "A"),
            ([unschedulable("no"), None], unschedulable("no").by("A"), "A"),
        ],
    )
    async def test_the_first_that_objects_decides(self, answers, status, asked):
        diary = []
        groups = [[PreBind(name, answer, diary)] for name, answer in zip("ABC", answers, strict=False)]
        assert await run_pre_bind(groups, cycle_of(), "n") == status
        assert diary == [f"prebind {name}" for name in asked]

    @staticmethod
    def waiting_for(name, event, diary, answer=None):
        plugin = PreBind(name, answer, diary)
        plugin.wait = event.wait
        return plugin

    async def test_plugins_together_all_begin_before_any_ends(self):
        diary, go = [], asyncio.Event()
        group = [self.waiting_for(name, go, diary) for name in "AB"]
        work = asyncio.create_task(run_pre_bind([group, [PreBind("C", None, diary)]], cycle_of(), "n"))
        await asyncio.sleep(0.01)
        assert diary == ["prebind A", "prebind B"]
        go.set()
        assert await work is None
        assert diary[2:] == ["prebind C"]

    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (unschedulable("no"), unschedulable("no").by("B")),
            (error("boom"), error('running PreBind plugin "B": boom').by("B")),
        ],
    )
    async def test_one_that_does_not_succeed_calls_the_others_off(self, answer, status):
        diary, never = [], asyncio.Event()
        group = [self.waiting_for("A", never, diary), PreBind("B", answer, diary)]
        assert await run_pre_bind([group, [PreBind("C", None, diary)]], cycle_of(), "n") == status
        assert diary == ["prebind A", "prebind B"]

    async def test_all_are_called_off_with_the_pod(self):
        ended, never = [], asyncio.Event()

        class Noting(PreBind):
            async def pre_bind(self, cycle, node):
                try:
                    await never.wait()
                finally:
                    ended.append(self.name)

        work = asyncio.create_task(run_pre_bind([[Noting("A"), Noting("B")]], cycle_of(), "n"))
        await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert sorted(ended) == ["A", "B"]

    @pytest.mark.parametrize("names", ["A", "AB"])
    async def test_called_off_with_a_message_a_plugin_fails_with_it(self, names):
        never = asyncio.Event()
        work = asyncio.create_task(
            run_pre_bind([[self.waiting_for(name, never, []) for name in names]], cycle_of(), "n")
        )
        await asyncio.sleep(0.01)
        work.cancel("make room")
        assert await work == error('running PreBind plugin "A": make room').by("A")

    async def test_unless_they_get_done_nevertheless(self):
        never = asyncio.Event()

        class Stubborn(PreBind):
            async def pre_bind(self, cycle, node):
                with contextlib.suppress(asyncio.CancelledError):
                    await never.wait()

        work = asyncio.create_task(run_pre_bind([[Stubborn("A"), Stubborn("B")]], cycle_of(), "n"))
        await asyncio.sleep(0.01)
        work.cancel("make room")
        assert await work is None


class TestBind:
    async def test_the_first_that_does_not_skip_has_bound_the_pod(self):
        diary = []
        plugins = [Bind("A", SKIP, diary), Bind("B", None, diary), Bind("C", None, diary)]
        assert await run_bind(plugins, cycle_of(), "n") is None
        assert diary == ["bind A", "bind B"]

    @pytest.mark.parametrize("plugins", [[], [Bind("A", SKIP)]])
    async def test_if_all_skip_the_pod_is_not_bound(self, plugins):
        assert (await run_bind(plugins, cycle_of(), "n")).code is Code.SKIP

    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (unschedulable("no"), unschedulable("no").by("A")),
            (error("boom"), error('running Bind plugin "A": boom').by("A")),
            (PluginError("boom"), error('running Bind plugin "A": boom').by("A")),
            (Status(Code.WAIT, ("odd",)), error('running Bind plugin "A": odd').by("A")),
        ],
    )
    async def test_what_went_wrong_is_told(self, answer, status):
        assert await run_bind([Bind("A", answer)], cycle_of(), "n") == status

    @pytest.mark.parametrize(
        ("answers", "status", "asked"),
        [
            ([None], None, "A"),
            ([SKIP, None], None, "AB"),
            ([SKIP, None, error("boom")], None, "AB"),
            ([None, error("boom")], None, "A"),
            ([SKIP, SKIP, SKIP], SKIP, "ABC"),
            ([SKIP, error("boom"), None], error('running Bind plugin "B": boom').by("B"), "AB"),
            ([error("boom"), None], error('running Bind plugin "A": boom').by("A"), "A"),
            ([unschedulable("no"), None], unschedulable("no").by("A"), "A"),
            ([SKIP, unresolvable("no"), None], unresolvable("no").by("B"), "AB"),
        ],
    )
    async def test_the_first_that_does_not_skip_decides(self, answers, status, asked):
        diary = []
        plugins = [Bind(name, answer, diary) for name, answer in zip("ABC", answers, strict=False)]
        assert await run_bind(plugins, cycle_of(), "n") == status
        assert diary == [f"bind {name}" for name in asked]


class TestPostBind:
    def test_all_are_told_even_if_one_fails(self):
        diary = []
        run_post_bind([PostBind("A", ValueError(), diary), PostBind("B", None, diary)], cycle_of(), "n")
        assert diary == ["postbind A n", "postbind B n"]


async def test_the_points_are_timed_by_how_they_ended():
    metrics = SchedulerMetrics()
    cycle = cycle_of(metrics)
    run_pre_flights([], cycle, "n")
    await run_pre_bind([], cycle, "n")
    await run_bind([Bind("A", error("boom"))], cycle, "n")
    run_post_bind([], cycle, "n")
    family = metrics.framework_extension_point_duration
    for point, status in (
        ("PreBindPreFlight", "Skip"),
        ("PreBind", "Success"),
        ("Bind", "Error"),
        ("PostBind", "Success"),
    ):
        assert family.labels(point, status, "p").count == 1
