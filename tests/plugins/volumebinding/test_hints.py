"""Which events may help a pod that VolumeBinding rejected."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.plugins.volumebinding.hints import (
    after_capacity_change,
    after_claim_change,
    after_class_change,
    after_csi_driver_update,
    after_csi_node_change,
)
from tests.builders import PodBuilder, info, pod
from tests.plugins.storage import DRIVER, capacity, claim, csi_driver, csi_node, storage_class, uses

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
USING = pod("p").set("spec.volumes", uses("c"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, storage_class(), QUEUE),
        (storage_class(), storage_class(), SKIP),
        (storage_class(), storage_class(topologies={"zone": ["a"]}), QUEUE),
        (storage_class(topologies={"zone": ["a"]}), storage_class(topologies={"zone": ["b"]}), QUEUE),
        (storage_class(), storage_class(provisioner="x"), SKIP),
    ],
)
def test_a_class_must_be_new_or_allow_other_topologies(before: Any, after: Any, expected: QueueingHint) -> None:
    assert after_class_change(info(USING), before, after) is expected


@pytest.mark.parametrize(
    ("waiting", "changed", "expected"),
    [
        (USING, claim("c"), QUEUE),
        (USING, claim("d"), SKIP),
        (USING, claim("c", namespace="away"), SKIP),
        (pod("p").volume("v", ephemeral={}), claim("p-v"), QUEUE),
        (pod("p").volume("v", ephemeral={}), claim("q-v"), SKIP),
        (pod("p").set("spec.volumes", uses("b", "c")), claim("c"), QUEUE),
        (pod("p").volume("v", ephemeral={}).volume("w", ephemeral={}), claim("p-w"), QUEUE),
        (pod("p").volume("v", emptyDir={}), claim("c"), SKIP),
    ],
)
def test_a_claim_must_be_one_of_the_pods(waiting: PodBuilder, changed: Any, expected: QueueingHint) -> None:
    assert after_claim_change(info(waiting), None, changed) is expected
    assert after_claim_change(info(waiting), changed, changed) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, csi_node("n"), QUEUE),
        (csi_node("n"), csi_node("n", {"other": 1}), SKIP),
        (csi_node("n"), csi_node("n", migrated="p"), QUEUE),
        (csi_node("n", migrated="p"), csi_node("n", migrated="p"), SKIP),
        (csi_node("n", migrated="p"), csi_node("n", migrated="p, q"), QUEUE),
        (csi_node("n", migrated="p"), csi_node("n", migrated="q"), QUEUE),
    ],
)
def test_a_csi_node_must_be_new_or_migrate_other_plugins(before: Any, after: Any, expected: QueueingHint) -> None:
    assert after_csi_node_change(info(USING), before, after) is expected


@pytest.mark.parametrize(
    ("driver", "before", "after", "expected"),
    [
        (DRIVER, True, False, QUEUE),
        (DRIVER, True, None, QUEUE),
        (DRIVER, True, True, SKIP),
        (DRIVER, False, True, SKIP),
        (DRIVER, None, None, SKIP),
        (DRIVER, False, False, SKIP),
        ("other", True, False, SKIP),
    ],
)
def test_a_driver_of_an_inline_volume_must_stop_publishing_capacity(
    driver: str, before: bool | None, after: bool | None, expected: QueueingHint
) -> None:
    waiting = info(pod("p").volume("v", csi={"driver": driver}))
    old, new = csi_driver(capacity=before), csi_driver(capacity=after)
    assert after_csi_driver_update(waiting, old, new) is expected
    assert after_csi_driver_update(info(pod("p")), old, new) is SKIP


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, capacity("x", "1Gi"), QUEUE),
        (capacity("x", "1Gi"), capacity("x", "2Gi"), QUEUE),
        (capacity("x", "2Gi"), capacity("x", "1Gi"), SKIP),
        (capacity("x", "1Gi"), capacity("x", "1024Mi"), SKIP),
        (capacity("x", None), capacity("x", "1Gi"), QUEUE),
        (capacity("x", "1Gi"), capacity("x", None), SKIP),
        (capacity("x", "1Gi", most="1Gi"), capacity("x", "9Gi", most="1Gi"), SKIP),
        (capacity("x", "9Gi", most="1Gi"), capacity("x", "9Gi", most="2Gi"), QUEUE),
        (None, capacity("x", None), QUEUE),
        (capacity("x", None), capacity("x", None, most="1Gi"), QUEUE),
        (capacity("x", "2Gi", most="1Gi"), capacity("x", "2Gi"), QUEUE),
        (capacity("x", "2Gi", most="1Gi"), capacity("x", "1Gi"), SKIP),
        (capacity("x", "2Gi", most="1Gi"), capacity("x", "2Gi", most="1Gi"), SKIP),
        (capacity("x", None, most="2Gi"), capacity("x", None, most="1Gi"), SKIP),
    ],
)
def test_a_capacity_must_be_new_or_allow_larger_volumes(before: Any, after: Any, expected: QueueingHint) -> None:
    assert after_capacity_change(info(USING), before, after) is expected
