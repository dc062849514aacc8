"""Pods of one template differ in name only: a shape is everything in a pod that scheduling looks at, interned.

Those of a DaemonSet differ in the node that each is pinned to besides: their shapes have all else in common. And labels
make many shapes of few bodies: an index is among the labels of each pod of a StatefulSet or an indexed Job, and the API
server gives each pod the topology labels of its node as it is bound.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from scheduler.api.conditions import POD_RESIZE_PENDING, is_resize_infeasible
from scheduler.api.objects import PodStatus, Volume
from scheduler.api.owners import controller_of
from scheduler.api.pinning import pin_of, pinned_to, without_pin
from scheduler.api.requests import existing_requests
from scheduler.api.resource_names import CPU
from scheduler.cache.ports import ANY_ADDRESS, HostPort
from scheduler.cache.rolls import Found
from scheduler.cache.terms import PodTerms, compile_terms
from scheduler.cache.volumes import VolumeNeeds, volume_needs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.objects import ContainerStatus, Pod
    from scheduler.cache.counters import HeldTerm, MatchCounter

_encode = msgspec.msgpack.Encoder().encode


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What a pod takes from its node: milli-CPU, bytes and counts by resource name, and its host ports.

    For `thousandths` see `api.requests.PodUsage`.
    """

    requests: Mapping[str, int]
    nonzero_cpu: int
    nonzero_memory: int
    ports: tuple[HostPort, ...]
    thousandths: Mapping[str, int] = {}

    def in_thousandths(self) -> dict[str, int]:
        """The requests as `Quantity.MilliValue` has them, by which kube-scheduler finds them larger or smaller."""
        return {name: self.thousandths.get(name, _milli(name, amount)) for name, amount in self.requests.items()}


def _milli(name: str, amount: int) -> int:
    return amount if name == CPU else 1000 * amount


class LabelClass:
    """All pods with the same namespace and labels: selectors match all of them or none.

    `counters` are the match counters that count these pods; `held` caches which terms of other pods match them.
    """

    __slots__ = ("__weakref__", "counters", "held", "labels", "namespace")

    def __init__(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        self.counters: Found[weakref.ref[MatchCounter]] = Found()
        self.held: dict[str, Found[HeldTerm]] = {}


class PodBody:
    """All that a shape is but for its labels: `pod` is one without any, and `memo` is what all such shapes share.

    `usages` are what pods take of whose in-place resize their status tells, by what it tells.
    """

    __slots__ = ("__weakref__", "error", "memo", "pod", "terms", "usage", "usages", "volumes")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod = _anonymous(pod)
        self.memo: dict[str, Any] = {}
        self.terms: PodTerms
        self.error: str
        self.terms, self.error = compile_terms(pod.spec.affinity, pod.metadata.namespace)
        self.usage = usage_of(pod)
        self.volumes: VolumeNeeds | None = volume_needs(pod)
        self.usages: dict[bytes, Usage] = {}


class PodShape:
    """What pods of one template have in common.

    `pod` is one of them, without name, uid, node and status, which are no part of a shape; `memo` is where plugins keep
    what they compile from a shape, under their names. Only where the status of a pod that waits tells of an in-place
    resize, that part of it belongs to the shape: nodes are scored by it (but not filtered). Lists of affinity terms
    that do not parse are left out of `terms`; `error` says why.

    `common` is the same for what depends neither on labels nor on required node affinity: it is shared by all shapes of
    a `body`.
    """

    __slots__ = (
        *("__weakref__", "_pinned", "body", "common", "error", "key", "label_class", "memo", "pod", "terms", "usage"),
        "volumes",
    )

    def __init__(self, key: bytes, body: PodBody, label_class: LabelClass) -> None:
        self.key = key
        self._pinned: weakref.WeakValueDictionary[str, PinnedShape] | None = None
        self.pod = replace(body.pod, metadata=replace(body.pod.metadata, labels=label_class.labels))
        self.label_class = label_class
        self.memo: dict[str, Any] = {}
        self._take(body)

    def _take(self, body: PodBody) -> None:
        self.body = body
        self.common = body.memo
        self.terms, self.error = body.terms, body.error
        self.usage, self.volumes = body.usage, body.volumes

    @property
    def namespace(self) -> str:
        """The namespace of its pods."""
        return self.label_class.namespace

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its pods."""
        return self.label_class.labels

    def pinned_to(self, node_name: str) -> PinnedShape:
        """The shape of such pods that are pinned to a node."""
        if self._pinned is None:
            self._pinned = weakref.WeakValueDictionary()
        shape = self._pinned.get(node_name)
        if shape is None:
            shape = self._pinned[node_name] = PinnedShape(self, node_name)
        return shape


class PinnedShape(PodShape):
    """What pods of one template that are pinned to one node have in common.

    There is one for each node of a DaemonSet, so that next to nothing is its own: the rest is that of the `template`,
    which is pinned to none.
    """

    __slots__ = ("_node_name", "template")

    def __init__(self, template: PodShape, node_name: str) -> None:
        self.template = template
        self._node_name = node_name
        self._pinned = None
        self.label_class = template.label_class
        self.memo = {}
        self._take(template.body)

    @property
    def key(self) -> bytes:  # type: ignore[override]
        """What identifies it."""
        return self.template.key + self._node_name.encode()

    @property
    def pod(self) -> Pod:  # type: ignore[override]
        """One of its pods, made anew each time."""
        return pinned_to(self.template.pod, self._node_name)


def _anonymous(pod: Pod) -> Pod:
    """A pod without what makes it this one of its like, and without labels."""
    return replace(
        pod,
        metadata=replace(pod.metadata, name="", uid="", resource_version="", labels={}),
        spec=replace(pod.spec, node_name=""),
        status=(_resize_of(pod) if not pod.spec.node_name else None) or PodStatus(),
    )


def _resize_of(pod: Pod) -> PodStatus | None:
    """What the status says of an in-place resize; None if nothing, as of nearly all pods."""
    status = pod.status
    told: tuple[ContainerStatus, ...] = ()
    told_first: tuple[ContainerStatus, ...] = ()
    if status.container_statuses or status.init_container_statuses:  # as of none that has not been started
        told = tuple(s for s in status.container_statuses if _tells_of_resize(s))
        told_first = tuple(s for s in status.init_container_statuses if _tells_of_resize(s))
    infeasible = bool(status.conditions) and is_resize_infeasible(pod)
    if not (told or told_first or infeasible) and status.resources is None and status.allocated_resources is None:
        return None
    return PodStatus(
        conditions=tuple(c for c in status.conditions if infeasible and c.type == POD_RESIZE_PENDING)[:1],
        container_statuses=told,
        init_container_statuses=told_first,
        allocated_resources=status.allocated_resources,
        resources=status.resources,
    )


def _tells_of_resize(status: ContainerStatus) -> bool:
    return status.allocated_resources is not None or status.resources is not None


def usage_of(pod: Pod) -> Usage:
    """What this very pod takes, in-place resizes included."""
    taken = existing_requests(pod)
    return Usage(taken.requests, taken.nonzero_cpu, taken.nonzero_memory, host_ports(pod), taken.thousandths)


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Host ports of containers and sidecars; those of plain init containers are not counted (SUBTLETY of HostPortInfo:
    an empty address is 0.0.0.0, an empty protocol TCP)."""
    spec = pod.spec
    sidecars = [c for c in spec.init_containers if c.restart_policy == "Always"] if spec.init_containers else ()
    return tuple(
        HostPort(port.protocol or "TCP", port.host_port, port.host_ip or ANY_ADDRESS)
        for container in (*spec.containers, *sidecars)
        for port in container.ports
        if port.host_port > 0
    )


def fingerprint(pod: Pod) -> bytes:
    """The key of a pod's body: equal for pods that no plugin can tell apart, but by their labels."""
    meta, spec = pod.metadata, pod.spec
    owner = controller_of(meta) if meta.owner_references else None
    body = _encode(
        (
            meta.namespace,
            (owner.api_version, owner.kind, owner.name) if owner else None,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
            spec.containers,
            spec.init_containers,
            spec.overhead,
            spec.resources,
            spec.scheduling_gates,
            [volume for volume in spec.volumes if volume != Volume(name=volume.name)],
            # The claim of a generic ephemeral volume is named after its pod.
            meta.name if any(volume.ephemeral is not None for volume in spec.volumes) else "",
            spec.resource_claims,
            spec.host_network,
            spec.host_users,
            spec.scheduling_group,
        )
    )
    resize = None if spec.node_name else _resize_of(pod)
    return body if resize is None else body + _encode(resize)


class ShapeTable:
    """Interns shapes, their bodies and label classes; these go when no pod has them any more."""

    def __init__(self) -> None:
        self._shapes: weakref.WeakValueDictionary[bytes, PodShape] = weakref.WeakValueDictionary()
        self._bodies: weakref.WeakValueDictionary[bytes, PodBody] = weakref.WeakValueDictionary()
        self._classes: weakref.WeakValueDictionary[bytes, LabelClass] = weakref.WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._shapes)

    def shape(self, pod: Pod) -> PodShape:
        """The shape of a pod."""
        spec = pod.spec
        # The constraints of spreading go by the node affinity; a pod with both is rare.
        pin = pin_of(spec.affinity) if spec.affinity is not None and not spec.topology_spread_constraints else ""
        return self._template(without_pin(pod)).pinned_to(pin) if pin else self._template(pod)

    def _template(self, pod: Pod) -> PodShape:
        rest, labels = fingerprint(pod), pod.metadata.labels
        key = rest + _encode(labels)
        shape = self._shapes.get(key)
        if shape is None:
            body = self._bodies.get(rest)
            if body is None:
                body = self._bodies[rest] = PodBody(pod)
            shape = self._shapes[key] = PodShape(key, body, self.label_class(pod.metadata.namespace, labels))
        return shape

    def label_class(self, namespace: str, labels: Mapping[str, str]) -> LabelClass:
        """The class of pods with these labels."""
        key = _encode((namespace, sorted(labels.items())))
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = LabelClass(namespace, labels)
        return found

    def usage(self, shape: PodShape, pod: Pod) -> Usage:
        """What a pod takes: as its shape says, unless its status tells of an in-place resize."""
        if not pod.spec.node_name:
            return shape.usage  # the shape of a pod that waits has it all
        resize = _resize_of(pod)
        if resize is None:
            return shape.usage
        key = _encode(resize)
        usages = shape.body.usages
        usage = usages.get(key)
        if usage is None:
            usage = usage_of(pod)
            if usage == shape.usage:
                usage = shape.usage
            usages[key] = usage
        return usage
