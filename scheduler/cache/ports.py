"""Host ports in use, by node (k8s.io/kube-scheduler/framework/types.go, HostPortInfo)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

ANY_ADDRESS: Final = "0.0.0.0"


class HostPort(NamedTuple):
    """A port of the host that a pod takes; addresses are compared as text."""

    protocol: str
    port: int
    address: str


class PortTable:
    """For each host port that any pod takes: how many pods of each node take it.

    Kept by (protocol, port), then address: int32 counts over rows.
    """

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used: dict[tuple[str, int], dict[str, npt.NDArray[np.int32]]] = {}

    def add(self, row: int, ports: tuple[HostPort, ...], sign: int) -> None:
        """Count the ports of a pod that came to (sign 1) or left (-1) the node in a row."""
        for protocol, port, address in ports:
            by_address = self._used.setdefault((protocol, port), {})
            counts = by_address.get(address)
            if counts is None or row >= len(counts):
                longer = np.zeros(max(16, row + row // 2 + 1), np.int32)
                if counts is not None:
                    longer[: len(counts)] = counts
                counts = by_address[address] = longer
            counts[row] += sign
            if sign < 0 and not counts.any():
                del by_address[address]
                if not by_address:
                    del self._used[protocol, port]

    def conflicts(self, wanted: tuple[HostPort, ...], size: int) -> npt.NDArray[np.bool_]:
        """bool over rows 0..size: whether any wanted port is taken there.

        The address 0.0.0.0 conflicts with every address; all others only with themselves and with it.
        """
        taken = np.zeros(size, np.bool_)
        for protocol, port, address in wanted:
            for other, counts in self._used.get((protocol, port), {}).items():
                if address == other or ANY_ADDRESS in (address, other):
                    used = counts[:size] > 0
                    taken[: len(used)] |= used
        return taken

    def used(self) -> dict[tuple[HostPort, int], int]:
        """(port, row) -> number of pods, for comparison with a count from scratch."""
        return {
            (HostPort(protocol, port, address), row): int(counts[row])
            for (protocol, port), by_address in self._used.items()
            for address, counts in by_address.items()
            for row in np.flatnonzero(counts).tolist()
        }
