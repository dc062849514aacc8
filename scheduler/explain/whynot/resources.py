"""What the pod wants of each node, what is free there, and how much is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.resource_names import CPU
from scheduler.explain.views import Lack
from scheduler.explain.whynot.wording import count, quantity, resource_word
from scheduler.framework.names import NODE_RESOURCES_FIT
from scheduler.plugins.noderesources.fit import Needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.explain.whynot.survey import Survey
    from scheduler.plugins.noderesources.fit import Need

    Int64s = npt.NDArray[np.int64]
    Rows = npt.NDArray[np.intp]


_MUCH: Final = 10_000


def needs_of(survey: Survey) -> list[Need]:
    """The resources that are checked for the pod; none where the plugin was not asked."""
    found = survey.cycle.data.get(NODE_RESOURCES_FIT)
    return found.needs if isinstance(found, Needs) else []


def free(survey: Survey, need: Need) -> Int64s:
    """What is left of a resource on each row; less than 0 where more is requested than there is."""
    table = survey.state.nodes
    size = len(survey.live)
    left: Int64s = table.allocatable[need.index][:size] - table.requested[need.index][:size]
    return left


def short(survey: Survey, need: Need) -> Int64s:
    """How much of a resource is missing on each row, 0 where there is enough."""
    left = free(survey, need)
    missing = np.maximum(need.amount - left, 0)
    if need.elsewhere:
        missing[survey.state.nodes.allocatable[need.index][: len(left)] == 0] = 0
    return missing


def full(survey: Survey) -> npt.NDArray[np.bool_]:
    """The rows that take no more pods, however small."""
    table = survey.state.nodes
    size = len(survey.live)
    return table.pod_count[:size] >= table.allowed_pods[:size]


def lacks(survey: Survey, row: int) -> tuple[Lack, ...]:
    """What a node lacks of what the pod wants, pods first."""
    found = []
    table = survey.state.nodes
    if NODE_RESOURCES_FIT in survey.codes and full(survey)[row]:
        allowed, there = int(table.allowed_pods[row]), int(table.pod_count[row])
        found.append(Lack(resource="pods", wanted="1", free=str(allowed - there), short=str(there + 1 - allowed)))
    for need in needs_of(survey):
        missing = int(short(survey, need)[row])
        if missing:
            found.append(
                Lack(
                    resource=need.name,
                    wanted=quantity(need.name, need.amount),
                    free=quantity(need.name, int(free(survey, need)[row])),
                    short=quantity(need.name, missing, up=True),
                )
            )
    return tuple(found)


def shortage(survey: Survey) -> npt.NDArray[np.float64]:
    """How much each row lacks, as the sum of the shares of the requests that are missing."""
    total = np.zeros(len(survey.live))
    for need in needs_of(survey):
        total += short(survey, need) / max(need.amount, 1)
    return total


def kinds_short(survey: Survey) -> Int64s:
    """How many resources are short on each row, room for a pod among them."""
    if NODE_RESOURCES_FIT not in survey.codes:
        return np.zeros(len(survey.live), np.int64)
    kinds = full(survey).astype(np.int64)
    for need in needs_of(survey):
        kinds += short(survey, need) > 0
    return kinds


def missing_of(survey: Survey, names: Sequence[str], rows: Rows) -> Iterator[tuple[tuple[str, ...], Rows]]:
    """The rows by which of the resources they don't have at all."""
    table = survey.state.nodes
    absent = {name: table.allocatable[table.resource(name)][rows] == 0 for name in names}
    keys = [tuple(name for name in names if absent[name][place]) for place in range(len(rows))]
    for key in dict.fromkeys(keys):
        yield key, rows[[place for place, other in enumerate(keys) if other == key]]


def rough(resource: str, amount: int) -> str:
    """A large amount without the digits that nobody wants to know."""
    whole = amount // 1000 * 1000 if resource == CPU and amount >= _MUCH else amount
    return quantity(resource, whole)


def fragmentation(survey: Survey) -> list[str]:
    """The resources of which there is enough in sum, but not on one node, a sentence each.

    Only nodes count that nothing but a lack of resources keeps the pod off.
    """
    codes = survey.codes.get(NODE_RESOURCES_FIT)
    if codes is None:
        return []
    only = survey.live & (survey.obstacles == 1) & (codes != 0)
    number = int(only.sum())
    if number < 2:
        return []
    told = []
    for need in needs_of(survey):
        left = np.where(only, np.maximum(free(survey, need), 0), 0)
        most, total = int(left.max()), int(left.sum())
        largest = int(survey.state.nodes.allocatable[need.index][: len(only)][only].max())
        if total >= need.amount > most and largest >= need.amount:
            row = int(left.argmax())
            told.append(
                f"{resource_word(need.name)} is there in sum but in pieces: {count(number, 'node')} have "
                f"{rough(need.name, total)} free together, at most {quantity(need.name, most)} on one "
                f"({survey.state.nodes.name(row)}), and the pod wants {quantity(need.name, need.amount)}"
            )
    return told
