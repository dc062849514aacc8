"""What plugins are built with."""

from __future__ import annotations

from scheduler.framework.handle import Handle
from tests.builders import state
from tests.plugins.harness import UnusedBinder


def test_nothing_is_activated_where_there_is_no_queue():
    handle = Handle(state(), UnusedBinder(), lambda gate: gate == "On")
    assert handle.activate(["ns/a"]) is None
    assert (handle.feature_enabled("On"), handle.feature_enabled("Off")) == (True, False)
