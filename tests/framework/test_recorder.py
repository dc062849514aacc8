"""What metrics hear of plugins."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import NodeNames, PostFilterResult
from scheduler.framework.recorder import PluginRecorder, ask, ask_async, code_of, skips
from scheduler.framework.status import SKIP, Code, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, pod, state
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Filter, Reserve, Score


def cycle_of(*, sampled=True):
    metrics = SchedulerMetrics()
    cluster = state()
    recorder = PluginRecorder(metrics, "p")
    return Cycle(info(pod("a"), cluster), cluster, "p", recorder=recorder, sampled=sampled), metrics


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, Code.SUCCESS),
        (SKIP, Code.SKIP),
        (NodeNames(frozenset()), Code.SUCCESS),
        ((unschedulable("no"), 0.0), Code.UNSCHEDULABLE),
        ((None, 0.0), Code.SUCCESS),
        (PostFilterResult(unschedulable("no")), Code.UNSCHEDULABLE),
        (np.zeros(3), Code.SUCCESS),
    ],
)
def test_the_code_of_whatever_a_plugin_answers(answer, code):
    assert code_of(answer) is code
    assert skips(answer) is (code is Code.SKIP)


def test_evaluations_are_counted_by_plugin_and_point():
    cycle, metrics = cycle_of()
    cycle.recorder.evaluated("Filter", "A", 5)
    cycle.recorder.evaluated("Filter", "A")
    assert metrics.plugin_evaluation.labels("A", "Filter", "p").value == 6


def test_plugins_that_were_never_asked_show_zero_at_the_points_that_are_counted():
    metrics = SchedulerMetrics()
    rig = Rig(Filter("A"), Score("B"), Reserve("C"))
    PluginRecorder(metrics, "p").expect(rig.scheduler.profiles[PROFILE])
    (family,) = [one for one in metrics.registry.collect() if one.name == "scheduler_plugin_evaluation"]
    shown = {(s.labels["plugin"], s.labels["extension_point"]): s.value for s in family.samples}
    assert shown == {("A", "Filter"): 0, ("B", "PreScore"): 0, ("B", "Score"): 0}


def test_points_are_timed_by_status():
    cycle, metrics = cycle_of()
    cycle.recorder.point("Reserve", Code.UNSCHEDULABLE, 0.5)
    series = metrics.framework_extension_point_duration.labels("Reserve", "Unschedulable", "p")
    assert (series.count, series.sum) == (1, 0.5)


def test_plugins_are_timed_in_sampled_cycles():
    cycle, metrics = cycle_of()
    assert ask(cycle, "PreFilter", "A", lambda x: SKIP, 1) is SKIP
    assert metrics.plugin_execution_duration.labels("A", "PreFilter", "Skip").count == 1


def test_what_raises_counts_as_an_error():
    cycle, metrics = cycle_of()

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(cycle, "PreFilter", "A", fail)
    assert metrics.plugin_execution_duration.labels("A", "PreFilter", "Error").count == 1


def test_in_other_cycles_plugins_are_only_asked():
    cycle, metrics = cycle_of(sampled=False)
    assert ask(cycle, "PreFilter", "A", lambda: 7) == 7
    assert metrics.plugin_execution_duration.labels("A", "PreFilter", "Success").count == 0


@pytest.mark.parametrize(("sampled", "count"), [(True, 1), (False, 0)])
async def test_plugins_that_take_their_time_are_timed_as_well(sampled, count):
    cycle, metrics = cycle_of(sampled=sampled)

    async def bind():
        return unschedulable("no")

    assert await ask_async(cycle, "Bind", "A", bind) == unschedulable("no")
    assert metrics.plugin_execution_duration.labels("A", "Bind", "Unschedulable").count == count


async def test_what_raises_after_a_time_counts_as_an_error():
    cycle, metrics = cycle_of()

    async def bind():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ask_async(cycle, "Bind", "A", bind)
    assert metrics.plugin_execution_duration.labels("A", "Bind", "Error").count == 1
