from __future__ import annotations

import json

import msgspec
import pytest

from scheduler.api.objects import ObjectReference
from scheduler.client.dispatcher import Dispatcher
from scheduler.client.informers import Informers
from scheduler.client.interface import Event, Source, Writer
from scheduler.client.memory import MemoryCluster, MemoryWriter


@pytest.mark.parametrize(
    ("side", "implementation"),
    [(Source, Informers), (Source, MemoryCluster), (Writer, Dispatcher), (Writer, MemoryWriter)],
)
def test_the_real_and_the_in_process_cluster_have_both_sides(side, implementation):
    asked = {name for name in vars(side) if not name.startswith("_")}
    assert side in implementation.__mro__
    assert asked <= set(vars(implementation))


def test_an_events_unset_parts_are_not_sent():
    event = Event(
        name="a.1",
        namespace="ns",
        event_time="2027-01-15T08:00:00.000000Z",
        reporting_controller="berth",
        reporting_instance="berth-host",
        action="Binding",
        reason="Scheduled",
        type="Normal",
        regarding=ObjectReference(kind="Pod"),
    )
    assert {"series", "related", "note", "annotations"}.isdisjoint(json.loads(msgspec.json.encode(event)))
