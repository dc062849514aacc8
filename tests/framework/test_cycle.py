"""The context of an attempt."""

from __future__ import annotations

from scheduler.framework.cycle import Cycle
from tests.builders import info, node, pod, state


def test_it_begins_with_all_rows_and_nothing_found():
    cluster = state([node("a"), node("b")])
    placed = info(pod("p"), cluster)
    cycle = Cycle(placed, cluster, "berth")
    assert (cycle.pod, cycle.shape, cycle.state, cycle.profile_name) == (placed, placed.shape, cluster, "berth")
    assert len(cycle.nodes) == 2
    assert (cycle.feasible, cycle.rejections, cycle.data) == (None, None, {})


def test_nobody_counts_or_times_unless_asked_to():
    cluster = state()
    cycle = Cycle(info(pod("p"), cluster), cluster, "berth")
    assert (cycle.recorder, cycle.sampled) == (None, False)
