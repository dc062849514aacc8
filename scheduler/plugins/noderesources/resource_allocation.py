"""What both plugins score by: for each resource, what nodes have and what is requested of them.

Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from scheduler.api.requests import incoming_requests
from scheduler.api.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_scalar
from scheduler.kernels.formula import formula as compiled_formula

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from scheduler.cache.nodes import NodeTable, NodeView, Rows
    from scheduler.cache.shapes import PodShape
    from scheduler.config.args.scoring import ResourceSpec
    from scheduler.kernels.formula import Kind

Int64s = npt.NDArray[np.int64]

_REQUESTS: Final = "noderesources/requests"
_NONZERO_ROWS: Final = 2
"""CPU and memory, the first two resources of the table, have columns with defaults for what is not requested."""


_LARGEST: Final = 1 << 53


def is_exact(amount: int) -> bool:
    """Whether plain integers and floats reckon with an amount as Go does: nothing overflows, or is rounded."""
    return 0 <= amount < _LARGEST


def requests_of(shape: PodShape) -> Mapping[str, int]:
    """What pods of the shape ask of a node: milli-CPU, bytes and counts by resource name."""
    known: Mapping[str, int] | None = shape.common.get(_REQUESTS)
    if known is None:
        known = shape.common[_REQUESTS] = incoming_requests(shape.pod)
    return known


class Resources:
    """Some resources of the node table, to be picked out of its matrices by their indices there; A of them."""

    __slots__ = ("_select", "indices")

    def __init__(self, indices: Sequence[int]) -> None:
        self.indices = tuple(indices)
        self._select = _selection(indices)

    def of(self, nodes: NodeView, matrix: str) -> Int64s:
        """int64[A, n] of `allocatable`, `requested` or `nonzero`; to be read only, it may be the table's own."""
        kept = nodes.kept
        if kept is None:
            return _taken(getattr(nodes.table, matrix), self._select, nodes.rows)
        key = matrix, self.indices
        found: Int64s | None = kept.get(key)
        if found is None:
            found = kept[key] = _taken(getattr(nodes.table, matrix), self._select, nodes.rows)
        return found


class ScoredResources:
    """The resources that count when nodes are scored for a shape, A of them.

    Extended resources that the pod does not request are left out, as are names that the scheduler does not count.
    `plain_amounts` and `plain_weights` are plain integers. Those with equal keys, of the same arguments of a plugin,
    come to the same. With `nonzero`, defaults count for CPU and memory that pods do not request. `formula` is the kind
    of compiled formula by which nodes are scored, if there is one.
    """

    __slots__ = (
        "_formula",
        "_matrices",
        "_nonzero",
        "_only_nonzero",
        "_resources",
        "key",
        "plain_amounts",
        "plain_weights",
    )

    def __init__(
        self,
        table: NodeTable,
        resources: Sequence[ResourceSpec],
        requests: Mapping[str, int],
        *,
        nonzero: bool = False,
        formula: Kind | None = None,
    ) -> None:
        counted = [
            (table.resource(resource.name), requests.get(resource.name, 0), resource.weight)
            for resource in resources
            if _is_counted(resource.name, requests)
        ]
        self._resources = Resources([index for index, _, _ in counted])
        self.plain_amounts = [amount for _, amount, _ in counted]
        self.plain_weights = [weight for _, _, weight in counted]
        self.key: Hashable = self._resources.indices, tuple(self.plain_amounts)
        self._only_nonzero = all(index < _NONZERO_ROWS for index in self._resources.indices)
        self._nonzero = nonzero
        self._matrices: tuple[Int64s, Int64s, Int64s] | None = None
        self._formula = None
        if formula is not None:
            self._formula = compiled_formula(
                formula, self._resources.indices, self.plain_amounts, weights=self.plain_weights, nonzero=nonzero
            )

    def __len__(self) -> int:
        return len(self._resources.indices)

    @property
    def amounts(self) -> Int64s:
        """int64[A, 1]."""
        return self._made()[0]

    @property
    def weights(self) -> Int64s:
        """int64[A, 1]."""
        return self._made()[1]

    @property
    def with_and_without(self) -> Int64s:
        """The amounts and nothing, int64[2, A, 1]."""
        return self._made()[2]

    def _made(self) -> tuple[Int64s, Int64s, Int64s]:
        """What the compiled formula does without."""
        matrices = self._matrices
        if matrices is None:
            amounts = np.array(self.plain_amounts, np.int64).reshape(-1, 1)
            weights = np.array(self.plain_weights, np.int64).reshape(-1, 1)
            matrices = self._matrices = amounts, weights, np.stack((amounts, np.zeros_like(amounts)))
        return matrices

    def compiled(self, nodes: NodeView) -> Int64s | None:
        """What the compiled formula gives the nodes; None where there is none, or it is beyond it."""
        if self._formula is None:
            return None
        return cast("Int64s | None", self._formula.of(nodes.table.columns, nodes.chosen))

    def compiled_at(self, table: NodeTable, row: int) -> int | None:
        """The same of one node."""
        return None if self._formula is None else self._formula.at(table.columns, row)

    def allocatable(self, nodes: NodeView) -> Int64s:
        """int64[A, n], to be read only."""
        return self._resources.of(nodes, "allocatable")

    def requested(self, nodes: NodeView) -> Int64s:
        """What the pods of the nodes request, int64[A, n], to be read only."""
        return self._resources.of(nodes, "requested")

    def of_one(self, table: NodeTable, row: int) -> tuple[list[int], list[int]] | None:
        """What is requested of one node with the pod on it, and what it has; None where one of these is not exact."""
        requested, allocatable = [], []
        for index, amount in zip(self._resources.indices, self.plain_amounts, strict=True):
            by_default = self._nonzero and index < _NONZERO_ROWS
            there = (table.nonzero if by_default else table.requested).item(index, row) + amount
            has = table.allocatable.item(index, row)
            if not (is_exact(there) and is_exact(has)):
                return None
            requested.append(there)
            allocatable.append(has)
        return requested, allocatable

    def nonzero_requested(self, nodes: NodeView) -> Int64s:
        """The same with defaults for the CPU and memory that pods do not request."""
        table, rows = nodes.table, nodes.rows
        if self._only_nonzero:
            return self._resources.of(nodes, "nonzero")
        requested = self.requested(nodes).copy()
        for position, index in enumerate(self._resources.indices):
            if index < _NONZERO_ROWS:
                requested[position] = table.nonzero[index][rows]
        return requested


def _is_counted(name: str, requests: Mapping[str, int]) -> bool:
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or (is_scalar(name) and requests.get(name, 0) != 0)


def _selection(indices: Sequence[int]) -> slice | npt.NDArray[np.intp]:
    """The indices, as a slice (which copies nothing) where they follow one another."""
    if indices and list(indices) == list(range(indices[0], indices[0] + len(indices))):
        return slice(indices[0], indices[0] + len(indices))
    return np.array(indices, np.intp)


def _taken(matrix: Int64s, select: slice | npt.NDArray[np.intp], rows: Rows) -> Int64s:
    if isinstance(rows, slice):
        return matrix[select, rows]
    if isinstance(select, slice):
        return matrix[select].take(rows, axis=1)
    return matrix[select[:, np.newaxis], rows]
