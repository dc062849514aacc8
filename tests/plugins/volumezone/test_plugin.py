"""VolumeZone as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.status import SKIP, unresolvable
from scheduler.plugins.volumezone.plugin import REASON, make
from tests.builders import PodBuilder, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, verdicts
from tests.plugins.storage import claim, handle, put, storage_class, uses, volume

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
PLUGIN = make(None, handle(state()))
NODES = [
    node("a").zone("zone-a"),
    node("b").zone("zone-b"),
    node("beta").label({BETA_ZONE: "zone-a"}),
    node("region-only").label({REGION: "r"}),
    node("nowhere"),
]
ELSEWHERE = unresolvable(REASON)


def using(*claims: str) -> PodBuilder:
    return pod("p").set("spec.volumes", uses(*claims))


def refused(**labels: Any) -> set[str]:
    cluster = put(state(NODES), claim("c", volume="v"), volume("v", labels=labels["labels"]))
    found = verdicts(PLUGIN, cycle_of(cluster, using("c")))
    assert set(found.values()) <= {None, ELSEWHERE}
    return {name for name, status in found.items() if status is not None}


class TestPreFilter:
    def test_skips_pods_without_claims(self) -> None:
        assert PLUGIN.pre_filter(cycle_of(state(NODES), pod("p").volume("v", ephemeral={}))) is SKIP

    def test_skips_pods_whose_volumes_are_in_no_zone(self) -> None:
        cluster = put(state(NODES), claim("c", volume="v"), volume("v"))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("c"))) is SKIP

    def test_skips_claims_that_wait_for_the_pod(self) -> None:
        cluster = put(state(NODES), claim("c"), storage_class())
        assert PLUGIN.pre_filter(cycle_of(cluster, using("c"))) is SKIP

    @pytest.mark.parametrize(
        ("objects", "reason"),
        [
            ([], 'persistentvolumeclaim "c" not found'),
            ([claim("c", volume="v")], 'persistentvolume "v" not found'),
            ([claim("c", None)], "PersistentVolumeClaim had no pv name and storageClass name"),
            ([claim("c", "x")], 'storageclass.storage.k8s.io "x" not found'),
            ([claim("c"), storage_class(mode=None)], 'VolumeBindingMode not set for StorageClass "wait"'),
            ([claim("c"), storage_class(mode="Immediate")], "PersistentVolume had no name"),
        ],
    )
    def test_ends_the_attempt(self, objects: list[Any], reason: str) -> None:
        cycle = cycle_of(put(state(NODES), *objects), using("c"))
        assert PLUGIN.pre_filter(cycle) == unresolvable(reason)
        assert set(filtered(PLUGIN, cycle).values()) == {unresolvable(reason)}

    def test_a_claim_must_have_a_name(self) -> None:
        cycle = cycle_of(state(NODES), using(""))
        assert PLUGIN.pre_filter(cycle) == unresolvable("PersistentVolumeClaim had no name")


class TestFilter:
    def test_only_nodes_of_the_zone_do_and_those_without_any_topology(self) -> None:
        assert refused(labels={ZONE: "zone-a"}) == {"b", "beta", "region-only"}

    def test_a_beta_label_of_the_volume_matches_the_general_one_of_the_node(self) -> None:
        assert refused(labels={BETA_ZONE: "zone-a"}) == {"b", "region-only"}

    def test_several_zones(self) -> None:
        assert refused(labels={ZONE: "zone-a__ zone-b"}) == {"beta", "region-only"}

    def test_a_list_with_an_empty_zone_is_ignored(self) -> None:
        cluster = put(state(NODES), claim("c", volume="v"), volume("v", labels={ZONE: "zone-a__"}))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("c"))) is SKIP

    def test_zone_and_region_must_both_match(self) -> None:
        assert refused(labels={ZONE: "zone-a", REGION: "r"}) == {"a", "b", "beta", "region-only"}

    def test_all_volumes_count(self) -> None:
        volumes = [volume("v", labels={ZONE: "zone-a"}), volume("w", labels={ZONE: "zone-b"})]
        cluster = put(state(NODES), claim("c", volume="v"), claim("d", volume="w"), *volumes)
        found = verdicts(PLUGIN, cycle_of(cluster, using("c", "d")))
        assert [name for name, status in found.items() if status is None] == ["nowhere"]

    def test_works_without_pre_filter(self) -> None:
        cluster = put(state(NODES), claim("c", volume="v"), volume("v", labels={ZONE: "zone-a"}))
        assert filtered(PLUGIN, cycle_of(cluster, using("c")))["b"] == ELSEWHERE
        assert set(filtered(PLUGIN, cycle_of(cluster, pod("p"))).values()) == {None}


def test_events() -> None:
    assert events(PLUGIN.events_to_register()) == {
        "storage.k8s.io/StorageClass ADD": "after_class_added",
        "Node ADD|UPDATE_NODE_LABEL": None,
        "PersistentVolumeClaim ADD|UPDATE": "after_claim_change",
        "PersistentVolume ADD|UPDATE": "after_volume_change",
    }
