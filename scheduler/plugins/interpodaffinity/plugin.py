"""The plugin: its extension points (pkg/scheduler/framework/plugins/interpodaffinity/plugin.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from scheduler.cache.counters import REQUIRED_ANTI
from scheduler.cache.terms import NO_TERMS
from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.framework import names
from scheduler.framework.arithmetic import some
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable, unschedulable
from scheduler.plugins.interpodaffinity import hints, scoring
from scheduler.plugins.interpodaffinity.filtering import (
    EXISTING_ANTI_AFFINITY,
    NO_AFFINITY,
    OWN_ANTI_AFFINITY,
    affinity_codes,
    any_keeps_hostname_free,
    existing_anti_affinity,
)
from scheduler.plugins.interpodaffinity.terms import OwnTerms, depends_on_namespaces, own_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

_FAST_PATH: Final = "InterPodAffinityHostnameFastPath"

REASON_AFFINITY: Final = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING_ANTI_AFFINITY: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

_STATUSES: Final = {
    NO_AFFINITY: unresolvable(REASON_AFFINITY),
    OWN_ANTI_AFFINITY: unschedulable(REASON_ANTI_AFFINITY),
    EXISTING_ANTI_AFFINITY: unschedulable(REASON_EXISTING_ANTI_AFFINITY),
}


class _Compiled(msgspec.Struct, frozen=True):
    """What is kept on a shape: the counted terms, as of some version of the namespaces."""

    version: int
    terms: OwnTerms


class InterPodAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Keeps pods near to, or away from, other pods, by their own terms and by those of the others."""

    name = names.INTER_POD_AFFINITY
    sees_labels = False
    per_cycle = True
    normalizes = True

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self._hard_weight = args.hard_pod_affinity_weight
        self._ignore_existing = args.ignore_preferred_terms_of_existing_pods
        self._state = handle.state
        self._by_hostname_later = handle.feature_enabled(_FAST_PATH)
        self._scores = f"{self.name}/scores"

    # filter

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without required terms that no existing pod keeps away from."""
        shape = cycle.shape
        if shape.error:
            return unresolvable(f"parsing pod: {shape.error}")
        own = cycle.data[self.name] = self._own(shape)
        if own.affinity or own.anti_affinity:
            return None
        if not cycle.state.counters.held[REQUIRED_ANTI]:
            return SKIP
        size = cycle.nodes.size
        avoided = existing_anti_affinity(cycle.state, shape.label_class)
        if any(some(tally.sums(size)) for tally in avoided):
            return None
        # Under the gate kube-scheduler leaves terms by hostname to Filter, which it then can not skip.
        return None if self._by_hostname_later and any_keeps_hostname_free(cycle.state) else SKIP

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Affinity first, then the pod's own anti-affinity, then that of existing pods."""
        own = cycle.data.get(self.name)
        if own is None:
            return np.ones(len(nodes), np.uint8)
        return affinity_codes(own, cycle.state, cycle.shape.label_class, nodes)

    def status(self, cycle: Cycle, code: int) -> Status:
        """Missing company is beyond help by preemption; unwanted company is not."""
        if self.can_fail(cycle):
            return error(f'error reading "PreFilter{self.name}" from cycleState: not found')
        return _STATUSES[code]

    def can_fail(self, cycle: Cycle) -> bool:
        """Only without what PreFilter finds."""
        return self.name not in cycle.data

    # score

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Skip if no term, own or of others, has anything to count."""
        del feasible
        shape = cycle.shape
        if self._ignore_existing and not shape.terms.preferred and not shape.error:
            return SKIP
        if shape.error:
            return error(f"failed to parse pod: {shape.error}")
        scores = scoring.topology_scores(self._own(shape), cycle.state, shape.label_class, self._hard_weight)
        if not scores:
            return SKIP
        cycle.data[self._scores] = scores
        return None

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """The sum of the weights of what is in the node's domains."""
        scores = cycle.data.get(self._scores)
        if scores is None:
            raise PluginError(
                f'running Score plugins: plugin "{self.name}" failed with: '
                f'failed to read "PreScore{self.name}" from cycleState: not found'
            )
        return scoring.raw_scores(scores, nodes)

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        """Spread out between the least and the most liked node."""
        del cycle
        return scoring.normalized(scores)

    def normalizer(self, cycle: Cycle) -> Callable[[Scores], Scores]:
        """The same in each cycle."""
        del cycle
        return scoring.normalized

    def _own(self, shape: PodShape) -> OwnTerms:
        terms = shape.terms
        version = self._state.namespaces_version if terms is not NO_TERMS and depends_on_namespaces(shape) else 0
        memo = shape.memo if terms else shape.common  # terms may match the pod itself, or not
        found: _Compiled | None = memo.get(self.name)
        if found is None or found.version != version:
            found = memo[self.name] = _Compiled(version, own_terms(self._state, shape))
        return found.terms

    # events

    def events_to_register(self) -> Sequence[EventHint]:
        """Assigned pods, the pod's own labels, and nodes."""
        return hints.EVENTS


def make(args: Any, handle: Handle) -> InterPodAffinity:
    """The plugin with its arguments; None means the defaults."""
    return InterPodAffinity(args if args is not None else InterPodAffinityArgs(), handle)
