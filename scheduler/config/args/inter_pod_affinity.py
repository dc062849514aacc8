"""Arguments of InterPodAffinity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.api.objects import Int32  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.config.args.base import PluginArgs
from scheduler.config.errors import FieldError, child, invalid

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates


class InterPodAffinityArgs(PluginArgs, frozen=True, kw_only=True):
    """Weight of existing pods' required affinity in the score, and whether their preferences count."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateInterPodAffinityArgs (apis/config/validation/validation_pluginargs.go)."""
        del gates
        weight = self.hard_pod_affinity_weight
        if 0 <= weight <= 100:
            return []
        return [invalid(child(path, "hardPodAffinityWeight"), weight, "not in valid range [0, 100]")]
