"""Which versions may be assumed, and what becomes of an assumption as versions come and go."""

from __future__ import annotations

import pytest

from scheduler.api.objects import ObjectMeta, PersistentVolumeClaim
from scheduler.cache.assumed import AssumedObjects, OutOfSyncError
from scheduler.cache.objects import ObjectStore

KIND = "PersistentVolumeClaim"


def claim(version: str, *, name: str = "c", changed: bool = False) -> PersistentVolumeClaim:
    annotations = {"changed": "yes"} if changed else {}
    meta = ObjectMeta(name=name, namespace="ns", resource_version=version, annotations=annotations)
    return PersistentVolumeClaim(metadata=meta)


def holding(*claims: PersistentVolumeClaim) -> tuple[ObjectStore, AssumedObjects]:
    store = ObjectStore()
    for each in claims:
        store.set(KIND, each)
    return store, AssumedObjects(store)


@pytest.mark.parametrize(
    ("stored", "assumed", "accepted"),
    [
        (claim("5"), claim("5", changed=True), True),
        (claim("5"), claim("6", changed=True), False),
        (claim("5", name="other"), claim("5", changed=True), False),
        (claim("5"), claim("4", changed=True), False),
        (claim("5"), claim("a", changed=True), False),
        (claim("a"), claim("5", changed=True), False),
    ],
    ids=["same", "newer", "not stored", "older", "no number", "no number stored"],
)
def test_only_the_stored_version(stored: PersistentVolumeClaim, assumed: PersistentVolumeClaim, accepted: bool) -> None:
    _, view = holding(stored)
    if accepted:
        view.assume(KIND, assumed)
    else:
        with pytest.raises(OutOfSyncError):
            view.assume(KIND, assumed)
    seen = assumed if accepted else stored
    assert view.get(KIND, "ns", stored.metadata.name) is seen


def test_what_was_never_assumed_can_be_restored() -> None:
    _, view = holding(claim("5"))
    view.restore(KIND, claim("1", name="unknown"))
    view.restore(KIND, claim("5"))
    assert view.get(KIND, "ns", "c") == claim("5")


def test_an_assumption_outlives_the_same_version_told_again() -> None:
    store, view = holding(claim("1"))
    changed = claim("1", changed=True)
    view.assume(KIND, changed)
    store.set(KIND, claim("1"))
    assert view.get(KIND, "ns", "c") is changed


def test_a_conflict_about_an_older_version_leaves_the_newer_assumption() -> None:
    store, view = holding(claim("5"))
    older, newer = claim("5", changed=True), claim("7", changed=True)
    view.assume(KIND, older)
    store.set(KIND, claim("7"))
    view.assume(KIND, newer)
    view.restore(KIND, older)
    assert view.get(KIND, "ns", "c") is newer
