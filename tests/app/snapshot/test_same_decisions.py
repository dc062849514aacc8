"""An anonymous snapshot leads to the decisions that the cluster itself leads to, under other names."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.app.configuration import all_plugins, supported_gates
from scheduler.app.simulation import Simulation
from scheduler.app.snapshot.archive import read_snapshot, write_snapshot
from scheduler.app.snapshot.pseudonyms import NAMESPACE, NODE, POD
from scheduler.config.load import default_config
from tests.app.whatif.worlds import read
from tests.builders import expression, node, pod, pod_term, term

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.api.meta import Model
    from scheduler.app.decisions import PodDecision
    from scheduler.app.snapshot.pseudonyms import Pseudonyms
    from tests.builders import NodeBuilder, PodBuilder

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOST = "kubernetes.io/hostname"
GATES, _ = supported_gates([])
REGISTRY = all_plugins()

# Names in an order that is neither theirs nor that of their numbers.
nodes_named = st.permutations(["zeta", "n10", "n9", "alpha", "Mid-1"])
zones = st.sampled_from(["eu-west1-b", "eu-west1-c", "us-a", "z"])
values = st.sampled_from(["b", "a", "10", "9", "0", "x9"])  # no "-3": it is no value of a label
keys = st.sampled_from(["team", "example.com/rack", "node.kubernetes.io/instance-type", "generation"])
labels = st.dictionaries(keys, values, max_size=3)
apps = st.sampled_from(["web", "db"])


@st.composite
def node_terms(draw: st.DrawFn) -> dict[str, Any]:
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]))
    wanted: tuple[str, ...] = ()
    if operator in ("In", "NotIn"):
        wanted = tuple(draw(st.lists(values, min_size=1, max_size=2, unique=True)))
    elif operator in ("Gt", "Lt"):
        wanted = (draw(st.sampled_from(["9", "10", "-3"])),)
    return term(expression(draw(keys), operator, *wanted))


@st.composite
def some_nodes(draw: st.DrawFn) -> list[NodeBuilder]:
    found = []
    for name in draw(nodes_named)[: draw(st.integers(2, 5))]:
        made = node(name).label({ZONE: draw(zones), REGION: draw(st.sampled_from(["eu-west1", "r"])), **draw(labels)})
        made = made.capacity(cpu=str(draw(st.integers(1, 4))), memory="8Gi", pods="5")
        if draw(st.booleans()):
            effect = draw(st.sampled_from(["NoSchedule", "PreferNoSchedule"]))
            made = made.taint(draw(st.sampled_from(["dedicated", "generation"])), draw(values), effect)
        if draw(st.booleans()):
            made = made.image("registry.example/app", "registry.example/app:latest", size=2**30)
        found.append(made)
    return found


constraints = st.sampled_from(
    ["", "selector", "requires", "prefers", "taints", "spread", "soft", "away", "near", "port"]
)


def with_constraints(draw: st.DrawFn, made: PodBuilder, app: str) -> PodBuilder:
    kind = draw(
        st.sampled_from(["", "selector", "requires", "prefers", "taints", "spread", "soft", "away", "near", "port"])
    )
    if kind == "selector":
        made = made.node_selector(draw(st.dictionaries(keys, values, min_size=1, max_size=1)))
    elif kind == "requires":
        made = made.requires_node(draw(node_terms()), draw(node_terms()))
    elif kind == "prefers":
        made = made.prefers_node(50, draw(node_terms()))
    elif kind == "taints":
        operator = draw(st.sampled_from(["Equal", "Exists"]))
        made = made.tolerates("dedicated", operator=operator, value=draw(values) if operator == "Equal" else "")
    elif kind in ("spread", "soft"):
        key = draw(st.sampled_from([ZONE, HOST, "example.com/rack"]))
        made = made.spreads(key, soft=kind == "soft", labelSelector={"matchLabels": {"app": app}})
    elif kind == "away":
        made = made.requires_pods(pod_term(draw(st.sampled_from([ZONE, HOST])), {"app": app}), anti=True)
    elif kind == "near":
        selector = {"matchExpressions": [expression("kubernetes.io/metadata.name", "In", "shop")]}
        made = made.prefers_pods(10, pod_term(ZONE, {"app": app}, namespaceSelector=selector))
    elif kind == "port":
        made = made.host_port(80, address=draw(st.sampled_from(["", "10.0.0.1", "10.0.0.2"])))
    return made


@st.composite
def clusters(draw: st.DrawFn) -> list[Model]:
    nodes = draw(some_nodes())
    names = [made.document["metadata"]["name"] for made in nodes]
    objects: list[Model] = [made.build() for made in nodes]
    objects += _volumes(draw(st.sampled_from(names)), draw(zones))
    for number in range(draw(st.integers(1, 9))):
        app, space = draw(apps), draw(st.sampled_from(["shop", "bank"]))
        made = pod(f"{app}-{9 - number}").namespace(space).uid(f"u{number}").label(app=app)
        made = made.requests(cpu=draw(st.sampled_from(["500m", "1", "2"]))).image("registry.example/app")
        made = made.priority(draw(st.sampled_from([0, 0, 10])))
        if draw(st.booleans()):
            made = made.on(draw(st.sampled_from(names)))
        else:
            made = with_constraints(draw, made, app)
            claim = draw(st.sampled_from(["", "", "local", "zonal", "absent"]))
            made = made.volume("data", persistentVolumeClaim={"claimName": claim}) if claim else made
        objects.append(made.build())
    return objects


def _volumes(host: str, zone: str) -> Iterable[Model]:
    """A volume that lies on a node and one in a zone, each with a claim that waits for it in both namespaces."""
    late = {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "provisioner": "kubernetes.io/no-provisioner"}
    yield read({**late, "metadata": {"name": "late"}, "volumeBindingMode": "WaitForFirstConsumer"})
    for name, key, value in (("local", HOST, host), ("zonal", ZONE, zone)):
        required = {"nodeSelectorTerms": [term(expression(key, "In", value))]}
        amount = {"storage": "1Gi" if name == "local" else "2Gi"}
        modes = ["ReadWriteOnce"]
        spec: dict[str, Any] = {"capacity": amount, "accessModes": modes, "storageClassName": "late"}
        meta = {"name": f"pv-{name}", "labels": {"kind": name}}
        affinity = {"nodeAffinity": {"required": required}, "local": {"path": "/x"}}
        yield read({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": {**spec, **affinity}})
        for space in ("shop", "bank"):
            wanted = {
                "accessModes": modes,
                "storageClassName": "late",
                "resources": {"requests": amount},
                "selector": {"matchLabels": {"kind": name}},
            }
            meta = {"name": name, "namespace": space}
            yield read({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": wanted})


def decide(objects: Iterable[Model]) -> list[PodDecision]:
    simulation = Simulation(
        objects,
        default_config(feature_gates=GATES),
        registry=REGISTRY,
        gates=GATES,
        takes_all=True,
        details=True,
        seed=0,
    )
    return list(asyncio.run(simulation.run()))


def pod_key(key: str, names: Pseudonyms | None) -> str:
    space, _, name = key.partition("/")
    return key if names is None else f"{names.name(NAMESPACE, space)}/{names.name(POD, name)}"


def shown(decisions: Iterable[PodDecision], names: Pseudonyms | None = None) -> list[Any]:
    """All of the decisions but their words, with names as `names` gives them."""

    def named(place: str | None) -> str | None:
        return names.name(NODE, place) if names is not None and place else place

    found = []
    for one in decisions:
        record = one.record
        found.append(
            {
                "pod": pod_key(one.pod, names),
                "node": named(one.node),
                "status": one.status,
                "nominated": named(one.nominated_node),
                "victims": [pod_key(victim, names) for victim in one.victims],
                "feasible": {named(place): msgspec.to_builtins(score) for place, score in record.feasible.items()},
                "infeasible": {named(place): (r.plugin, r.code) for place, r in record.infeasible.items()},
                "best": {named(place) for place in record.best},
            }
        )
    return found


@settings(max_examples=15, deadline=None)
@given(clusters())
def test_every_verdict_and_every_score(objects: list[Model]) -> None:
    out = io.BytesIO()
    _, names = write_snapshot(out, objects, taken="", anonymize=True)
    out.seek(0)
    _, read_back = read_snapshot(out, "s")
    assert shown(decide(item for _, item in read_back)) == shown(decide(objects), names)


@settings(max_examples=5, deadline=None)
@given(clusters())
def test_and_words_where_names_are_real(objects: list[Model]) -> None:
    out = io.BytesIO()
    write_snapshot(out, objects, taken="")
    out.seek(0)
    _, read_back = read_snapshot(out, "s")
    assert decide(item for _, item in read_back) == decide(objects)
