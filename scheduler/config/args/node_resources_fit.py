"""Arguments of NodeResourcesFit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.api.objects import Model
from scheduler.config.args.base import PluginArgs
from scheduler.config.args.scoring import (
    DEFAULT_RESOURCES,
    ResourceSpec,
    UtilizationShapePoint,
    default_resources,
    shape_errors,
)
from scheduler.config.errors import FieldError, child, forbidden, invalid, not_supported, required
from scheduler.config.syntax import label_key_problems

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates

LEAST_ALLOCATED = "LeastAllocated"
MOST_ALLOCATED = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"
_STRATEGIES = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)


class RequestedToCapacityRatioParam(Model, frozen=True, kw_only=True):
    """The curve of the strategy RequestedToCapacityRatio."""

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(Model, frozen=True, kw_only=True):
    """How nodes are scored by what is requested of them."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


_DEFAULT_STRATEGY = ScoringStrategy(type=LEAST_ALLOCATED, resources=DEFAULT_RESOURCES)


class NodeResourcesFitArgs(PluginArgs, frozen=True, kw_only=True):
    """Resources that the filter leaves out, by name or by group (the part before "/"), and the strategy."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = _DEFAULT_STRATEGY

    def defaulted(self, gates: FeatureGates) -> NodeResourcesFitArgs:
        """As SetDefaults_NodeResourcesFitArgs (apis/config/v1/defaults.go)."""
        del gates
        resources = default_resources(self.scoring_strategy.resources)
        strategy = msgspec.structs.replace(self.scoring_strategy, resources=resources)
        return msgspec.structs.replace(self, scoring_strategy=strategy)

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateNodeResourcesFitArgs (apis/config/validation/validation_pluginargs.go)."""
        del gates
        errors: list[FieldError] = []
        for i, resource in enumerate(self.ignored_resources):
            at = child(path, f"ignoredResources[{i}]")
            errors += [invalid(at, resource, problem) for problem in label_key_problems(resource)]
        for i, group in enumerate(self.ignored_resource_groups):
            at = child(path, f"ignoredResourceGroups[{i}]")
            if "/" in group:
                errors.append(invalid(at, group, "resource group name can't contain '/'"))
            errors += [invalid(at, group, problem) for problem in label_key_problems(group)]
        return errors + _strategy_errors(self.scoring_strategy, child(path, "scoringStrategy"))


def _strategy_errors(strategy: ScoringStrategy, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if strategy.type not in _STRATEGIES:
        errors.append(not_supported(child(path, "type"), strategy.type, _STRATEGIES))
    for i, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            at = child(path, f"resources[{i}]", "weight")
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            errors.append(invalid(at, resource.weight, detail))
    ratio, ratio_path = strategy.requested_to_capacity_ratio, child(path, "requestedToCapacityRatio")
    if strategy.type == REQUESTED_TO_CAPACITY_RATIO:
        if ratio is None:
            errors.append(required(ratio_path, "must be specified when type is RequestedToCapacityRatio"))
        else:
            errors += shape_errors(ratio.shape, child(ratio_path, "shape"))
    elif ratio is not None:
        errors.append(forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio"))
    return errors
