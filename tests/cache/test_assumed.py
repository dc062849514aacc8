"""Objects as they will be, over those that exist."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import PersistentVolume
from scheduler.cache.assumed import AssumedObjects, OutOfSyncError
from scheduler.cache.objects import ObjectStore

KIND = "PersistentVolume"


def volume(version: str, phase: str = "") -> PersistentVolume:
    document = {"metadata": {"name": "v", "resourceVersion": version}, "status": {"phase": phase}}
    return msgspec.convert(document, PersistentVolume)


@pytest.fixture
def store() -> ObjectStore:
    objects = ObjectStore()
    objects.set(KIND, volume("1"))
    return objects


def test_an_assumed_object_stands_for_the_stored_one(store: ObjectStore) -> None:
    assumed = AssumedObjects(store)
    assert assumed.get(KIND, "", "v") == volume("1")
    assumed.assume(KIND, volume("1", "Bound"))
    assert assumed.get(KIND, "", "v") == volume("1", "Bound")
    assert [*assumed] == [(KIND, volume("1", "Bound"))]
    assert store.get(KIND, "", "v") == volume("1")


def test_it_ends_with_a_newer_version_and_with_the_object(store: ObjectStore) -> None:
    assumed = AssumedObjects(store)
    assumed.assume(KIND, volume("1", "Bound"))
    store.set(KIND, volume("2"))
    assert assumed.get(KIND, "", "v") == volume("2")
    assert [*assumed] == []
    assumed.assume(KIND, volume("2", "Bound"))
    store.remove(KIND, "", "v")
    assert assumed.get(KIND, "", "v") is None


def test_only_the_stored_version_can_be_assumed_to_change(store: ObjectStore) -> None:
    assumed = AssumedObjects(store)
    with pytest.raises(OutOfSyncError, match=r'"v" is out of sync \(stored: 1, assume: 2\)'):
        assumed.assume(KIND, volume("2"))
    store.remove(KIND, "", "v")
    with pytest.raises(OutOfSyncError, match='persistentvolumes "v" not found'):
        assumed.assume(KIND, volume("1"))


def test_restoring_goes_back_from_that_very_version(store: ObjectStore) -> None:
    assumed = AssumedObjects(store)
    assumed.assume(KIND, volume("1", "Bound"))
    assumed.restore(KIND, volume("2"))
    assert assumed.get(KIND, "", "v") == volume("1", "Bound")
    assumed.restore(KIND, volume("1"))
    assert assumed.get(KIND, "", "v") == volume("1")
