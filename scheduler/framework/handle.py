"""What a plugin is built with, besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import Plugin


class Binder(Protocol):
    """The write that DefaultBinder needs; the API writer and the in-process cluster both have it."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod through the Binding subresource. Raises an exception whose text goes into the pod's condition."""


class Handle(msgspec.Struct, frozen=True):
    """The scheduler as plugins see it: cluster state, writer, feature gates (by name)."""

    state: ClusterState
    binder: Binder
    feature_enabled: Callable[[str], bool]
    activate: Callable[[list[str]], None] = lambda _keys: None
    """Moves waiting pods ("namespace/name") to the active queue."""


Factory = Callable[[Any, Handle], "Plugin"]
"""(typed arguments or None, handle) -> plugin. Raises ValueError if the arguments make no sense."""
