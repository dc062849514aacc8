"""Which events may help a pod that NodeVolumeLimits rejected."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.csi_migration import MigrationError
from scheduler.framework.events import QueueingHint
from scheduler.plugins.nodevolumelimits.hints import (
    after_attachment_deletion,
    after_claim_added,
    after_csi_node_update,
    after_pod_deletion,
)
from tests.builders import PodBuilder, info, pod
from tests.plugins.storage import DRIVER, attachment, claim, csi_node, uses

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
USING = pod("p").set("spec.volumes", uses("c"))
EBS = pod("p").volume("v", awsElasticBlockStore={"volumeID": "vol-1"})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({DRIVER: 1}, {DRIVER: 2}, QUEUE),
        ({DRIVER: 2}, {DRIVER: 1}, SKIP),
        ({DRIVER: 2}, {DRIVER: 2}, SKIP),
        ({}, {DRIVER: 1}, QUEUE),
        ({}, {DRIVER: None}, SKIP),
        ({DRIVER: 1}, {DRIVER: None}, SKIP),
        ({"a": 3, "b": 1}, {"a": 1, "b": 2}, QUEUE),
    ],
)
def test_a_csi_node_must_allow_more_volumes_of_some_driver(
    before: dict[str, Any], after: dict[str, Any], expected: QueueingHint
) -> None:
    assert after_csi_node_update(info(USING), csi_node("n", before), csi_node("n", after)) is expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        (USING.on("n"), QUEUE),
        (USING.nominated("n"), QUEUE),
        (USING, SKIP),
        (pod("o").volume("v", ephemeral={}).on("n"), QUEUE),
        (EBS.on("n"), QUEUE),
        (pod("o").volume("v", iscsi={"iqn": "x"}).on("n"), SKIP),
        (pod("o").on("n"), SKIP),
    ],
)
def test_a_pod_that_goes_must_have_had_volumes_that_count(gone: PodBuilder, expected: QueueingHint) -> None:
    assert after_pod_deletion(info(USING), info(gone), None) is expected


@pytest.mark.parametrize(
    ("waiting", "added", "expected"),
    [
        (USING, claim("c"), QUEUE),
        (USING, claim("d"), SKIP),
        (USING, claim("c", namespace="away"), SKIP),
        (pod("p").volume("v", ephemeral={}), claim("p-v"), QUEUE),
        (pod("p").volume("v", ephemeral={}), claim("q-v"), SKIP),
        (pod("p"), claim("c"), SKIP),
    ],
)
def test_a_claim_that_comes_must_be_one_of_the_pods(waiting: PodBuilder, added: Any, expected: QueueingHint) -> None:
    assert after_claim_added(info(waiting), None, added) is expected


@pytest.mark.parametrize(
    ("waiting", "attacher", "expected"),
    [
        (USING, "whatever", QUEUE),
        (EBS, "ebs.csi.aws.com", QUEUE),
        (EBS, "other", SKIP),
        (pod("p").volume("v", vsphereVolume={"volumePath": "x"}), "csi.vsphere.vmware.com", QUEUE),
        (EBS.volume("w", persistentVolumeClaim={"claimName": "c"}), "ebs.csi.aws.com", QUEUE),
        (EBS.volume("w", persistentVolumeClaim={"claimName": "c"}), "other", QUEUE),
        (pod("p").volume("v", gcePersistentDisk={"pdName": "d"}), "ebs.csi.aws.com", SKIP),
        (pod("p").volume("v", ephemeral={}), "whatever", SKIP),
        (pod("p"), "whatever", SKIP),
    ],
)
def test_a_volume_that_is_detached_must_be_of_a_driver_of_the_pods(
    waiting: PodBuilder, attacher: str, expected: QueueingHint
) -> None:
    assert after_attachment_deletion(info(waiting), attachment("a", "n", "v", attacher), None) is expected


def test_a_volume_that_can_not_be_translated_is_an_error_which_counts_as_worth_a_try() -> None:
    waiting = info(pod("p").volume("v", azureDisk={"diskName": "d", "kind": "Dedicated"}))
    with pytest.raises(MigrationError, match=r"kind\(Dedicated\) is not supported in csi migration"):
        after_attachment_deletion(waiting, attachment("a", "n", "v"), None)
