"""NodeResourcesFit: scores of nodes by each strategy, with and without PreScore."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
from scheduler.plugins.noderesources.fit import make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, handle, raw_scores

GPU, NIC = "example.com/gpu", "example.com/nic"
LEAST, MOST, RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"
EMPTIER, FULLER = ((0, 10), (100, 0)), ((0, 0), (100, 10))


def nodes(*sizes: tuple, **more) -> list:
    """Nodes "n1", "n2", ... of (cpu, memory) or (cpu, memory, extended resources)."""
    return [
        node(f"n{number}").capacity(size[2] if len(size) > 2 else {}, cpu=size[0], memory=size[1])
        for number, size in enumerate(sizes, 1)
    ]


def uses(where: int, cpu: str, memory: str, name: str = ""):
    return pod(name or f"q{where}").cpu(cpu).memory(memory).on(f"n{where}")


def scores(cluster, incoming, strategy, weights, shape=None) -> tuple[int, ...]:
    """Scores in the order of the nodes, the same with and without PreScore."""
    resources = [{"name": name, "weight": weight} for name, weight in weights.items()]
    document = {"type": strategy, "resources": resources}
    if shape is not None:
        points = [{"utilization": x, "score": y} for x, y in shape]
        document["requestedToCapacityRatio"] = {"shape": points}
    args = msgspec.convert({"scoringStrategy": document}, NodeResourcesFitArgs)
    plugin = make(args, handle(cluster))
    bare, prepared = cycle_of(cluster, incoming), cycle_of(cluster, incoming)
    assert plugin.pre_score(prepared, prepared.nodes) is None
    found = raw_scores(plugin, prepared)
    assert raw_scores(plugin, bare) == found
    return tuple(found.values())


NOTHING = pod("p").no_containers()
ASKS = pod("p").cpu("1").memory("2k").container(resources={"requests": {"cpu": "2", "memory": "3k"}})
EQUAL = {"cpu": 1, "memory": 1}
MEMORY_TWICE = {"memory": 2, "cpu": 1}
WITH_GPU = {"cpu": 1, "memory": 1, GPU: 1}
GPU_TWICE = {GPU: 2, "cpu": 1, "memory": 1}
SMALL_AND_LARGE = nodes(("4", "10k"), ("6", "10k"))
LARGE = nodes(("10", "20k"), ("10", "20k"))


class TestLeastAllocated:
    @pytest.mark.parametrize(
        ("there", "running", "incoming", "weights", "expected"),
        [
            (nodes(("4", "10k"), ("4", "10k")), [], NOTHING, EQUAL, (100, 100)),
            (SMALL_AND_LARGE, [], ASKS, EQUAL, (37, 50)),
            (
                nodes(("4", "10k"), ("4", "10k")),
                [NOTHING.uid(name).set("metadata.name", name).on(name[:2]) for name in ("n1a", "n1b", "n2a", "n2b")],
                NOTHING,
                EQUAL,
                (100, 100),
            ),
            (
                LARGE,
                [uses(1, "3", "0", "a"), uses(1, "3", "0", "b"), uses(2, "3", "0", "c"), uses(2, "3", "5k", "d")],
                NOTHING,
                EQUAL,
                (70, 57),
            ),
            (LARGE, [uses(1, "3", "0"), uses(2, "3", "5k")], ASKS, EQUAL, (57, 45)),
            (nodes(("10", "20k"), ("10", "50k")), [uses(1, "3", "0"), uses(2, "3", "5k")], ASKS, EQUAL, (57, 60)),
            (
                nodes(("4", "10k"), ("4", "10k")),
                [uses(1, "3", "0"), uses(2, "3", "5k")],
                pod("p").cpu("3").memory("0"),
                EQUAL,
                (50, 25),
            ),
            (nodes(("0", "0"), ("0", "0")), [uses(1, "3", "0"), uses(2, "3", "5k")], NOTHING, EQUAL, (0, 0)),
            (SMALL_AND_LARGE, [], ASKS, MEMORY_TWICE, (41, 50)),
            (nodes(("6", "10k"), ("6", "10k", {GPU: "4"})), [], ASKS, WITH_GPU, (50, 50)),
            (
                nodes(("6", "10k", {GPU: "4"}), ("6", "10k", {GPU: "10"})),
                [],
                pod("p").cpu("3").memory("5k").requests({GPU: "2"}),
                WITH_GPU,
                (50, 60),
            ),
            (
                nodes(("6", "10k"), ("6", "10k", {GPU: "4"})),
                [],
                pod("p").cpu("3").memory("4k"),
                GPU_TWICE,
                (55, 55),
            ),
            (
                SMALL_AND_LARGE,
                [uses(1, "2", "4k"), uses(2, "1", "2k")],
                pod("p").cpu("1").memory("2k"),
                EQUAL,
                (32, 63),
            ),
        ],
        ids=[
            "nothing asked, nothing used",
            "of different size",
            "pods without requests",
            "nothing asked, in use",
            "in use",
            "in use and of different size",
            "more cpu than there is",
            "nodes without resources",
            "weights",
            "an extended resource that is not asked for",
            "an extended resource that is",
            "one that only one node has",
            "in use and of different cpu",
        ],
    )
    def test_scores_what_stays_free(self, there, running, incoming, weights, expected):
        assert scores(state(there, running), incoming, LEAST, weights) == expected


class TestMostAllocated:
    @pytest.mark.parametrize(
        ("there", "running", "incoming", "weights", "expected"),
        [
            (nodes(("4", "10k"), ("4", "10k")), [], NOTHING, EQUAL, (0, 0)),
            (SMALL_AND_LARGE, [], ASKS, EQUAL, (62, 50)),
            (
                LARGE,
                [uses(1, "3", "0", "a"), uses(1, "3", "0", "b"), uses(2, "3", "0", "c"), uses(2, "3", "5k", "d")],
                NOTHING,
                EQUAL,
                (30, 42),
            ),
            (LARGE, [uses(1, "3", "0"), uses(2, "3", "5k")], ASKS, EQUAL, (42, 55)),
            (nodes(("5", "10k"), ("10", "9k")), [], pod("p").cpu("5").memory("9k"), EQUAL, (95, 75)),
            (SMALL_AND_LARGE, [], ASKS, MEMORY_TWICE, (58, 50)),
            (
                nodes(("250m", "1000Mi"), ("250m", "1000Mi")),
                [pod("a").on("n1"), pod("b").on("n1")],
                pod("p"),
                EQUAL,
                (80, 30),
            ),
            (nodes(("6", "10k"), ("6", "10k", {GPU: "4"})), [], ASKS, WITH_GPU, (50, 50)),
            (
                nodes(("6", "10k", {GPU: "4"}), ("6", "10k", {GPU: "10"})),
                [],
                pod("p").cpu("3").memory("5k").requests({GPU: "2"}),
                WITH_GPU,
                (50, 40),
            ),
            (
                nodes(("6", "10k"), ("6", "10k", {GPU: "4"})),
                [],
                pod("p").cpu("3").memory("4k"),
                GPU_TWICE,
                (45, 45),
            ),
            (
                SMALL_AND_LARGE,
                [uses(1, "2", "4k"), uses(2, "1", "2k")],
                pod("p").cpu("1").memory("2k"),
                EQUAL,
                (67, 36),
            ),
        ],
        ids=[
            "nothing asked, nothing used",
            "of different size",
            "nothing asked, in use",
            "in use",
            "filled up",
            "weights",
            "defaults for what is not asked for",
            "an extended resource that is not asked for",
            "an extended resource that is",
            "one that only one node has",
            "in use and of different cpu",
        ],
    )
    def test_scores_what_is_used(self, there, running, incoming, weights, expected):
        assert scores(state(there, running), incoming, MOST, weights) == expected


@pytest.mark.parametrize(("strategy", "expected"), [(MOST, (67, 45)), (LEAST, (32, 55))])
def test_sidecars_of_the_pods_that_run_count(strategy, expected):
    request = {"requests": {"cpu": "1", "memory": "2k"}}
    helped = uses(1, "1", "2k").init_container(resources=request, restartPolicy="Always")
    cluster = state(nodes(("4", "10k"), ("4", "10k")), [helped, uses(2, "1", "2k")])
    assert scores(cluster, pod("p").cpu("1").memory("2k"), strategy, EQUAL) == expected


class TestRequestedToCapacityRatio:
    IN_USE = (uses(1, "3", "5k"), uses(2, "3", "5k"))

    @pytest.mark.parametrize(
        ("running", "incoming", "shape", "expected"),
        [
            ([], NOTHING, EMPTIER, (100, 100)),
            ([], ASKS, EMPTIER, (38, 50)),
            (IN_USE, NOTHING, EMPTIER, (38, 50)),
            ([uses(1, "2", "4k"), uses(2, "1", "2k")], pod("p").cpu("3").memory("5k"), EMPTIER, (10, 32)),
            ([uses(1, "2", "4k"), uses(2, "1", "2k")], pod("p").cpu("3").memory("5k"), FULLER, (95, 68)),
        ],
        ids=["nothing asked, nothing used", "asked for", "in use", "both, emptier is better", "both, fuller is better"],
    )
    def test_scores_by_the_shape(self, running, incoming, shape, expected):
        assert scores(state(SMALL_AND_LARGE, running), incoming, RATIO, EQUAL, shape) == expected

    @pytest.mark.parametrize(
        ("taken", "asked", "expected"),
        [(None, None, (0, 0)), (None, "2", (2, 5)), ("2", "2", (2, 10)), (None, "4", (5, 10))],
    )
    def test_fills_up_nodes_with_an_extended_resource(self, taken, asked, expected):
        there = nodes(("4", "10Gi", {GPU: "8"}), ("4", "10Gi", {GPU: "4"}))
        running = [] if taken is None else [pod("q").requests({GPU: taken}).on("n2")]
        incoming = pod("p") if asked is None else pod("p").requests({GPU: asked})
        assert scores(state(there, running), incoming, RATIO, {GPU: 1}, ((0, 0), (100, 1))) == expected

    @pytest.mark.parametrize(
        ("taken", "asked", "expected"),
        [
            (None, None, (0, 0)),
            (None, {GPU: "2", NIC: "2"}, (4, 3)),
            ({GPU: "4", NIC: "2"}, {GPU: "2", NIC: "2"}, (4, 7)),
            (None, {GPU: "4", NIC: "2"}, (5, 5)),
        ],
    )
    def test_or_with_two(self, taken, asked, expected):
        there = nodes(("4", "10Gi", {GPU: "8", NIC: "4"}), ("4", "10Gi", {GPU: "4", NIC: "8"}))
        running = [] if taken is None else [pod("q").requests(taken).on("n2")]
        incoming = pod("p") if asked is None else pod("p").requests(asked)
        assert scores(state(there, running), incoming, RATIO, {GPU: 3, NIC: 5}, ((0, 0), (100, 1))) == expected
