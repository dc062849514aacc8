"""Taints and tolerations.

Source: k8s.io/api/core/v1/toleration.go, k8s.io/component-helpers/scheduling/corev1/helpers.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scheduler.api.node import Taint
    from scheduler.api.pod import Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"

#: Effects that keep a pod off a node.
FILTERED_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Say whether a toleration covers a taint.

    An empty effect covers all effects, an empty key all keys, and an empty operator is Equal. Values are
    compared as text. Lt and Gt cover nothing: the feature TaintTolerationComparisonOperators is off.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


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
