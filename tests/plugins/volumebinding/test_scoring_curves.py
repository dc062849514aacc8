"""Utilizations of one class and of two, on two curves."""

from __future__ import annotations

import pytest

from scheduler.config.args.scoring import UtilizationShapePoint
from scheduler.plugins.volumebinding.binder import PodVolumes
from scheduler.plugins.volumebinding.scoring import scorer
from tests.plugins.storage import claim, volume

EMPTIER = [UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0)]
LATE = [UtilizationShapePoint(utilization=u, score=s) for u, s in ((50, 0), (80, 3), (100, 5))]


@pytest.mark.parametrize(
    ("curve", "percents", "expected"),
    [
        (EMPTIER, [0], 100),
        (EMPTIER, [30], 70),
        (EMPTIER, [50], 50),
        (EMPTIER, [100], 0),
        (EMPTIER, [0, 0], 100),
        (EMPTIER, [0, 30], 85),
        (EMPTIER, [30, 30], 70),
        (EMPTIER, [30, 60], 55),
        (EMPTIER, [50, 50], 50),
        (EMPTIER, [50, 100], 25),
        (EMPTIER, [100, 100], 0),
        (LATE, [0, 0], 0),
        (LATE, [0, 30], 0),
        (LATE, [30, 30], 0),
        (LATE, [30, 60], 5),
        (LATE, [50, 100], 25),
        (LATE, [90, 90], 40),
        (LATE, [100, 100], 50),
    ],
)
def test_the_mean_over_classes(curve: list[UtilizationShapePoint], percents: list[int], expected: int) -> None:
    pairs = [
        (claim(f"c{i}", f"class{i}", str(percent)), volume(f"v{i}", f"class{i}", "100"))
        for i, percent in enumerate(percents)
    ]
    assert scorer(curve)(PodVolumes(static=tuple(pairs))) == expected
