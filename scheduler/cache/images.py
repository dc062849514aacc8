"""Which images lie on which nodes (pkg/scheduler/backend/cache/cache.go, addNodeImageStates)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scheduler.api.objects import Node


class ImageState:
    """One image name: its size in bytes, as the node that was seen first with it has it, and the rows that have it.

    `version` is that of the table at the last change of the rows.
    """

    __slots__ = ("_indices", "rows", "size", "version")

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()
        self.version = 0
        self._indices: npt.NDArray[np.intp] | None = None

    def indices(self) -> npt.NDArray[np.intp]:
        """The rows as an array; read only."""
        if self._indices is None:
            self._indices = np.fromiter(self.rows, np.intp, len(self.rows))
        return self._indices

    def touch(self, version: int) -> None:
        """Note that the rows changed."""
        self.version = version
        self._indices = None


class ImageTable:
    """All image names of the cluster. `version` moves on with every change."""

    __slots__ = ("states", "version")

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}
        self.version = 0

    def add(self, row: int, node: Node) -> None:
        """Note the images of a node."""
        if node.status.images:
            self.version += 1
        for image in node.status.images:
            for name in image.names:
                state = self.states.get(name)
                if state is None:
                    state = self.states[name] = ImageState(image.size_bytes)
                state.rows.add(row)
                state.touch(self.version)

    def remove(self, row: int, node: Node) -> None:
        """Take the images of a node back; an image on no node is forgotten, its size included."""
        if node.status.images:
            self.version += 1
        for image in node.status.images:
            for name in image.names:
                state = self.states.get(name)
                if state is not None:
                    state.rows.discard(row)
                    state.touch(self.version)
                    if not state.rows:
                        del self.states[name]
