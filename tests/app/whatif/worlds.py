"""Small clusters to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.decode import decode_as
from scheduler.api.defaults import apply_defaults
from scheduler.api.resources import KINDS
from scheduler.app.whatif.world import World

if TYPE_CHECKING:
    from scheduler.api.meta import Model
    from tests.builders import NodeBuilder, PodBuilder


def world(*items: NodeBuilder | PodBuilder | Model, now: float = 0.0) -> World:
    """A cluster of these objects."""
    return World((item if isinstance(item, msgspec.Struct) else item.build() for item in items), now=now)


def read(value: dict[str, Any]) -> Model:
    """An object as it is in a file."""
    return decode_as(KINDS[value["apiVersion"], value["kind"]], apply_defaults(value))


def nodes_of(changed: World) -> dict[str, str]:
    """Pod to node ("" for none), in the order of the pods."""
    return {name: pod.spec.node_name for (_, name), pod in changed.pods.items()}
