"""Binding what was decided, and waiting for the volume controllers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from scheduler.client.errors import ApiError
from scheduler.framework.object_changes import ObjectChanges
from scheduler.plugins.volumebinding.assumed import CLAIM, VOLUME, AssumedVolumes
from scheduler.plugins.volumebinding.prebind import BindError, Reservation, VolumeBinding
from tests.builders import node, pod, state
from tests.plugins.storage import affinity, claim, csi_node, put, uses, volume

if TYPE_CHECKING:
    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
    from scheduler.cache.state import ClusterState

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"
ZONE = "topology.kubernetes.io/zone"


class Api:
    """A writer whose server gives version 2 to what it is sent, and tells the cluster unless `silent`."""

    def __init__(self, cluster: ClusterState, *, silent: bool = False, refuse: str = "") -> None:
        self.cluster = cluster
        self.silent = silent
        self.refuse = refuse
        self.written: list[str] = []

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        return self._store(volume)

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        return self._store(claim)

    def _store(self, item: Any) -> Any:
        if item.metadata.name == self.refuse:
            raise ApiError(409, "Conflict", "it was changed")
        self.written.append(item.metadata.name)
        stored = replace(item, metadata=replace(item.metadata, resource_version="2"))
        if not self.silent:
            put(self.cluster, stored)
        return stored


class Run:
    """One binding: claims `made` are to be provisioned, `found` are pairs of claim and volume."""

    def __init__(self, *, found: Any = (), made: Any = (), objects: Any = (), **api: Any) -> None:
        names = [each.metadata.name for each in (*(pair[0] for pair in found), *made)]
        incoming = pod("p").set("spec.volumes", uses(*names))
        self.cluster = put(state([node("n").zone("x")]), *(each for pair in found for each in pair), *made, *objects)
        self.pod = self.cluster.info(incoming.build())
        self.cluster.assume(self.pod, "n")
        self.volumes = AssumedVolumes(self.cluster)
        self.api = Api(self.cluster, **api)
        self.reservation = Reservation()
        self.reservation.volumes = [(one, self.volumes.bind(other, one)) for one, other in found]
        self.reservation.claims = [self.volumes.provision(one, "n") for one in made]
        self.changes = ObjectChanges(self.cluster.objects, (VOLUME, CLAIM))
        self.binding = VolumeBinding(
            self.pod, "n", self.reservation, state=self.cluster, volumes=self.volumes, writer=self.api
        )

    def begin(self, within: float = 30.0) -> asyncio.Task[None]:
        return asyncio.create_task(self.binding.run(self.changes, within))

    async def fails(self, within: float = 30.0) -> str:
        with pytest.raises(BindError) as caught:
            await asyncio.wait_for(self.begin(within), 10)
        return str(caught.value)

    def stored(self, kind: str, name: str) -> Any:
        return self.cluster.objects.get(kind, "default" if kind == "PersistentVolumeClaim" else "", name)

    def complete(self, name: str, volume_name: str) -> None:
        """The controller binds a claim."""
        found = self.stored("PersistentVolumeClaim", name)
        annotations = {**found.metadata.annotations, **BOUND}
        meta = replace(found.metadata, annotations=annotations, resource_version="3")
        put(self.cluster, replace(found, metadata=meta, spec=replace(found.spec, volume_name=volume_name)))


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


class TestVolumes:
    async def test_are_written_and_waited_for(self) -> None:
        run = Run(found=[(claim("c"), volume("v"))])
        task = run.begin()
        await turns()
        assert run.api.written == ["v"]
        assert run.stored("PersistentVolume", "v").spec.claim_ref.name == "c"
        assert not task.done()
        run.complete("c", "v")
        await asyncio.wait_for(task, 10)

    async def test_that_changed_meanwhile_are_a_conflict_and_all_the_rest_is_taken_back(self) -> None:
        pairs = [(claim("c"), volume("v")), (claim("d"), volume("w"))]
        run = Run(found=pairs, made=[claim("e")], refuse="w", silent=True)
        with pytest.raises(ApiError, match="it was changed"):
            await run.begin()
        assert run.api.written == ["v"]
        assert run.volumes.volume("w") == volume("w")
        assert run.volumes.claim("default", "e") == claim("e")
        assert run.volumes.volume("v") != volume("v")

    async def test_that_the_informer_has_not_seen_yet_are_waited_for(self) -> None:
        run = Run(found=[(claim("c"), volume("v"))], silent=True)
        run.complete("c", "v")
        task = run.begin()
        await turns()
        assert not task.done()
        written = run.reservation.volumes[0][1]
        assert written.metadata.resource_version == "2"
        put(run.cluster, written)
        await asyncio.wait_for(task, 10)

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"claim_ref": None}, 'ClaimRef got reset for pv "v"'),
            (
                {"node_affinity": volume("v", node="elsewhere").spec.node_affinity},
                'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
            ),
        ],
    )
    async def test_that_were_let_go_or_are_out_of_reach_end_it(self, changed: dict[str, Any], reason: str) -> None:
        run = Run(found=[(claim("c"), volume("v"))])
        task = run.begin()
        await turns()
        stored = run.stored("PersistentVolume", "v")
        put(run.cluster, replace(stored, spec=replace(stored.spec, **changed)))
        with pytest.raises(BindError, match=f"binding volumes: {reason}"):
            await asyncio.wait_for(task, 10)

    @pytest.mark.parametrize(
        ("kind", "name", "reason"),
        [
            ("PersistentVolume", "v", 'failed to check binding: persistentvolumes "v" not found'),
            ("PersistentVolumeClaim", "c", 'failed to check binding: persistentvolumeclaims "default/c" not found'),
        ],
    )
    async def test_must_not_go_nor_their_claims(self, kind: str, name: str, reason: str) -> None:
        run = Run(found=[(claim("c"), volume("v"))])
        task = run.begin()
        await turns()
        run.cluster.remove_object(kind, "default" if name == "c" else "", name)
        with pytest.raises(BindError, match=f"binding volumes: {reason}"):
            await asyncio.wait_for(task, 10)

    async def test_of_migrated_plugins_are_checked_in_their_new_form(self) -> None:
        old = volume("v", awsElasticBlockStore={"volumeID": "vol-1"}, nodeAffinity=affinity(ZONE, "x"))
        migrated = csi_node("n", migrated="kubernetes.io/aws-ebs")
        run = Run(found=[(claim("c"), old)], objects=[migrated])
        assert 'pv "v" node affinity doesn\'t match' in await run.fails()

    async def test_that_can_not_be_translated_end_it(self) -> None:
        old = volume("v", azureDisk={"diskName": "d", "kind": "Dedicated"})
        run = Run(found=[(claim("c"), old)], objects=[csi_node("n", migrated="kubernetes.io/azure-disk")])
        assert await run.fails() == (
            "binding volumes: failed to translate pv to csi: could not translate pv: "
            "kind(Dedicated) is not supported in csi migration"
        )


class TestClaims:
    async def test_get_their_node_and_are_waited_for(self) -> None:
        run = Run(made=[claim("c")])
        task = run.begin()
        await turns()
        assert run.stored("PersistentVolumeClaim", "c").metadata.annotations == {SELECTED: "n"}
        run.complete("c", "new")
        await turns()
        assert not task.done()  # the volume has not been heard of
        put(run.cluster, volume("new"))
        await asyncio.wait_for(task, 10)

    @pytest.mark.parametrize(
        ("annotations", "reason"),
        [
            ({}, 'selectedNode annotation reset for PVC "c"'),
            ({"other": "x"}, 'provisioning failed for PVC "c"'),
            ({SELECTED: "elsewhere"}, 'provisioning failed for PVC "c"'),
        ],
    )
    async def test_whose_node_is_taken_back_end_it(self, annotations: dict[str, str], reason: str) -> None:
        run = Run(made=[claim("c")])
        task = run.begin()
        await turns()
        put(run.cluster, claim("c", annotations=annotations, version="3"))
        with pytest.raises(BindError, match=f"binding volumes: {reason}"):
            await asyncio.wait_for(task, 10)

    async def test_whose_volume_was_made_elsewhere_end_it(self) -> None:
        run = Run(made=[claim("c")], objects=[volume("new", node="elsewhere")])
        task = run.begin()
        await turns()
        run.complete("c", "new")
        with pytest.raises(BindError, match='pv "new" node affinity doesn\'t match node "n"'):
            await asyncio.wait_for(task, 10)

    async def test_that_go_end_it(self) -> None:
        run = Run(made=[claim("c")])
        task = run.begin()
        await turns()
        run.cluster.remove_object("PersistentVolumeClaim", "default", "c")
        with pytest.raises(BindError, match='failed to check provisioning pvc: persistentvolumeclaims "default/c"'):
            await asyncio.wait_for(task, 10)


async def test_it_ends_when_the_time_is_over() -> None:
    assert await Run(made=[claim("c")]).fails(within=0.01) == "binding volumes: context deadline exceeded"


async def test_it_ends_when_the_pod_is_gone() -> None:
    run = Run(made=[claim("c")])
    run.cluster.forget(run.pod.uid)
    assert await run.fails() == 'binding volumes: pod does not exist any more: pod "p" not found'


async def test_it_ends_when_the_node_is_gone() -> None:
    run = Run(made=[claim("c")])
    run.cluster.remove_node("n")
    assert await run.fails() == 'binding volumes: failed to get node "n": node "n" not found'


async def test_the_reservation_can_be_taken_back() -> None:
    run = Run(found=[(claim("c"), volume("v"))], made=[claim("d")])
    run.reservation.revert(run.volumes)
    assert run.volumes.volume("v") == volume("v")
    assert run.volumes.claim("default", "d") == claim("d")
