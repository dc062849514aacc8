"""What preemption would come to, for a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler.explain.preemption_text import parts
from tests.explain.test_placement import text
from tests.fakes.decisions import PREEMPTION

NOW = "2026-01-02T04:04:05Z"


def test_the_nodes_that_were_compared_are_listed_with_what_they_cost_more() -> None:
    assert text(parts(PREEMPTION, NOW)).splitlines() == [
        "Preemption would help now: it would evict shop/idle (priority 0) from a.",
        "NODE   WOULD EVICT                         PRIORITY   PDB   SINCE   WORSE BY",
        "a      shop/idle                                  0     0   1h      -",
        "b      shop/web-0, shop/web-1 and 2 more          7     1           "
        "1 victim against a PodDisruptionBudget instead of 0",
        "and 7 more",
        "shop/next would no longer be nominated to a.",
        "  (Mine was not asked: it may make room as well)",
    ]


def test_a_single_node_needs_no_table() -> None:
    alone = replace(PREEMPTION, candidates=PREEMPTION.candidates[:1], candidate_count=1, not_asked=())
    assert len(parts(alone, NOW)) == 2


def test_where_it_would_not_help_there_is_only_the_reason() -> None:
    never = replace(PREEMPTION, helps=False, sentence="Preemption is not for it", candidates=(), not_asked=())
    assert text(parts(never, NOW)) == "Preemption is not for it.\n"
