"""Why a pod fits nowhere, kept as vectors and worded only when asked.

Source: pkg/scheduler/framework/types.go, Diagnosis and FitError.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from scheduler.framework.codes import codes_in
from scheduler.framework.status import Code, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import FilterPlugin

Codes = npt.NDArray[np.unsignedinteger[Any]]
Mask = npt.NDArray[np.bool_]
Group = tuple[Status, npt.NDArray[np.intp]]


class Rejections:
    """The status of every node that was looked at and turned down.

    - `evaluated`: bool over rows; nodes that were filtered.
    - `verdicts`: the filters that ran, in order, each with its codes over rows.
    - `overrides`: statuses of single rows that take precedence (nominated pods, extenders).
    - `strangers`: what extenders say of nodes that are not there, by name.
    - `absent`: the status of all nodes that were not filtered (left out by PreFilter, or all if it refused the pod).
    - `unschedulable_plugins`: who must be heard before the pod is tried again.
    """

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.live: Mask = cycle.state.nodes.live[: cycle.nodes.size]
        self.evaluated: Mask = np.zeros(cycle.nodes.size, np.bool_)
        self.verdicts: list[tuple[FilterPlugin, Codes]] = []
        self.overrides: dict[int, Status] = {}
        self.strangers: dict[str, Status] = {}
        self.absent: Status | None = None
        self.pre_filter_message = ""
        self.unschedulable_plugins: set[str] = set()
        self._groups: list[Group] | None = None

    @classmethod
    def of(
        cls,
        live: Mask,
        evaluated: Mask,
        verdicts: list[tuple[FilterPlugin, Codes]],
        overrides: dict[int, Status],
    ) -> Self:
        """Those of an attempt in the past, of which there is no context any more: plugins word their codes without."""
        past = cls.__new__(cls)
        past.cycle = None  # type: ignore[assignment]
        past.live, past.evaluated, past.verdicts, past.overrides = live, evaluated, verdicts, overrides
        past.strangers, past.absent, past.pre_filter_message, past.unschedulable_plugins = {}, None, "", set()
        past._groups = None
        return past

    def settle(self) -> Self:
        """Nothing is turned down any more but what was so far: from now on `groups` are found once."""
        self._groups = list(self._found())
        return self

    def groups(self) -> Iterable[Group]:
        """(status, rows) for each distinct way in which filtered nodes were turned down."""
        return self._found() if self._groups is None else self._groups

    def _found(self) -> Iterator[Group]:
        left = self.evaluated & self.live
        for row, status in self.overrides.items():
            if left[row] and status.code is not Code.SUCCESS:
                yield status, np.array([row])
            left[row] = False
        for plugin, codes in self.verdicts:
            hit = left & (codes != 0)
            rows = np.flatnonzero(hit)
            if not len(rows):
                continue
            found = codes[rows]
            present = codes_in(found)
            for code in present:
                those = rows if len(present) == 1 else rows[found == code]
                yield plugin.status(self.cycle, code).by(plugin.name), those
            left &= ~hit

    def status_of(self, row: int) -> Status | None:
        """Why the node in a row was turned down, None if it fits; it must have been looked at."""
        status = self.overrides.get(row)
        if status is not None:
            return None if status.code is Code.SUCCESS else status
        for plugin, codes in self.verdicts:
            if codes[row]:
                return plugin.status(self.cycle, int(codes[row])).by(plugin.name)
        return None

    def statuses(self) -> dict[int, Status]:
        """The status of each node that was turned down, by row; absent ones included."""
        by_row: dict[int, Status] = {}
        for status, rows in self.groups():
            by_row.update(dict.fromkeys(rows.tolist(), status))
        if self.absent is not None:
            absent = np.flatnonzero(self.live & ~self.evaluated)
            by_row.update(dict.fromkeys(absent.tolist(), self.absent))
        return by_row

    def rows_with(self, wanted: Code) -> npt.NDArray[np.intp]:
        """The rows whose status has the given code, in ascending order (NodesForStatusCode)."""
        parts = [rows for status, rows in self.groups() if status.code is wanted]
        if self.absent is not None and self.absent.code is wanted:
            parts.append(np.flatnonzero(self.live & ~self.evaluated))
        if len(parts) == 1:
            return parts[0]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, np.intp)

    def rejecting_plugins(self) -> set[str]:
        """All plugins that must be heard: those of PreFilter and the first to reject any node."""
        return self.unschedulable_plugins | {status.plugin for status, _ in self.groups() if status.plugin}

    def pending_plugins(self) -> set[str]:
        """Those of the rejecting plugins that expect to let the pod go without anything changing for it (Pending)."""
        return {status.plugin for status, _ in self.groups() if status.code is Code.PENDING}

    def message(self, post_filter: str = "") -> str:
        """The text of events and conditions, e.g. "0/3 nodes are available: 3 Insufficient cpu." (FitError.Error)."""
        total = int(self.live.sum())
        text = f"0/{total} nodes are available:"
        if self.pre_filter_message:
            text += f" {self.pre_filter_message}."
        else:
            reasons: Counter[str] = Counter()
            for status, rows in self.groups():
                for reason in status.reasons:
                    reasons[reason] += len(rows)
            for status in self.strangers.values():
                reasons.update(status.reasons)
            if self.absent is not None:
                absent = int((self.live & ~self.evaluated).sum()) - len(self.strangers)
                for reason in self.absent.reasons:
                    reasons[reason] += max(absent, 0)
            histogram = sorted(f"{count} {reason}" for reason, count in reasons.items() if count)
            if histogram:
                text += f" {', '.join(histogram)}."
        return f"{text} {post_filter}" if post_filter else text
