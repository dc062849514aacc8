"""Arguments of DefaultPreemption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.api.objects import Int32  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.config.args.base import PluginArgs
from scheduler.config.errors import FieldError, child, invalid

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates


class DefaultPreemptionArgs(PluginArgs, frozen=True, kw_only=True):
    """How many nodes to try: max(nodes x percentage / 100, absolute)."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateDefaultPreemptionArgs (apis/config/validation/validation_pluginargs.go)."""
        del gates
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        percentage_path = child(path, "minCandidateNodesPercentage")
        absolute_path = child(path, "minCandidateNodesAbsolute")
        errors = []
        if not 0 <= percentage <= 100:
            errors.append(invalid(percentage_path, percentage, "not in valid range [0, 100]"))
        if absolute < 0:
            errors.append(invalid(absolute_path, absolute, "not in valid range [0, inf)"))
        if percentage == 0 and absolute == 0:
            errors += [
                invalid(percentage_path, 0, "cannot be zero at the same time as minCandidateNodesAbsolute"),
                invalid(absolute_path, 0, "cannot be zero at the same time as minCandidateNodesPercentage"),
            ]
        return errors
