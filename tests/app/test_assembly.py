"""A scheduler put together, and fed from a cluster."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.assembly import LOOKED_UP, OPTIONAL, assemble, connect
from scheduler.client import kinds
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.framework.interface import PermitPlugin, PostBindPlugin
from scheduler.framework.status import Code, Status
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod

if TYPE_CHECKING:
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle

GATES = FeatureGates()
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def scheduler(cluster: MemoryCluster, *, registry: Any = IN_TREE, config: Any = None, **options: Any) -> Scheduler:
    given = {**HEADER, **(config or {"profiles": [{"schedulerName": "s"}]})}
    loaded = load_config(given, source="c.yaml", known_plugins=registry, feature_gates=GATES)
    writer = MemoryWriter(cluster)
    return assemble(loaded, registry=registry, gates=GATES, writer=writer, source="c.yaml", **options)


async def test_a_pod_of_the_cluster_is_bound_with_its_event() -> None:
    cluster = MemoryCluster([node("n1").build(), pod("p").scheduler("s").build()])
    it = scheduler(cluster, random_source=random.Random(0), hostname="here")
    connect(it, cluster)
    cluster.sync()
    assert it.schedule_next()
    await it.settle()
    bound = cluster.get(kinds.PODS, "default", "p")
    assert bound is not None
    assert bound.spec.node_name == "n1"
    (event,) = cluster.events
    assert (event.reason, event.reporting_controller, event.reporting_instance) == ("Scheduled", "s", "s-here")


async def test_pods_of_other_schedulers_are_left_alone() -> None:
    cluster = MemoryCluster([node("n1").build(), pod("p").scheduler("other").build()])
    it = scheduler(cluster)
    connect(it, cluster)
    cluster.sync()
    assert not it.schedule_next()


async def test_each_pod_is_placed_by_the_rules_of_its_own_profile() -> None:
    """One scheduler of two profiles, each of which keeps its pods to a node of its own."""

    def kept_to(scheduler_name: str, node_name: str) -> dict[str, Any]:
        only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name]}]}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
        args = {"name": "NodeAffinity", "args": {"addedAffinity": affinity}}
        return {"schedulerName": scheduler_name, "pluginConfig": [args]}

    nodes = [node(f"n{number}").build() for number in (1, 2, 3)]
    pods = [pod(f"{name}{number}").scheduler(name).build() for number in (1, 2) for name in ("s", "t")]
    cluster = MemoryCluster([*nodes, *pods, pod("other").scheduler("u").build()])
    it = scheduler(cluster, config={"profiles": [kept_to("s", "n2"), kept_to("t", "n3")]})
    connect(it, cluster)
    cluster.sync()
    while it.schedule_next():
        await it.settle()
    placed = {item.metadata.name: item.spec.node_name for item in cluster.list(kinds.PODS)}
    assert placed == {"s1": "n2", "s2": "n2", "t1": "n3", "t2": "n3", "other": ""}
    assert sorted((event.regarding.name, event.reporting_controller) for event in cluster.events) == [
        ("s1", "s"),
        ("s2", "s"),
        ("t1", "t"),
        ("t2", "t"),
    ]


async def test_nothing_is_delivered_before_the_source_begins() -> None:
    cluster = MemoryCluster([node("n1").build()])
    it = scheduler(cluster)
    connect(it, cluster)
    assert len(it.state.nodes) == 0
    cluster.sync()
    assert len(it.state.nodes) == 1


@pytest.mark.parametrize("resource", LOOKED_UP, ids=lambda resource: resource.plural)
async def test_objects_that_plugins_look_up_reach_the_state(resource: kinds.Resource[Any]) -> None:
    cluster = MemoryCluster()
    it = scheduler(cluster)
    connect(it, cluster)
    cluster.sync()
    item = pod("x").build()
    cluster.put(resource.type(metadata=item.metadata))
    namespace = "default" if resource.namespaced else ""
    assert it.state.objects.get(resource.kind, namespace, "x") is not None
    cluster.delete(resource, namespace, "x")
    assert it.state.objects.get(resource.kind, namespace, "x") is None


def test_what_a_server_may_lack_is_among_what_is_looked_up() -> None:
    assert {resource.kind for resource in LOOKED_UP} >= OPTIONAL


async def test_backoff_is_configured() -> None:
    config = {"profiles": [{"schedulerName": "s"}], "podInitialBackoffSeconds": 30, "podMaxBackoffSeconds": 70}
    now = [1000.0]
    cluster = MemoryCluster([node("n1").capacity(cpu="1").build(), pod("p").scheduler("s").cpu("2").build()])
    it = scheduler(cluster, config=config, clock=lambda: now[0])
    connect(it, cluster)
    cluster.sync()
    assert it.schedule_next()
    cluster.put(node("n2").build())
    assert [entry.name for entry in it.queue.pending()["backoff"]] == [("default", "p")]
    now[0] += 29.0
    it.queue.flush_backoff()
    assert it.queue.counts()["backoff"] == 1
    now[0] += 3.0
    it.queue.flush_backoff()
    assert it.queue.counts()["active"] == 1


async def test_plugins_may_wake_pods() -> None:
    """What a plugin activates is tried at once."""
    cluster = MemoryCluster(
        [node("n1").build(), pod("first").scheduler("s").cpu("99").build(), pod("second").scheduler("s").build()]
    )
    handles: list[Any] = []

    class Waker(PostBindPlugin):
        name = "Waker"

        def post_bind(self, cycle: Any, node: str) -> None:
            handles[0].activate(["default/first"])

    def make(_args: object, handle: Any) -> Waker:
        handles.append(handle)
        return Waker()

    profile = {"schedulerName": "s", "plugins": {"multiPoint": {"enabled": [{"name": "Waker"}]}}}
    it = scheduler(cluster, config={"profiles": [profile]}, registry={**IN_TREE, "Waker": make})
    connect(it, cluster)
    cluster.sync()
    for _ in range(2):
        assert it.schedule_next()
        await it.settle()
    assert [entry.name for entry in it.queue.pending()["active"]] == [("default", "first")]


def test_a_configuration_that_can_not_be_built_names_its_source() -> None:
    profile = {"schedulerName": "s", "plugins": {"bind": {"disabled": [{"name": "*"}]}}}
    with pytest.raises(ConfigError, match=r"^c\.yaml: at least one bind plugin is needed"):
        scheduler(MemoryCluster(), config={"profiles": [profile]})


class Pairs(PermitPlugin):
    """A user's plugin that lets pods go two by two."""

    name = "Pairs"

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def permit(self, cycle: Cycle, node: str) -> tuple[Status | None, float]:
        waiting = list(self._handle.waiting)
        for other in waiting:
            other.allow(self.name)
        return (None, 0.0) if waiting else (Status(Code.WAIT), 60.0)


async def test_a_plugin_can_let_go_the_pods_that_wait_for_it() -> None:
    cluster = MemoryCluster([node("n1").build(), pod("a").scheduler("s").build(), pod("b").scheduler("s").build()])
    registry = {**IN_TREE, "Pairs": lambda _args, handle: Pairs(handle)}
    profile = {"schedulerName": "s", "plugins": {"permit": {"enabled": [{"name": "Pairs"}]}}}
    it = scheduler(cluster, registry=registry, config={"profiles": [profile]})
    connect(it, cluster)
    cluster.sync()
    assert it.schedule_next()
    assert len(it.waiting) == 1
    assert it.schedule_next()
    await it.settle()
    assert {item.metadata.name: item.spec.node_name for item in cluster.list(kinds.PODS)} == {"a": "n1", "b": "n1"}
