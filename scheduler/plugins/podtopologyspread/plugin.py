"""The plugin: its extension points (pkg/scheduler/framework/plugins/podtopologyspread/plugin.go)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from scheduler.api.selectors import SelectorError
from scheduler.api.tolerations import COMPARISONS
from scheduler.config.args.pod_topology_spread import SYSTEM_DEFAULTING, PodTopologySpreadArgs
from scheduler.framework import names
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable, unschedulable
from scheduler.plugins.podtopologyspread import hints, scoring
from scheduler.plugins.podtopologyspread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULTS,
    Constraint,
    compile_constraints,
)
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from scheduler.plugins.podtopologyspread.default_selector import default_selector, selector_version
from scheduler.plugins.podtopologyspread.filtering import MISSING_LABEL, TOO_SKEWED, spread_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

REASON_CONSTRAINTS: Final = "node(s) didn't match pod topology spread constraints"
REASON_LABEL: Final = f"{REASON_CONSTRAINTS} (missing required label)"

_MATCH_LABEL_KEYS: Final = "MatchLabelKeysInPodTopologySpread"
_STATUSES: Final = {TOO_SKEWED: unschedulable(REASON_CONSTRAINTS), MISSING_LABEL: unresolvable(REASON_LABEL)}


class _Compiled(msgspec.Struct, frozen=True):
    """What is kept on a shape: the counts of its constraints (None if it has none), as of some version."""

    version: Hashable
    counts: SpreadCounts | None


class PodTopologySpread(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Bounds (DoNotSchedule) or weighs (ScheduleAnyway) how unevenly pods are spread over domains."""

    name = names.POD_TOPOLOGY_SPREAD
    sees_labels = False
    per_cycle = True
    normalizes = True

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._system_defaults = args.defaulting_type == SYSTEM_DEFAULTING
        self._defaults = SYSTEM_DEFAULTS if self._system_defaults else args.default_constraints
        self._state = handle.state
        self._match_label_keys = handle.feature_enabled(_MATCH_LABEL_KEYS)
        self._comparing = handle.feature_enabled(COMPARISONS)
        self._memo = {action: f"{self.name}/{action}/{args}" for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)}

    # filter

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without DoNotSchedule constraints."""
        try:
            counts = self._counts(cycle.shape, DO_NOT_SCHEDULE)
        except SelectorError as problem:
            return error(f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}")
        if counts is None:
            return SKIP
        cycle.data[self._memo[DO_NOT_SCHEDULE]] = counts
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Where the constraints are not those by default, which depend on services and the like."""
        return self._are_own(cycle.shape)

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes:
        """The first constraint that a node fails decides."""
        counts = cycle.data.get(self._memo[DO_NOT_SCHEDULE])
        if counts is None:
            return np.ones(len(nodes), np.uint8)
        return spread_codes(counts, nodes, cycle.trial)

    def status(self, cycle: Cycle, code: int) -> Status:
        """A missing label is beyond help by preemption; skew is not."""
        if self.can_fail(cycle):
            return error(f'reading "PreFilter{self.name}" from cycleState: not found')
        return _STATUSES[code]

    def can_fail(self, cycle: Cycle) -> bool:
        """Only without what PreFilter counts."""
        return self._memo[DO_NOT_SCHEDULE] not in cycle.data

    # score

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Skip pods without ScheduleAnyway constraints."""
        try:
            counts = self._counts(cycle.shape, SCHEDULE_ANYWAY)
        except SelectorError as problem:
            return error(f"calculating preScoreState: obtaining pod's soft topology spread constraints: {problem}")
        if counts is None:
            return SKIP
        cycle.data[self._memo[SCHEDULE_ANYWAY]] = scoring.prepare(counts, feasible)
        return None

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """Of pods without such constraints, unless there may be some by default one day."""
        return self._are_own(cycle.shape) and self._memo[SCHEDULE_ANYWAY] not in cycle.data

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """Weighted counts of matching pods."""
        prepared = cycle.data.get(self._memo[SCHEDULE_ANYWAY])
        if prepared is None:
            raise PluginError(
                f'running Score plugins: plugin "{self.name}" failed with: '
                f'error reading "PreScore{self.name}" from cycleState: not found'
            )
        return scoring.raw_scores(prepared, nodes)

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        """Fewer pods are better; ignored nodes get 0."""
        return scoring.normalized(cycle.data[self._memo[SCHEDULE_ANYWAY]].ignored, scores)

    def normalizer(self, cycle: Cycle) -> Callable[[Scores], Scores]:
        """Knows which nodes are ignored."""
        return partial(scoring.normalized, cycle.data[self._memo[SCHEDULE_ANYWAY]].ignored)

    # what belongs to a shape

    def counted(self, cycle: Cycle) -> SpreadCounts | None:
        """What Filter goes by in this cycle, for whoever explains it; None if it has nothing to say."""
        found: SpreadCounts | None = cycle.data.get(self._memo[DO_NOT_SCHEDULE])
        return found

    def constraints(self, shape: PodShape, action: str) -> tuple[Constraint, ...]:
        """The pod's constraints of one kind, or the default ones if it has none and something selects its like.

        Raises SelectorError where a selector does not parse.
        """
        own = shape.pod.spec.topology_spread_constraints
        if own:
            return compile_constraints(own, shape.labels, action, match_label_keys=self._match_label_keys)
        defaults = compile_constraints(self._defaults, shape.labels, action)
        if not defaults:
            return ()
        selector = default_selector(shape, self._state.objects)
        return () if selector.empty else tuple(constraint.selecting(selector) for constraint in defaults)

    def _are_own(self, shape: PodShape) -> bool:
        return bool(shape.pod.spec.topology_spread_constraints) or not self._defaults

    def _counts(self, shape: PodShape, action: str) -> SpreadCounts | None:
        own = shape.pod.spec.topology_spread_constraints
        version = None if own or not self._defaults else selector_version(shape, self._state.objects)
        key = self._memo[action]
        found: _Compiled | None = shape.memo.get(key)
        if found is None or found.version != version:
            counts = found.counts if found is not None else None
            constraints = self.constraints(shape, action)
            if not constraints:
                counts = None
            elif counts is None or counts.constraints != constraints:
                require_all = bool(own) or not self._system_defaults
                counts = SpreadCounts(
                    self._state, shape, constraints, require_all=require_all, comparing=self._comparing
                )
            found = shape.memo[key] = _Compiled(version, counts)
        return found.counts

    # events

    def events_to_register(self) -> Sequence[EventHint]:
        """Assigned pods, the pod's own labels and tolerations, and nodes."""
        return hints.events(self._hard)

    def _hard(self, shape: Any) -> tuple[Constraint, ...]:
        return self.constraints(shape, DO_NOT_SCHEDULE)


def make(args: Any, handle: Handle) -> PodTopologySpread:
    """The plugin with its arguments; None means the defaults."""
    return PodTopologySpread(args if args is not None else PodTopologySpreadArgs(), handle)
