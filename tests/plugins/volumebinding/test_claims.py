"""A pod's claims before any node is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.plugins.volumebinding.assumed import AssumedVolumes
from scheduler.plugins.volumebinding.claims import ClassError, PodClaims, pod_claims, problem_of
from tests.builders import PodBuilder, info, pod, state
from tests.plugins.storage import claim, put, storage_class, uses

USING = pod("p").set("spec.volumes", uses("c"))
EPHEMERAL = pod("p").uid("u").volume("v", ephemeral={})


@pytest.mark.parametrize(
    ("incoming", "objects", "problem"),
    [
        (USING, [claim("c")], ""),
        (USING, [], 'persistentvolumeclaim "c" not found'),
        (
            USING,
            [claim("c", volume="v", phase="Lost")],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (USING, [claim("c", deleted=True)], 'persistentvolumeclaim "c" is being deleted'),
        (
            USING,
            [claim("c", volume="v", phase="Lost", deleted=True)],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (EPHEMERAL, [claim("p-v", owner="somebody", deleted=True)], 'persistentvolumeclaim "p-v" is being deleted'),
        (EPHEMERAL, [claim("p-v", owner="u")], ""),
        (EPHEMERAL, [], 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'),
        (
            EPHEMERAL,
            [claim("p-v", owner="x")],
            "PVC default/p-v was not created for pod default/p (pod is not owner)",
        ),
    ],
)
def test_problems_that_no_node_solves(incoming: PodBuilder, objects: list[Any], problem: str) -> None:
    assert problem_of(info(incoming), put(state(), *objects).objects) == problem


def sorted_out(*objects: Any) -> PodClaims:
    cluster = put(state(), *objects)
    return pod_claims(info(USING), AssumedVolumes(cluster), cluster.objects)


def test_a_claim_is_bound_with_a_volume_and_the_annotation() -> None:
    found = claim("c", volume="v")
    assert sorted_out(found) == PodClaims((found,), (), ())


def test_a_claim_with_a_volume_but_not_the_annotation_should_be_bound_by_now() -> None:
    found = claim("c", volumeName="v")
    assert sorted_out(found, storage_class()) == PodClaims((), (), (found,))


def test_a_claim_of_a_class_that_waits_follows_the_pod() -> None:
    found = claim("c")
    assert sorted_out(found, storage_class()) == PodClaims((), (found,), ())


@pytest.mark.parametrize("objects", [[storage_class(mode="Immediate")], []])
def test_a_claim_of_another_class_or_of_none_should_be_bound_by_now(objects: list[Any]) -> None:
    found = claim("c")
    assert sorted_out(found, *objects) == PodClaims((), (), (found,))


def test_a_claim_without_a_class_should_be_bound_by_now() -> None:
    found = claim("c", None)
    assert sorted_out(found, storage_class()) == PodClaims((), (), (found,))


def test_a_class_must_say_how_it_binds() -> None:
    with pytest.raises(ClassError, match='VolumeBindingMode not set for StorageClass "wait"'):
        sorted_out(claim("c"), storage_class(mode=None))
