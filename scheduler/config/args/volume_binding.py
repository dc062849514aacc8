"""Arguments of VolumeBinding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.api.objects import Int64  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.config.args.base import PluginArgs
from scheduler.config.args.scoring import MAX_CUSTOM_PRIORITY_SCORE, UtilizationShapePoint, shape_errors
from scheduler.config.errors import FieldError, child, invalid

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates

_DEFAULT_SHAPE = (
    UtilizationShapePoint(utilization=0, score=MAX_CUSTOM_PRIORITY_SCORE),
    UtilizationShapePoint(utilization=100, score=0),
)


class VolumeBindingArgs(PluginArgs, frozen=True, kw_only=True):
    """How long (seconds) to wait for volumes to be bound, and how nodes are scored by storage utilization."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] = ()

    def defaulted(self, gates: FeatureGates) -> VolumeBindingArgs:
        """As SetDefaults_VolumeBindingArgs (apis/config/v1/defaults.go)."""
        if self.shape or not gates.enabled("StorageCapacityScoring"):
            return self
        return msgspec.structs.replace(self, shape=_DEFAULT_SHAPE)

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateVolumeBindingArgs (apis/config/validation/validation_pluginargs.go)."""
        errors: list[FieldError] = []
        if self.bind_timeout_seconds < 0:
            detail = "invalid BindTimeoutSeconds, should not be a negative value"
            errors.append(invalid(child(path, "bindTimeoutSeconds"), self.bind_timeout_seconds, detail))
        shape_path = child(path, "shape")
        if gates.enabled("StorageCapacityScoring"):
            errors += shape_errors(self.shape, shape_path)
        elif self.shape:
            shown = [{"Utilization": point.utilization, "Score": point.score} for point in self.shape]
            detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
            errors.append(invalid(shape_path, shown, detail))
        return errors
