"""What preemption would come to, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.ages import age
from scheduler.explain.grid import Grid, Styled
from scheduler.explain.whynot.wording import listed

if TYPE_CHECKING:
    from scheduler.explain.grid import Part
    from scheduler.explain.views import Preemption, PreemptionCandidate

_CANDIDATES: Final = 6
_VICTIMS: Final = 2


def parts(answer: Preemption, now: str) -> list[Part]:
    """The sentence; where preemption would help, the nodes that were compared, and why the others cost more."""
    told: list[Part] = [Styled(f"{answer.sentence}.", "green" if answer.helps else "")]
    if len(answer.candidates) > 1:
        rows = [_row(one, now) for one in answer.candidates[:_CANDIDATES]]
        told.append(Grid(("NODE", "WOULD EVICT", "PRIORITY", "PDB", "SINCE", "WORSE BY"), rows, frozenset((2, 3))))
        more = answer.candidate_count - len(rows)
        told += [Styled(f"and {more} more", "dim")] if more else []
    for one in answer.candidates[:1]:
        if one.cleared_nominations:
            told.append(Styled(f"{listed(one.cleared_nominations)} would no longer be nominated to {one.node}."))
    return [*told, *(Styled(f"  ({name} was not asked: it may make room as well)", "dim") for name in answer.not_asked)]


def _row(one: PreemptionCandidate, now: str) -> tuple[str | Styled, ...]:
    victims = listed([victim.pod for victim in one.victims], most=_VICTIMS)
    running = age(one.started, now)
    worse = one.words or Styled("-", "green")
    return one.node, victims, str(one.highest_priority), str(one.pdb_violations), running, worse
