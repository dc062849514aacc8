"""Claims and volumes of all kinds together: whether a pod fits on a node, and what is planned there."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.claims import is_bound_to
from scheduler.framework.status import Status, error, unresolvable
from scheduler.plugins.volumebinding.plugin import REASONS, UNBOUND, VolumeBinding, make
from tests.builders import NodeBuilder, PodBuilder, node, pod, state
from tests.plugins.harness import cycle_of, filtered
from tests.plugins.storage import (
    DRIVER,
    affinity,
    capacity,
    claim,
    csi_driver,
    csi_node,
    handle,
    put,
    storage_class,
    uses,
    volume,
)

NODE_CONFLICT, BIND_CONFLICT, NO_SPACE, MISSING = (unresolvable(text) for text in REASONS.values())
RACK = "rack"
SELECTED = {"volume.kubernetes.io/selected-node": "n"}
DRIVERS = {"no driver": [], "capacity": [csi_driver(capacity=True)], "no capacity": [csi_driver(capacity=False)]}
CLASSES = [
    storage_class("static", "kubernetes.io/no-provisioner"),
    storage_class("made", DRIVER, topologies={RACK: ["1", "9"]}),
    storage_class("made-elsewhere", DRIVER, topologies={RACK: ["9"]}),
    storage_class("now", mode="Immediate"),
]
HERE, THERE = affinity(RACK, "1"), affinity(RACK, "2")

SMALL, LARGE = claim("small", "static", "1G"), claim("large", "static", "5G")
BOUND, MADE = claim("bound", "static", "1G", volume="v-bound"), claim("made", "made", "1Gi")
AT_ONCE = claim("at-once", "now", "1G", volume="v-now")
V_BOUND = volume("v-bound", "static", "1G", reserved="bound", nodeAffinity=HERE)
V_NOW, V_NOW_THERE = volume("v-now", "now", "1G", nodeAffinity=HERE), volume("v-now", "now", "1G", nodeAffinity=THERE)
V_5, V_10 = volume("v-5", "static", "5G", nodeAffinity=HERE), volume("v-10", "static", "10G", nodeAffinity=HERE)
V_THERE = volume("v-there", "static", "1G", nodeAffinity=THERE)


def tried(*objects: Any, incoming: PodBuilder | None = None, on: NodeBuilder | None = None) -> Any:
    """What comes of a pod with all of the claims: PreFilter's refusal, the node's, or the plan for the node."""
    names = [each.metadata.name for each in objects if type(each).__name__ == "PersistentVolumeClaim"]
    cluster = put(state([on or node("n").label({RACK: "1"})]), *CLASSES, *objects)
    plugin: VolumeBinding = make(None, handle(cluster))
    cycle = cycle_of(cluster, incoming or pod("p").set("spec.volumes", uses(*names)))
    refusal = plugin.pre_filter(cycle)
    if refusal is not None:
        return refusal
    answer = filtered(plugin, cycle)["n"]
    return plugin.planned(cycle, "n") if answer is None else answer


@pytest.mark.parametrize("drivers", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([BOUND, V_BOUND], {}),
        ([BOUND], MISSING),
        ([claim("c", "static", volumeName="v-5"), V_5], unresolvable(UNBOUND)),
        ([SMALL, V_THERE, V_5, V_10], {"small": "v-5"}),
        ([SMALL, V_THERE], BIND_CONFLICT),
        ([SMALL, LARGE, V_5, V_10], {"small": "v-5", "large": "v-10"}),
        ([LARGE, SMALL, V_5, V_10], {"small": "v-5", "large": "v-10"}),
        ([SMALL, LARGE, V_5], BIND_CONFLICT),
        ([SMALL, BOUND, V_BOUND, V_5], {"small": "v-5"}),
        ([SMALL, BOUND, V_BOUND, V_THERE], BIND_CONFLICT),
        ([SMALL, claim("c", "static", volumeName="v-5"), V_5, V_10], unresolvable(UNBOUND)),
        ([AT_ONCE, V_NOW], {}),
        ([AT_ONCE, V_NOW_THERE], NODE_CONFLICT),
        ([claim("late", "now")], unresolvable(UNBOUND)),
        ([claim("late", "now"), BOUND, V_BOUND], unresolvable(UNBOUND)),
        ([claim("late", "now"), SMALL], unresolvable(UNBOUND)),
        ([SMALL], BIND_CONFLICT),
        ([claim("c", "made-elsewhere")], BIND_CONFLICT),
        (
            [claim("c", "static", volume="v"), SMALL, volume("v", "static", nodeAffinity=THERE)],
            unresolvable(*NODE_CONFLICT.reasons, *BIND_CONFLICT.reasons),
        ),
    ],
)
def test_claims_for_volumes_that_exist(objects: list[Any], drivers: list[Any], expected: Any) -> None:
    assert tried(*objects, *drivers) == expected


@pytest.mark.parametrize(("driver", "room"), [("no driver", True), ("capacity", False), ("no capacity", True)])
@pytest.mark.parametrize(
    ("objects", "plan"),
    [
        ([MADE], {"made": "provision"}),
        ([SMALL, MADE, V_5], {"small": "v-5", "made": "provision"}),
        ([BOUND, MADE, V_BOUND], {"made": "provision"}),
        ([BOUND, claim("made", "made", "1Gi", annotations=SELECTED), V_BOUND], {"made": "provision"}),
        ([AT_ONCE, MADE, V_NOW], {"made": "provision"}),
    ],
)
def test_claims_for_volumes_to_be_made(objects: list[Any], plan: dict[str, str], driver: str, room: bool) -> None:
    """A driver that publishes capacity, and has published none yet, has no room."""
    assert tried(*objects, *DRIVERS[driver]) == (plan if room else NO_SPACE)


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize(
    ("capacities", "enough"),
    [
        ([capacity("net", "1Gi", storage_class="made")], True),
        ([capacity("local", "1Gi", storage_class="made", rack="1")], True),
        (
            [
                capacity("net", "1Gi", storage_class="made"),
                capacity("there", "1Gi", storage_class="made", rack="2"),
                capacity("local", "1Gi", storage_class="made", rack="1"),
            ],
            True,
        ),
        ([], False),
        ([capacity("there", "1Gi", storage_class="made", rack="2")], False),
        ([capacity("other", "1Gi", storage_class="static", rack="1")], False),
        ([capacity("little", "1Mi", storage_class="made", rack="1")], False),
        ([capacity("short", "1Gi", most="1Mi", storage_class="made", rack="1")], False),
        ([capacity("none", "0", storage_class="made", rack="1")], False),
        ([capacity("none", None, most="0", storage_class="made", rack="1")], False),
        ([capacity("silent", None, storage_class="made", rack="1")], False),
    ],
)
def test_room_for_volumes_to_be_made(capacities: list[Any], enough: bool, published: bool) -> None:
    expected = {"made": "provision"} if enough or not published else NO_SPACE
    assert tried(MADE, csi_driver(capacity=published), *capacities) == expected


class TestEphemeralVolumes:
    incoming = pod("p").uid("u").volume("v", ephemeral={})

    @pytest.mark.parametrize(
        ("objects", "expected"),
        [
            ([], "waiting for ephemeral volume controller to create the persistentvolumeclaim"),
            ([claim("p-v", "now", "1G", volume="v-now", owner="other"), V_NOW], "pod is not owner"),
            ([claim("p-v", "now", "1G", volume="v-now"), V_NOW], "pod is not owner"),
            ([claim("p-v", "now", "1G", volume="v-now", owner="u"), V_NOW], ""),
        ],
        ids=["no claim", "claim of another pod", "claim of nobody", "own claim"],
    )
    def test_need_a_claim_of_their_own(self, objects: list[Any], expected: str) -> None:
        answer = tried(*objects, incoming=self.incoming)
        assert expected in answer.message if isinstance(answer, Status) else (answer, expected) == ({}, "")


class TestPodsWithMissingClaims:
    def test_one_of_two_is_enough(self) -> None:
        incoming = pod("p").set("spec.volumes", uses("bound", "absent"))
        assert tried(BOUND, incoming=incoming) == unresolvable('persistentvolumeclaim "absent" not found')

    def test_a_claim_that_lost_its_volume_says_so(self) -> None:
        lost = claim("c", "static", volume="v", phase="Lost")
        reason = 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'
        assert tried(lost) == unresolvable(reason)


@pytest.mark.parametrize(
    ("zone", "csi_nodes", "fits"),
    [
        ("east", [csi_node("n", migrated="kubernetes.io/gce-pd")], True),
        ("east", [csi_node("n")], True),
        ("east", [], True),
        ("west", [csi_node("n", migrated="kubernetes.io/gce-pd")], False),
        ("west", [csi_node("n")], True),
    ],
    ids=["same zone", "not migrated", "no CSINode", "other zone", "other zone, not migrated"],
)
def test_the_zone_of_a_migrated_disk_is_in_its_labels(zone: str, csi_nodes: list[Any], fits: bool) -> None:
    labels = {"failure-domain.beta.kubernetes.io/zone": "east", "failure-domain.beta.kubernetes.io/region": "e"}
    old = volume("v", "static", labels=labels, gcePersistentDisk={"pdName": "d"})
    on = node("n").label({"topology.gke.io/zone": zone})
    assert tried(claim("c", "static", volume="v"), old, *csi_nodes, on=on) == ({} if fits else NODE_CONFLICT)


def test_a_volume_that_was_reserved_for_a_claim_is_chosen_again() -> None:
    twin = volume("v-5-twin", "static", "5G", nodeAffinity=HERE)
    cluster = put(state([node("n").label({RACK: "1"})]), *CLASSES, SMALL, V_THERE, V_5, twin)
    plugin = make(None, handle(cluster))

    def plan() -> tuple[Any, dict[str, str]]:
        cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses("small")))
        assert plugin.pre_filter(cycle) is None
        assert filtered(plugin, cycle) == {"n": None}
        return cycle, plugin.planned(cycle, "n")

    first, chosen = plan()
    assert plugin.reserve(first, "n") is None
    reserved = [item for kind, item in cluster.assumed_objects if kind == "PersistentVolume"]
    assert [is_bound_to(item, SMALL) for item in reserved] == [True]
    assert [plan()[1] for _ in range(3)] == [chosen] * 3


class TestReserve:
    @staticmethod
    def filtered(*objects: Any) -> tuple[VolumeBinding, Any]:
        names = [each.metadata.name for each in objects if type(each).__name__ == "PersistentVolumeClaim"]
        cluster = put(state([node("n").label({RACK: "1"})]), *CLASSES, *objects)
        plugin = make(None, handle(cluster))
        cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses(*names)))
        assert plugin.pre_filter(cycle) is None
        assert filtered(plugin, cycle) == {"n": None}
        return plugin, cycle

    def test_each_claim_has_its_volume_reserved_or_its_node_selected(self) -> None:
        plugin, cycle = self.filtered(SMALL, LARGE, MADE, V_5, V_10)
        assert plugin.reserve(cycle, "n") is None
        assumed = {item.metadata.name: item for _, item in cycle.state.assumed_objects}
        assert set(assumed) == {"v-5", "v-10", "made"}
        assert is_bound_to(assumed["v-5"], SMALL)
        assert is_bound_to(assumed["v-10"], LARGE)
        assert assumed["made"].metadata.annotations == SELECTED

    def test_a_volume_that_is_reserved_already_need_not_change(self) -> None:
        held = {"namespace": "default", "name": "small", "uid": "uid-small"}
        mine = volume("mine", "static", "1G", claimRef=held, nodeAffinity=HERE)
        plugin, cycle = self.filtered(SMALL, mine)
        assert plugin.planned(cycle, "n") == {"small": "mine"}
        assert plugin.reserve(cycle, "n") is None
        assert [*cycle.state.assumed_objects] == []
        assert plugin.pre_bind_pre_flight(cycle, "n") is None

    def test_a_volume_that_is_gone_is_an_error_and_nothing_stays_reserved(self) -> None:
        plugin, cycle = self.filtered(SMALL, LARGE, V_5, V_10)
        cycle.state.remove_object("PersistentVolume", "", "v-10")
        assert plugin.reserve(cycle, "n") == error('persistentvolumes "v-10" not found')
        assert [*cycle.state.assumed_objects] == []
