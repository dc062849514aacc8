"""Pods taken off their nodes and copied: what of them stays, and what is made for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.api.objects import PersistentVolumeClaim, Pod
from scheduler.app.whatif.pods import (
    MIRROR,
    belongs_to_node,
    copy_claim,
    copy_of,
    pending_again,
    pods_by_node,
    take_off,
)
from tests.app.whatif.worlds import nodes_of, world
from tests.builders import PodBuilder, pod
from tests.plugins.storage import claim

TEMPLATE = {"spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}}


def ephemeral(name: str, template: dict[str, Any] | None = TEMPLATE) -> PodBuilder:
    return pod(name).uid(name).volume("data", ephemeral={"volumeClaimTemplate": template})


@pytest.mark.parametrize(
    ("made", "belongs"),
    [
        (pod("bare"), False),
        (pod("web").owned_by("ReplicaSet", "web"), False),
        (pod("logs").owned_by("DaemonSet", "logs"), True),
        (pod("etcd").owned_by("Node", "n1", "v1"), True),
        (pod("etcd").set("metadata.annotations", {MIRROR: "x"}), True),
        (pod("kept").set("metadata.ownerReferences", [{"kind": "Node", "name": "n1"}]), False),
    ],
    ids=["bare", "of a ReplicaSet", "of a DaemonSet", "of its node", "a static one's mirror", "not controlled by it"],
)
def test_pods_that_live_and_die_with_their_node(made: PodBuilder, belongs: bool) -> None:
    assert belongs_to_node(made.build()) is belongs


def test_pods_that_take_room_by_node() -> None:
    found = pods_by_node(
        world(
            pod("a").on("n1"),
            pod("b").on("n2"),
            pod("c").on("n1"),
            pod("waits"),
            pod("done").on("n1").set("status.phase", "Succeeded"),
            pod("leaving").on("n2").terminating(),
        )
    )
    assert {node: [each.metadata.name for each in pods] for node, pods in found.items()} == {
        "n1": ["a", "c"],
        "n2": ["b", "leaving"],
    }


class TestPendingAgain:
    ran = (
        pod("web")
        .uid("u")
        .label(app="web")
        .on("n1")
        .priority(7)
        .nominated("n2")
        .condition("PodScheduled", "True")
        .set("metadata.creationTimestamp", "2026-01-01T00:00:00Z")
        .set("status.startTime", "2026-01-01T00:00:00Z")
        .build()
    )

    def test_it_is_on_no_node_and_has_no_history(self) -> None:
        made = pending_again(self.ran)
        assert made.spec.node_name == ""
        assert made.status == msgspec.convert({"phase": "Pending"}, type(made.status))
        assert made.metadata.creation_timestamp is None

    def test_what_it_asks_for_and_its_name_stay(self) -> None:
        made = pending_again(self.ran)
        assert (made.metadata.name, made.metadata.uid, made.metadata.labels) == ("web", "u", {"app": "web"})
        assert msgspec.structs.replace(made.spec, node_name="n1") == self.ran.spec


class TestTakeOff:
    def test_those_taken_off_wait_behind_those_that_wait_already(self) -> None:
        made = world(pod("a").on("n1"), pod("b").on("n1"), pod("waits"))
        assert take_off(made, [each for each in made.pods.values() if each.spec.node_name]) == 2
        assert list(nodes_of(made).items()) == [("waits", ""), ("a", ""), ("b", "")]

    def test_one_that_is_ending_anyway_just_goes(self) -> None:
        made = world(pod("a").on("n1").terminating(), pod("b").on("n1"))
        assert take_off(made, list(made.pods.values())) == 1
        assert nodes_of(made) == {"b": ""}


class TestCopies:
    def test_a_copy_has_a_name_and_uid_of_its_own_and_waits(self) -> None:
        like = pod("web").uid("u").cpu("2").on("n1").build()
        made = copy_of(world(like), like, "web-new")
        assert made.metadata.name == "web-new"
        assert made.metadata.uid not in ("", "u")
        assert (made.spec.node_name, made.status.phase) == ("", "Pending")
        assert made.spec.containers == like.spec.containers

    def test_two_copies_are_two_pods(self) -> None:
        like = pod("web").build()
        here = world(like)
        assert copy_of(here, like, "a").metadata.uid != copy_of(here, like, "b").metadata.uid

    def test_a_claim_that_several_pods_share_is_shared_by_the_copy_too(self) -> None:
        like = pod("web").volume("data", persistentVolumeClaim={"claimName": "shared"}).build()
        here = world(like, claim("shared", volume="v"))
        copy_of(here, like, "web-new")
        assert list(here.of(PersistentVolumeClaim)) == [("default", "shared")]


class TestClaimsOfItsOwn:
    """Those of generic ephemeral volumes, which a controller makes for each pod."""

    def made(self, like: PodBuilder, *objects: Any) -> tuple[Pod, dict[str, PersistentVolumeClaim]]:
        built = like.build()
        here = world(built, *objects)
        copied = copy_of(here, built, "copy")
        return copied, {name: each for (_, name), each in here.of(PersistentVolumeClaim).items()}

    def test_are_made_by_the_template_and_belong_to_the_copy(self) -> None:
        copied, claims = self.made(ephemeral("web"), claim("web-data", "fast", volume="v", owner="web"))
        own = claims["copy-data"]
        (owner,) = own.metadata.owner_references
        assert (owner.name, owner.uid, owner.controller) == ("copy", copied.metadata.uid, True)
        assert (own.spec.storage_class_name, own.spec.volume_name, own.status.phase) == ("fast", "", "Pending")

    def test_without_a_template_they_are_like_the_claim_that_was_made_before(self) -> None:
        """A snapshot leaves templates of running pods out."""
        _, claims = self.made(ephemeral("web", None), claim("web-data", "slow", volume="v", owner="web"))
        assert (claims["copy-data"].spec.storage_class_name, claims["copy-data"].spec.volume_name) == ("slow", "")

    def test_where_nothing_says_what_they_are_like_none_is_made(self) -> None:
        assert self.made(ephemeral("web", None))[1] == {}

    def test_the_claims_of_the_first_pod_stay(self) -> None:
        before = claim("web-data", "fast", volume="v", owner="web")
        assert self.made(ephemeral("web"), before)[1]["web-data"] == before


class TestCopyOfAClaim:
    def test_it_is_not_bound_yet(self) -> None:
        here = world(claim("data-db-0", "fast", volume="v"))
        copy_claim(here, "default", "data-db-0", "data-db-1")
        made = here.of(PersistentVolumeClaim)["default", "data-db-1"]
        assert (made.spec.storage_class_name, made.spec.volume_name, made.status.phase) == ("fast", "", "Pending")
        assert made.metadata.annotations == {}
        assert made.metadata.uid not in ("", "uid-data-db-0")

    def test_one_that_is_there_already_stays(self) -> None:
        """A StatefulSet's claims outlive its pods."""
        there = claim("data-db-1", "slow", volume="w")
        here = world(claim("data-db-0", "fast", volume="v"), there)
        copy_claim(here, "default", "data-db-0", "data-db-1")
        assert here.of(PersistentVolumeClaim)["default", "data-db-1"] == there

    def test_nothing_to_go_by_makes_nothing(self) -> None:
        here = world()
        copy_claim(here, "default", "data-db-0", "data-db-1")
        assert here.of(PersistentVolumeClaim) == {}
