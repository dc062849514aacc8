"""Running the Reserve and Permit plugins."""

from __future__ import annotations

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.reservation import run_permit, run_reserve, run_unreserve
from scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from scheduler.framework.trace import Trace
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, pod, state
from tests.framework.stubs import Permit, Reserve

WAIT = Status(Code.WAIT)


def cycle_of(metrics=None):
    cluster = state()
    recorder = PluginRecorder(metrics, "p") if metrics is not None else None
    return Cycle(info(pod("a"), cluster), cluster, "p", recorder=recorder)


def make(kind, answers, diary):
    return [kind(name, answer, diary) for name, answer in zip("ABC", answers, strict=False)]


class TestReserve:
    def test_all_plugins_are_asked_in_order(self):
        diary = []
        assert run_reserve(make(Reserve, [None, None], diary), cycle_of(), "n") is None
        assert diary == ["reserve A", "reserve B"]

    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (unschedulable("no"), unschedulable("no").by("B")),
            (unresolvable("no"), unresolvable("no").by("B")),
            (error("boom"), error('running Reserve plugin "B": boom').by("B")),
            (PluginError("boom"), error('running Reserve plugin "B": boom').by("B")),
            (KeyError("boom"), error("running Reserve plugin \"B\": KeyError: 'boom'").by("B")),
        ],
    )
    def test_the_first_that_does_not_agree_ends_it(self, answer, status):
        diary = []
        assert run_reserve(make(Reserve, [None, answer, None], diary), cycle_of(), "n") == status
        assert diary == ["reserve A", "reserve B"]

    @pytest.mark.parametrize(
        "others", [[], [None], [error("bang")]], ids=["alone", "before another", "before a failing one"]
    )
    @pytest.mark.parametrize(
        ("answer", "status"),
        [
            (unschedulable("no"), unschedulable("no").by("A")),
            (unresolvable("no"), unresolvable("no").by("A")),
            (error("boom"), error('running Reserve plugin "A": boom').by("A")),
        ],
    )
    def test_so_does_the_very_first(self, answer, status, others):
        diary = []
        assert run_reserve(make(Reserve, [answer, *others], diary), cycle_of(), "n") == status
        assert diary == ["reserve A"]

    def test_without_plugins_nobody_objects(self):
        assert run_reserve([], cycle_of(), "n") is None

    def test_reservations_are_taken_back_in_reverse_by_all(self):
        diary = []
        run_unreserve(make(Reserve, [None, None, None], diary), cycle_of(), "n")
        assert diary == ["unreserve C", "unreserve B", "unreserve A"]

    def test_a_plugin_that_fails_to_take_back_does_not_keep_the_others_from_it(self):
        class Broken(Reserve):
            def unreserve(self, cycle, node):
                raise ValueError

        diary = []
        run_unreserve([Reserve("A", None, diary), Broken("B")], cycle_of(), "n")
        assert diary == ["unreserve A"]


class TestPermit:
    def test_without_objections_the_pod_goes_on(self):
        outcome = run_permit(make(Permit, [None, None], []), cycle_of(), "n")
        assert (outcome.status, outcome.waits, outcome.code) == (None, {}, Code.SUCCESS)

    def test_waits_are_collected(self):
        outcome = run_permit(make(Permit, [(WAIT, 5.0), None, (WAIT, 7.0)], []), cycle_of(), "n")
        assert (outcome.status, outcome.waits, outcome.code) == (None, {"A": 5.0, "C": 7.0}, Code.WAIT)

    def test_an_attempt_that_is_recorded_notes_the_waits_also_where_another_plugin_refuses(self):
        cycle = cycle_of()
        cycle.trace = Trace()
        run_permit(make(Permit, [None], []), cycle, "n")
        assert cycle.trace.waits == {}
        run_permit(make(Permit, [(WAIT, 5.0), unschedulable("no")], []), cycle, "n")
        assert cycle.trace.waits == {"A": 5.0}

    def test_a_wait_may_be_for_no_time_at_all(self):
        outcome = run_permit(make(Permit, [(WAIT, 0.0), (WAIT, 1.0)], []), cycle_of(), "n")
        assert (outcome.waits, outcome.code) == ({"A": 0.0, "B": 1.0}, Code.WAIT)

    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            ([], None),
            ([unschedulable("no")], unschedulable("no").by("A")),
            ([unresolvable("never")], unresolvable("never").by("A")),
            ([error("boom"), error("bang")], error('running Permit plugin "A": boom').by("A")),
        ],
    )
    def test_the_first_that_objects_decides(self, answers, expected):
        diary = []
        assert run_permit(make(Permit, answers, diary), cycle_of(), "n").status == expected
        assert diary == ["permit A"][: len(answers)]

    def test_a_refusal_outweighs_a_wait(self):
        diary = []
        outcome = run_permit(make(Permit, [(WAIT, 5.0), unschedulable("no"), None], diary), cycle_of(), "n")
        assert (outcome.status, outcome.code) == (unschedulable("no").by("B"), Code.UNSCHEDULABLE)
        assert diary == ["permit A", "permit B"]

    @pytest.mark.parametrize("answer", [error("boom"), PluginError("boom")])
    def test_an_error_says_where_it_happened(self, answer):
        outcome = run_permit(make(Permit, [answer], []), cycle_of(), "n")
        assert outcome.status == error('running Permit plugin "A": boom').by("A")


def test_the_points_are_timed_by_how_they_ended():
    metrics = SchedulerMetrics()
    cycle = cycle_of(metrics)
    run_reserve(make(Reserve, [unschedulable("no")], []), cycle, "n")
    run_unreserve([], cycle, "n")
    run_permit(make(Permit, [(WAIT, 1.0)], []), cycle, "n")
    family = metrics.framework_extension_point_duration
    assert family.labels("Reserve", "Unschedulable", "p").count == 1
    assert family.labels("Unreserve", "Success", "p").count == 1
    assert family.labels("Permit", "Wait", "p").count == 1
