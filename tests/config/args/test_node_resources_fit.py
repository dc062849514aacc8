from __future__ import annotations

import pytest

from scheduler.config.args.node_resources_fit import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ScoringStrategy,
)
from scheduler.config.args.scoring import DEFAULT_RESOURCES, ResourceSpec, UtilizationShapePoint

RATIO = RequestedToCapacityRatioParam(shape=(UtilizationShapePoint(utilization=0, score=1),))


def test_a_strategy_without_resources_scores_cpu_and_memory(gates):
    args = NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type="MostAllocated")).defaulted(gates)
    assert args.scoring_strategy == ScoringStrategy(type="MostAllocated", resources=DEFAULT_RESOURCES)


@pytest.mark.parametrize(
    ("strategy", "errors"),
    [
        (ScoringStrategy(type="LeastAllocated"), []),
        (ScoringStrategy(type="RequestedToCapacityRatio", requested_to_capacity_ratio=RATIO), []),
        (
            ScoringStrategy(),
            [
                'a.scoringStrategy.type: Unsupported value: "": supported values: '
                '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'
            ],
        ),
        (
            ScoringStrategy(type="RequestedToCapacityRatio"),
            [
                "a.scoringStrategy.requestedToCapacityRatio: Required value: "
                "must be specified when type is RequestedToCapacityRatio"
            ],
        ),
        (
            ScoringStrategy(type="MostAllocated", requested_to_capacity_ratio=RATIO),
            [
                "a.scoringStrategy.requestedToCapacityRatio: Forbidden: "
                "must be nil when type is not RequestedToCapacityRatio"
            ],
        ),
        (
            ScoringStrategy(type="MostAllocated", resources=(ResourceSpec(name="cpu", weight=101),)),
            [
                "a.scoringStrategy.resources[0].weight: Invalid value: 101: "
                "resource weight of cpu not in valid range (0, 100]"
            ],
        ),
        (
            ScoringStrategy(type="LeastAllocated", resources=(ResourceSpec(name="memory", weight=-1),)),
            [
                "a.scoringStrategy.resources[0].weight: Invalid value: -1: "
                "resource weight of memory not in valid range (0, 100]"
            ],
        ),
        (
            ScoringStrategy(
                type="LeastAllocated",
                resources=(ResourceSpec(name="memory", weight=1), ResourceSpec(name="cpu", weight=0)),
            ),
            [
                "a.scoringStrategy.resources[1].weight: Invalid value: 0: "
                "resource weight of cpu not in valid range (0, 100]"
            ],
        ),
    ],
)
def test_strategies(gates, strategy, errors):
    args = NodeResourcesFitArgs(scoring_strategy=strategy)
    assert [str(error) for error in args.validate("a", gates)] == errors


def test_ignored_resources_are_names_and_ignored_groups_have_no_slash(gates):
    args = NodeResourcesFitArgs(ignored_resources=("ok", ""), ignored_resource_groups=("ok", "a/b"))
    assert [error.path for error in args.validate("a", gates)] == [
        "a.ignoredResources[1]",
        "a.ignoredResources[1]",
        "a.ignoredResourceGroups[1]",
    ]
