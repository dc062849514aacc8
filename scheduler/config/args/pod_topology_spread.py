"""Arguments of PodTopologySpread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.api.objects import TopologySpreadConstraint  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.config.args.base import PluginArgs
from scheduler.config.errors import FieldError, child, duplicate, forbidden, invalid, not_supported, required
from scheduler.config.syntax import label_key_problems

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates

SYSTEM_DEFAULTING = "System"
LIST_DEFAULTING = "List"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


class PodTopologySpreadArgs(PluginArgs, frozen=True, kw_only=True):
    """Constraints for pods that have none: the built-in ones ("System") or those listed ("List")."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = SYSTEM_DEFAULTING

    def defaulted(self, gates: FeatureGates) -> PodTopologySpreadArgs:
        """As SetDefaults_PodTopologySpreadArgs (apis/config/v1/defaults.go)."""
        del gates
        return self if self.defaulting_type else msgspec.structs.replace(self, defaulting_type=SYSTEM_DEFAULTING)

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidatePodTopologySpreadArgs (apis/config/validation/validation_pluginargs.go)."""
        del gates
        errors: list[FieldError] = []
        type_path, kind = child(path, "defaultingType"), self.defaulting_type
        if kind not in (SYSTEM_DEFAULTING, LIST_DEFAULTING):
            errors.append(not_supported(type_path, kind, (SYSTEM_DEFAULTING, LIST_DEFAULTING)))
        elif kind == SYSTEM_DEFAULTING and self.default_constraints:
            errors.append(invalid(type_path, kind, "when .defaultConstraints are not empty"))
        seen: set[tuple[str, str]] = set()
        for i, constraint in enumerate(self.default_constraints):
            at = child(path, f"defaultConstraints[{i}]")
            errors += _constraint_errors(constraint, at)
            key = (constraint.topology_key, constraint.when_unsatisfiable)
            if key in seen:
                errors.append(duplicate(at, "{" + ", ".join(key) + "}"))
            seen.add(key)
        return errors


def _constraint_errors(constraint: TopologySpreadConstraint, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if constraint.max_skew <= 0:
        errors.append(invalid(child(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)"))
    key_path = child(path, "topologyKey")
    if not constraint.topology_key:
        errors.append(required(key_path, "can not be empty"))
    else:
        problems = label_key_problems(constraint.topology_key)
        errors += [invalid(key_path, constraint.topology_key, problem) for problem in problems]
    action_path = child(path, "whenUnsatisfiable")
    if not constraint.when_unsatisfiable:
        errors.append(required(action_path, "can not be empty"))
    elif constraint.when_unsatisfiable not in _ACTIONS:
        errors.append(not_supported(action_path, constraint.when_unsatisfiable, _ACTIONS))
    if constraint.label_selector is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        errors.append(forbidden(child(path, "labelSelector"), detail))
    return errors
