"""Running the PreBind, Bind and PostBind plugins."""

from __future__ import annotations

import pytest

from scheduler.framework.binding import run_bind, run_post_bind, run_pre_bind, run_pre_flights
from scheduler.framework.cycle import Cycle
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.status import SKIP, Code, PluginError, Status, error, unschedulable
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
        assert "".join(plugin.name for plugin in found.active) == active

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
        assert await run_pre_bind([PreBind("A", None, diary), PreBind("B", None, diary)], cycle_of(), "n") is None
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
        assert await run_pre_bind([PreBind("A", answer), PreBind("B", None, diary)], cycle_of(), "n") == status
        assert diary == []


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
