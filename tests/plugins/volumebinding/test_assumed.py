"""Volumes and claims as decisions that are under way have them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler.cache.assumed import OutOfSyncError
from scheduler.plugins.volumebinding.assumed import AssumedVolumes, request_of, reserved_for
from tests.builders import state
from tests.plugins.storage import claim, put, volume

CONTROLLER = "pv.kubernetes.io/bound-by-controller"
NODE = "volume.kubernetes.io/selected-node"


class TestReserving:
    def test_a_free_volume_gets_a_reference_and_the_annotation(self) -> None:
        new = reserved_for(volume("v"), claim("c"))
        reference = new.spec.claim_ref
        assert reference is not None
        assert (reference.api_version, reference.kind, reference.namespace) == (
            "v1",
            "PersistentVolumeClaim",
            "default",
        )
        assert (reference.name, reference.uid, reference.resource_version) == ("c", "uid-c", "1")
        assert new.metadata.annotations == {CONTROLLER: "yes"}

    def test_a_volume_that_its_user_reserved_gets_the_uid_only(self) -> None:
        new = reserved_for(volume("v", reserved="c"), claim("c"))
        assert new.spec.claim_ref is not None
        assert new.spec.claim_ref.uid == "uid-c"
        assert new.metadata.annotations == {}

    def test_a_volume_that_is_reserved_wholly_stays_as_it_is(self) -> None:
        once = reserved_for(volume("v"), claim("c"))
        assert reserved_for(once, claim("c")) is once


class TestAssuming:
    def test_what_is_assumed_is_seen_until_it_is_taken_back(self) -> None:
        cluster = put(state(), volume("v"), claim("c"))
        volumes = AssumedVolumes(cluster)
        bound = volumes.bind(volume("v"), claim("c"))
        selected = volumes.provision(claim("c"), "n")
        assert volumes.volume("v") is bound
        assert [*volumes.of_class("wait")] == [bound]
        assert volumes.claim("default", "c") is selected
        assert selected.metadata.annotations[NODE] == "n"
        volumes.revert([bound], [selected])
        assert volumes.volume("v") == volume("v")
        assert volumes.claim("default", "c") == claim("c")

    def test_the_stored_objects_stay_visible(self) -> None:
        cluster = put(state(), volume("v"), claim("c"))
        volumes = AssumedVolumes(cluster)
        volumes.bind(volume("v"), claim("c"))
        volumes.provision(claim("c"), "n")
        assert volumes.stored_volume("v") == volume("v")
        assert volumes.stored_claim("default", "c") == claim("c")

    def test_a_newer_version_overrides_it(self) -> None:
        cluster = put(state(), volume("v"), claim("c"))
        volumes = AssumedVolumes(cluster)
        volumes.bind(volume("v"), claim("c"))
        put(cluster, volume("v", version="2"))
        assert volumes.volume("v") == volume("v", version="2")

    def test_an_older_version_can_not_be_assumed(self) -> None:
        volumes = AssumedVolumes(put(state(), volume("v", version="2"), claim("c")))
        with pytest.raises(OutOfSyncError, match=r'"v" is out of sync \(stored: 2, assume: 1\)'):
            volumes.bind(volume("v"), claim("c"))

    def test_taking_back_an_older_assumption_leaves_a_newer_one(self) -> None:
        cluster = put(state(), volume("v"), claim("c"))
        volumes = AssumedVolumes(cluster)
        old = volumes.bind(volume("v"), claim("c"))
        put(cluster, volume("v", version="2"))
        new = volumes.bind(volume("v", version="2"), claim("c"))
        volumes.revert([old], [])
        assert volumes.volume("v") is new


def test_volumes_of_a_class_come_smallest_first() -> None:
    beta = {"volume.beta.kubernetes.io/storage-class": "wait"}
    cluster = put(
        state(),
        volume("large", size="1Ti"),
        volume("small", size="900Mi"),
        volume("other", "other"),
        volume("beta", "ignored", "2G", annotations=beta),
    )
    volumes = AssumedVolumes(cluster)
    assert [each.metadata.name for each in volumes.of_class("wait")] == ["small", "beta", "large"]
    put(cluster, volume("middle", size="5Gi"))
    assert [each.metadata.name for each in volumes.of_class("wait")] == ["small", "beta", "middle", "large"]
    assert [*volumes.of_class("none")] == []


def test_a_claim_that_asks_for_nothing_asks_for_0() -> None:
    silent = claim("c")
    assert request_of(replace(silent, spec=replace(silent.spec, resources=type(silent.spec.resources)()))).value() == 0
