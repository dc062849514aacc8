"""What is noted of one attempt while it goes on."""

from __future__ import annotations

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code, error
from scheduler.framework.trace import Trace, note
from tests.builders import info, pod, state
from tests.framework.stubs import Reserve


def test_steps_come_in_order_with_their_time() -> None:
    trace = Trace()
    trace.step("Filter", 0.5)
    trace.step("Bind", 0.25, Code.ERROR, "DefaultBinder", "no")
    assert list(trace.steps()) == [
        (("Filter", "", Code.SUCCESS, ""), 0.5),
        (("Bind", "DefaultBinder", Code.ERROR, "no"), 0.25),
    ]


def test_the_end_keeps_them_and_nothing_comes_after() -> None:
    trace = Trace()
    trace.step("Filter", 0.5)
    trace.end((True, "no room"))
    trace.step("Bind", 1.0)
    trace.end(None)
    assert (trace.ended, trace.failure, len(list(trace.steps()))) == (True, (True, "no room"), 1)


def test_attempts_that_take_the_same_steps_share_them() -> None:
    traces = [Trace(), Trace()]
    for trace in traces:
        trace.step("Filter", 0.5)
        trace.end()
    assert traces[0]._keys is traces[1]._keys


def test_a_point_without_plugins_is_no_step() -> None:
    trace = Trace()
    cycle = Cycle(info(pod("p")), state(), "s", trace=trace)
    note(cycle, "Reserve", [], None, 1.0)
    note(cycle, "Reserve", [Reserve("R")], None, 1.0)
    note(cycle, "Reserve", [Reserve("R"), Reserve("S")], None, 1.0)
    note(cycle, "Reserve", [Reserve("R"), Reserve("S")], error("no").by("S"), 1.0)
    assert [key for key, _ in trace.steps()] == [
        ("Reserve", "R", Code.SUCCESS, ""),
        ("Reserve", "", Code.SUCCESS, ""),
        ("Reserve", "S", Code.ERROR, "no"),
    ]
