"""A pod's way through the scheduler, for people."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler.explain.journey import history, standing, steps
from scheduler.explain.views import QueueEvent, Step
from tests.explain.test_placement import text
from tests.fakes.decisions import BIG, WEB

NOW = "2026-01-02T03:14:05Z"


def test_a_placed_pod_is_on_its_node():
    assert standing(WEB, NOW) == "shop/web-1 is on a"


def test_of_a_pending_pod_is_said_since_when_it_waits_for_what_and_until_when():
    view = replace(BIG, next_try="2026-01-02T03:15:05Z", queue="backoff")
    assert standing(view, NOW) == (
        "shop/big is pending and pauses after its last attempt, since 10m, after 3 attempts; "
        "events for NodeResourcesFit wake it; next try by itself in 1m"
    )


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (QueueEvent(time=NOW, what="Added", event="PodAdd", queue="active"), "came"),
        (QueueEvent(time=NOW, what="Gated", plugin="SchedulingGates"), "held back by SchedulingGates"),
        (
            QueueEvent(time=NOW, what="Woken", event="NodeAdd", object="n1", plugin="Fit"),
            "woken by NodeAdd (n1, says Fit)",
        ),
        (QueueEvent(time=NOW, what="Kept", event="NodeAdd", plugin="Fit"), "left waiting at NodeAdd (says Fit)"),
        (QueueEvent(time=NOW, what="Failed", count=3, until=NOW), "found no node, 3 times"),
        (QueueEvent(time=NOW, what="Something"), "Something"),
    ],
)
def test_what_happened_is_told_in_words(event, told):
    assert told in text(history([event], NOW)).splitlines()[-1]


def test_only_the_newest_events_are_shown():
    events = [QueueEvent(time=NOW, what="Popped")] * 20
    lines = text(history(events, NOW)).splitlines()
    assert (lines[2], len(lines)) == ("5 earlier events are left out", 19)
    assert history([], NOW) == []


def test_steps_have_durations_and_outcomes():
    shown = text(steps([Step(point="Bind", plugin="DefaultBinder", seconds=0.002, code="Error", error="conflict")]))
    assert shown.splitlines()[-1].split("   ") == ["Bind", "DefaultBinder", "2.0ms", "Error: conflict"]
    assert steps([]) == []
