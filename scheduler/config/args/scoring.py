"""Weighted resources and utilization curves, which several plugins' arguments have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.api.objects import Int32, Int64, Model
from scheduler.config.errors import FieldError, child, invalid, required

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The highest score of a curve (apis/config/types.go MaxCustomPriorityScore).
MAX_CUSTOM_PRIORITY_SCORE = 10


class ResourceSpec(Model, frozen=True, kw_only=True):
    """A resource to score, and its weight."""

    name: str = ""
    weight: Int64 = 0


class UtilizationShapePoint(Model, frozen=True, kw_only=True):
    """A point of a curve: utilization in percent to a score of 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


DEFAULT_RESOURCES = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))


def default_resources(resources: Sequence[ResourceSpec]) -> tuple[ResourceSpec, ...]:
    """`resources` with weight 1 where none (or 0) is given; cpu and memory if there are none."""
    if not resources:
        return DEFAULT_RESOURCES
    return tuple(resource if resource.weight else msgspec.structs.replace(resource, weight=1) for resource in resources)


def shape_errors(shape: Sequence[UtilizationShapePoint], path: str) -> list[FieldError]:
    """As validateFunctionShape (apis/config/validation/validation_pluginargs.go)."""
    if not shape:
        return [required(path, "at least one point must be specified")]
    errors = []
    for i in range(1, len(shape)):
        if shape[i - 1].utilization >= shape[i].utilization:
            at = child(f"{path}[{i}]", "utilization")
            errors.append(invalid(at, shape[i].utilization, "values must be sorted in increasing order"))
            break
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            at = child(f"{path}[{i}]", "utilization")
            errors.append(invalid(at, point.utilization, "not in valid range [0, 100]"))
        if not 0 <= point.score <= MAX_CUSTOM_PRIORITY_SCORE:
            at = child(f"{path}[{i}]", "score")
            errors.append(invalid(at, point.score, f"not in valid range [0, {MAX_CUSTOM_PRIORITY_SCORE}]"))
    return errors
