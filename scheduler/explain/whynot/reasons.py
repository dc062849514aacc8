"""The nodes by why they are turned down, in words that say more than the plugins' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.explain.views import Rejected
from scheduler.explain.whynot.wording import count
from scheduler.explain.whynot.words import Words, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.explain.whynot.survey import Survey
    from scheduler.framework.status import Status

_SHOWN = 5


class Group:
    """Nodes that are turned down in the same way, by the first plugin to do so; `rows` in the order of their names."""

    __slots__ = ("left_out", "rows", "status", "words")

    def __init__(self, status: Status, words: Words, rows: Sequence[int], *, left_out: bool) -> None:
        self.status = status
        self.words = words
        self.rows = rows
        self.left_out = left_out

    @property
    def phrase(self) -> str:
        """180 lack CPU."""
        return f"{len(self.rows)} {self.words.one if len(self.rows) == 1 else self.words.many}"


def groups_of(survey: Survey) -> list[Group]:
    """All nodes by reason, the largest group first."""
    found: list[Group] = []
    if survey.refusal is not None:
        rows = np.flatnonzero(survey.live)
        return [Group(survey.refusal, Words("", ""), _by_name(survey, rows.tolist()), left_out=False)]
    for status, rows in survey.rejections.groups():
        for words, some in words_of(survey, status, rows):
            found.append(Group(status, words, _by_name(survey, some.tolist()), left_out=False))
    found += _left_out(survey)
    return sorted(found, key=lambda group: (-len(group.rows), group.status.plugin, group.words.many))


def _left_out(survey: Survey) -> list[Group]:
    """The nodes that PreFilter plugins leave out, by what those plugins say of them as filters."""
    if survey.outcome.names is None:
        return []
    rows = np.flatnonzero(survey.live & ~survey.rejections.evaluated)
    if not len(rows):
        return []
    plugin = ",".join(sorted(survey.outcome.restricted_by))
    status = survey.statuses(int(rows[0]))[0].by(plugin)
    named = sorted(survey.outcome.names)
    words = next(iter(words_of(survey, status, rows)))[0] if "," not in plugin else None
    if words is None or len(named) == 1:
        which = f"the node {named[0]}, which the pod names" if len(named) == 1 else "the nodes that the pod names"
        words = Words(f"is not {which}", f"are not {which}")
    return [Group(status, words, _by_name(survey, rows.tolist()), left_out=True)]


def _by_name(survey: Survey, rows: list[int]) -> list[int]:
    return sorted(rows, key=survey.state.nodes.name)


def views(survey: Survey, groups: Sequence[Group]) -> tuple[Rejected, ...]:
    """The groups as they are shown."""
    return tuple(
        Rejected(
            plugin=group.status.plugin,
            code=str(group.status.code),
            reasons=tuple(group.status.reasons),
            nodes=tuple(survey.state.nodes.name(row) for row in group.rows),
            left_out=group.left_out,
            words=group.words.one if len(group.rows) == 1 else group.words.many,
        )
        for group in groups
    )


def sentence(survey: Survey, groups: Sequence[Group], name: str) -> str:
    """Why the pod, called `name`, fits nowhere, in one sentence."""
    total = int(survey.live.sum())
    if survey.refusal is not None:
        return f"{name} can't be placed on any node: {survey.refusal.message}"
    if not total:
        return f"{name} fits nowhere: there is no node"
    if total == 1 and groups:
        node = survey.state.nodes.name(groups[0].rows[0])
        return f"{name} does not fit on the only node: {node} {groups[0].words.one}"
    shown = [group.phrase for group in groups[:_SHOWN]]
    if len(groups) > _SHOWN:
        rest = sum(len(group.rows) for group in groups[_SHOWN:])
        shown.append(f"{rest} {'has' if rest == 1 else 'have'} {count(len(groups) - _SHOWN, 'other reason')}")
    if len(groups) == 1:
        return f"{name} fits on none of {total} nodes: {'both' if total == 2 else 'all'} {groups[0].words.many}"
    return f"{name} fits on none of {total} nodes: {', '.join(shown)}"
