"""A pod in the queue."""

from __future__ import annotations

from scheduler.queue.entry import StatusWrites
from tests.queue.entries import entry


def test_it_is_known_by_namespace_and_name():
    assert entry("a").name == ("default", "a")


def test_it_is_gated_while_a_plugin_holds_it_back():
    waiting = entry("a")
    assert not waiting.gated
    waiting.gating_plugin = "SchedulingGates"
    assert waiting.gated


def test_all_who_turned_it_down_are_its_rejectors():
    waiting = entry("a", plugins=["A"])
    assert waiting.rejectors == {"A"}
    waiting.pending_plugins = frozenset({"B"})
    assert waiting.rejectors == {"A", "B"}


class TestStatusWrites:
    """Which version of the pod an attempt is told of."""

    def test_the_known_one_where_nothing_was_written(self):
        assert StatusWrites().version("5") == "5"

    def test_the_known_one_if_a_write_was_heard_of_before_the_next_attempt(self):
        writes = StatusWrites()
        writes.note("5")
        assert [writes.version(known) for known in ("6", "6", "7")] == ["6", "6", "7"]

    def test_a_made_up_one_until_a_write_is_heard_of_and_for_the_version_that_it_led_to(self):
        writes = StatusWrites()
        writes.note("5")
        names = [writes.version(known) for known in ("5", "5", "6", "6", "7")]
        assert names == ["write 1", "write 1", "write 1", "write 1", "7"]

    def test_another_one_after_each_write(self):
        writes = StatusWrites()
        names = []
        for known in ("5", "5", "6"):
            names.append(writes.version(known))
            writes.note(known)
        assert names == ["5", "write 1", "6"]
