"""Pods taken off their nodes, copied, and told from those that belong to a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.claims import claim_name
from scheduler.api.conditions import is_terminal, is_terminating
from scheduler.api.objects import (
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    Pod,
    PodStatus,
)
from scheduler.api.owners import controller_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.app.whatif.world import World

MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a pod that stands for one that the kubelet read from a file."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


def belongs_to_node(pod: Pod) -> bool:
    """Whether the pod lives and dies with its node: a DaemonSet's, or a static one's mirror."""
    owner = controller_of(pod.metadata)
    return MIRROR in pod.metadata.annotations or (owner is not None and owner.kind in ("DaemonSet", "Node"))


def pods_by_node(world: World) -> dict[str, list[Pod]]:
    """The pods that take room, by the node that they are on."""
    found: dict[str, list[Pod]] = {}
    for pod in world.pods.values():
        if pod.spec.node_name and not is_terminal(pod):
            found.setdefault(pod.spec.node_name, []).append(pod)
    return found


def pending_again(pod: Pod) -> Pod:
    """The pod as its controller would make it anew: on no node, and with no history."""
    metadata = replace(pod.metadata, deletion_timestamp=None, creation_timestamp=None)
    spec = replace(pod.spec, node_name="")
    return replace(pod, metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))


def take_off(world: World, pods: Iterable[Pod]) -> int:
    """Make pods pending again, behind those that wait already; how many. Those that are ending anyway just go."""
    count = 0
    for pod in pods:
        if is_terminating(pod):
            world.drop(pod)
            continue
        world.put_last(pending_again(pod))
        count += 1
    return count


def copy_of(world: World, pod: Pod, name: str) -> Pod:
    """Another pending pod like this one. Claims that are its own are made for it."""
    metadata = replace(pod.metadata, name=name, uid=world.uid(), resource_version="")
    made = pending_again(replace(pod, metadata=metadata))
    _make_claims(world, pod, made)
    return made


def _make_claims(world: World, like: Pod, pod: Pod) -> None:
    """The claims of generic ephemeral volumes, which a controller makes for each pod."""
    namespace = pod.metadata.namespace or "default"
    for volume in pod.spec.volumes:
        name = claim_name(volume, pod.metadata.name)
        if volume.ephemeral is None or name is None:
            continue
        template = volume.ephemeral.volume_claim_template
        before = world.of(PersistentVolumeClaim).get((namespace, claim_name(volume, like.metadata.name) or ""))
        if before is None and template is None:
            continue
        spec = template.spec if template is not None else replace(before.spec, volume_name="") if before else None
        assert spec is not None
        owner = OwnerReference(api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid)
        world.put(
            PersistentVolumeClaim(
                metadata=ObjectMeta(
                    name=name,
                    namespace=namespace,
                    uid=world.uid(),
                    owner_references=(replace(owner, controller=True),),
                ),
                spec=spec,
                status=PersistentVolumeClaimStatus(phase="Pending"),
            )
        )


def copy_claim(world: World, namespace: str, like: str, name: str) -> None:
    """A claim of this name like another one, not bound yet, unless there is one already or nothing to go by."""
    claims = world.of(PersistentVolumeClaim)
    before = claims.get((namespace, like))
    if before is None or (namespace, name) in claims:
        return
    metadata = ObjectMeta(name=name, namespace=namespace, uid=world.uid(), labels=before.metadata.labels)
    status = PersistentVolumeClaimStatus(phase="Pending")
    world.put(replace(before, metadata=metadata, spec=replace(before.spec, volume_name=""), status=status))
