"""Workloads scaled, and pods for workloads that have none yet."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from scheduler.api.conditions import find_condition, is_terminal, is_terminating
from scheduler.api.objects import PersistentVolumeClaimVolumeSource, Pod, ReplicaSet, Volume
from scheduler.api.owners import controller_of
from scheduler.api.pinning import pinned_to
from scheduler.api.times import parse_time
from scheduler.app.whatif.pods import DELETION_COST, copy_claim, copy_of
from scheduler.app.whatif.workloads import DAEMON_SET, DEPLOYMENT, STATEFUL_SET
from scheduler.app.whatif.world import ChangeError, key_of, near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.app.whatif.workloads import Workload
    from scheduler.app.whatif.world import World

KINDS: Final = {
    "deployment": DEPLOYMENT,
    "deployments": DEPLOYMENT,
    "deploy": DEPLOYMENT,
    "statefulset": STATEFUL_SET,
    "statefulsets": STATEFUL_SET,
    "sts": STATEFUL_SET,
    "replicaset": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "rs": "ReplicaSet",
    "replicationcontroller": "ReplicationController",
    "replicationcontrollers": "ReplicationController",
    "rc": "ReplicationController",
    "job": "Job",
    "jobs": "Job",
}
"""What workloads that can be scaled are called on the command line."""

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
_ORDINAL: Final = re.compile(r"(.*)-([0-9]+)")
_HASH: Final = "pod-template-hash"
_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_POD_INDEX: Final = "apps.kubernetes.io/pod-index"


class Scale(msgspec.Struct, frozen=True):
    """A workload with so many pods. Without a namespace it is the one in "default", or the only one of its name.

    More pods are like the newest one there is, or else as the template says. Fewer: those go that the workload's
    controller would delete.
    """

    kind: str
    namespace: str
    name: str
    replicas: int

    def apply(self, world: World) -> str:
        """Add or remove pods."""
        if self.replicas < 0:
            raise ChangeError(f"{self.kind} {self.name} can't have {self.replicas} pods")
        members = _members(world, self.kind)
        templates = {(w.namespace, w.name): w for w in world.workloads if w.kind == self.kind}
        key = self._key([*members, *templates])
        pods = [pod for pod in members.get(key, ()) if not is_terminating(pod)]
        title = f"{self.kind} {key[0]}/{key[1]}"
        if len(pods) > self.replicas:
            for pod in _going(pods, self.kind, world.now)[: len(pods) - self.replicas]:
                world.drop(pod)
        elif len(pods) < self.replicas:
            _grow(world, self.kind, key, templates.get(key), pods, self.replicas - len(pods))
        return f"scaled {title} from {len(pods)} to {self.replicas}"

    def _key(self, known: Sequence[tuple[str, str]]) -> tuple[str, str]:
        names = sorted(set(known))
        if self.namespace:
            if (self.namespace, self.name) in names:
                return self.namespace, self.name
            wanted = f"{self.namespace}/{self.name}"
        else:
            having = [key for key in names if key[1] == self.name]
            if ("default", self.name) in having:
                return "default", self.name
            if len(having) == 1:
                return having[0]
            if having:
                listed = ", ".join(f"{namespace}/{name}" for namespace, name in having)
                raise ChangeError(f"there are several of {self.kind} {self.name}: {listed}; say which")
            hint = near(self.name, [name for _, name in names])
            raise ChangeError(f"there is no {self.kind} {self.name} with pods or a template{hint}")
        listed = near(wanted, [f"{namespace}/{name}" for namespace, name in names])
        raise ChangeError(f"there is no {self.kind} {wanted} with pods or a template{listed}")


def make_missing_pods(world: World) -> list[str]:
    """Make the pods of workloads that have none; a sentence for each about what was done."""
    told = []
    for workload in world.workloads:
        if workload.owner or _members(world, workload.kind).get((workload.namespace, workload.name)):
            continue
        if workload.kind == DAEMON_SET:
            count = _daemons(world, workload)
        else:
            count = workload.replicas
            key = (workload.namespace, workload.name)
            _grow(world, workload.kind, key, workload, [], count)
        told.append(f"Made {count} pod{'' if count == 1 else 's'} of {workload.title}, which has none yet.")
    return told


def _daemons(world: World, workload: Workload) -> int:
    """A pod for each node, pending on it; the scheduler says whether it may run there."""
    for _, node in list(world.nodes):
        name = f"{workload.name}-{node}"
        world.put(pinned_to(workload.pod(name, world.uid()), node))
    return len(world.nodes)


def _members(world: World, kind: str) -> dict[tuple[str, str], list[Pod]]:
    """The pods of the workloads of a kind, by namespace and name of the workload."""
    found: dict[tuple[str, str], list[Pod]] = {}
    deployments = _deployments(world) if kind == DEPLOYMENT else {}
    for pod in world.pods.values():
        owner = controller_of(pod.metadata)
        if owner is None or is_terminal(pod):
            continue
        namespace = pod.metadata.namespace or "default"
        if owner.kind == kind:
            found.setdefault((namespace, owner.name), []).append(pod)
        elif kind == DEPLOYMENT and owner.kind == "ReplicaSet":
            name = deployments.get((namespace, owner.name)) or _by_hash(owner.name, pod)
            if name:
                found.setdefault((namespace, name), []).append(pod)
    return found


def _deployments(world: World) -> dict[tuple[str, str], str]:
    """The Deployment of each ReplicaSet that has one."""
    owned = {}
    for key, replica_set in world.of(ReplicaSet).items():
        owner = controller_of(replica_set.metadata)
        if owner is not None and owner.kind == DEPLOYMENT:
            owned[key] = owner.name
    return owned


def _by_hash(replica_set: str, pod: Pod) -> str:
    """The Deployment that a ReplicaSet's name tells of, where the ReplicaSet itself can't be seen."""
    suffix = f"-{pod.metadata.labels.get(_HASH, '')}"
    return replica_set.removesuffix(suffix) if len(suffix) > 1 and replica_set.endswith(suffix) else ""


def _grow(
    world: World, kind: str, key: tuple[str, str], template: Workload | None, pods: Sequence[Pod], count: int
) -> None:
    like = max(pods, key=_created, default=None)
    stem = key[1]
    if like is not None and (owner := controller_of(like.metadata)) is not None:
        stem = owner.name
    ordinals = {int(m[2]) for p in pods if (m := _ORDINAL.fullmatch(p.metadata.name)) is not None}
    free = (number for number in range(len(ordinals) + count) if number not in ordinals)
    for _ in range(count):
        name = f"{key[1]}-{next(free)}" if kind == STATEFUL_SET else world.free_name(Pod, key[0], f"{stem}-new")
        if template is None or like is not None:
            assert like is not None  # a workload is known by its pods or by its template
            made = copy_of(world, like, name)
        else:
            made = template.pod(name, world.uid())
        if kind == STATEFUL_SET:
            made = _numbered(world, made, like.metadata.name if like is not None else "", key[1], template)
        world.put_last(made)


def _numbered(world: World, pod: Pod, like: str, owner: str, template: Workload | None) -> Pod:
    """A StatefulSet's pod with the labels that tell its number, and with claims of its own."""
    meta = pod.metadata
    index = meta.name.removeprefix(f"{owner}-")
    labels = {**meta.labels, _POD_NAME: meta.name, _POD_INDEX: index}
    volumes = []
    for volume in pod.spec.volumes:
        claim = volume.persistent_volume_claim
        if claim is not None and like and claim.claim_name.endswith(f"-{like}"):
            name = claim.claim_name.removesuffix(like) + meta.name
            copy_claim(world, meta.namespace or "default", claim.claim_name, name)
            volume = replace(volume, persistent_volume_claim=replace(claim, claim_name=name))
        volumes.append(volume)
    if not like and template is not None:
        volumes = _claimed(world, pod, template)
    spec = replace(pod.spec, volumes=tuple(volumes))
    return replace(pod, metadata=replace(meta, labels=labels), spec=spec)


def _claimed(world: World, pod: Pod, template: Workload) -> list[Volume]:
    """The pod's volumes with those of the StatefulSet's claim templates, whose claims are made."""
    made = []
    for claim in template.claims:
        name = f"{claim.metadata.name}-{pod.metadata.name}"
        metadata = replace(claim.metadata, name=name, uid=world.uid())
        wanted = replace(claim, metadata=metadata)
        if key_of(wanted) not in world.of(type(wanted)):
            world.put(wanted)
        source = PersistentVolumeClaimVolumeSource(claim_name=name)
        made.append(Volume(name=claim.metadata.name, persistent_volume_claim=source))
    taken = {volume.name for volume in made}
    return [*made, *(volume for volume in pod.spec.volumes if volume.name not in taken)]


def _going(pods: Sequence[Pod], kind: str, now: float) -> list[Pod]:
    """The pods in the order in which the controller of their workload deletes them.

    A StatefulSet's go by falling number. Others by ActivePodsWithRanks (pkg/controller/controller_utils.go), but for
    the restarts of their containers, of which nothing is known here.
    """
    if kind == STATEFUL_SET:
        return sorted(pods, key=_ordinal, reverse=True)
    beside = Counter(pod.spec.node_name for pod in pods)
    return sorted(pods, key=lambda pod: _rank(pod, beside[pod.spec.node_name], now))


def _rank(pod: Pod, beside: int, now: float) -> tuple[object, ...]:
    ready = find_condition(pod, "Ready")
    is_ready = ready is not None and ready.status == "True"
    since = ready.last_transition_time if ready is not None and is_ready else None
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        is_ready,
        _cost(pod.metadata.annotations.get(DELETION_COST, "")),
        -beside,
        _age(since, now) if is_ready else 0,
        _age(pod.metadata.creation_timestamp, now),
        pod.metadata.uid,
    )


def _age(since: str | None, now: float) -> int:
    """Ages that are alike count as one, by powers of two of nanoseconds; one that is not known is the youngest."""
    if not since:
        return -1
    age = (now - parse_time(since)) * 1e9
    return int(math.log2(age)) if age >= 1 else 0


def _cost(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _ordinal(pod: Pod) -> int:
    match = _ORDINAL.fullmatch(pod.metadata.name)
    return int(match[2]) if match is not None else -1


def _created(pod: Pod) -> float:
    created = pod.metadata.creation_timestamp
    return parse_time(created) if created else 0.0
