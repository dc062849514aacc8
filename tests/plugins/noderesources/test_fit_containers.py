"""NodeResourcesFit: what containers of each kind, overhead and the pod as a whole ask of a node."""

from __future__ import annotations

import pytest

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
from scheduler.framework.status import Status, unresolvable, unschedulable
from scheduler.plugins.noderesources.fit import make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, handle, verdicts

GPU, OTHER, HUGE, STORAGE = "example.com/gpu", "example.com/other", "hugepages-2Mi", "ephemeral-storage"
NATIVE, NATIVE_BELOW = "kubernetes.io/thing", "sub.kubernetes.io/thing"
NODE = node("n").capacity({GPU: "5", STORAGE: "20", HUGE: "5"}, cpu="10m", memory="20", pods="32")


def asks(cpu: int = 0, memory: int = 0, **more: int) -> dict:
    """A container that requests milli-CPU, bytes, and others by the names of the constants above."""
    amounts = {"cpu": f"{cpu}m", "memory": str(memory)}
    amounts.update({globals()[name]: str(amount) for name, amount in more.items()})
    return {"resources": {"requests": amounts}}


def built(name: str, *containers: dict, init=(), whole=None, overhead=None):
    result = pod(name).no_containers()
    for container in containers:
        result = result.container(**container)
    for container in init:
        result = result.init_container(**container)
    if whole is not None:
        result = result.set("spec.resources", {"requests": whole})
    return result if overhead is None else result.set("spec.overhead", overhead)


def verdict(incoming, *running: dict, on=NODE, **arguments) -> Status | None:
    cluster = state([on], [built("q", *running).on("n")] if running else [])
    return verdicts(make(NodeResourcesFitArgs(**arguments), handle(cluster)), cycle_of(cluster, incoming))["n"]


def short(*names: str) -> Status:
    return unschedulable(*(f"Insufficient {name}" for name in names))


def never(*names: str) -> Status:
    return unresolvable(*(f"Insufficient {name}" for name in names))


class TestCpuAndMemory:
    @pytest.mark.parametrize(
        ("taken", "containers", "init", "expected"),
        [
            ((10, 20), [asks(1, 1)], [], short("cpu", "memory")),
            ((5, 5), [asks(1, 1)], [], None),
            ((9, 5), [asks(2, 1)], [], short("cpu")),
            ((5, 19), [asks(1, 2)], [], short("memory")),
            ((5, 19), [asks(5, 1)], [], None),
            ((8, 19), [asks(1, 1)], [asks(3, 1)], short("cpu")),
            ((8, 19), [asks(1, 1)], [asks(3, 1), asks(2, 1)], short("cpu")),
            ((9, 19), [asks(1, 1)], [asks(1, 3)], short("memory")),
            ((9, 19), [asks(1, 1)], [asks(1, 3), asks(1, 2)], short("memory")),
            ((9, 19), [asks(1, 1)], [asks(1, 1)], None),
            ((9, 19), [asks(1, 1)], [asks(1, 1), asks(1, 1)], None),
            ((5, 19), [asks(4, 1)], [asks(5, 1)], None),
        ],
        ids=[
            "both too much",
            "both fit",
            "too much cpu",
            "too much memory",
            "exactly what is left",
            "init container's cpu",
            "the largest init container's cpu",
            "init container's memory",
            "the largest init container's memory",
            "an init container adds nothing",
            "nor do two",
            "an init container of exactly what is left",
        ],
    )
    def test_init_containers_raise_what_is_asked_by_the_largest(self, taken, containers, init, expected):
        assert verdict(built("p", *containers, init=init), asks(*taken)) == expected

    def test_a_pod_that_asks_for_nothing_fits_on_a_full_node(self):
        assert verdict(built("p"), asks(10, 20)) is None
        assert verdict(built("p", asks()), asks(20, 30)) is None

    @pytest.mark.parametrize(
        ("overhead", "expected"),
        [({"cpu": "3m", "memory": "13"}, None), ({"cpu": "1m", "memory": "15"}, short("memory"))],
    )
    def test_overhead_is_added(self, overhead, expected):
        assert verdict(built("p", asks(1, 1), overhead=overhead), asks(5, 5)) == expected

    @pytest.mark.parametrize(
        ("sidecar", "expected"), [(None, None), (asks(), None), (asks(1), None), (asks(2), never("cpu"))]
    )
    def test_sidecars_are_added(self, sidecar, expected):
        init = [] if sidecar is None else [{**sidecar, "restartPolicy": "Always"}]
        small = node("n").capacity(cpu="2m", memory="0", pods="1")
        assert verdict(built("p", asks(1), init=init), on=small) == expected


class TestOtherResources:
    @pytest.mark.parametrize(
        ("taken", "containers", "init", "expected"),
        [
            ({}, [asks(GPU=1)], [], None),
            ({}, [asks()], [asks(GPU=1)], None),
            ({}, [asks(1, 1, GPU=10)], [], never(GPU)),
            ({}, [asks()], [asks(1, 1, GPU=10)], never(GPU)),
            ({"GPU": 5}, [asks(1, 1, GPU=1)], [], short(GPU)),
            ({"GPU": 5}, [asks()], [asks(1, 1, GPU=1)], short(GPU)),
            ({"GPU": 2}, [asks(1, 1, GPU=3), asks(1, 1, GPU=3)], [], never(GPU)),
            ({"GPU": 2}, [asks()], [asks(1, 1, GPU=3), asks(1, 1, GPU=3)], None),
            ({"GPU": 2}, [asks()], [asks(1, 1, GPU=6), asks(1, 1, GPU=3)], never(GPU)),
            ({}, [asks(1, 1, OTHER=1)], [], never(OTHER)),
            ({}, [asks()], [asks(1, 1, OTHER=1)], never(OTHER)),
            ({}, [asks(1, 1, NATIVE=10)], [], never(NATIVE)),
            ({}, [asks()], [asks(1, 1, NATIVE_BELOW=10)], never(NATIVE_BELOW)),
            ({}, [asks(1, 1, HUGE=10)], [], never(HUGE)),
            ({}, [asks()], [asks(1, 1, HUGE=10)], never(HUGE)),
            ({"HUGE": 2}, [asks(1, 1, HUGE=3), asks(1, 1, HUGE=3)], [], never(HUGE)),
            ({"GPU": 6}, [asks(1, 1, GPU=0)], [], None),
            ({"STORAGE": 10}, [asks(STORAGE=5)], [], None),
            ({}, [asks(STORAGE=10)], [], None),
            ({}, [asks(STORAGE=25)], [], never(STORAGE)),
        ],
        ids=[
            "extended, there",
            "extended, there for an init container",
            "extended, more than there is",
            "extended, more than there is for an init container",
            "extended, none left",
            "extended, none left for an init container",
            "extended, summed over containers",
            "extended, not summed over init containers",
            "extended, the largest of init containers",
            "extended, unknown",
            "extended, unknown for an init container",
            "of kubernetes.io",
            "of a subdomain of kubernetes.io, for an init container",
            "huge pages",
            "huge pages for an init container",
            "huge pages, summed over containers",
            "extended, nothing asked of what is overcommitted",
            "storage beside what is taken",
            "storage",
            "storage, more than there is",
        ],
    )
    def test_are_asked_as_cpu_and_memory_are(self, taken, containers, init, expected):
        assert verdict(built("p", *containers, init=init), asks(0, 0, **taken)) == expected

    def test_those_to_ignore_are_not_checked(self):
        incoming = built("p", asks(1, 1, OTHER=1, NATIVE=1))
        assert verdict(built("p", asks(1, 1, OTHER=1)), ignored_resources=(OTHER,)) is None
        assert verdict(incoming, ignored_resource_groups=("example.com",)) == never(NATIVE)


class TestWholePod:
    @pytest.mark.parametrize(
        ("taken", "containers", "whole", "expected"),
        [
            ((5, 5), [asks(1, 1)], {"cpu": "1m", "memory": "2"}, None),
            ((5, 5), [asks(1, 1)], {"cpu": "7m", "memory": "2"}, short("cpu")),
            ((5, 19), [asks(1, 1)], {"cpu": "3m", "memory": "2"}, short("memory")),
            ((0, 0), [], {"cpu": "3m", "memory": "2", HUGE: "5"}, None),
            ((0, 0), [asks(1, 1, HUGE=3)], {"cpu": "3m", "memory": "2", HUGE: "5"}, None),
            ((0, 0), [], {"cpu": "3m", "memory": "2", HUGE: "10"}, never(HUGE)),
        ],
        ids=["both levels fit", "cpu", "memory", "huge pages", "huge pages at both levels", "too many huge pages"],
    )
    def test_its_own_requests_replace_those_of_its_containers(self, taken, containers, whole, expected):
        assert verdict(built("p", *containers, whole=whole), asks(*taken)) == expected

    def test_init_containers_do_not_matter_beside_them(self):
        incoming = built("p", asks(1, 1), init=[asks(1, 1)], whole={"cpu": "3m", "memory": "2"})
        assert verdict(incoming, asks(5, 19)) == short("memory")


class TestNumberOfPods:
    FULL = node("n").capacity({}, cpu="10m", memory="20", pods="1")

    @pytest.mark.parametrize(
        ("taken", "incoming"),
        [
            ((10, 20), built("p")),
            ((5, 5), built("p", asks(1, 1))),
            ((5, 19), built("p", asks(5, 1))),
            ((5, 19), built("p", asks(5, 1), init=[asks(5, 1)])),
        ],
        ids=["asks for nothing", "fits", "fits exactly", "fits exactly with an init container"],
    )
    def test_comes_first_whatever_else_is_left(self, taken, incoming):
        assert verdict(incoming, asks(*taken), on=self.FULL) == unschedulable("Too many pods")


class TestDeviceClasses:
    @pytest.mark.parametrize(
        ("resource", "capacity", "expected"),
        [
            (GPU, {GPU: "5"}, None),
            (GPU, {}, None),
            (GPU, {GPU: "0"}, None),
            (OTHER, {}, never(OTHER)),
        ],
        ids=["the node has some", "the node does not know it", "the node has none", "no class stands for it"],
    )
    def test_stand_for_what_the_node_has_none_of(self, resource, capacity, expected):
        cluster = state([node("n").capacity(capacity, cpu="10m", memory="20")])
        spec = DeviceClassSpec(extended_resource_name=GPU)
        cluster.set_object("DeviceClass", DeviceClass(metadata=ObjectMeta(name="gpus"), spec=spec))
        plugin = make(NodeResourcesFitArgs(), handle(cluster))
        assert verdicts(plugin, cycle_of(cluster, pod("p").requests({resource: "1"})))["n"] == expected
