"""The part of extenders in a decision: which feasible nodes they let pass, and the scores that they add."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scheduler.api.int64 import wrap64
from scheduler.client.extender.interface import ExtenderError
from scheduler.framework.extenders import EXTENDER, SCALE
from scheduler.framework.scoring import PluginScores
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.status import Status

Rows = npt.NDArray[np.intp]


def pass_extenders(
    cycle: Cycle, rejections: Rejections, feasible: Rows, before: Mapping[int, Status] = MappingProxyType({})
) -> Rows:
    """The feasible rows that extenders let pass; what they say of the others goes into `rejections`.

    `before` is what they said of some rows earlier in this attempt. Raises PluginError where one fails that must not.
    """
    if not cycle.extenders or not len(feasible):
        return feasible
    nodes = cycle.state.nodes
    try:
        answer = cycle.extenders.filter([nodes.name(row) for row in feasible.tolist()])
    except ExtenderError as problem:
        raise PluginError(str(problem)) from problem
    cycle.bare = answer.whole
    kept = np.array([nodes.rows[name] for name in dict.fromkeys(answer.kept)], np.intp)
    # A node that is turned down without a word counts as one that was not looked at.
    looked_at = rejections.evaluated.copy()
    looked_at[feasible] = False
    looked_at[kept] = True
    said = dict(before)
    for name, status in answer.statuses.items():
        row = nodes.rows.get(name)
        if row is None:
            rejections.strangers[name] = status
        else:
            said[row] = status
    if not set(feasible.tolist()).issuperset(said):
        # An extender has the last word on nodes that plugins turned down too, but those plugins are heard as well.
        rejections.unschedulable_plugins = rejections.rejecting_plugins()
    if len(answer.kept) != len(feasible):
        rejections.unschedulable_plugins = {*rejections.unschedulable_plugins, EXTENDER}
    looked_at[list(said)] = True
    rejections.evaluated = looked_at
    rejections.overrides.update(said)
    return kept


def extender_scores(cycle: Cycle) -> list[PluginScores]:
    """What each extender gives the feasible nodes: as it gave it, and as it counts. Nodes that it leaves out get 0."""
    assert cycle.feasible is not None
    names = [cycle.state.nodes.name(row) for row in cycle.feasible.tolist()]
    places = {name: place for place, name in enumerate(names)}
    given = []
    for extender, weight, scores in cycle.extenders.scores(names):
        raw = np.zeros(len(names), np.int64)
        weighted = np.zeros(len(names), np.int64)
        for score in scores:
            place = places.get(score.host)
            if place is not None:
                raw[place] = wrap64(int(raw[place]) + score.score)
                weighted[place] = wrap64(int(weighted[place]) + score.score * weight * SCALE)
        given.append(PluginScores(extender, raw, weighted, weight))
    return given
