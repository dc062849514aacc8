"""Taints and tolerations.

Source: k8s.io/api/core/v1/toleration.go, k8s.io/component-helpers/scheduling/corev1/helpers.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scheduler.api.int64 import parse_int64

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scheduler.api.node import Taint
    from scheduler.api.pod import Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"

#: Effects that keep a pod off a node.
FILTERED_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})

#: The gate without which tolerations that compare cover nothing.
COMPARISONS: Final = "TaintTolerationComparisonOperators"

_COMPARING: Final = frozenset({"Lt", "Gt"})
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Say whether a toleration covers a taint.

    An empty effect covers all effects, an empty key all keys, and an empty operator is Equal, which compares values as
    text. Lt and Gt cover a taint whose value is less or greater than their own, where both are integers; what holds
    without the gate for them is up to ``in_force``.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in _COMPARING:
        return _compares(toleration, taint)
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def _compares(toleration: Toleration, taint: Taint) -> bool:
    limit, value = _integer(toleration.value), _integer(taint.value)
    if limit is None or value is None:
        return False
    return value < limit if toleration.operator == "Lt" else value > limit


def _integer(text: str) -> int | None:
    """Return the number that a text is the usual notation of, if it fits into an int64."""
    return parse_int64(text) if _INTEGER.fullmatch(text) else None


def in_force(tolerations: tuple[Toleration, ...], *, comparing: bool) -> tuple[Toleration, ...]:
    """Return the tolerations that count: all with the gate for comparisons, else those that don't compare."""
    if comparing or not any(toleration.operator in _COMPARING for toleration in tolerations):
        return tolerations
    return tuple(toleration for toleration in tolerations if toleration.operator not in _COMPARING)


def tolerated_by_any(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Say whether one of the tolerations covers the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def find_untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: Collection[str] = FILTERED_EFFECTS
) -> Taint | None:
    """Return the first taint with one of the effects that no toleration covers, or None."""
    for taint in taints:
        if taint.effect in effects and not tolerated_by_any(taint, tolerations):
            return taint
    return None


def prefer_no_schedule_tolerations(tolerations: Iterable[Toleration]) -> tuple[Toleration, ...]:
    """Return the tolerations that count for scoring: those for all effects or for PreferNoSchedule."""
    return tuple(toleration for toleration in tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE))


def count_intolerable(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> int:
    """Return how many PreferNoSchedule taints no toleration covers."""
    return sum(taint.effect == PREFER_NO_SCHEDULE and not tolerated_by_any(taint, tolerations) for taint in taints)
