"""The answer for a terminal: sentences first, then the nodes by reason, the arithmetic, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.explain.grid import Grid, Styled
from scheduler.explain.whynot.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.explain.grid import Part
    from scheduler.explain.views import AffinityArithmetic, Rejected, SpreadArithmetic, WhyNot

_NODES = 6
_DOMAINS = 8


def parts(answer: WhyNot, *, table: bool = True) -> list[Part]:
    """The answer as lines and tables; without `table` sentences only."""
    told: list[Part] = [Styled(_sentence(answer.sentence), "bold")]
    if answer.nearest is not None:
        told.append(Styled(_sentence(answer.nearest.sentence)))
    told += [Styled(_sentence(item.sentence)) for item in answer.spread]
    told += [Styled(_sentence(term.sentence)) for term in answer.affinity]
    told += [Styled(_sentence(fact)) for fact in answer.facts]
    if table and any(group.words for group in answer.rejected):
        told += [Styled(""), rejections(answer.rejected)]
        for item in answer.spread:
            told += [Styled(""), spread(item), *_more(len(item.domains))]
        for term in answer.affinity:
            if len(term.domains) > 1 and term.topology_key != HOSTNAME_LABEL:
                told += [Styled(""), affinity(term), *_more(len(term.domains))]
    return [*told, Styled(""), *helps(answer)]


def helps(answer: WhyNot) -> list[Part]:
    """What would help, the smallest change first."""
    if not answer.helps:
        tried = count(answer.tried, "change")
        text = f"Nothing of what was tried would help ({tried})" if answer.tried else "There is nothing to try"
        return [Styled(text, "yellow"), *_not_tried(answer)]
    lines = [Styled(f"  {help_.sentence}", "green") for help_ in answer.helps]
    heading = "Would help" if len(lines) == 1 else "Any one of these would help"
    return [Styled(heading, "bold"), *lines, *_not_tried(answer)]


def _not_tried(answer: WhyNot) -> list[Part]:
    return [Styled(f"  ({text})", "dim") for text in answer.not_tried]


def rejections(groups: Sequence[Rejected]) -> Grid:
    """The nodes by reason, in the words that were found for it and in the plugin's own."""
    rows = []
    for group in groups:
        more = f", and {len(group.nodes) - _NODES} more" if len(group.nodes) > _NODES else ""
        words = group.words or ", ".join(group.reasons)
        rows.append((str(len(group.nodes)), group.plugin, words, ", ".join(group.nodes[:_NODES]) + more))
    return Grid(("NODES", "TURNED DOWN BY", "WHICH", "NAMES"), rows, frozenset((0,)))


def spread(item: SpreadArithmetic) -> Grid:
    """The domains of a constraint: those with the fewest pods first."""
    rows = [
        (
            domain.name,
            str(domain.count),
            str(domain.nodes),
            str(domain.usable),
            f"{domain.count} + {item.self_match} - {item.minimum} = {domain.count + item.self_match - item.minimum}",
            Styled("yes", "green") if domain.fits else Styled(f"no, more than {item.max_skew}", "yellow"),
        )
        for domain in item.domains[:_DOMAINS]
    ]
    return Grid((item.topology_key, "PODS", "NODES", "USABLE", "SKEW", "FITS"), rows, frozenset((1, 2, 3)))


def affinity(term: AffinityArithmetic) -> Grid:
    """The domains with pods that a term is about."""
    rows = [(domain.name, str(domain.count), str(domain.nodes)) for domain in term.domains[:_DOMAINS]]
    return Grid((term.topology_key, f"PODS WITH {term.selector}", "NODES"), rows, frozenset((1, 2)))


def _more(domains: int) -> list[Part]:
    return [Styled(f"and {domains - _DOMAINS} more", "dim")] if domains > _DOMAINS else []


def _sentence(text: str) -> str:
    return text if text.endswith((".", "]")) else f"{text}."
