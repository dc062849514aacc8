"""What a pod's claims come to on each node."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler.plugins.volumebinding.assumed import AssumedVolumes
from scheduler.plugins.volumebinding.binder import (
    BIND_CONFLICT,
    FIRST_ERROR,
    NO_SPACE,
    NODE_CONFLICT,
    VOLUME_MISSING,
    Findings,
    VolumeBinder,
)
from scheduler.plugins.volumebinding.claims import PodClaims
from scheduler.plugins.volumebinding.topology import Topology
from tests.builders import node, state
from tests.plugins.storage import (
    affinity,
    capacity,
    claim,
    csi_driver,
    csi_node,
    put,
    storage_class,
    volume,
)

NODES = [node("a").zone("x"), node("b").zone("y"), node("c")]
EVERYWHERE = slice(None)
ZONE = "topology.kubernetes.io/zone"
SELECTED = "volume.kubernetes.io/selected-node"


class Looked:
    """Findings about claims in a cluster of these objects, all nodes having been looked at unless rows are given."""

    def __init__(self, *objects: Any, bound: Any = (), delayed: Any = (), rows: Any = EVERYWHERE) -> None:
        self.cluster = put(state(NODES), *objects)
        topology = Topology(self.cluster)
        topology.refresh()
        self.binder = VolumeBinder(self.cluster, AssumedVolumes(self.cluster), topology)
        self.findings = Findings(PodClaims(tuple(bound), tuple(delayed), ()), 3)
        self.binder.look_at(self.findings, rows)

    @property
    def codes(self) -> dict[str, int]:
        return {name: int(self.findings.codes[row]) for name, row in self.cluster.nodes.rows.items()}

    def plan(self, name: str) -> dict[str, str]:
        row = self.cluster.nodes.rows[name]
        assert self.findings.fits(row)
        plan = self.findings.on(row)
        static = {claim.metadata.name: volume.metadata.name for claim, volume in plan.static}
        return static | {claim.metadata.name: "provision" for claim, _ in plan.dynamic}


class TestBoundClaims:
    def test_go_where_their_volumes_can_be_reached(self) -> None:
        looked = Looked(volume("v", nodeAffinity=affinity(ZONE, "x")), bound=[claim("c", volume="v")])
        assert looked.codes == {"a": 0, "b": NODE_CONFLICT, "c": NODE_CONFLICT}

    def test_all_volumes_must_be_within_reach(self) -> None:
        volumes = [volume("v", nodeAffinity=affinity(ZONE, "x", "y")), volume("w", node="b")]
        looked = Looked(*volumes, bound=[claim("c", volume="v"), claim("d", volume="w")])
        assert looked.codes == {"a": NODE_CONFLICT, "b": 0, "c": NODE_CONFLICT}

    def test_a_volume_that_is_gone_is_told_of_where_those_before_it_are_within_reach(self) -> None:
        looked = Looked(volume("v", node="a"), bound=[claim("c", volume="v"), claim("d", volume="gone")])
        assert looked.codes == {"a": VOLUME_MISSING, "b": NODE_CONFLICT, "c": NODE_CONFLICT}

    def test_a_volume_of_a_migrated_plugin_is_looked_for_under_its_drivers_topology(self) -> None:
        old = volume("v", awsElasticBlockStore={"volumeID": "vol-1"}, nodeAffinity=affinity(ZONE, "x", "y"))
        migrated = "kubernetes.io/aws-ebs"
        looked = Looked(old, csi_node("a"), csi_node("b", migrated=migrated), bound=[claim("c", volume="v")])
        assert looked.codes == {"a": 0, "b": NODE_CONFLICT, "c": NODE_CONFLICT}

    def test_a_volume_that_can_not_be_translated_is_an_error_where_it_has_to_be(self) -> None:
        old = volume("v", awsElasticBlockStore={"volumeID": "aws://x/y"})
        looked = Looked(old, csi_node("b", migrated="kubernetes.io/aws-ebs"), bound=[claim("c", volume="v")])
        assert looked.codes == {"a": 0, "b": FIRST_ERROR, "c": 0}
        assert looked.findings.failed == 1
        (text,) = looked.findings.errors
        assert text.startswith("could not translate pv: failed to translate Kubernetes ID to EBS Volume ID")


class TestUnboundClaims:
    def test_take_volumes_that_exist_and_else_get_one_made(self) -> None:
        looked = Looked(volume("v", node="a"), storage_class(), delayed=[claim("c")])
        assert looked.codes == {"a": 0, "b": 0, "c": 0}
        assert looked.plan("a") == {"c": "v"}
        assert looked.plan("b") == {"c": "provision"}

    def test_of_a_class_without_provisioner_need_a_volume(self) -> None:
        looked = Looked(
            volume("v", node="a"), storage_class(provisioner="kubernetes.io/no-provisioner"), delayed=[claim("c")]
        )
        assert looked.codes == {"a": 0, "b": BIND_CONFLICT, "c": BIND_CONFLICT}

    def test_the_smallest_claim_gets_the_smallest_volume(self) -> None:
        volumes = [volume("small", size="6Gi"), volume("large", size="20Gi")]
        claims = [claim("much", size="10Gi"), claim("little", size="1Gi")]
        assert Looked(*volumes, delayed=claims).plan("a") == {"little": "small", "much": "large"}

    def test_want_of_space_takes_the_place_of_a_missing_match(self) -> None:
        objects = [storage_class(), csi_driver(capacity=True), capacity("x", "9Gi", host="a")]
        assert Looked(*objects, delayed=[claim("c")]).codes == {"a": 0, "b": NO_SPACE, "c": NO_SPACE}

    def test_each_claim_is_held_against_the_capacity_alone(self) -> None:
        objects = [storage_class(), csi_driver(capacity=True), capacity("x", "9Gi")]
        looked = Looked(*objects, delayed=[claim("c", size="8Gi"), claim("d", size="8Gi")])
        assert looked.plan("a") == {"c": "provision", "d": "provision"}

    def test_for_which_a_node_was_selected_go_there(self) -> None:
        objects = [storage_class(), volume("v")]
        looked = Looked(*objects, delayed=[claim("c", annotations={SELECTED: "b"})])
        assert looked.codes == {"a": BIND_CONFLICT, "b": 0, "c": BIND_CONFLICT}
        assert looked.plan("b") == {"c": "provision"}

    def test_for_which_a_node_was_selected_leave_volumes_that_exist_to_others(self) -> None:
        claims = [claim("c", size="1Gi", annotations={SELECTED: "b"}), claim("d", size="2Gi")]
        assert Looked(storage_class(), volume("v"), delayed=claims).plan("b") == {"c": "provision", "d": "v"}

    def test_for_which_a_missing_node_was_selected_go_nowhere(self) -> None:
        looked = Looked(storage_class(), delayed=[claim("c", annotations={SELECTED: "gone"})])
        assert set(looked.codes.values()) == {BIND_CONFLICT}

    def test_add_their_reason_to_that_of_bound_ones(self) -> None:
        looked = Looked(
            volume("v", node="a", phase="Bound"),
            storage_class(provisioner=""),
            bound=[claim("d", volume="v")],
            delayed=[claim("c")],
        )
        both = NODE_CONFLICT | BIND_CONFLICT
        assert looked.codes == {"a": BIND_CONFLICT, "b": both, "c": both}

    def test_whose_class_is_gone_are_an_error_where_it_is_needed(self) -> None:
        looked = Looked(volume("v", node="a"), delayed=[claim("c")])
        assert looked.codes == {"a": 0, "b": FIRST_ERROR, "c": FIRST_ERROR}
        assert looked.findings.errors == ['failed to find storage class "wait"']
        assert looked.findings.failed == 2

    def test_with_a_selector_that_does_not_parse_are_an_error_everywhere(self) -> None:
        broken = claim("c", selector={"matchExpressions": [{"key": "k", "operator": "Bad"}]})
        looked = Looked(volume("w", node="a"), delayed=[broken], bound=[claim("d", volume="w")])
        assert set(looked.codes.values()) == {FIRST_ERROR}


class TestLookingAgain:
    def test_only_the_rows_that_are_asked_for_are_looked_at_first(self) -> None:
        looked = Looked(volume("v", node="a"), bound=[claim("c", volume="v")], rows=np.array([1]))
        assert looked.findings.known.tolist() == [False, True, False]

    def test_then_all_the_others(self) -> None:
        looked = Looked(volume("v", node="a"), storage_class(), delayed=[claim("c")], rows=np.array([1]))
        looked.binder.look_at(looked.findings, np.array([0]))
        assert looked.findings.known.all()
        assert [looked.plan(name) for name in "abc"] == [{"c": "v"}, {"c": "provision"}, {"c": "provision"}]

    def test_what_is_known_is_not_looked_at_again(self) -> None:
        looked = Looked(volume("v", node="a"), bound=[claim("c", volume="v")])
        put(looked.cluster, volume("v", node="b"))
        looked.binder.look_at(looked.findings, EVERYWHERE)
        assert looked.codes["a"] == 0


def test_nodes_with_the_same_plan_have_the_same_key() -> None:
    looked = Looked(volume("v", node="a"), storage_class(), delayed=[claim("c")])
    keys = [looked.findings.key(row) for row in range(3)]
    assert keys[1] == keys[2] != keys[0]
