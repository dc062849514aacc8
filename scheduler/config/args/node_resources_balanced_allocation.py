"""Arguments of NodeResourcesBalancedAllocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.scoring import DEFAULT_RESOURCES, ResourceSpec, default_resources
from scheduler.config.errors import FieldError, child, duplicate, invalid

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True, kw_only=True):
    """Resources whose use is to stay balanced; all weights are 1."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES

    def defaulted(self, gates: FeatureGates) -> NodeResourcesBalancedAllocationArgs:
        """As SetDefaults_NodeResourcesBalancedAllocationArgs (apis/config/v1/defaults.go)."""
        del gates
        return msgspec.structs.replace(self, resources=default_resources(self.resources))

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateNodeResourcesBalancedAllocationArgs (same file as the other ValidateXxxArgs)."""
        del gates
        errors = []
        seen: set[str] = set()
        for i, resource in enumerate(self.resources):
            at = child(path, f"resources[{i}]")
            if resource.name in seen:
                errors.append(duplicate(child(at, "name"), resource.name))
            seen.add(resource.name)
            if resource.weight != 1:
                errors.append(invalid(child(at, "weight"), resource.weight, "must be 1"))
        return errors
