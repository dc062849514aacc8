from __future__ import annotations

import pytest

from scheduler.api.objects import LabelSelector, TopologySpreadConstraint
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs


def constraint(max_skew=1, topology_key="zone", when_unsatisfiable="ScheduleAnyway", label_selector=None):
    return TopologySpreadConstraint(
        max_skew=max_skew,
        topology_key=topology_key,
        when_unsatisfiable=when_unsatisfiable,
        label_selector=label_selector,
    )


def test_an_empty_type_means_system(gates):
    assert PodTopologySpreadArgs(defaulting_type="").defaulted(gates).defaulting_type == "System"


@pytest.mark.parametrize(
    ("kind", "constraints", "errors"),
    [
        ("System", (), []),
        ("List", (), []),
        ("List", (constraint(), constraint(when_unsatisfiable="DoNotSchedule"), constraint(topology_key="x")), []),
        (
            "System",
            (constraint(),),
            ['a.defaultingType: Invalid value: "System": when .defaultConstraints are not empty'],
        ),
        ("x", (), ['a.defaultingType: Unsupported value: "x": supported values: "System", "List"']),
        (
            "List",
            (constraint(max_skew=0),),
            ["a.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)"],
        ),
        (
            "List",
            (constraint(topology_key=""),),
            ["a.defaultConstraints[0].topologyKey: Required value: can not be empty"],
        ),
        (
            "List",
            (constraint(when_unsatisfiable="x"),),
            [
                'a.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "x": '
                'supported values: "DoNotSchedule", "ScheduleAnyway"'
            ],
        ),
        (
            "List",
            (constraint(label_selector=LabelSelector()),),
            [
                "a.defaultConstraints[0].labelSelector: Forbidden: "
                "constraint must not define a selector, as they deduced for each pod"
            ],
        ),
        (
            "List",
            (constraint(), constraint(max_skew=2)),
            ['a.defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}"'],
        ),
    ],
)
def test_default_constraints(gates, kind, constraints, errors):
    args = PodTopologySpreadArgs(defaulting_type=kind, default_constraints=constraints)
    assert [str(error) for error in args.validate("a", gates)] == errors
