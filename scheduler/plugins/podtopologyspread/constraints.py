"""Spread constraints, compiled (pkg/scheduler/framework/plugins/podtopologyspread/common.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.api.objects import TopologySpreadConstraint
from scheduler.api.selectors import EQUALS, Requirement, Selector, compile_label_selector
from scheduler.api.topology_labels import HOSTNAME_LABEL, ZONE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
HONOR: Final = "Honor"

SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(topology_key=HOSTNAME_LABEL, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=3),
    TopologySpreadConstraint(topology_key=ZONE_LABEL, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=5),
)
"""Constraints of pods that have none, under defaultingType System."""


class Constraint(msgspec.Struct, frozen=True):
    """A constraint with its selector parsed and its defaults filled in.

    The inclusion policies say whether nodes that the pod's node affinity (nodeSelector included) or taints keep it off
    are left out of the counts.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honor_affinity: bool
    honor_taints: bool

    def selecting(self, selector: Selector) -> Constraint:
        """The same constraint on other pods."""
        changed: Constraint = msgspec.structs.replace(self, selector=selector)
        return changed


def compile_constraints(
    constraints: Iterable[TopologySpreadConstraint],
    labels: Mapping[str, str],
    action: str,
    *,
    match_label_keys: bool = True,
) -> tuple[Constraint, ...]:
    """The constraints with one whenUnsatisfiable, for a pod with these labels.

    `match_label_keys` is the gate MatchLabelKeysInPodTopologySpread, without which the field of that name is ignored.
    Raises SelectorError where a selector does not parse (filterTopologySpreadConstraints).
    """
    return tuple(
        _compile(constraint, labels, constraint.match_label_keys if match_label_keys else ())
        for constraint in constraints
        if constraint.when_unsatisfiable == action
    )


def _compile(
    constraint: TopologySpreadConstraint, labels: Mapping[str, str], match_label_keys: Iterable[str]
) -> Constraint:
    selector = compile_label_selector(constraint.label_selector)
    same = [Requirement(key, EQUALS, (labels[key],)) for key in match_label_keys if key in labels]
    if same:
        selector = selector.with_requirements(same)
    affinity_policy = constraint.node_affinity_policy
    return Constraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=selector,
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        honor_affinity=affinity_policy is None or affinity_policy == HONOR,
        honor_taints=constraint.node_taints_policy == HONOR,
    )
