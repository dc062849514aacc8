"""How many volumes a node is taken to have: of which pods, claims, drivers and attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.framework.status import SKIP, error, unresolvable, unschedulable
from scheduler.plugins.nodevolumelimits.plugin import REASON, make
from tests.builders import PodBuilder, node, pod, state
from tests.plugins.harness import cycle_of, verdicts
from tests.plugins.storage import attachment, claim, csi_driver, csi_node, handle, put, storage_class, uses, volume

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState

EBS, PD = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
FULL = unschedulable(REASON)


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).set("spec.volumes", uses(*claims))


def disk(name: str, handle_: str) -> PodBuilder:
    """A pod with an EBS volume written into it."""
    return pod(name).volume("v", awsElasticBlockStore={"volumeID": handle_})


def owning(name: str, *volumes: str) -> PodBuilder:
    """A pod with generic ephemeral volumes."""
    return pod(name).uid(name).set("spec.volumes", [{"name": each, "ephemeral": {}} for each in volumes])


def cluster(limits: dict[str, int | None] | None, *pods: PodBuilder) -> ClusterState:
    """A node "n" with these pods, and what they may name.

    Claims e0 to e3 have volumes of the EBS driver, g0 and g1 of that of GCE, o0 to o3 of EBS before it was a driver,
    and host has one of the node itself. Claims new and gone are of the EBS driver's class, without a volume that
    exists; claim bare has no class. Claims q-x and q-y are those of pod q.
    """
    made = put(state([node("n")], [each.on("n") for each in pods]), storage_class(provisioner=EBS))
    for prefix, driver, number in (("e", EBS, 4), ("g", PD, 2)):
        for i in range(number):
            name = f"{prefix}{i}"
            put(made, claim(name, volume=name), volume(name, csi={"driver": driver, "volumeHandle": f"vol-{name}"}))
    for i in range(4):
        source = {"volumeID": f"vol-o{i}"}
        put(made, claim(f"o{i}", volume=f"o{i}"), volume(f"o{i}", awsElasticBlockStore=source))
    put(made, claim("host", volume="host"), volume("host", hostPath={"path": "/tmp"}))
    put(made, claim("new"), claim("gone", volume="missing"), claim("bare", None))
    put(made, claim("q-x", owner="q"), claim("q-y", owner="q"))
    return made if limits is None else put(made, csi_node("n", limits))


def verdict(nodes: ClusterState, incoming: PodBuilder) -> Any:
    return verdicts(make(None, handle(nodes)), cycle_of(nodes, incoming))["n"]


@pytest.mark.parametrize(
    ("held", "limit", "fits"),
    [
        ([using("a", "e3"), using("b", "e1", "e2")], 4, True),
        ([using("a", "e3"), using("b", "e1", "e2")], 2, False),
        ([using("a", "e3"), using("b", "e1", "e2")], None, True),
        ([using("a", "new"), using("b", "e1", "e2")], 2, False),
        ([using("a", "new"), using("b", "new"), using("c", "e1", "e2")], 4, True),
        ([using("a", "new"), using("b", "new"), using("c", "e1", "e2")], 3, False),
        ([using("a", "gone"), using("b", "e1", "e2")], 2, False),
        ([using("a", "e3"), using("b", "bare")], 2, True),
        ([using("a", "o1", "o2")], 2, False),
        ([owning("q", "x", "y"), using("a", "e3")], 2, False),
        ([owning("q", "x"), using("a", "e3"), using("b", "e1", "e2")], 3, False),
        ([owning("q", "x"), using("a", "e3"), using("b", "e1", "e2")], 5, True),
    ],
    ids=[
        "below the limit",
        "beyond it",
        "no limit",
        "a claim without a volume counts",
        "a claim of two pods counts once",
        "but does count",
        "a claim of a volume that is gone counts by its class",
        "a claim without a class does not count",
        "volumes from before there was a driver count",
        "ephemeral volumes count",
        "ephemeral volumes and others",
        "ephemeral volumes and others below the limit",
    ],
)
def test_volumes_of_the_pods_on_the_node(held: list[PodBuilder], limit: int | None, fits: bool) -> None:
    assert verdict(cluster({EBS: limit}, *held), using("p", "e0")) == (None if fits else FULL)


@pytest.mark.parametrize(("attached", "fits"), [(0, True), (1, True), (2, False)])
def test_what_is_attached_counts_even_if_it_is_the_pods_own(attached: int, fits: bool) -> None:
    nodes = put(cluster({EBS: 2}), *(attachment(f"a{i}", "n", f"e{i}", EBS) for i in range(attached)))
    assert verdict(nodes, using("p", "e0")) == (None if fits else FULL)


@pytest.mark.parametrize(
    ("incoming", "held", "fits"),
    [
        (using("p", "e0"), [using("a", "g0", "g1"), using("b", "e1", "e2")], False),
        (using("p", "g0", "g1"), [using("a", "e1", "e2"), using("b", "e3")], True),
    ],
)
def test_each_driver_has_its_own_limit(incoming: PodBuilder, held: list[PodBuilder], fits: bool) -> None:
    assert verdict(cluster({EBS: 2, PD: 2}, *held), incoming) == (None if fits else FULL)


@pytest.mark.parametrize(
    ("incoming", "held", "limits", "fits"),
    [
        (using("p", "o0"), [using("a", "o1", "o2")], {EBS: 2}, False),
        (using("p", "o0"), [using("a", "o1", "o2")], {EBS: None}, True),
        (using("p", "new"), [using("a", "o1", "o2")], {EBS: 2}, False),
        (using("p", "host"), [using("a", "e1", "e2")], {EBS: 2}, True),
        (disk("p", "vol-inline"), [using("a", "o1", "o2")], {EBS: 2}, False),
        (disk("p", "vol-inline"), [using("a", "o1", "o2")], None, True),
        (using("p", "o0"), [using("a", "e1", "e2")], {EBS: 2}, False),
        (disk("p", "vol-inline"), [using("a", "e1", "e2"), using("b", "o0")], {EBS: 3}, False),
        (disk("p", "vol-e1"), [using("a", "e1", "e2"), using("b", "o0")], {EBS: 3}, True),
        (using("p", "e0"), [using("a", "o1", "o2")], {EBS: 2}, False),
    ],
    ids=[
        "old form only",
        "no limit",
        "a claim without a volume",
        "a volume of a driver that was never replaced",
        "written into the pod",
        "written into the pod, no CSINode",
        "old form beside new",
        "written into the pod beside both",
        "the same volume in another form",
        "new form beside old",
    ],
)
def test_volumes_from_before_there_was_a_driver(
    incoming: PodBuilder, held: list[PodBuilder], limits: dict[str, int | None] | None, fits: bool
) -> None:
    assert verdict(cluster(limits, *held), incoming) == (None if fits else FULL)


class TestEphemeralVolumes:
    def test_need_their_claim(self) -> None:
        reason = 'looking up PVC default/r-x: persistentvolumeclaim "r-x" not found'
        assert verdict(cluster({EBS: None}), owning("r", "x")) == unresolvable(reason)

    def test_need_a_claim_of_their_own(self) -> None:
        nodes = put(cluster({EBS: None}), claim("r-x"))
        reason = "PVC default/r-x was not created for pod default/r (pod is not owner)"
        assert verdict(nodes, owning("r", "x")) == error(reason)

    @pytest.mark.parametrize(("limit", "fits"), [(None, True), (2, False)])
    def test_count_before_they_are_bound(self, limit: int | None, fits: bool) -> None:
        nodes = cluster({EBS: limit}, using("a", "e3"), using("b", "e1", "e2"))
        assert verdict(nodes, owning("q", "x")) == (None if fits else FULL)


class TestBesideSecretsAndConfigMaps:
    @staticmethod
    def beside(*more: dict[str, Any]) -> PodBuilder:
        plain = [{"name": "m", "configMap": {}}, {"name": "s", "secret": {}}]
        return pod("p").set("spec.volumes", [*plain, *more])

    def test_alone_they_are_skipped(self) -> None:
        nodes = cluster({EBS: 2})
        assert make(None, handle(nodes)).pre_filter(cycle_of(nodes, self.beside())) is SKIP

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ({"persistentVolumeClaim": {"claimName": "e0"}}, FULL),
            (
                {"ephemeral": {}},
                unresolvable('looking up PVC default/p-v: persistentvolumeclaim "p-v" not found'),
            ),
            ({"awsElasticBlockStore": {"volumeID": "vol-inline"}}, FULL),
        ],
        ids=["claim", "ephemeral", "inline"],
    )
    def test_volumes_that_count_are_counted(self, source: dict[str, Any], expected: Any) -> None:
        nodes = cluster({EBS: 2}, using("a", "o1", "o2"))
        assert verdict(nodes, self.beside({"name": "v", **source})) == expected


@pytest.mark.parametrize(
    ("drivers", "limits", "expected"),
    [
        ([csi_driver(EBS)], {}, None),
        ([csi_driver(EBS, needed=True)], {}, unschedulable(f"{EBS} CSI driver is not installed on the node")),
        ([csi_driver(EBS, needed=True)], {EBS: 2}, None),
        ([], {}, None),
    ],
    ids=["does not ask for it", "asks for it", "is there", "is not known"],
)
def test_a_driver_that_is_missing_matters_if_it_says_so(
    drivers: list[Any], limits: dict[str, int | None], expected: Any
) -> None:
    assert verdict(put(cluster(limits), *drivers), using("p", "e0")) == expected
