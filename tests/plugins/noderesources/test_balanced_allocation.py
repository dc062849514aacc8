"""NodeResourcesBalancedAllocation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.api.int64 import truncating_divmod
from scheduler.config.args.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
from scheduler.config.args.scoring import ResourceSpec
from scheduler.framework.status import SKIP
from scheduler.plugins.noderesources.balanced_allocation import BalancedAllocation, balance, balance_change, make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, handle, raw_scores


def plugin_for(*resources: str) -> BalancedAllocation:
    specs = tuple(ResourceSpec(name=name, weight=1) for name in resources)
    return make(NodeResourcesBalancedAllocationArgs(resources=specs), handle(state()))


PLUGIN = plugin_for("cpu", "memory")
SMALL = node("n").capacity(cpu="8", memory="8Gi")


def score(cluster, incoming, plugin=PLUGIN) -> dict[str, int]:
    return raw_scores(plugin, cycle_of(cluster, incoming))


def test_what_the_status_of_the_pod_tells_of_a_resize_counts_as_its_request():
    """The filters go by the spec alone."""
    told = [{"name": "main", "allocatedResources": {"cpu": "8"}}]
    plain = pod("p").cpu("1").memory("1Gi")
    told_of = pod("p").cpu("1").memory("1Gi").set("status.containerStatuses", told)
    cluster = state([SMALL])
    assert score(cluster, told_of) == score(cluster, pod("p").cpu("8").memory("1Gi")) != score(cluster, plain)


def test_a_pod_that_asks_for_nothing_but_has_been_given_something_is_scored():
    told = [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]
    cluster = state([SMALL])
    cycle = cycle_of(cluster, pod("p").set("status.containerStatuses", told))
    assert PLUGIN.pre_score(cycle, cycle.nodes) is None
    cycle = cycle_of(cluster, pod("p"))
    assert PLUGIN.pre_score(cycle, cycle.nodes) is SKIP


class TestScore:
    @pytest.mark.parametrize(
        ("incoming", "expected"),
        [
            (pod("p").cpu("4").memory("4Gi"), 75),
            (pod("p").cpu("2").memory("4Gi"), 68),
            (pod("p").cpu("8"), 50),
            (pod("p").cpu("80").memory("80Gi"), 75),
        ],
        ids=["alike", "a little off", "only cpu", "fractions end at 1"],
    )
    def test_of_an_empty_node_is_75_at_best(self, incoming, expected):
        assert score(state([SMALL]), incoming) == {"n": expected}

    def test_a_pod_that_evens_out_use_raises_it(self):
        cluster = state([SMALL], [pod("q").cpu("8").on("n")])
        assert score(cluster, pod("p").memory("8Gi")) == {"n": 100}

    def test_a_resource_that_the_node_lacks_does_not_count(self):
        cluster = state([node("n").capacity(memory="8Gi"), SMALL.set("metadata.name", "m")])
        assert score(cluster, pod("p").memory("4Gi")) == {"n": 75, "m": 62}

    def test_three_resources_use_the_standard_deviation(self):
        three = node("n").capacity({"example.com/gpu": "4"}, cpu="4", memory="4Gi")
        fractions = [0.5, 0.25, 1.0]
        mean = sum(fractions) / 3
        deviation = math.sqrt(sum((f - mean) * (f - mean) for f in fractions) / 3)
        expected = 50 + (50 + int((1 - deviation) * 100) - 100) // 2
        incoming = pod("p").cpu("2").memory("1Gi").requests({"example.com/gpu": "4"})
        assert score(state([three]), incoming, plugin_for("cpu", "memory", "example.com/gpu")) == {"n": expected}

    def test_an_extended_resource_that_is_not_requested_does_not_count(self):
        three = node("n").capacity({"example.com/gpu": "4"}, cpu="4", memory="4Gi")
        plugin = plugin_for("cpu", "memory", "example.com/gpu")
        assert score(state([three]), pod("p").cpu("2").memory("2Gi"), plugin) == {"n": 75}

    def test_requests_count_as_they_are_without_defaults(self):
        assert score(state([SMALL]), pod("p").cpu("8")) == {"n": 50}

    def test_pod_level_requests_count(self):
        whole = pod("p").set("spec.resources", {"requests": {"cpu": "4", "memory": "4Gi"}})
        cycle = cycle_of(state([SMALL]), whole)
        assert PLUGIN.pre_score(cycle, cycle.nodes) is None
        assert raw_scores(PLUGIN, cycle) == {"n": 75}


def two(*capacities, cpu="10", memory="20k", gpu=(None, None)) -> list:
    """Two nodes, "n1" and "n2", of these capacities (cpu, memory) or both of the same."""
    sizes = capacities or ((cpu, memory), (cpu, memory))
    extended = [{} if count is None else {"example.com/gpu": count} for count in gpu]
    return [
        node(f"n{number}").capacity(more, cpu=size[0], memory=size[1])
        for number, (size, more) in enumerate(zip(sizes, extended, strict=True), 1)
    ]


GPU_TOO = plugin_for("cpu", "memory", "example.com/gpu")
CPU_ONLY = pod("q1").cpu("3").on("n1")
CPU_AND_MEMORY = pod("q2").cpu("3").memory("5k").on("n2")
BOTH = pod("p").cpu("1").memory("2k").container(resources={"requests": {"cpu": "2", "memory": "3k"}})


class TestScoreOfTwoNodes:
    @pytest.mark.parametrize(
        ("nodes", "running", "incoming", "expected"),
        [
            (two(("4", "10k"), ("6", "10k")), [], BOTH, (68, 75)),
            (two(), [CPU_ONLY, CPU_AND_MEMORY], BOTH, (73, 74)),
            (two(("10", "20k"), ("10", "50k")), [CPU_ONLY, CPU_AND_MEMORY], BOTH, (73, 70)),
            (two(cpu="3", memory="5k"), [CPU_ONLY], pod("p").memory("5k"), (100, 50)),
            (two(cpu="6", memory="10k"), [CPU_ONLY, CPU_AND_MEMORY], pod("p").cpu("3"), (62, 62)),
        ],
        ids=["of different size", "in use", "in use and of different size", "best and worst", "filled up"],
    )
    def test_is_by_the_change_of_balance(self, nodes, running, incoming, expected):
        cluster = state(nodes, running)
        cycle = cycle_of(cluster, incoming)
        assert PLUGIN.pre_score(cycle, cycle.nodes) is None
        assert tuple(raw_scores(PLUGIN, cycle).values()) == expected
        assert tuple(score(cluster, incoming).values()) == expected

    def test_a_requested_extended_resource_counts(self):
        running = [pod("q1").cpu("3").memory("5k").requests({"example.com/gpu": "3"}).on("n1"), CPU_AND_MEMORY]
        cluster = state(two(cpu="3500m", memory="40k", gpu=("8", "8")), running)
        incoming = pod("p").cpu("0").memory("0").requests({"example.com/gpu": "1"})
        assert score(cluster, incoming, GPU_TOO) == {"n1": 75, "n2": 76}

    def test_one_that_is_not_requested_counts_on_neither_node(self):
        cluster = state(two(cpu="3500m", memory="40k", gpu=("8", None)))
        assert score(cluster, BOTH, GPU_TOO) == {"n1": 56, "n2": 56}


class TestPreScore:
    @pytest.mark.parametrize(
        ("incoming", "skipped"),
        [
            (pod("p"), True),
            (pod("p").requests({"ephemeral-storage": "1Gi"}), True),
            (pod("p").cpu("0"), True),
            (pod("p").cpu("1m"), False),
            (pod("p").memory("1"), False),
        ],
        ids=["nothing", "only what is not scored", "zero", "cpu", "memory"],
    )
    def test_skips_pods_that_request_none_of_the_resources(self, incoming, skipped):
        cycle = cycle_of(state([SMALL]), incoming)
        assert (PLUGIN.pre_score(cycle, cycle.nodes) is SKIP) is skipped

    def test_without_it_such_pods_score_0(self):
        assert score(state([SMALL]), pod("p")) == {"n": 0}


def scalar_balance(requested: list[int], allocatable: list[int]) -> int:
    """One node, as balancedResourceScore goes about it."""
    fractions = [min(used / have, 1.0) for used, have in zip(requested, allocatable, strict=True) if have]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        squares = 0.0
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        deviation = math.sqrt(squares / len(fractions))
    return int((1 - deviation) * 100)


amounts = st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 2**50))
tables = st.integers(1, 5).flatmap(
    lambda count: st.lists(
        st.lists(st.tuples(amounts, amounts, amounts), min_size=count, max_size=count), min_size=1, max_size=4
    )
)


@given(tables)
def test_vectors_agree_with_one_node_at_a_time(table):
    allocated = np.array([[used for used, _, _ in node] for node in table], np.int64).T
    requested = allocated + np.array([[more for _, more, _ in node] for node in table], np.int64).T
    allocatable = np.array([[have for _, _, have in node] for node in table], np.int64).T
    columns = range(len(table))
    after = [scalar_balance(requested[:, c].tolist(), allocatable[:, c].tolist()) for c in columns]
    before = [scalar_balance(allocated[:, c].tolist(), allocatable[:, c].tolist()) for c in columns]
    assert balance(requested, allocatable).tolist() == after
    expected = [50 + truncating_divmod(50 + a - b, 2)[0] for a, b in zip(after, before, strict=True)]
    assert balance_change(np.stack((requested, allocated)), allocatable).tolist() == expected


AMOUNTS = st.one_of(st.integers(0, 10), st.integers(0, 1 << 40), st.integers(0, 1 << 62))


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), min_size=3, max_size=3))
def test_one_node_alone_scores_as_among_others(amounts):
    cluster = state([node("a"), node("b"), node("c")])
    for row, (has_cpu, has_memory, cpu, memory) in enumerate(amounts):
        cluster.nodes.allocatable[:2, row] = has_cpu, has_memory
        cluster.nodes.requested[:2, row] = cpu, memory
    score(cluster, pod("p").cpu("100m").memory("1Mi"))  # each node is asked alone there, and compared
