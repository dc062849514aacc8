"""Who an object belongs to."""

from __future__ import annotations

import pytest

from scheduler.api.meta import ObjectMeta, OwnerReference
from scheduler.api.owners import controller_of

SET = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="web", controller=True)
OTHER = OwnerReference(api_version="example.com/v1", kind="Backup", name="nightly", controller=False)
UNSAID = OwnerReference(api_version="v1", kind="Node", name="n1")


@pytest.mark.parametrize(
    ("owners", "controller"),
    [((), None), ((SET,), SET), ((OTHER, SET), SET), ((OTHER,), None), ((UNSAID,), None)],
    ids=["bare", "one", "after another owner", "an owner that does not control", "one that does not say"],
)
def test_an_owner_controls_an_object_if_it_says_so(
    owners: tuple[OwnerReference, ...], controller: OwnerReference | None
) -> None:
    assert controller_of(ObjectMeta(name="web-1", owner_references=owners)) == controller


def test_of_two_that_say_so_the_first_counts() -> None:
    """No API server stores that; manifests may have it."""
    second = OwnerReference(api_version="batch/v1", kind="Job", name="once", controller=True)
    assert controller_of(ObjectMeta(owner_references=(SET, second))) == SET
