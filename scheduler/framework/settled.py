"""What plugins have answered for all pods of a shape once and for all, so that they need not be asked again.

Most plugins have nothing to look at for most pods: no volumes, no ports, no affinity. Asking each of them again for
every pod of a deployment took a fifth of a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.framework.cycle import Cycle

P = TypeVar("P")


class Asked(NamedTuple, Generic[P]):
    """What became of one plugin: whether its answer was Skip, what it left in `Cycle.data`, and whether that holds."""

    plugin: P
    name: str
    skipped: bool
    left: dict[str, Any]
    settled: bool


class Step(NamedTuple, Generic[P]):
    """A plugin to be asked, or, where that is None, what its neighbours have answered for good.

    `left` is what they hand on in `Cycle.data`; `skipped` and `counted` are those that answered Skip, and the others.
    """

    plugin: P | None
    left: dict[str, Any]
    skipped: tuple[str, ...]
    counted: tuple[str, ...]


def steps(asked: Iterable[Asked[P]]) -> list[Step[P]]:
    """How the plugins are gone through from now on, in the order in which they were asked."""
    found: list[Step[P]] = []
    for one in asked:
        if not one.settled:
            found.append(Step(one.plugin, {}, (), ()))
            continue
        if not found or found[-1].plugin is not None:
            found.append(Step(None, {}, (), ()))
        _, left, skipped, counted = found[-1]
        if one.skipped:
            skipped += (one.name,)
        else:
            counted += (one.name,)
        found[-1] = Step(None, left | one.left, skipped, counted)
    return found


def added(cycle: Cycle, before: frozenset[str]) -> dict[str, Any]:
    """What there is in `Cycle.data` that was not there before."""
    return {key: value for key, value in cycle.data.items() if key not in before}
