"""What is found when it is checked whether a pod's volumes are bound: done, not yet, or never."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from scheduler.client.errors import ApiError
from scheduler.plugins.volumebinding.prebind import BindError
from tests.builders import node
from tests.plugins.storage import affinity, claim, csi_node, put, volume
from tests.plugins.volumebinding.test_prebind import ZONE, Run, turns

if TYPE_CHECKING:
    from collections.abc import Callable

SELECTED = {"volume.kubernetes.io/selected-node": "n"}
C, D, MADE = claim("c"), claim("d"), claim("made")
V, W = volume("v", nodeAffinity=affinity(ZONE, "x")), volume("w", nodeAffinity=affinity(ZONE, "x"))


async def outcome(run: Run, then: Callable[[Run], None]) -> str:
    """What becomes of a binding once it has been written and `then` has happened: "done", "waits", or why it failed."""
    task = run.begin()
    await turns()
    then(run)
    await turns()
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return "waits"
    problem = task.exception()
    assert problem is None or isinstance(problem, BindError)
    return "done" if problem is None else str(problem).removeprefix("binding volumes: ")


def nothing(run: Run) -> None:
    """Nothing happens."""


def bound(name: str, volume_name: str) -> Callable[[Run], None]:
    return lambda run: run.complete(name, volume_name)


def both(*steps: Callable[[Run], None]) -> Callable[[Run], None]:
    def take(run: Run) -> None:
        for step in steps:
            step(run)

    return take


def stored(*objects: Any) -> Callable[[Run], None]:
    return lambda run: put(run.cluster, *objects) and None


def gone(kind: str, namespace: str, name: str) -> Callable[[Run], None]:
    return lambda run: run.cluster.remove_object(kind, namespace, name)


def without_uid(run: Run) -> None:
    held = run.stored("PersistentVolume", "v")
    reference = replace(held.spec.claim_ref, uid="")
    meta = replace(held.metadata, resource_version="3")
    put(run.cluster, replace(held, metadata=meta, spec=replace(held.spec, claim_ref=reference)))


@pytest.mark.parametrize(
    ("run", "then", "expected"),
    [
        ({}, nothing, "done"),
        ({"found": [(C, V)]}, bound("c", "v"), "done"),
        ({"found": [(C, V)]}, stored(claim("c", volumeName="v", version="3")), "waits"),
        ({"found": [(C, V)]}, nothing, "waits"),
        (
            {"found": [(C, V)]},
            gone("PersistentVolumeClaim", "default", "c"),
            'failed to check binding: persistentvolumeclaims "default/c" not found',
        ),
        (
            {"found": [(C, V)]},
            gone("PersistentVolume", "", "v"),
            'failed to check binding: persistentvolumes "v" not found',
        ),
        (
            {"found": [(C, V)]},
            both(stored(replace(V, metadata=replace(V.metadata, resource_version="3"))), bound("c", "v")),
            'ClaimRef got reset for pv "v"',
        ),
        ({"found": [(C, V)]}, both(without_uid, bound("c", "v")), 'ClaimRef got reset for pv "v"'),
        ({"found": [(C, V), (D, W)]}, bound("c", "v"), "waits"),
        ({"found": [(C, V), (D, W)]}, both(bound("c", "v"), bound("d", "w")), "done"),
        ({"made": [MADE]}, both(stored(volume("new")), bound("made", "new")), "done"),
        ({"made": [MADE]}, nothing, "waits"),
        ({"made": [MADE]}, stored(claim("made", annotations=SELECTED, volumeName="new", version="3")), "waits"),
        (
            {"made": [MADE]},
            gone("PersistentVolumeClaim", "default", "made"),
            'failed to check provisioning pvc: persistentvolumeclaims "default/made" not found',
        ),
        ({"found": [(C, V)], "made": [MADE]}, bound("c", "v"), "waits"),
        ({"made": [MADE]}, bound("made", "unheard-of"), "waits"),
    ],
    ids=[
        "nothing to do",
        "bound",
        "bound but for the annotation",
        "not bound",
        "claim gone",
        "volume gone",
        "reservation gone",
        "reservation without a uid",
        "one of two bound",
        "two of two bound",
        "made and bound",
        "not made",
        "made but not bound",
        "claim to be made for gone",
        "bound, the other not made",
        "made, but not heard of",
    ],
)
async def test_what_is_found(run: dict[str, Any], then: Callable[[Run], None], expected: str) -> None:
    assert await outcome(Run(**run), then) == expected


async def test_a_volume_that_was_bound_before_it_was_written_is_not_waited_for() -> None:
    run = Run(found=[(C, V)])
    run.complete("c", "v")
    assert await outcome(run, nothing) == "done"


async def test_a_node_that_loses_its_labels_is_out_of_reach() -> None:
    run = Run(found=[(C, V)])
    run.cluster.set_node(node("n").build())
    text = 'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms'
    assert await outcome(run, nothing) == text


MIGRATED = csi_node("n", migrated="kubernetes.io/gce-pd")
EAST = {"failure-domain.beta.kubernetes.io/zone": "east", "failure-domain.beta.kubernetes.io/region": "e"}
OLD = volume("v", labels=EAST, gcePersistentDisk={"pdName": "d"})
OLDER = volume("v", labels=EAST, rbd={"image": "i"})


@pytest.mark.parametrize(
    ("held", "zone", "csi_nodes", "fits"),
    [
        (OLD, "east", [MIGRATED], True),
        (OLD, "east", [], True),
        (OLD, "east", [csi_node("n")], True),
        (OLD, "west", [MIGRATED], False),
        (OLDER, "west", [MIGRATED], True),
    ],
    ids=["same zone", "no CSINode", "not migrated", "other zone", "of a plugin that is never migrated"],
)
@pytest.mark.parametrize("made", [False, True], ids=["found", "made"])
async def test_the_zone_of_a_migrated_disk_is_in_its_labels(
    held: Any, zone: str, csi_nodes: list[Any], fits: bool, made: bool
) -> None:
    run = Run(made=[C], objects=[held]) if made else Run(found=[(C, held)])
    put(run.cluster, *csi_nodes)
    run.cluster.set_node(node("n").label({"topology.gke.io/zone": zone}).build())
    problem = 'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms'
    assert await outcome(run, bound("c", "v")) == ("done" if fits else problem)


class TestWriting:
    async def test_volumes_that_are_reserved_already_are_written_again(self) -> None:
        held = {"namespace": "default", "name": "c", "uid": "uid-c"}
        run = Run(found=[(C, volume("v", claimRef=held))])
        assert await outcome(run, bound("c", "v")) == "done"
        assert run.api.written == ["v"]

    async def test_a_claim_that_is_refused_leaves_what_was_written_before_it(self) -> None:
        run = Run(found=[(C, V)], made=[D, MADE], refuse="made", silent=True)
        with pytest.raises(ApiError):
            await run.begin()
        assert run.api.written == ["v", "d"]
        assert run.volumes.volume("v") != V
        assert run.volumes.claim("default", "d") != D
        assert run.volumes.claim("default", "made") == MADE
