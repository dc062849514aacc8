"""NodeResourcesFit: keep pods off nodes without room for them, and score nodes by the room that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.requests import scored_requests
from scheduler.api.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_extended
from scheduler.cache.changes import Change
from scheduler.framework import device_classes, names
from scheduler.framework.arithmetic import some
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from scheduler.framework.status import Code, Status, error
from scheduler.kernels.formula import formula
from scheduler.plugins.noderesources.hints import FitHints
from scheduler.plugins.noderesources.resource_allocation import Resources, ScoredResources, is_exact, requests_of
from scheduler.plugins.noderesources.strategies import COMPILED, OF_ONE, strategy_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeTable, NodeView
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.shapes import PodShape
    from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

NAME: Final = names.NODE_RESOURCES_FIT
TOO_MANY_PODS: Final = "Too many pods"

_PODS: Final = 1
"""Bits of a code: too many pods; a shortage that no preemption ends; then one for each resource that is short."""
_UNRESOLVABLE: Final = 2
_FIRST_RESOURCE: Final = 4
_MOST_RESOURCES: Final = 62
_NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


class Need:
    """One resource that is checked: its index in the node table, how much of it, and the bit that says it is short.

    Of an `elsewhere` resource nodes without any are passed over: a DeviceClass stands for it there.
    """

    __slots__ = ("amount", "bit", "elsewhere", "index", "name")

    def __init__(self, table: NodeTable, name: str, amount: int, bit: int) -> None:
        self.name = name
        self.index = table.resource(name)
        self.amount = amount
        self.bit = bit
        self.elsewhere = False


class Needs:
    """What a shape asks of a node: the resources to check, in the order in which shortages are told.

    Those with equal keys come to the same.
    """

    __slots__ = (
        *("_amounts", "_classes_version", "_formula", "_resources", "_statuses"),
        *("dtype", "key", "needs", "scalars"),
    )

    def __init__(self, table: NodeTable, amounts: Sequence[tuple[str, int]]) -> None:
        self.key: Hashable = tuple(amounts)
        self.needs = [
            Need(table, name, amount, _FIRST_RESOURCE << position) for position, (name, amount) in enumerate(amounts)
        ]
        self._resources = Resources([need.index for need in self.needs])
        self._amounts = np.array([need.amount for need in self.needs], np.int64).reshape(-1, 1)
        self.scalars = [need for need in self.needs if need.name not in _NATIVE]
        self._formula = None
        if not self.scalars:  # a device class can't stand for any of them
            self._formula = formula("room", self._resources.indices, [need.amount for need in self.needs])
        self.dtype: np.dtype[Any] = np.min_scalar_type((_FIRST_RESOURCE << len(amounts)) - 1)
        self._classes_version = -1
        self._statuses: dict[int, Status] = {}

    def classes_version(self, objects: ObjectStore) -> int:
        """What version of the device classes the needs follow; -1 if none can stand for any of them."""
        if not self.scalars:
            return -1
        version = objects.version(device_classes.KIND)
        if version != self._classes_version:
            for need in self.scalars:
                need.elsewhere = device_classes.is_backed(need.name, objects)
            self._classes_version = version
        return version

    def codes(self, nodes: NodeView) -> Codes | None:
        """What each node lacks."""
        table, rows, dtype = nodes.table, nodes.rows, self.dtype
        if self._formula is not None:
            found = self._formula.of(table.columns, nodes.chosen)
            return found if found is not None and some(found) else None
        codes: Codes | None = None
        full = table.pod_count[rows] >= table.allowed_pods[rows]
        if some(full):
            codes = full.astype(dtype)
        allocatable = self._resources.of(nodes, "allocatable")
        lacking = allocatable - self._resources.of(nodes, "requested") < self._amounts
        if not some(lacking):  # as most often
            return codes
        for need, short, there in zip(self.needs, lacking, allocatable, strict=True):
            if need.elsewhere:
                short &= there > 0
            if some(short):
                if codes is None:
                    codes = np.zeros(len(nodes), dtype)
                codes[short] |= dtype.type(need.bit)
                codes[short & (there < need.amount)] |= dtype.type(_UNRESOLVABLE)
        return codes

    def code_at(self, table: NodeTable, row: int) -> int | None:
        """What one node lacks; None where the sums may have overflown."""
        if self._formula is not None:
            return self._formula.at(table.columns, row)
        code = _PODS if table.pod_count.item(row) >= table.allowed_pods.item(row) else 0
        for need in self.needs:
            allocatable = table.allocatable.item(need.index, row)
            requested = table.requested.item(need.index, row)
            if not is_exact(requested):
                return None
            if allocatable - requested < need.amount:
                if need.elsewhere and not allocatable > 0:
                    continue
                code |= need.bit if allocatable >= need.amount else need.bit | _UNRESOLVABLE
        return code

    def status(self, code: int) -> Status:
        """The reasons that a code stands for."""
        known = self._statuses.get(code)
        if known is None:
            reasons = [TOO_MANY_PODS] if code & _PODS else []
            reasons += [f"Insufficient {need.name}" for need in self.needs if code & need.bit]
            kind = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if code & _UNRESOLVABLE else Code.UNSCHEDULABLE
            known = self._statuses[code] = Status(kind, tuple(reasons))
        return known


class Fit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/noderesources/fit.go."""

    name = NAME
    sees_labels = False
    hints_see_labels = False
    depends = Change.ALLOCATABLE | Change.REQUESTED
    bounded = True

    def __init__(self, args: NodeResourcesFitArgs, objects: ObjectStore) -> None:
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._strategy = strategy_of(args.scoring_strategy)
        self._strategy_of_one = OF_ONE.get(self._strategy)
        self._resources = args.scoring_strategy.resources
        self._hints = FitHints(objects)
        self._memo = f"{NAME}:{args!r}"
        self._score_memo = f"{NAME}/scored:{args!r}"

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Works out what the pod requests; filtering fails without this."""
        needs = self._needs(cycle)
        if len(needs.needs) > _MOST_RESOURCES:
            return error(f"the pod requests {len(needs.needs)} resources, and at most {_MOST_RESOURCES} can be checked")
        cycle.data[NAME] = needs
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Which resources the node lacks, a bit each."""
        needs: Needs | None = cycle.data.get(NAME)
        if needs is None:
            return np.ones(len(nodes), np.uint8)
        needs.classes_version(cycle.state.objects)
        return needs.codes(nodes)

    def filter_key(self, cycle: Cycle) -> Hashable:
        """What is checked of the requests, and whether PreFilter ran."""
        return self._needs(cycle).key, NAME in cycle.data

    def code_at(self, cycle: Cycle, row: int) -> int | None:
        """The same of one node, unless the sums may have overflown."""
        needs: Needs | None = cycle.data.get(NAME)
        if needs is None:
            return None
        needs.classes_version(cycle.state.objects)
        return needs.code_at(cycle.state.nodes, row)

    def status(self, cycle: Cycle, code: int) -> Status:
        """All that the node lacks, pods first."""
        if self.can_fail(cycle):
            return error(f'error reading "PreFilter{NAME}" from cycleState: not found')
        return self._needs(cycle).status(code)

    def can_fail(self, cycle: Cycle) -> bool:
        """Only without what PreFilter works out."""
        return NAME not in cycle.data

    def epoch(self, cycle: Cycle) -> Hashable:
        """The device classes, if any of them may stand for a requested resource."""
        return self._needs(cycle).classes_version(cycle.state.objects)

    def epoch_settled(self, cycle: Cycle) -> bool:
        """If no class can stand for anything that is requested."""
        return not self._needs(cycle).scalars

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> None:
        """Nothing that scoring could not work out itself, and no pod is skipped."""
        del cycle, feasible

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """The score of the configured strategy; what is not requested of CPU and memory counts as the default."""
        scored = self._scored(cycle)
        compiled = scored.compiled(nodes)
        if compiled is not None:
            return compiled
        requested = scored.nonzero_requested(nodes) + scored.amounts
        return self._strategy(requested, scored.allocatable(nodes), scored.weights)

    def score_key(self, cycle: Cycle) -> Hashable:
        """What counts of the requests."""
        return self._scored(cycle).key

    def score_at(self, cycle: Cycle, row: int) -> int | None:
        """The same of one node, by most strategies."""
        if self._strategy_of_one is None:
            return None
        scored = self._scored(cycle)
        compiled = scored.compiled_at(cycle.state.nodes, row)
        if compiled is not None:
            return compiled
        amounts = scored.of_one(cycle.state.nodes, row)
        return None if amounts is None else self._strategy_of_one(*amounts, scored.plain_weights)

    def events_to_register(self) -> Sequence[EventHint]:
        """Pods that go or shrink, nodes that come or grow, device classes, and a smaller request of the pod itself."""
        return self._hints.events()

    def _scored(self, cycle: Cycle) -> ScoredResources:
        memo = cycle.shape.common
        scored: ScoredResources | None = memo.get(self._score_memo)
        if scored is None:
            requests = scored_requests(cycle.shape.pod, nonzero=True, pod_level=False)
            scored = memo[self._score_memo] = ScoredResources(
                cycle.state.nodes, self._resources, requests, nonzero=True, formula=COMPILED.get(self._strategy)
            )
        return scored

    def _needs(self, cycle: Cycle) -> Needs:
        memo = cycle.shape.common
        known: Needs | None = memo.get(self._memo)
        if known is None:
            known = memo[self._memo] = Needs(cycle.state.nodes, self._checked(cycle.shape))
        return known

    def _checked(self, shape: PodShape) -> list[tuple[str, int]]:
        """The resources to check: those requested, CPU, memory and ephemeral storage first, less the ignored ones."""
        requests = requests_of(shape)
        native = [(name, requests[name]) for name in _NATIVE if requests.get(name)]
        scalars = sorted((name, amount) for name, amount in requests.items() if amount and name not in _NATIVE)
        return native + [(name, amount) for name, amount in scalars if not self._is_ignored(name)]

    def _is_ignored(self, name: str) -> bool:
        if not is_extended(name):
            return False
        return name in self._ignored or name.split("/", 1)[0] in self._ignored_groups


def make(args: NodeResourcesFitArgs, handle: Handle) -> Fit:
    """The plugin. Raises ValueError if the scoring strategy is not known."""
    return Fit(args, handle.state.objects)
