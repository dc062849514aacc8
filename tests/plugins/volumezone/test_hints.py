"""Which events may help a pod that VolumeZone rejected."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.plugins.volumezone.hints import after_claim_change, after_class_added, after_volume_change
from tests.builders import info, pod
from tests.plugins.storage import claim, storage_class, uses, volume

POD = info(pod("p").set("spec.volumes", uses("c")))
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


@pytest.mark.parametrize(("mode", "expected"), [("WaitForFirstConsumer", QUEUE), ("Immediate", SKIP), (None, SKIP)])
def test_a_class_that_comes_must_wait_for_the_pod(mode: str | None, expected: QueueingHint) -> None:
    assert after_class_added(POD, None, storage_class(mode=mode)) is expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [(claim("c"), QUEUE), (claim("d"), SKIP), (claim("c", namespace="away"), SKIP)],
)
def test_a_claim_must_be_one_of_the_pods(changed: Any, expected: QueueingHint) -> None:
    assert after_claim_change(POD, None, changed) is expected
    assert after_claim_change(POD, changed, changed) is expected
    assert after_claim_change(info(pod("p")), None, changed) is SKIP
    assert after_claim_change(info(pod("p")), changed, changed) is SKIP


def test_a_claim_that_gets_its_volume_is_worth_a_try() -> None:
    assert after_claim_change(POD, claim("c"), claim("c", volume="v")) is QUEUE


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, volume("v"), QUEUE),
        (volume("v"), volume("v", size="20Gi"), SKIP),
        (volume("v", labels={ZONE: "a"}), volume("v", labels={ZONE: "b"}), QUEUE),
        (volume("v", labels={ZONE: "a__b"}), volume("v", labels={ZONE: "b__a"}), SKIP),
        (volume("v", labels={ZONE: "a"}), volume("v"), QUEUE),
        (volume("v", labels={"x": "a"}), volume("v"), SKIP),
        (volume("v", labels={BETA_ZONE: "a"}), volume("v", labels={BETA_ZONE: "a", ZONE: "z"}), QUEUE),
        (volume("v", labels={BETA_ZONE: "a", ZONE: "z"}), volume("v", labels={BETA_ZONE: "a", ZONE: "z"}), SKIP),
    ],
)
def test_a_volume_must_be_new_or_in_other_zones(before: Any, after: Any, expected: QueueingHint) -> None:
    assert after_volume_change(POD, before, after) is expected
