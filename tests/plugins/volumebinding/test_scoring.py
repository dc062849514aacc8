"""Nodes by how well the pod's volumes use the storage there."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.config.args.scoring import UtilizationShapePoint
from scheduler.plugins.volumebinding.binder import PodVolumes
from scheduler.plugins.volumebinding.scoring import scorer
from tests.plugins.storage import capacity, claim, volume

EMPTIER = [UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0)]
FULLER = [UtilizationShapePoint(utilization=0, score=0), UtilizationShapePoint(utilization=100, score=10)]


def static(*pairs: tuple[Any, Any]) -> PodVolumes:
    return PodVolumes(static=pairs)


def dynamic(*pairs: tuple[Any, Any]) -> PodVolumes:
    return PodVolumes(dynamic=pairs)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (PodVolumes(), 0),
        (static((claim("c", size="5Gi"), volume("v", size="10Gi"))), 50),
        (static((claim("c", size="10Gi"), volume("v", size="10Gi"))), 100),
        (static((claim("c", size="1Gi"), volume("v", size="3Gi"))), 33),
        # Of one class: 15 of 30 GiB.
        (static((claim("c", size="5Gi"), volume("v", size="20Gi")), (claim("d", size="10Gi"), volume("w"))), 50),
        # Of two classes: (25 + 50) / 2, rounded half up.
        (
            static((claim("c", size="5Gi"), volume("v", size="20Gi")), (claim("d", size="5Gi"), volume("w", "other"))),
            38,
        ),
        (dynamic((claim("c", size="20Gi"), capacity("x", "100Gi"))), 20),
        # Claims of one class draw on one capacity.
        (dynamic((claim("c", size="20Gi"), capacity("x", "100Gi")), (claim("d"), capacity("x", "100Gi"))), 25),
        (dynamic((claim("c", size="20Gi"), None)), 0),
        (dynamic((claim("c"), capacity("x", None, most="9Gi"))), 100),
        (dynamic((claim("c"), capacity("x", "1Gi", most="9Gi"))), 100),
    ],
)
def test_utilization(plan: PodVolumes, expected: int) -> None:
    assert scorer(FULLER)(plan) == expected


def test_volumes_that_exist_count_alone() -> None:
    both = PodVolumes(
        static=((claim("c", size="5Gi"), volume("v", size="10Gi")),),
        dynamic=((claim("d", size="90Gi"), capacity("x", "100Gi")),),
    )
    assert scorer(FULLER)(both) == 50


def test_by_default_the_emptier_the_better() -> None:
    assert scorer(EMPTIER)(static((claim("c", size="1Gi"), volume("v", size="4Gi")))) == 75
