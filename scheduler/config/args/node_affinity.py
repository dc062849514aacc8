"""Arguments of NodeAffinity, and the syntax of node selectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scheduler.api.objects import NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.config.args.base import PluginArgs
from scheduler.config.errors import FieldError, child, invalid, not_supported
from scheduler.config.syntax import label_key_problems, label_value_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.config.features import FeatureGates

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")
_INTEGER = re.compile(r"[+-]?[0-9]+")


class NodeAffinityArgs(PluginArgs, frozen=True, kw_only=True):
    """Node affinity that all pods of the profile have besides their own."""

    added_affinity: NodeAffinity | None = None

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """As ValidateNodeAffinityArgs (apis/config/validation/validation_pluginargs.go)."""
        del gates
        if self.added_affinity is None:
            return []
        errors: list[FieldError] = []
        affinity_path = child(path, "addedAffinity")
        needed = self.added_affinity.required_during_scheduling_ignored_during_execution
        if needed is not None:
            terms_path = child(affinity_path, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
            for i, term in enumerate(needed.node_selector_terms):
                errors += _term_errors(term, f"{terms_path}[{i}]")
        preferred_path = child(affinity_path, "preferredDuringSchedulingIgnoredDuringExecution")
        preferred = self.added_affinity.preferred_during_scheduling_ignored_during_execution
        for i, weighted in enumerate(preferred):
            if weighted.weight:
                errors += _term_errors(weighted.preference, f"{preferred_path}[{i}]")
        return errors


def _term_errors(term: NodeSelectorTerm, path: str) -> list[FieldError]:
    """As newNodeSelectorTerm (component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go)."""
    errors: list[FieldError] = []
    for i, requirement in enumerate(term.match_expressions):
        errors += _expression_errors(requirement, f"{path}.matchExpressions[{i}]")
    for i, requirement in enumerate(term.match_fields):
        at = f"{path}.matchFields[{i}]"
        if requirement.operator not in _FIELD_OPERATORS:
            errors.append(not_supported(f"{at}.operator", requirement.operator, _FIELD_OPERATORS))
        elif len(requirement.values) != 1:
            errors.append(invalid(f"{at}.values", requirement.values or None, "must have one element"))
    return errors


def _expression_errors(requirement: NodeSelectorRequirement, path: str) -> list[FieldError]:
    """As labels.NewRequirement (apimachinery pkg/labels/selector.go)."""
    operator, values = requirement.operator, requirement.values
    if operator not in _OPERATORS:
        return [not_supported(f"{path}.operator", operator, _OPERATORS)]
    errors: list[FieldError] = []
    if problems := label_key_problems(requirement.key):
        errors.append(invalid(f"{path}.key", requirement.key, "; ".join(problems)))
    errors += _value_count_errors(operator, values, f"{path}.values")
    for i, value in enumerate(values):
        if problems := label_value_problems(value):
            errors.append(invalid(f"{path}.values[{i}][{requirement.key}]", value, "; ".join(problems)))
    return errors


def _value_count_errors(operator: str, values: Sequence[str], path: str) -> list[FieldError]:
    if operator in {"In", "NotIn"} and not values:
        return [invalid(path, values or None, "for 'in', 'notin' operators, values set can't be empty")]
    if operator in {"Exists", "DoesNotExist"} and values:
        return [invalid(path, values, "values set must be empty for exists and does not exist")]
    if operator not in {"Gt", "Lt"}:
        return []
    errors = []
    if len(values) != 1:
        errors.append(invalid(path, values or None, "for 'Gt', 'Lt' operators, exactly one value is required"))
    for i, value in enumerate(values):
        if not _INTEGER.fullmatch(value) or not -(2**63) <= int(value) < 2**63:
            errors.append(invalid(f"{path}[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer"))
    return errors
