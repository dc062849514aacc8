"""Why a pod fits nowhere, and what would help, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.explain.grid import Part
    from scheduler.explain.views import AffinityArithmetic, Decision, Help, Rejected, SpreadArithmetic, WhyNot

_NAMES: Final = 5
_DOMAINS: Final = 12


def refusal(why: WhyNot) -> list[Part]:
    """All that was found out about why there is no node, and what would help."""
    parts: list[Part] = [Styled(why.sentence, "bold")]
    if why.rejected:
        parts.append(rejections(why.rejected))
    if why.nearest is not None:
        parts.append(Styled(f"nearest miss: {why.nearest.sentence}"))
    for spread in why.spread:
        parts += _spread(spread)
    for affinity in why.affinity:
        parts += _affinity(affinity)
    return [*parts, *_helps(why)]


def refused(decision: Decision) -> list[Part]:
    """What was recorded of an attempt that found no node: its message, the nodes by reason, and what was evicted."""
    parts: list[Part] = [Styled(decision.summary.message)] if decision.summary.message else []
    if decision.rejected:
        parts.append(rejections(decision.rejected))
    made_room = decision.post_filter
    if made_room is not None and made_room.victims:
        place = f" on {made_room.nominated_node}" if made_room.nominated_node else ""
        parts.append(Styled(f"preemption{place}: {', '.join(made_room.victims)} {_has(made_room.victims)} to go"))
    elif made_room is not None and made_room.message:
        parts.append(Styled(made_room.message, "dim"))
    return parts


def rejections(groups: Iterable[Rejected]) -> Grid:
    """The nodes that were turned down by who did it and why, the largest group first."""
    ordered = sorted(groups, key=lambda group: (-len(group.nodes), group.plugin, group.reasons))
    rows = [(str(len(group.nodes)), group.plugin, ", ".join(group.reasons), names(group.nodes)) for group in ordered]
    return Grid(("NODES", "TURNED DOWN BY", "REASON", "WHICH"), rows, frozenset((0,)))


def names(nodes: Sequence[str]) -> str:
    """The first nodes of a list, and how many more there are."""
    more = len(nodes) - _NAMES
    return ", ".join(nodes[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _spread(spread: SpreadArithmetic) -> list[Part]:
    rows = [
        (domain.name, str(domain.count), str(domain.nodes), "yes" if domain.fits else "no")
        for domain in spread.domains[:_DOMAINS]
    ]
    grid = Grid((spread.topology_key, "MATCHING PODS", "NODES", "ONE MORE FITS"), rows, frozenset((1, 2)))
    return [Styled(f"\nspread over {spread.topology_key}: {spread.sentence}"), grid, *_more(len(spread.domains))]


def _affinity(affinity: AffinityArithmetic) -> list[Part]:
    parts: list[Part] = [Styled(f"\n{affinity.sentence}")]
    if affinity.domains:
        rows = [(domain.name, str(domain.count), str(domain.nodes)) for domain in affinity.domains[:_DOMAINS]]
        parts += [Grid((affinity.topology_key, "MATCHING PODS", "NODES"), rows, frozenset((1, 2)))]
        parts += _more(len(affinity.domains))
    return parts


def _more(domains: int) -> list[Part]:
    return [Styled(f"and {domains - _DOMAINS} more", "dim")] if domains > _DOMAINS else []


def _helps(why: WhyNot) -> list[Part]:
    if why.helps:
        head = f"\nWhat would help (each was tried; {why.tried} in all)"
    elif why.tried:
        head = f"\nNone of {why.tried} changes that were tried would be enough by itself"
    else:
        return []
    return [Styled(head, "bold"), *(Styled(_help(one)) for one in why.helps)]


def _help(one: Help) -> str:
    where = f" ({names(one.nodes)})" if one.nodes and not any(node in one.sentence for node in one.nodes) else ""
    return f"  - {one.sentence}{where}"


def _has(victims: Sequence[str]) -> str:
    return "has" if len(victims) == 1 else "have"
