from __future__ import annotations

import pytest

from scheduler.config.args.scoring import (
    DEFAULT_RESOURCES,
    ResourceSpec,
    UtilizationShapePoint,
    default_resources,
    shape_errors,
)


def shape(*points):
    return tuple(UtilizationShapePoint(utilization=x, score=y) for x, y in points)


def test_no_resources_means_cpu_and_memory_and_no_weight_means_one():
    assert default_resources(()) == DEFAULT_RESOURCES
    given = (ResourceSpec(name="cpu"), ResourceSpec(name="memory", weight=5))
    assert [resource.weight for resource in default_resources(given)] == [1, 5]


@pytest.mark.parametrize(
    ("points", "errors"),
    [
        (shape((0, 0), (100, 10)), []),
        (shape((50, 5)), []),
        (shape(), ["s: Required value: at least one point must be specified"]),
        (
            shape((5, 1), (5, 1), (4, 1)),
            ["s[1].utilization: Invalid value: 5: values must be sorted in increasing order"],
        ),
        (
            shape((-1, 11), (101, -1)),
            [
                "s[0].utilization: Invalid value: -1: not in valid range [0, 100]",
                "s[0].score: Invalid value: 11: not in valid range [0, 10]",
                "s[1].utilization: Invalid value: 101: not in valid range [0, 100]",
                "s[1].score: Invalid value: -1: not in valid range [0, 10]",
            ],
        ),
    ],
)
def test_curves_rise_in_utilization_within_their_ranges(points, errors):
    assert [str(error) for error in shape_errors(points, "s")] == errors
