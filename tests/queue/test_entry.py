"""A pod in the queue."""

from __future__ import annotations

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
