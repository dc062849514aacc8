"""Small clusters with a pod that waits, drawn by chance, and all that decisions read of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.builders import expression, node, pod, pod_term, term
from tests.plugins.storage import affinity, capacity, claim, csi_driver, storage_class, volume

if TYPE_CHECKING:
    from tests.explain.whynot.cluster import Cluster

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ZONES = ("zone-a", "zone-b")
TAINTS = (("dedicated", "gpu"), ("other", ""), ("node.kubernetes.io/not-ready",))


@st.composite
def nodes(draw: st.DrawFn, index: int) -> Any:
    made = node(f"n{index}").capacity(cpu=draw(st.sampled_from(["1", "2", "4"])), memory="8Gi", pods="4")
    if draw(st.booleans()):
        made = made.zone(draw(st.sampled_from(ZONES)))
    if draw(st.integers(0, 3)) == 0:
        made = made.taint(
            *draw(st.sampled_from([("dedicated", "gpu"), ("other", ""), ("node.kubernetes.io/not-ready",)]))
        )
    if draw(st.integers(0, 5)) == 0:
        made = made.unschedulable().taint("node.kubernetes.io/unschedulable")
    return made.label(pool=draw(st.sampled_from(["a", "b"])))


@st.composite
def running(draw: st.DrawFn, index: int, names: list[str]) -> Any:
    made = pod(f"p{index}").cpu(draw(st.sampled_from(["100m", "500m", "1"]))).memory("1Gi")
    made = made.label(app=draw(st.sampled_from(["web", "db"]))).priority(draw(st.sampled_from([0, 5, 100])))
    if draw(st.integers(0, 4)) == 0:
        made = made.requires_pods(pod_term(draw(st.sampled_from([HOST, ZONE])), {"app": "web"}), anti=True)
    if draw(st.integers(0, 3)) == 0:
        made = made.host_port(8080)
    return made.on(draw(st.sampled_from(names)))


@st.composite
def waiting(draw: st.DrawFn) -> Any:
    made = pod("new").label(app="web").cpu(draw(st.sampled_from(["100m", "900m", "3"]))).memory("512Mi")
    made = made.priority(draw(st.sampled_from([0, 10])))
    if draw(st.integers(0, 2)) == 0:
        made = made.node_selector(pool=draw(st.sampled_from(["a", "b", "c"])))
    if draw(st.integers(0, 3)) == 0:
        made = made.requires_node(term(expression("pool", "In", "b", "c"), expression("disk", "Exists")))
    if draw(st.integers(0, 1)) == 0:
        fields = {"labelSelector": {"matchLabels": {"app": "web"}}}
        if draw(st.booleans()):
            fields |= {"minDomains": 3}
        made = made.spreads(draw(st.sampled_from([HOST, ZONE])), **fields)
    if draw(st.integers(0, 2)) == 0:
        made = made.requires_pods(pod_term(draw(st.sampled_from([HOST, ZONE])), {"app": "web"}), anti=True)
    if draw(st.integers(0, 4)) == 0:
        made = made.requires_pods(pod_term(ZONE, {"app": "db"}))
    if draw(st.integers(0, 3)) == 0:
        made = made.host_port(8080)
    if draw(st.integers(0, 1)) == 0:
        made = made.volume("data", persistentVolumeClaim={"claimName": "data"})
    if draw(st.integers(0, 5)) == 0:
        made = made.set("spec.preemptionPolicy", "Never")
    return made


@st.composite
def bound(draw: st.DrawFn) -> list[Any]:
    """The pod's claim with its volume, which is in a zone."""
    zone = draw(st.sampled_from(ZONES))
    where: dict[str, Any] = {"nodeAffinity": affinity(ZONE, zone)} if draw(st.booleans()) else {"labels": {ZONE: zone}}
    return [volume("pv", reserved="data", phase="Bound", **where), claim("data", volume="pv", phase="Bound")]


@st.composite
def unbound(draw: st.DrawFn) -> list[Any]:
    """The claim without a volume, which it should have by now; its class may be missing."""
    name = draw(st.sampled_from(["fast", ""]))
    return [claim("data", name), *([storage_class("fast", mode="Immediate")] if draw(st.booleans()) else [])]


@st.composite
def delayed(draw: st.DrawFn, nodes: list[str]) -> list[Any]:
    """The claim, which follows the pod to where there is room."""
    objects: list[Any] = [claim("data", size="10Gi"), storage_class(), csi_driver(capacity=True)]
    for number in range(draw(st.integers(0, 3))):
        free = draw(st.sampled_from(["0", "3Gi", "20Gi"]))
        where = {"host": draw(st.sampled_from(nodes))} if draw(st.booleans()) else {ZONE: draw(st.sampled_from(ZONES))}
        objects.append(capacity(f"c{number}", free, **where))
    return objects


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[Any], Any]:
    """Nodes, pods, other objects, and the pod that waits."""
    number = draw(st.integers(1, 4))
    there = [draw(nodes(index)) for index in range(number)]
    names = [f"n{index}" for index in range(number)]
    pods = [draw(running(index, names)) for index in range(draw(st.integers(0, 6)))]
    objects = draw(st.one_of(bound(), st.just([]), unbound(), delayed(names)))
    return there, pods, objects, draw(waiting())


def everything(cluster: Cluster) -> dict[str, Any]:
    """All that decisions read of a state, rows and orders included."""
    state = cluster.state
    table, size = state.nodes, max(state.nodes.rows.values()) + 1
    return {
        "rows": dict(table.rows),
        "objects": [table.node(row) for row in table.rows.values()],
        "order": table.order.rows().tolist(),
        "live": table.live[:size].tolist(),
        "columns": [
            numbers[..., :size].tolist()
            for numbers in (table.allocatable[:3], table.requested[:3], table.nonzero, table.pod_count)
        ],
        "unschedulable": table.unschedulable[:size].tolist(),
        "taints": [table.taints.values[place] for place in table.taints.ids[:size]],
        "zones": [table.labels(ZONE).values[place] for place in table.labels(ZONE).ids[:size]],
        "ports": table.ports.used(),
        "pods": {name: [pod.uid for pod in state.pods.on_node(name)] for name in table.rows},
        "counted": {key: counts for key, counts in state.counters.snapshot().items() if counts},
        "volumes": (dict(state.volumes.claims), {row: list(pods) for row, pods in state.volumes.pods.items()}),
        "other": {
            kind: list(state.objects.all(kind)) for kind in state.objects.kinds() if list(state.objects.all(kind))
        },
        "assumed": dict(state.assumed),
    }
