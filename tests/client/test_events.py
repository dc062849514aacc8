"""Series of events, by client-go's rules."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler.api.objects import ObjectReference
from scheduler.client.events import EventRecorder, micro_time


class Sink:
    def __init__(self):
        self.written = []

    def create_event(self, event):
        self.written.append(("create", event))

    def patch_event(self, event):
        self.written.append(("patch", event))

    def counts(self):
        return [(how, event.series.count if event.series else None) for how, event in self.written]


class Clock:
    def __init__(self):
        self.now = 1_800_000_000.25

    def __call__(self):
        return self.now


@given(seconds=st.floats(0, 2e9))
@example(seconds=1_800_000_000.9999999)
def test_times_are_told_to_the_microsecond(seconds):
    told = datetime.strptime(micro_time(seconds), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert told == datetime.fromtimestamp(seconds, tz=UTC)


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def recorder(sink, clock):
    return EventRecorder(sink, "berth", hostname="host", now=clock)


POD = ObjectReference(api_version="v1", kind="Pod", namespace="ns", name="a", uid="u", resource_version="5")


def record(recorder, regarding=POD, **changed):
    fields = {"type": "Warning", "reason": "FailedScheduling", "action": "Scheduling", "note": "no room"}
    recorder.record(regarding, **fields | changed)


def test_the_first_event_is_created_whole(recorder, sink):
    record(recorder)
    ((how, event),) = sink.written
    assert how == "create"
    assert event.name == f"a.{int(1_800_000_000.25 * 1e9):x}"
    assert event.event_time == "2027-01-15T08:00:00.250000Z"
    assert (event.reporting_controller, event.reporting_instance) == ("berth", "berth-host")
    assert (event.namespace, event.regarding, event.note, event.type) == ("ns", POD, "no room", "Warning")
    assert event.series is None


def test_the_second_makes_it_a_series_and_later_ones_are_only_counted(recorder, sink, clock):
    for _ in range(5):
        record(recorder)
        clock.now += 60
    assert sink.counts() == [("create", None), ("patch", 2)]
    assert sink.written[1][1].name == sink.written[0][1].name
    assert sink.written[1][1].series.last_observed_time == micro_time(1_800_000_060.25)


def test_another_note_is_the_same_event(recorder, sink):
    record(recorder)
    record(recorder, note="still no room")
    assert sink.counts() == [("create", None), ("patch", 2)]
    assert sink.written[1][1].note == "no room"


@pytest.mark.parametrize(
    "changed",
    [
        {"reason": "Scheduled"},
        {"action": "Binding"},
        {"type": "Normal"},
        {"related": ObjectReference(kind="Node", name="n1")},
        {"version": "6"},
        {"regarding": ObjectReference(kind="Pod", namespace="ns", name="a", uid="u", resource_version="6")},
    ],
)
def test_an_event_that_differs_in_anything_else_is_another_one(recorder, sink, changed):
    record(recorder)
    record(recorder, **changed)
    assert sink.counts() == [("create", None), ("create", None)]


def test_a_series_ends_with_its_last_count_six_minutes_after_its_last_event(recorder, sink, clock):
    for _ in range(3):
        record(recorder)
    clock.now += 360
    recorder.finish()
    assert sink.counts() == [("create", None), ("patch", 2)]
    clock.now += 1
    recorder.finish()
    assert sink.counts()[2:] == [("patch", 3)]
    record(recorder)
    assert sink.counts()[3:] == [("create", None)]


def test_a_single_event_is_forgotten_after_six_minutes(recorder, sink, clock):
    record(recorder)
    clock.now += 361
    recorder.finish()
    record(recorder)
    assert sink.counts() == [("create", None), ("create", None)]


def test_a_refresh_writes_the_count_of_each_series(recorder, sink):
    record(recorder)
    recorder.refresh()
    for _ in range(3):
        record(recorder)
    recorder.refresh()
    assert sink.counts() == [("create", None), ("patch", 2), ("patch", 4)]


@pytest.mark.looptime
async def test_series_are_refreshed_every_half_hour_and_ended_every_six_minutes(sink):
    loop = asyncio.get_running_loop()
    recorder = EventRecorder(sink, "berth", hostname="host", now=lambda: 1e9 + loop.time())
    task = asyncio.create_task(recorder.run())
    record(recorder)
    record(recorder)
    for _ in range(31):
        await asyncio.sleep(60)
        record(recorder)
    await asyncio.sleep(800)
    task.cancel()
    assert sink.counts() == [("create", None), ("patch", 2), ("patch", 31), ("patch", 33)]


def test_events_about_cluster_wide_objects_go_to_the_default_namespace(recorder, sink):
    record(recorder, ObjectReference(kind="Node", name="n1"))
    assert sink.written[0][1].namespace == "default"


@pytest.mark.parametrize("name", ["Not_A.Name", "x" * 250])
def test_a_name_that_no_object_may_have_is_replaced_by_a_unique_one(recorder, sink, name):
    record(recorder, ObjectReference(kind="Pod", namespace="ns", name=name))
    assert len(sink.written[0][1].name) == 36
