"""Which volumes written into pods can't be on one node twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.api.objects import Volume
from scheduler.plugins.volumerestrictions.conflicts import conflict


def volume(**source: Any) -> Volume:
    return msgspec.convert({"name": "v", **source}, Volume)


def gce(name: str, *, read_only: bool = False) -> Volume:
    return volume(gcePersistentDisk={"pdName": name, "readOnly": read_only})


def ebs(name: str, *, read_only: bool = False) -> Volume:
    return volume(awsElasticBlockStore={"volumeID": name, "readOnly": read_only})


def iscsi(iqn: str, *, lun: int = 0, read_only: bool = False) -> Volume:
    return volume(iscsi={"iqn": iqn, "lun": lun, "targetPortal": "p", "readOnly": read_only})


def rbd(monitors: list[str], image: str = "i", pool: str = "p", *, read_only: bool = False) -> Volume:
    return volume(rbd={"monitors": monitors, "image": image, "pool": pool, "readOnly": read_only})


@pytest.mark.parametrize(
    ("wanted", "used", "expected"),
    [
        (gce("a"), gce("a"), True),
        (gce("a"), gce("b"), False),
        (gce("a", read_only=True), gce("a"), True),
        (gce("a", read_only=True), gce("a", read_only=True), False),
        (ebs("a"), ebs("a"), True),
        (ebs("a"), ebs("b"), False),
        (ebs("a", read_only=True), ebs("a", read_only=True), True),
        (iscsi("a"), iscsi("a", lun=1), True),
        (iscsi("a"), iscsi("b"), False),
        (iscsi("a", read_only=True), iscsi("a", read_only=True), False),
        (rbd(["m1", "m2"]), rbd(["m2", "m3"]), True),
        (rbd(["m1"]), rbd(["m2"]), False),
        (rbd(["m"], image="a"), rbd(["m"], image="b"), False),
        (rbd(["m"], pool="a"), rbd(["m"], pool="b"), False),
        (rbd(["m"], read_only=True), rbd(["m"], read_only=True), False),
        (rbd(["m"], read_only=True), rbd(["m"]), True),
        (gce("a"), ebs("a"), False),
        (gce("a"), volume(emptyDir={}), False),
    ],
)
def test_conflicts(wanted: Volume, used: Volume, expected: bool) -> None:
    assert conflict([wanted], [used]) is expected


def test_any_pair_will_do() -> None:
    assert conflict([gce("a"), gce("b")], [gce("c"), gce("b")])
    assert not conflict([gce("a")], [])
