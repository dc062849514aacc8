"""Each kind of disk that a pod may hold alone, at each extension point; and several claims of one pod."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import SKIP, unschedulable
from scheduler.plugins.volumerestrictions.plugin import REASON_DISK, REASON_READ_WRITE_ONCE_POD, make
from tests.builders import PodBuilder, info, node, pod, state
from tests.plugins.harness import cycle_of, verdicts
from tests.plugins.storage import claim, handle, put, uses

PLUGIN = make(None, handle(state()))
KINDS = {
    "gce": ({"gcePersistentDisk": {"pdName": "one"}}, {"gcePersistentDisk": {"pdName": "two"}}),
    "ebs": ({"awsElasticBlockStore": {"volumeID": "one"}}, {"awsElasticBlockStore": {"volumeID": "two"}}),
    "iscsi": ({"iscsi": {"iqn": "one", "targetPortal": "p"}}, {"iscsi": {"iqn": "two", "targetPortal": "p"}}),
    "rbd": (
        {"rbd": {"monitors": ["m", "n"], "pool": "p", "image": "i"}},
        {"rbd": {"monitors": ["x", "y"], "pool": "p", "image": "i"}},
    ),
}
of_each_kind = pytest.mark.parametrize(("disk", "other"), KINDS.values(), ids=KINDS)


def holding(name: str, disk: dict[str, Any]) -> PodBuilder:
    return pod(name).volume("d", **disk)


@of_each_kind
def test_the_same_disk_is_not_taken_twice(disk: dict[str, Any], other: dict[str, Any]) -> None:
    cluster = state([node("n")], [holding("held", disk).on("n")])
    assert verdicts(PLUGIN, cycle_of(cluster, holding("p", disk))) == {"n": unschedulable(REASON_DISK)}
    assert verdicts(PLUGIN, cycle_of(cluster, holding("p", other))) == {"n": None}


@of_each_kind
def test_pods_without_volumes_do_not_mind_disks(disk: dict[str, Any], other: dict[str, Any]) -> None:
    del other
    for placed in ([], [holding("held", disk).on("n")]):
        assert PLUGIN.pre_filter(cycle_of(state([node("n")], placed), pod("p"))) is SKIP


@of_each_kind
def test_a_disk_that_is_let_go_wakes_pods_that_want_it(disk: dict[str, Any], other: dict[str, Any]) -> None:
    waiting = info(holding("p", disk))
    gone = [info(holding("gone", each).on("n")) for each in (disk, other)]
    assert [PLUGIN.after_pod_deletion(waiting, each, None) for each in gone] == [QueueingHint.QUEUE, QueueingHint.SKIP]


def test_a_volume_of_no_kind_is_no_disk() -> None:
    assert PLUGIN.pre_filter(cycle_of(state([node("n")]), pod("p").volume("plain"))) is SKIP


class TestSeveralClaims:
    @staticmethod
    def answer(wanted: tuple[str, ...], held: tuple[str, ...]) -> Any:
        """What becomes of a pod with the wanted claims beside one with those held; "many" may be shared."""
        placed = pod("held").set("spec.volumes", uses(*held)).on("n")
        claims = [claim(name, accessModes=["ReadWriteOncePod"]) for name in ("one", "two")]
        cluster = put(state([node("n")], [placed]), *claims, claim("many", accessModes=["ReadWriteMany"]))
        cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses(*wanted)))
        answer = PLUGIN.pre_filter(cycle)
        return answer if answer is SKIP else verdicts(PLUGIN, cycle)["n"]

    def test_a_shared_claim_of_another_pod_is_no_conflict(self) -> None:
        assert self.answer(("one",), ("many",)) is SKIP

    @pytest.mark.parametrize(
        ("wanted", "held"),
        [(("one",), ("one", "many")), (("one", "two"), ("one", "two")), (("one", "two"), ("two",))],
        ids=["one conflict", "two conflicts", "one of two"],
    )
    def test_one_conflict_is_enough(self, wanted: tuple[str, ...], held: tuple[str, ...]) -> None:
        assert self.answer(wanted, held) == unschedulable(REASON_READ_WRITE_ONCE_POD)

    def test_any_of_the_pods_claims_may_be_the_one_that_comes(self) -> None:
        waiting = info(pod("p").set("spec.volumes", uses("one", "two")))
        for name, expected in (("two", QueueingHint.QUEUE), ("three", QueueingHint.SKIP)):
            assert PLUGIN.after_claim_added(waiting, None, claim(name)) is expected
        elsewhere = info(pod("p").namespace("away").set("spec.volumes", uses("one")))
        assert PLUGIN.after_claim_added(elsewhere, None, claim("one")) is QueueingHint.SKIP
