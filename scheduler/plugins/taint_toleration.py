"""TaintToleration: keep pods off nodes with taints that they do not tolerate, and prefer nodes with fewer soft ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.tolerations import (
    COMPARISONS,
    count_intolerable,
    find_untolerated,
    in_force,
    prefer_no_schedule_tolerations,
)
from scheduler.cache.changes import Change
from scheduler.framework import names
from scheduler.framework.arithmetic import normalize
from scheduler.framework.by_value import ByValue
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from scheduler.framework.status import PluginError, Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from scheduler.api.objects import Node, Taint, Toleration
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

NAME: Final = names.TAINT_TOLERATION
REASON: Final = "node(s) had untolerated taint(s)"

_FEWEST_FIRST: Final = partial(normalize, reverse=True)


class Tolerance:
    """What a shape's tolerations say of each distinct list of taints.

    `forbids` is 1 where a taint that keeps pods off is not tolerated (uint8), `dislikes` the number of soft taints that
    are not (int64).
    """

    __slots__ = ("dislikes", "forbids", "tolerations")

    def __init__(self, tolerations: tuple[Toleration, ...]) -> None:
        self.tolerations = tolerations
        soft = prefer_no_schedule_tolerations(tolerations)
        self.forbids = ByValue(self.is_forbidden, np.uint8)
        self.dislikes = ByValue(lambda taints: count_intolerable(taints, soft), np.int64)

    def is_forbidden(self, taints: Sequence[Taint]) -> bool:
        """Whether a node with these taints is out of the question."""
        return find_untolerated(taints, self.tolerations) is not None


class TaintToleration(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go.

    `comparing` says whether tolerations may compare (gate TaintTolerationComparisonOperators).
    """

    name = NAME
    sees_labels = False
    hints_see_labels = False
    depends = Change.TAINTS
    normalizes = True
    by_highest = True
    bounded = True

    def __init__(self, *, comparing: bool = False) -> None:
        self._comparing = comparing

    def tolerance(self, shape: PodShape) -> Tolerance:
        """The tolerance of a shape."""
        known: Tolerance | None = shape.common.get(NAME)
        if known is None:
            known = shape.common[NAME] = Tolerance(in_force(shape.pod.spec.tolerations, comparing=self._comparing))
        return known

    def pre_filter(self, cycle: Cycle) -> None:
        """Nothing to prepare, and no pod is skipped."""
        del cycle

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 where a NoSchedule or NoExecute taint is not tolerated."""
        forbids, column = self.tolerance(cycle.shape).forbids, nodes.table.taints
        return forbids.gather(column, nodes.rows) if forbids.answers(column).any() else None

    def code_at(self, cycle: Cycle, row: int) -> int:
        """The same of one node."""
        forbids, column = self.tolerance(cycle.shape).forbids, cycle.state.nodes.taints
        return int(forbids.answers(column).item(column.ids.item(row)))

    def filter_key(self, cycle: Cycle) -> Hashable:
        """The tolerations."""
        return self.tolerance(cycle.shape).tolerations

    def status(self, cycle: Cycle, code: int) -> Status:
        """The one reason."""
        del cycle, code
        return unresolvable(REASON)

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> None:
        """Picks the tolerations that count for scoring; scoring fails without."""
        del feasible
        cycle.data[NAME] = self.tolerance(cycle.shape)

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """The number of PreferNoSchedule taints that the pod does not tolerate."""
        known: Tolerance | None = cycle.data.get(NAME)
        if known is None:
            raise PluginError(
                f'running Score plugins: plugin "{NAME}" failed with: '
                f'failed to read "PreScore{NAME}" from cycleState: not found'
            )
        return known.dislikes.gather(nodes.table.taints, nodes.rows)

    def score_key(self, cycle: Cycle) -> Hashable:
        """The tolerations."""
        return self.tolerance(cycle.shape).tolerations

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        """The fewer, the higher."""
        del cycle
        return _FEWEST_FIRST(scores)

    def normalizer(self, cycle: Cycle) -> Callable[[Scores], Scores]:
        """The same in each cycle."""
        del cycle
        return _FEWEST_FIRST

    def events_to_register(self) -> Sequence[EventHint]:
        """New nodes, nodes that lose taints, and tolerations that the pod itself gets."""
        return [
            EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, self.after_node_change),
            EventHint(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION, self.after_toleration_change),
        ]

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        """The node's taints kept the pod off, and do not any more."""
        rule = self.tolerance(pod.shape)
        was_forbidden = old is None or rule.is_forbidden(old.spec.taints)
        if was_forbidden and not rule.is_forbidden(new.spec.taints):
            return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def after_toleration_change(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> QueueingHint:
        """Tolerations are only ever added."""
        del pod, old, new
        return QueueingHint.QUEUE


def make(args: Any, handle: Handle) -> TaintToleration:
    """The plugin; it takes no arguments."""
    del args
    return TaintToleration(comparing=handle.feature_enabled(COMPARISONS))
