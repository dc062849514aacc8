"""A scheduler in a process of its own, whose configuration changes while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from scheduler.app.assembly import assemble, connect
from scheduler.app.configuration import all_plugins, parse_config
from scheduler.app.running import RunningConfiguration
from scheduler.app.settings import Settings
from scheduler.client import kinds
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.config.options import Options

if TYPE_CHECKING:
    from tests.builders import NodeBuilder, PodBuilder

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def weights(**by_plugin: int) -> dict[str, Any]:
    """Plugins of a profile with these weights."""
    return {"score": {"enabled": [{"name": name, "weight": weight} for name, weight in by_plugin.items()]}}


class Live:
    """A scheduler on a cluster in memory, and what it runs by. Without profiles there is one, called "berth"."""

    def __init__(self, *profiles: dict[str, Any], **fields: Any) -> None:
        given = {**HEADER, **fields, "profiles": list(profiles) or [{"schedulerName": "berth"}]}
        self.document = parse_config(yaml.safe_dump(given).encode(), source="c.yaml")
        gates, registry = FeatureGates(), all_plugins()
        config = load_config(self.document, source="c.yaml", known_plugins=registry, feature_gates=gates)
        settings = Settings(
            config=config, options=Options(), registry=registry, document=self.document, source="c.yaml"
        )
        self.cluster = MemoryCluster()
        writer = MemoryWriter(self.cluster)
        self.scheduler = assemble(config, registry=registry, gates=gates, writer=writer, source="c.yaml")
        connect(self.scheduler, self.cluster)
        self.cluster.sync()
        self.running = RunningConfiguration(self.scheduler, settings)
        self.metrics = self.scheduler.metrics

    def weight(self, plugin: str, profile: str = "berth") -> int:
        """What a plugin's score counts now."""
        return next((weight for p, weight in self.scheduler.profiles[profile].score if p.name == plugin), 0)

    def put(self, *items: PodBuilder | NodeBuilder) -> None:
        """Create or replace objects."""
        for item in items:
            self.cluster.put(item.build())

    async def run(self) -> None:
        """Cycles until no pod is ready."""
        while self.scheduler.schedule_next():
            await self.scheduler.settle()

    def node_of(self, name: str) -> str:
        """Where a pod is bound."""
        found = self.cluster.get(kinds.PODS, "default", name)
        assert found is not None
        return found.spec.node_name
