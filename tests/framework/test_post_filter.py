"""Running the PostFilter plugins."""

from __future__ import annotations

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PostFilterResult
from scheduler.framework.post_filter import run_post_filters
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from scheduler.framework.trace import Trace
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, pod, state
from tests.framework.stubs import PostFilter

NO = unschedulable("no")
DONE = Status(Code.SUCCESS, ("made room",))


def result(status, node):
    return PostFilterResult(status, node)


def run(*answers):
    cluster, diary = state(), []
    cycle = Cycle(info(pod("p"), cluster), cluster, "p")
    plugins = [PostFilter(name, answer, diary) for name, answer in zip("ABC", answers, strict=False)]
    return run_post_filters(plugins, cycle), diary


@pytest.mark.parametrize(
    ("answers", "outcome", "asked"),
    [
        ([NO, unschedulable("nor here")], (Code.UNSCHEDULABLE, "no, nor here", None), "AB"),
        ([NO, result(DONE, "n"), NO], (Code.SUCCESS, "made room", "n"), "AB"),
        ([unresolvable("never"), NO], (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never", None), "A"),
        ([NO, error("boom"), NO], (Code.ERROR, "boom", None), "AB"),
        ([PluginError("boom"), NO], (Code.ERROR, "boom", None), "A"),
        ([KeyError("boom"), NO], (Code.ERROR, "KeyError: 'boom'", None), "A"),
        ([Status(Code.SKIP, ("odd",))], (Code.ERROR, "odd", None), "A"),
        ([DONE], (Code.SUCCESS, "made room", None), "A"),
        ([DONE, NO], (Code.SUCCESS, "made room", None), "A"),
        ([error("boom"), DONE], (Code.ERROR, "boom", None), "A"),
        ([NO, unresolvable("never")], (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never", None), "AB"),
    ],
    ids=[
        "none helps",
        "one helps",
        "nothing will",
        "error",
        "plugin error",
        "exception",
        "unexpected",
        "the only one helps",
        "the first helps",
        "the first fails",
        "the second knows that nothing will",
    ],
)
def test_plugins_are_asked_until_one_decides(answers, outcome, asked):
    found, diary = run(*answers)
    assert (found.code, found.message, found.nominated_node) == outcome
    assert "".join(diary) == asked


@pytest.mark.parametrize(
    ("nodes", "nominated"), [((None, None), None), (("", None), ""), (("n", ""), ""), (("n", None), "n")]
)
def test_the_last_word_about_the_nomination_counts(nodes, nominated):
    found, _ = run(*(result(NO, node) for node in nodes))
    assert found.nominated_node == nominated


def test_the_first_to_turn_the_pod_down_is_told_with_the_last_answer():
    made = result(DONE, "n")
    found, _ = run(NO, made)
    assert (found.plugin, found.result) == ("", made)
    found, _ = run(NO, unschedulable("nor here"))
    assert (found.plugin, found.result) == ("A", result(unschedulable("nor here"), None))


def test_the_step_is_told_of_the_plugin_that_gave_a_reason():
    cluster, trace = state(), Trace()
    cycle = Cycle(info(pod("p"), cluster), cluster, "p", trace=trace)
    plugins = [PostFilter("A", Status(Code.UNSCHEDULABLE)), PostFilter("B", unschedulable("no victims"))]
    found = run_post_filters(plugins, cycle)
    assert (found.plugin, found.speaker) == ("A", "B")
    assert [key for key, _ in trace.steps()] == [("PostFilter", "B", Code.UNSCHEDULABLE, "no victims")]


def test_the_outcome_stays_with_the_cycle():
    cluster = state()
    cycle = Cycle(info(pod("p"), cluster), cluster, "p")
    found = run_post_filters([PostFilter("A", NO)], cycle)
    assert cycle.post_filter is found


def test_the_point_is_timed():
    cluster, metrics = state(), SchedulerMetrics()
    cycle = Cycle(info(pod("p"), cluster), cluster, "p", recorder=PluginRecorder(metrics, "p"))
    run_post_filters([PostFilter("A", NO)], cycle)
    assert metrics.framework_extension_point_duration.labels("PostFilter", "Unschedulable", "p").count == 1
