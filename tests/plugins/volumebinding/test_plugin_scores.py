"""Scores of nodes whose storage is more or less used."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.config.args.scoring import UtilizationShapePoint
from scheduler.config.args.volume_binding import VolumeBindingArgs
from scheduler.framework.status import SKIP, unresolvable
from scheduler.plugins.volumebinding.plugin import REASONS, make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, raw_scores, verdicts
from tests.plugins.storage import affinity, capacity, claim, csi_driver, handle, put, storage_class, uses, volume

NOTHING_TO_BIND = unresolvable(REASONS[2])
ZONE = "topology.kubernetes.io/zone"
CLASSES = [storage_class(provisioner=""), storage_class("disk", provisioner=""), storage_class("made")]
NODES = [node("a").zone("x"), node("b").zone("y"), node("c").zone("z")]


def shape(*points: tuple[int, int]) -> VolumeBindingArgs:
    return VolumeBindingArgs(shape=tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in points))


def pair(name: str, size: str, storage: str = "wait", **more: Any) -> list[Any]:
    """Two volumes of a size, so that one is left over."""
    return [volume(f"{name}-{i}", storage, size, **more) for i in range(2)]


def scores(*objects: Any, args: VolumeBindingArgs | None = None, cut_off: str = "") -> dict[str, int]:
    """The scores of a pod with all of these claims; the nodes in `cut_off` are the ones that don't fit."""
    names = [each.metadata.name for each in objects if type(each).__name__ == "PersistentVolumeClaim"]
    cluster = put(state(NODES), *CLASSES, csi_driver(capacity=True), *objects)
    plugin = make(args, handle(cluster))
    cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses(*names)))
    found = verdicts(plugin, cycle)
    assert found == {name: NOTHING_TO_BIND if name in cut_off else None for name in "abc"}
    assert plugin.pre_score(cycle, cycle.nodes) is None
    return raw_scores(plugin, cycle)


LOCAL = [*pair("a", "200Gi", node="a"), *pair("b", "100Gi", node="b")]
LOCAL_DISKS = [*pair("ad", "200Gi", "disk", node="a"), *pair("bd", "100Gi", "disk", node="b")]
ZONAL = [
    *pair("x", "200Gi", nodeAffinity=affinity(ZONE, "x")),
    *pair("y", "100Gi", nodeAffinity=affinity(ZONE, "y")),
]


def published(**sizes: str) -> list[Any]:
    return [capacity(f"on-{name}", size, storage_class="made", host=name) for name, size in sizes.items()]


@pytest.mark.parametrize("volumes", [LOCAL, ZONAL], ids=["local", "zonal"])
def test_volumes_that_fit_loosely_are_better(volumes: list[Any]) -> None:
    assert scores(claim("c", size="50Gi"), *volumes, cut_off="c") == {"a": 75, "b": 50, "c": 0}


def test_claims_of_two_classes_count_by_their_mean() -> None:
    claims = claim("c", size="50Gi"), claim("d", "disk", "100Gi")
    assert scores(*claims, *LOCAL, *LOCAL_DISKS, cut_off="c") == {"a": 63, "b": 25, "c": 0}


def test_another_curve_gives_other_scores() -> None:
    args = shape((0, 0), (50, 3), (100, 5))
    assert scores(claim("c", size="50Gi"), *ZONAL, args=args, cut_off="c") == {"a": 15, "b": 30, "c": 0}


@pytest.mark.parametrize(
    ("args", "sizes", "expected"),
    [
        (None, {"a": "100Gi", "b": "50Gi", "c": "10Gi"}, {"a": 90, "b": 80, "c": 0}),
        (None, {"a": "100Gi", "b": "20Gi", "c": "10Gi"}, {"a": 90, "b": 50, "c": 0}),
        (shape((0, 0), (100, 10)), {"a": "100Gi", "b": "20Gi", "c": "10Gi"}, {"a": 10, "b": 50, "c": 100}),
    ],
)
def test_room_for_volumes_to_be_made(args: Any, sizes: dict[str, str], expected: dict[str, int]) -> None:
    assert scores(claim("c", "made", "10Gi"), *published(**sizes), args=args) == expected


def test_that_room_does_not_count_beside_volumes_that_exist() -> None:
    claims = claim("c", "made", "10Gi"), claim("d", size="50Gi")
    volumes = [volume(f"v-{name}", size="100Gi", node=name) for name in "abc"]
    sizes = published(a="100Gi", b="50Gi", c="10Gi")
    assert scores(*claims, *volumes, *sizes) == {"a": 50, "b": 50, "c": 50}


def test_claims_of_one_class_share_that_room() -> None:
    claims = claim("c", "made", "50Gi"), claim("d", "made", "50Gi")
    assert scores(*claims, *published(a="100Gi", b="200Gi", c="100Gi")) == {"a": 0, "b": 50, "c": 0}


def test_without_a_curve_pods_are_not_scored_at_all() -> None:
    cluster = put(state(NODES), *CLASSES, claim("c", size="50Gi"), *LOCAL)
    plugin = make(VolumeBindingArgs(), handle(cluster))
    cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses("c")))
    assert verdicts(plugin, cycle) == {"a": None, "b": None, "c": NOTHING_TO_BIND}
    assert plugin.pre_score(cycle, cycle.nodes) is SKIP
