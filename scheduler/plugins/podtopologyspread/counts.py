"""What is counted for the constraints of one kind of pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from scheduler.api.selectors import NOTHING
from scheduler.cache.counters import DomainTally, MatchCounter
from scheduler.plugins.podtopologyspread.inclusion import Inclusion

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy.typing as npt

    from scheduler.api.selectors import Selector
    from scheduler.cache.labels import LabelColumn
    from scheduler.cache.nodes import NodeTable
    from scheduler.cache.shapes import LabelClass, PodShape
    from scheduler.cache.state import ClusterState
    from scheduler.cache.what_if import WhatIf
    from scheduler.plugins.podtopologyspread.constraints import Constraint

    Int64s = npt.NDArray[np.int64]
    Ids = npt.NDArray[np.intp]


_KEPT: Final = 8


class CountedConstraint(NamedTuple):
    """A constraint, the pods that it counts, and their sums over the domains of its topology key.

    `self_match` says that the pod itself counts once it is placed; `namespace` is the pods'.
    """

    constraint: Constraint
    column: LabelColumn
    counter: MatchCounter
    tally: DomainTally
    inclusion: Inclusion
    self_match: bool
    namespace: str

    def sums(self, size: int) -> Int64s:
        """Matching pods on included nodes, int64 over ids of the column; read only."""
        inclusion = self.inclusion
        return self.tally.sums(size, inclusion.mask, inclusion.version)

    def uncounted(self, trial: WhatIf, table: NodeTable, size: int) -> Int64s:
        """What pods that come and go in a trial change beyond the sums, int64 over `size` ids of the column.

        kube-scheduler counts neither terminating pods nor any pod for an empty selector, but adds and takes away both
        where it tries evictions and nominations (updateWithPod in filtering.go): so do we.
        """
        changes = np.zeros(size, np.int64)
        mask, selector = self.inclusion.mask, self.constraint.selector
        for sign, pod in trial.steps:
            if not (pod.terminating or selector.empty) or pod.namespace != self.namespace:
                continue
            row = table.rows[pod.node_name]
            if (mask is None or mask[row]) and selector.matches(pod.shape.labels):
                changes[self.column.ids[row]] += sign
        return changes

    def domains(self) -> Ids:
        """The ids of the values that included nodes have, where these have all topology keys."""
        return self.inclusion.domains(self.column)


class KeptVectors:
    """Vectors of the last few kinds that were asked for, read only, each the same object until `versions` differ."""

    __slots__ = ("_by_kind", "_versions")

    def __init__(self) -> None:
        self._versions: Hashable = None
        self._by_kind: dict[Hashable, npt.NDArray[np.uint8]] = {}

    def __len__(self) -> int:
        return len(self._by_kind)

    def of(
        self, versions: Hashable, kind: Hashable, make: Callable[[], npt.NDArray[np.uint8]]
    ) -> npt.NDArray[np.uint8]:
        """The vector of that kind, made if it isn't there."""
        if versions != self._versions:
            self._by_kind, self._versions = {}, versions
        found = self._by_kind.get(kind)
        if found is None:
            if len(self._by_kind) >= _KEPT:
                self._by_kind.clear()
            found = self._by_kind[kind] = make()
            found.flags.writeable = False
        return found


class SpreadCounts:
    """The constraints of a shape that are looked at together: those of Filter, or those of Score.

    With `require_all`, a node counts only if it has all their topology keys. `comparing` says whether tolerations may
    compare, where taints matter. In `codes` are the verdicts of Filter over all rows, in `prepared` is what PreScore
    has found last.
    """

    __slots__ = ("_inclusions", "codes", "constraints", "items", "prepared", "require_all")

    def __init__(
        self,
        state: ClusterState,
        shape: PodShape,
        constraints: tuple[Constraint, ...],
        *,
        require_all: bool,
        comparing: bool = False,
    ) -> None:
        self.constraints = constraints
        self.require_all = require_all
        self.codes = KeptVectors()
        self.prepared: Any = None
        keys = tuple(dict.fromkeys(constraint.topology_key for constraint in constraints)) if require_all else ()
        self._inclusions: dict[tuple[bool, bool], Inclusion] = {}
        self.items: list[CountedConstraint] = []
        for constraint in constraints:
            policies = (constraint.honor_affinity, constraint.honor_taints)
            inclusion = self._inclusions.get(policies)
            if inclusion is None:
                inclusion = self._inclusions[policies] = Inclusion(
                    keys,
                    shape.pod.spec,
                    honor_affinity=constraint.honor_affinity,
                    honor_taints=constraint.honor_taints,
                    comparing=comparing,
                )
            column = state.nodes.labels(constraint.topology_key)
            counter = matching_pods(state, shape.namespace, constraint.selector)
            tally = DomainTally(counter, column)
            self.items.append(
                CountedConstraint(
                    constraint,
                    column,
                    counter,
                    tally,
                    inclusion,
                    self_match=constraint.selector.matches(shape.labels),
                    namespace=shape.namespace,
                )
            )

    def refresh(self, table: NodeTable) -> None:
        """Bring the masks of the nodes that count up to date."""
        for inclusion in self._inclusions.values():
            inclusion.refresh(table)


def matching_pods(state: ClusterState, namespace: str, selector: Selector) -> MatchCounter:
    """The counter of pods of a namespace that a constraint's selector picks, without terminating ones.

    An empty selector counts no pods at all (countPodsMatchSelector).
    """
    counted = NOTHING if selector.empty else selector

    def matches(label_class: LabelClass) -> bool:
        return label_class.namespace == namespace and counted.matches(label_class.labels)

    return state.counters.match(("spread", namespace, counted), matches, terminating=False, label=counted.label)
