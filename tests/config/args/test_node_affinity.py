from __future__ import annotations

import pytest

from scheduler.api.objects import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from scheduler.config.args.node_affinity import NodeAffinityArgs

TERM = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"


def required(**term):
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(**term),))
    return NodeAffinityArgs(added_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=selector))


def expression(operator, *values, key="k"):
    return required(match_expressions=(NodeSelectorRequirement(key=key, operator=operator, values=values),))


@pytest.mark.parametrize(
    "args",
    [
        NodeAffinityArgs(),
        NodeAffinityArgs(added_affinity=NodeAffinity()),
        required(),
        expression("In", "a", "b"),
        expression("NotIn", ""),
        expression("Exists"),
        expression("DoesNotExist", key="example.com/k"),
        expression("Gt", "7"),
        expression("Lt", "0"),
    ],
)
def test_valid_terms(gates, args):
    assert args.validate("", gates) == []


@pytest.mark.parametrize(
    ("args", "errors"),
    [
        (
            expression("In"),
            ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"],
        ),
        (
            expression("Exists", "a"),
            ['values: Invalid value: ["a"]: values set must be empty for exists and does not exist'],
        ),
        (expression("Gt"), ["values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required"]),
        (
            expression("Lt", "x"),
            ["values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
        ),
        (
            expression("Gt", str(2**63)),
            [f"values[0]: Invalid value: \"{2**63}\": for 'Gt', 'Lt' operators, the value must be an integer"],
        ),
        (
            expression("Near", "a"),
            [
                'operator: Unsupported value: "Near": supported values: '
                '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
            ],
        ),
    ],
)
def test_expressions_that_make_no_requirement(gates, args, errors):
    prefix = f"{TERM}.matchExpressions[0]."
    assert [str(error).removeprefix(prefix) for error in args.validate("", gates)] == errors


def test_fields_are_compared_with_one_value_each(gates):
    args = required(
        match_fields=(
            NodeSelectorRequirement(key="metadata.name", operator="In", values=("a",)),
            NodeSelectorRequirement(key="metadata.name", operator="NotIn", values=("a", "b")),
            NodeSelectorRequirement(key="metadata.name", operator="Exists"),
        )
    )
    assert [str(error) for error in args.validate("", gates)] == [
        f'{TERM}.matchFields[1].values: Invalid value: ["a","b"]: must have one element',
        f'{TERM}.matchFields[2].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
    ]


def test_preferences_without_weight_are_not_looked_at(gates):
    bad = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="k", operator="Near"),))
    terms = (PreferredSchedulingTerm(weight=0, preference=bad), PreferredSchedulingTerm(weight=1, preference=bad))
    affinity = NodeAffinity(preferred_during_scheduling_ignored_during_execution=terms)
    (error,) = NodeAffinityArgs(added_affinity=affinity).validate("a", gates)
    assert error.path == (
        "a.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].matchExpressions[0].operator"
    )
