"""What was recorded of an attempt that found no node, for people."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler.explain.record import PostFilterRecord
from scheduler.explain.refusal import refused
from tests.explain.test_placement import text
from tests.fakes.decisions import REFUSAL


def test_what_was_recorded_is_the_message_the_groups_and_who_had_to_go():
    shown = text(refused(REFUSAL))
    assert shown.startswith("0/3 nodes are available: 3 Insufficient cpu.\nNODES")
    made = PostFilterRecord("Success", "", "a", ("shop/old", "shop/older"), ("shop/old",))
    assert "preemption on a: shop/old, shop/older have to go" in text(refused(replace(REFUSAL, post_filter=made)))
    vain = PostFilterRecord("Unschedulable", "preemption: 0/3 nodes help", None, (), ())
    assert "preemption: 0/3 nodes help" in text(refused(replace(REFUSAL, post_filter=vain)))
