"""Builders of API objects for tests: say what matters, the rest has sensible values.

    pod("a").cpu("100m").label(app="web").tolerates("gpu").build()
    node("n1").capacity(cpu="4", memory="8Gi").taint("gpu", effect="NoSchedule").build()
    state([node("n1")], [pod("b").on("n1")])

Builders are immutable: each method returns another one, so a base can be shared. Dictionaries stand for nested objects
and have the JSON names of Kubernetes.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self

import msgspec

from scheduler.api.objects import Namespace, Node, Pod
from scheduler.cache.state import ClusterState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.cache.pods import PodInfo

CONTAINER = {"name": "main", "image": "registry.example/main:1"}


def info(pod: PodBuilder | Pod, cluster: ClusterState | None = None) -> PodInfo:
    """The record of a pod, its shape interned in `cluster` (or in one of its own)."""
    return (cluster or ClusterState()).info(pod.build() if isinstance(pod, PodBuilder) else pod)


def state(
    nodes: Iterable[NodeBuilder | Node] = (),
    pods: Iterable[PodBuilder | Pod] = (),
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
) -> ClusterState:
    """A cluster with these nodes, these assigned pods, and namespaces with these labels."""
    cluster = ClusterState()
    for name, labels in (namespaces or {}).items():
        cluster.set_namespace(msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace))
    for item in nodes:
        cluster.set_node(item.build() if isinstance(item, NodeBuilder) else item)
    for item in pods:
        cluster.set_pod(info(item, cluster))
    return cluster


class _Builder:
    """A JSON object that grows by copies. Paths are dotted names below the object."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def set(self, path: str, value: Any) -> Self:
        """Another one with `value` at `path`, e.g. `set("spec.hostNetwork", True)`."""
        return type(self)(_with(self.document, path.split("."), value))

    def get(self, path: str, default: Any) -> Any:
        """What is at `path`, or the default."""
        found: Any = self.document
        for name in path.split("."):
            found = found.get(name, {}) if isinstance(found, dict) else {}
        return found or default

    def add(self, path: str, *values: Any) -> Self:
        """Append to the list at `path`."""
        return self.set(path, [*self.get(path, []), *values])

    def merge(self, path: str, values: Mapping[str, Any]) -> Self:
        """Add to the object at `path`."""
        return self.set(path, {**self.get(path, {}), **values})

    def label(self, labels: Mapping[str, str] | None = None, /, **more: str) -> Self:
        """Add labels; keyword names are for keys that are identifiers."""
        return self.merge("metadata.labels", {**(labels or {}), **more})


class PodBuilder(_Builder):
    """Builds a pod with one container "main" (or those given by `container`)."""

    def build(self) -> Pod:
        """The pod."""
        return msgspec.convert(self.document, Pod)

    def namespace(self, name: str) -> Self:
        return self.set("metadata.namespace", name)

    def uid(self, uid: str) -> Self:
        return self.set("metadata.uid", uid)

    def owned_by(self, kind: str, name: str, api_version: str = "apps/v1") -> Self:
        """Make the pod controlled by another object."""
        owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "controller": True}
        return self.add("metadata.ownerReferences", owner)

    def terminating(self) -> Self:
        return self.set("metadata.deletionTimestamp", "2026-01-01T00:00:00Z")

    def on(self, node_name: str) -> Self:
        """Assign the pod to a node."""
        return self.set("spec.nodeName", node_name)

    def nominated(self, node_name: str) -> Self:
        return self.set("status.nominatedNodeName", node_name)

    def priority(self, value: int) -> Self:
        return self.set("spec.priority", value)

    def scheduler(self, name: str) -> Self:
        return self.set("spec.schedulerName", name)

    def requests(self, resources: Mapping[str, str] | None = None, /, **more: str) -> Self:
        """Add requests of the first container."""
        first, *rest = self.get("spec.containers", [CONTAINER])
        held = first.get("resources", {}).get("requests", {})
        requests = {**held, **(resources or {}), **more}
        return self.set("spec.containers", [{**first, "resources": {"requests": requests}}, *rest])

    def cpu(self, amount: str) -> Self:
        return self.requests(cpu=amount)

    def memory(self, amount: str) -> Self:
        return self.requests(memory=amount)

    def image(self, name: str) -> Self:
        """The image of the first container."""
        first, *rest = self.get("spec.containers", [CONTAINER])
        return self.set("spec.containers", [{**first, "image": name}, *rest])

    def container(self, **fields: Any) -> Self:
        """Add a container, with fields by their JSON names."""
        return self.add("spec.containers", {"name": f"c{len(self.get('spec.containers', []))}", **fields})

    def no_containers(self) -> Self:
        """Drop the containers so far, to name all of them by `container`."""
        return self.set("spec.containers", [])

    def init_container(self, **fields: Any) -> Self:
        """Add an init container; `restartPolicy="Always"` makes it a sidecar."""
        return self.add("spec.initContainers", {"name": f"i{len(self.get('spec.initContainers', []))}", **fields})

    def host_port(self, port: int, protocol: str = "TCP", address: str = "") -> Self:
        """Add a container with a host port."""
        wanted = {"hostPort": port, "containerPort": port, "protocol": protocol, "hostIP": address}
        return self.container(ports=[wanted])

    def tolerates(self, key: str = "", *, operator: str = "", value: str = "", effect: str = "") -> Self:
        """Add a toleration; without an operator Exists if there is no value, else Equal."""
        chosen = operator or ("Equal" if value else "Exists")
        return self.add("spec.tolerations", {"key": key, "operator": chosen, "value": value, "effect": effect})

    def node_selector(self, labels: Mapping[str, str] | None = None, /, **more: str) -> Self:
        return self.merge("spec.nodeSelector", {**(labels or {}), **more})

    def requires_node(self, *terms: dict[str, Any]) -> Self:
        """Required node affinity: terms as made by `term`."""
        path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        return self.merge(path, {"nodeSelectorTerms": list(terms)})

    def prefers_node(self, weight: int, preference: dict[str, Any]) -> Self:
        """Add a preferred node affinity term, as made by `term`."""
        path = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
        return self.add(path, {"weight": weight, "preference": preference})

    def requires_pods(self, *terms: dict[str, Any], anti: bool = False) -> Self:
        """Add required pod (anti-)affinity terms."""
        kind = "podAntiAffinity" if anti else "podAffinity"
        return self.add(f"spec.affinity.{kind}.requiredDuringSchedulingIgnoredDuringExecution", *terms)

    def prefers_pods(self, weight: int, pod_term: dict[str, Any], *, anti: bool = False) -> Self:
        """Add a preferred pod (anti-)affinity term."""
        kind = "podAntiAffinity" if anti else "podAffinity"
        path = f"spec.affinity.{kind}.preferredDuringSchedulingIgnoredDuringExecution"
        return self.add(path, {"weight": weight, "podAffinityTerm": pod_term})

    def spreads(self, key: str, max_skew: int = 1, *, soft: bool = False, **fields: Any) -> Self:
        """Add a topology spread constraint, with further fields by their JSON names."""
        when = "ScheduleAnyway" if soft else "DoNotSchedule"
        constraint = {"topologyKey": key, "maxSkew": max_skew, "whenUnsatisfiable": when, **fields}
        return self.add("spec.topologySpreadConstraints", constraint)

    def volume(self, name: str, **source: Any) -> Self:
        """Add a volume, its source by its JSON name."""
        return self.add("spec.volumes", {"name": name, **source})

    def gate(self, *names: str) -> Self:
        return self.add("spec.schedulingGates", *({"name": name} for name in names))

    def condition(self, type_: str, status: str, reason: str = "") -> Self:
        return self.add("status.conditions", {"type": type_, "status": status, "reason": reason})


class NodeBuilder(_Builder):
    """Builds a node with plenty of room (32 CPUs, 256 GiB, 110 pods) unless `capacity` says otherwise."""

    def build(self) -> Node:
        """The node."""
        return msgspec.convert(self.document, Node)

    def capacity(self, resources: Mapping[str, str] | None = None, /, **more: str) -> Self:
        """Capacity and allocatable of these and no other resources; pods are 110 unless given."""
        amounts = {"pods": "110", **(resources or {}), **more}
        return self.set("status.capacity", amounts).set("status.allocatable", amounts)

    def zone(self, name: str) -> Self:
        return self.label({"topology.kubernetes.io/zone": name})

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        return self.add("spec.taints", {"key": key, "value": value, "effect": effect})

    def unschedulable(self) -> Self:
        return self.set("spec.unschedulable", True)

    def image(self, *names: str, size: int) -> Self:
        """An image that lies on the node, and its size in bytes."""
        return self.add("status.images", {"names": list(names), "sizeBytes": size})

    def features(self, *names: str) -> Self:
        return self.add("status.declaredFeatures", *names)

    def condition(self, type_: str, status: str) -> Self:
        return self.add("status.conditions", {"type": type_, "status": status})


def pod(name: str) -> PodBuilder:
    """A pod in namespace "default"."""
    meta = {"name": name, "namespace": "default", "uid": str(uuid.uuid5(uuid.NAMESPACE_OID, name))}
    return PodBuilder({"metadata": meta, "spec": {"containers": [CONTAINER]}})


def node(name: str) -> NodeBuilder:
    """A node with the label kubernetes.io/hostname."""
    meta = {"name": name, "uid": f"node-{name}", "labels": {"kubernetes.io/hostname": name}}
    return NodeBuilder({"metadata": meta}).capacity(cpu="32", memory="256Gi")


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    """A requirement of a node or label selector."""
    return {"key": key, "operator": operator, "values": list(values)}


def term(*expressions: dict[str, Any], fields: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """A node selector term."""
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


def pod_term(key: str, labels: Mapping[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """A pod affinity term about pods with these labels; further fields by their JSON names."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": dict(labels or {})}, **fields}


def _with(document: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    name, *rest = path
    return {**document, name: _with(document.get(name) or {}, rest, value) if rest else value}
