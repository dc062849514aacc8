"""NodeVolumeLimits as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from scheduler.framework.status import SKIP, error, unresolvable, unschedulable
from scheduler.plugins.nodevolumelimits.plugin import REASON, NodeVolumeLimits, make
from tests.builders import PodBuilder, node, pod, state
from tests.plugins import harness
from tests.plugins.harness import cycle_of, events, verdicts
from tests.plugins.storage import (
    DRIVER,
    attachment,
    claim,
    csi_driver,
    csi_node,
    handle,
    put,
    storage_class,
    uses,
    volume,
)

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState

FULL = unschedulable(REASON)
EBS = "ebs.csi.aws.com"


def csi(name: str, handle_: str, driver: str = DRIVER) -> Any:
    return volume(name, csi={"driver": driver, "volumeHandle": handle_})


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).set("spec.volumes", uses(*claims))


def bound(number: int) -> list[Any]:
    """Claims c0, c1, ... with volumes v0, v1, ... and handles h0, h1, ..."""
    pairs = [(claim(f"c{i}", volume=f"v{i}"), csi(f"v{i}", f"h{i}")) for i in range(number)]
    return [item for pair in pairs for item in pair]


def verdict(cluster: ClusterState, incoming: PodBuilder, plugin: NodeVolumeLimits | None = None) -> Any:
    return verdicts(plugin or make(None, handle(cluster)), cycle_of(cluster, incoming))["n"]


def cluster(limit: int | None, *pods: PodBuilder, volumes: int = 4) -> ClusterState:
    return put(state([node("n")], [each.on("n") for each in pods]), csi_node("n", {DRIVER: limit}), *bound(volumes))


class TestPreFilter:
    plugin = make(None, handle(state()))

    @pytest.mark.parametrize(
        ("source", "asked"),
        [
            ({"persistentVolumeClaim": {"claimName": "c"}}, True),
            ({"ephemeral": {}}, True),
            ({"gcePersistentDisk": {"pdName": "d"}}, True),
            ({"awsElasticBlockStore": {"volumeID": "d"}}, True),
            ({"azureDisk": {"diskName": "d"}}, True),
            ({"azureFile": {"shareName": "d"}}, True),
            ({"cinder": {"volumeID": "d"}}, True),
            ({"vsphereVolume": {"volumePath": "d"}}, True),
            ({"portworxVolume": {"volumeID": "d"}}, True),
            ({"iscsi": {"iqn": "d"}}, False),
            ({"emptyDir": {}}, False),
            ({"csi": {"driver": "d"}}, False),
        ],
        ids=str,
    )
    def test_skips_pods_without_volumes_that_count(self, source: dict[str, Any], asked: bool) -> None:
        answer = self.plugin.pre_filter(cycle_of(state([node("n")]), pod("p").volume("v", **source)))
        assert answer is (None if asked else SKIP)


class TestLimits:
    @pytest.mark.parametrize(("limit", "fits"), [(0, False), (1, False), (2, True), (None, True)])
    def test_the_volumes_of_the_pod_and_of_those_on_the_node_add_up(self, limit: int | None, fits: bool) -> None:
        assert verdict(cluster(limit, using("o", "c1")), using("p", "c0")) == (None if fits else FULL)

    def test_a_volume_that_is_there_already_costs_nothing(self) -> None:
        assert verdict(cluster(1, using("o", "c0")), using("p", "c0")) is None

    def test_a_volume_counts_once_however_many_pods_have_it(self) -> None:
        assert verdict(cluster(2, using("o", "c1"), using("q", "c1")), using("p", "c0")) is None

    def test_without_a_csi_node_there_is_no_limit(self) -> None:
        assert verdict(put(state([node("n")]), *bound(1)), using("p", "c0")) is None

    def test_limits_of_other_drivers_do_not_matter(self) -> None:
        nodes = put(state([node("n")]), csi_node("n", {"other": 0, DRIVER: None}), *bound(1))
        assert verdict(nodes, using("p", "c0")) is None

    def test_attached_volumes_count_too_unless_a_pod_on_the_node_has_them(self) -> None:
        full = put(cluster(2, using("o", "c1")), attachment("a", "n", "v2"))
        assert verdict(full, using("p", "c0")) == FULL
        same = put(cluster(2, using("o", "c1")), attachment("a", "n", "v1"), attachment("b", "elsewhere", "v2"))
        assert verdict(same, using("p", "c0")) is None

    @pytest.mark.parametrize("attached", [attachment("a", "n", None), attachment("a", "n", "v2", attacher="")])
    def test_attachments_that_say_too_little_do_not_count(self, attached: Any) -> None:
        assert verdict(put(cluster(1), attached), using("p", "c0")) is None

    def test_an_unbound_claim_counts_under_its_class(self) -> None:
        objects = [claim("new"), storage_class()]
        assert verdict(put(cluster(1, using("o", "c0")), *objects), using("p", "new")) == FULL
        assert verdict(put(cluster(1, using("o", "new")), *objects), using("p", "new")) is None

    @pytest.mark.parametrize("objects", [[claim("new", None)], [claim("new", "gone")]])
    def test_an_unbound_claim_without_a_class_does_not_count(self, objects: list[Any]) -> None:
        assert verdict(put(cluster(0), *objects), using("p", "new")) is None

    def test_a_volume_that_is_gone_counts_by_its_class(self) -> None:
        objects = [claim("new", volume="gone"), storage_class()]
        assert verdict(put(cluster(0), *objects), using("p", "new")) == FULL

    def test_a_volume_without_a_driver_does_not_count(self) -> None:
        objects = [claim("new", volume="local"), volume("local", node="n")]
        assert verdict(put(cluster(0), *objects), using("p", "new")) is None


class TestMigration:
    disk: ClassVar = {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}

    def test_inline_volumes_count_under_the_driver_that_replaces_theirs(self) -> None:
        nodes = put(state([node("n")]), csi_node("n", {EBS: 0}))
        assert verdict(nodes, pod("p").volume("v", **self.disk)) == FULL

    def test_a_volume_is_the_same_in_both_forms(self) -> None:
        held = csi("v", "vol-1", EBS)
        nodes = state([node("n")], [using("o", "c").on("n")])
        put(nodes, csi_node("n", {EBS: 1}), claim("c", volume="v"), held)
        assert verdict(nodes, pod("p").volume("v", **self.disk)) is None

    def test_volumes_and_classes_of_in_tree_drivers_are_translated(self) -> None:
        old = volume("v", gcePersistentDisk={"pdName": "d"})
        nodes = put(state([node("n")]), csi_node("n", {"pd.csi.storage.gke.io": 0}), old, claim("c", volume="v"))
        assert verdict(nodes, using("p", "c")) == FULL
        put(nodes, claim("new"), storage_class(provisioner="kubernetes.io/gce-pd"))
        assert verdict(nodes, using("p", "new")) == FULL

    @pytest.mark.parametrize("source", ["azureFile", "vsphereVolume"])
    def test_two_of_them_are_not_counted(self, source: str) -> None:
        limits = {"file.csi.azure.com": 0, "csi.vsphere.vmware.com": 0}
        assert verdict(put(state([node("n")]), csi_node("n", limits)), pod("p").volume("v", **{source: {}})) is None

    def test_what_can_not_be_translated_is_an_error(self) -> None:
        nodes = put(state([node("n")]), csi_node("n", {EBS: 1}))
        answer = verdict(nodes, pod("p").volume("v", awsElasticBlockStore={"volumeID": "aws://x/y"}))
        assert answer == error(
            "converting volume(v) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
            "Invalid format for AWS volume (aws://x/y)"
        )


class TestClaims:
    def test_a_missing_claim_of_the_pod_is_beyond_help_by_preemption(self) -> None:
        reason = 'looking up PVC default/x: persistentvolumeclaim "x" not found'
        assert verdict(cluster(1), using("p", "x")) == unresolvable(reason)

    def test_a_missing_claim_of_another_pod_does_not_count(self) -> None:
        assert verdict(cluster(1, using("o", "x")), using("p", "c0")) is None

    def test_a_claim_must_have_a_name(self) -> None:
        assert verdict(cluster(1), using("p", "")) == error("PersistentVolumeClaim had no name")

    def test_the_claim_of_an_ephemeral_volume_must_be_the_pods_own(self) -> None:
        incoming = pod("p").uid("u").volume("v", ephemeral={})
        nodes = put(cluster(0), storage_class(), claim("p-v", owner="u"))
        assert verdict(nodes, incoming) == FULL
        put(nodes, claim("p-v", owner="other"))
        refusal = error("PVC default/p-v was not created for pod default/p (pod is not owner)")
        assert verdict(nodes, incoming) == refusal
        other = put(cluster(1, incoming), storage_class(), claim("p-v", owner="other"))
        assert verdict(other, using("q", "c0")) == refusal


class TestMissingDrivers:
    reason = unschedulable(f"{DRIVER} CSI driver is not installed on the node")

    @pytest.mark.parametrize(
        ("needed", "installed", "expected"),
        [(True, True, None), (True, False, reason), (False, False, None), (None, False, None)],
    )
    def test_keep_pods_away_where_the_driver_asks_for_it(
        self, needed: bool | None, installed: bool, expected: Any
    ) -> None:
        nodes = put(state([node("n")]), csi_driver(needed=needed), *bound(1))
        put(nodes, csi_node("n", {DRIVER: None} if installed else {}))
        assert verdict(nodes, using("p", "c0")) == expected

    def test_a_node_without_a_csi_node_has_no_driver(self) -> None:
        assert verdict(put(state([node("n")]), csi_driver(needed=True), *bound(1)), using("p", "c0")) == self.reason

    def test_do_not_matter_while_the_gate_is_off(self) -> None:
        nodes = put(state([node("n")]), csi_driver(needed=True), *bound(1))
        plugin = make(None, harness.handle(nodes, gates={"VolumeLimitScaling": False}))
        assert verdict(nodes, using("p", "c0"), plugin) is None

    def test_are_told_of_before_limits(self) -> None:
        nodes = put(state([node("n")]), csi_driver("b", needed=True), csi_node("n", {DRIVER: 0}))
        put(nodes, *bound(1), claim("d", volume="w"), csi("w", "h", "b"))
        assert verdict(nodes, using("p", "c0", "d")) == unschedulable("b CSI driver is not installed on the node")


def test_the_counts_follow_every_change() -> None:
    nodes = cluster(2, using("o", "c1"))
    plugin = make(None, handle(nodes))

    def now(*claims: str) -> Any:
        return verdict(nodes, using("p", *claims), plugin)

    assert now("c0") is None
    other = nodes.info(using("q", "c2").on("n").build())
    nodes.set_pod(other)
    assert now("c0") == FULL
    nodes.remove_pod(other.uid)
    assert now("c0") is None
    put(nodes, attachment("a", "n", "v3"))
    assert now("c0") == FULL
    put(nodes, attachment("a", "elsewhere", "v3"))
    assert now("c0") is None
    put(nodes, attachment("a", "n", "v3"))
    nodes.remove_object("VolumeAttachment", "", "a")
    put(nodes, csi_node("n", {DRIVER: 1}))
    assert now("c0") == FULL
    put(nodes, csi("v1", "h0"))
    assert now("c0") is None
    put(nodes, claim("c1", volume="v2"))
    assert now("c0") == FULL
    nodes.remove_object("CSINode", "", "n")
    assert now("c0") is None
    for number in range(100):
        nodes.set_node(node(f"more-{number}").build())
    put(nodes, csi_node("n", {DRIVER: 1}), csi_node("more-99", {DRIVER: 0}))
    assert now("c0") == FULL
    assert verdicts(plugin, cycle_of(nodes, using("p", "c0")))["more-99"] == FULL
    nodes.remove_node("n")
    nodes.set_node(node("n").build())
    assert now("c0") == FULL


def test_events() -> None:
    assert events(make(None, handle(state())).events_to_register()) == {
        "storage.k8s.io/CSINode ADD": None,
        "storage.k8s.io/CSINode UPDATE": "after_csi_node_update",
        "AssignedPod DELETE": "after_pod_deletion",
        "PersistentVolumeClaim ADD": "after_claim_added",
        "storage.k8s.io/VolumeAttachment DELETE": "after_attachment_deletion",
    }
