"""Arguments of DynamicResources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.config.args.base import PluginArgs
from scheduler.config.duration import Duration
from scheduler.config.errors import FieldError, child, forbidden, invalid

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates

_FILTER_TIMEOUT = Duration.of_seconds(10)
_BINDING_TIMEOUT = Duration.of_seconds(600)


class DynamicResourcesArgs(PluginArgs, frozen=True, kw_only=True):
    """Limits for the search for devices on one node and for the wait for devices to be ready."""

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None

    def defaulted(self, gates: FeatureGates) -> DynamicResourcesArgs:
        """As SetDefaults_DynamicResourcesArgs (apis/config/v1/defaults.go)."""
        args = self
        if args.filter_timeout is None and gates.enabled("DRASchedulerFilterTimeout"):
            args = msgspec.structs.replace(args, filter_timeout=_FILTER_TIMEOUT)
        if args.binding_timeout is None and _has_binding_conditions(gates):
            args = msgspec.structs.replace(args, binding_timeout=_BINDING_TIMEOUT)
        return args

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateDynamicResourcesArgs (apis/config/validation/validation_pluginargs.go)."""
        errors: list[FieldError] = []
        if self.filter_timeout is not None:
            at = child(path, "filterTimeout")
            if not gates.enabled("DRASchedulerFilterTimeout"):
                errors.append(forbidden(at, "DRASchedulingFilterTimeout feature gate is disabled"))
            elif self.filter_timeout < Duration():
                errors.append(invalid(at, self.filter_timeout, "must be zero or positive"))
        if self.binding_timeout is not None:
            at = child(path, "bindingTimeout")
            if not _has_binding_conditions(gates):
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                errors.append(forbidden(at, detail))
            elif self.binding_timeout < Duration.of_seconds(1):
                errors.append(invalid(at, self.binding_timeout, "must be at least 1 second"))
        return errors


def _has_binding_conditions(gates: FeatureGates) -> bool:
    return gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")
