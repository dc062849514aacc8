"""Simulations of small clusters."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.app.configuration import all_plugins, supported_gates
from scheduler.app.simulation import Simulation
from scheduler.config.load import load_config

if TYPE_CHECKING:
    from scheduler.api.meta import Model
    from tests.builders import NodeBuilder, PodBuilder

GATES, _ = supported_gates([])
REGISTRY = all_plugins()
BARE: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def simulation(
    *items: NodeBuilder | PodBuilder | Model, config: dict[str, Any] | None = None, **options: Any
) -> Simulation:
    """A simulation of these objects, for pods of any scheduler."""
    loaded = load_config({**BARE, **(config or {})}, source="test", feature_gates=GATES)
    objects = [item if isinstance(item, msgspec.Struct) else item.build() for item in items]
    options = {"takes_all": True, "seed": 0, **options}
    return Simulation(objects, loaded, registry=REGISTRY, gates=GATES, **options)


def ran(*items: NodeBuilder | PodBuilder | Model, **options: Any) -> Simulation:
    """One that has been run."""
    made = simulation(*items, **options)
    asyncio.run(made.run())
    return made


def weighted(plugin: str, weight: int) -> dict[str, Any]:
    """A configuration with another weight for a plugin."""
    enabled = [{"name": plugin, "weight": weight}]
    return {"profiles": [{"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": enabled}}}]}
