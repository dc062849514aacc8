"""The node that lacks least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.explain.views import NearestMiss
from scheduler.explain.whynot.resources import kinds_short, lacks, shortage
from scheduler.explain.whynot.wording import listed, resource_word
from scheduler.explain.whynot.words import words_of
from scheduler.framework.names import NODE_RESOURCES_FIT

if TYPE_CHECKING:
    import numpy.typing as npt

    from scheduler.explain.views import Lack
    from scheduler.explain.whynot.survey import Survey


_EQUAL: Final = 3
"""More nodes than this that are equally near, and lack no amounts, are no news."""


def things_missing(survey: Survey) -> npt.NDArray[np.float64]:
    """float64 over rows: how far the node is from taking the pod, inf for rows out of the question.

    The whole part counts what stands in the way, each resource that is short by itself; the fraction says how much of
    the requests is missing, so that of two nodes which lack one thing each the one that lacks less comes first.
    """
    things = survey.obstacles.astype(np.float64)
    if NODE_RESOURCES_FIT in survey.codes:
        things += np.maximum(kinds_short(survey) - 1, 0)
    missing = shortage(survey)
    # What is no matter of amounts counts as much as a resource that is missing whole.
    others = survey.obstacles - (survey.codes[NODE_RESOURCES_FIT] != 0 if NODE_RESOURCES_FIT in survey.codes else 0)
    weight = missing + others
    things += weight / (1 + weight)
    things[~survey.live | survey.fits] = np.inf
    return things


def nearest_miss(survey: Survey) -> NearestMiss | None:
    """The node with the fewest obstacles, and of those the one that lacks the smallest amounts.

    None if no node stands out.
    """
    if survey.refusal is not None or not survey.live.any():
        return None
    things = things_missing(survey)
    least = things.min()
    if not np.isfinite(least):
        return None
    rows = np.flatnonzero(things == least).tolist()
    row = min(rows, key=survey.state.nodes.name)
    missing = lacks(survey, row)
    if not missing and (len(rows) > _EQUAL or len(rows) == survey.live.sum() > 1):
        return None
    name = survey.state.nodes.name(row)
    parts = []
    for status in survey.statuses(row):
        if status.plugin == NODE_RESOURCES_FIT and missing:
            parts.append(f"lacks {listed([lack_text(lack) for lack in missing], most=5)}")
        else:
            words, _ = next(iter(words_of(survey, status, np.array([row]))))
            parts.append(words.one)
    alone = survey.live.sum() == 1
    told = f"{name} {listed(parts, most=9)}" if alone else f"{name} comes nearest: it {listed(parts, most=9)}"
    return NearestMiss(node=name, sentence=told, lacks=missing)


def lack_text(lack: Lack) -> str:
    """ "300m CPU (wants 2, has 1700m free)"."""
    if lack.resource == "pods":
        return "room for one more pod"
    return f"{lack.short} {resource_word(lack.resource)} (wants {lack.wanted}, has {lack.free} free)"
