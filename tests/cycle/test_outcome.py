"""How an attempt failed."""

from __future__ import annotations

import pytest

from scheduler.cycle.outcome import Failure, error, of_binding, of_status
from scheduler.framework import status as statuses
from scheduler.framework.status import Code, Status, unresolvable, unschedulable

UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"


def test_an_error_has_no_plugins_to_be_heard_and_clears_the_nomination():
    assert error("boom") == Failure(SCHEDULER_ERROR, "boom", frozenset(), frozenset(), "")
    assert not error("boom").rejected


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (unschedulable("no quota").by("A"), "0/1 nodes are available: 1 no quota."),
        (unresolvable("b", "a").by("A"), "0/1 nodes are available: 1 a, 1 b."),
        (unschedulable().by("A"), "0/1 nodes are available:"),
    ],
)
def test_a_refusal_after_a_node_was_found_reads_as_if_it_had_been_the_only_one(status, message):
    assert of_status(status) == Failure(UNSCHEDULABLE, message, frozenset({"A"}), frozenset())


def test_a_pending_refusal_is_heard_apart_as_well():
    failure = of_status(Status(Code.PENDING, ("soon",), "A"))
    assert (failure.unschedulable_plugins, failure.pending_plugins) == ({"A"}, {"A"})


def test_a_pod_turned_down_by_nobody_waits_for_nobody():
    assert of_status(unschedulable("removed")).unschedulable_plugins == {""}


def test_an_error_after_a_node_was_found_is_an_error():
    assert of_status(statuses.error("boom").by("A")) == error("boom")


def test_a_refusal_while_binding_makes_no_pod_wait_for_events():
    assert of_binding(unschedulable("no").by("A")) == Failure(UNSCHEDULABLE, "no")
    assert of_binding(statuses.error("boom").by("A")) == error("boom")
    assert of_binding(statuses.SKIP) == error("")
