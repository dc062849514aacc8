"""What nodes are scored by: requests and capacity of the resources that count."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.nodes import NodeView
from scheduler.config.args.scoring import ResourceSpec
from scheduler.plugins.noderesources.resource_allocation import ScoredResources, requests_of
from tests.builders import info, node, pod, state

GPU = "example.com/gpu"
CLUSTER = state(
    [
        node("n1").capacity({GPU: "4"}, cpu="8", memory="16", pods="10"),
        node("n2").capacity(cpu="2", memory="32"),
    ],
    [pod("a").cpu("1").requests({GPU: "3", "ephemeral-storage": "5"}).memory("6").on("n1"), pod("b").on("n2")],
)
DEFAULT_MEMORY = 200 << 20


def scored(*names: str, nonzero: bool = False, **requests: int) -> ScoredResources:
    specs = [ResourceSpec(name=name, weight=number + 1) for number, name in enumerate(names)]
    return ScoredResources(CLUSTER.nodes, specs, {GPU: requests.pop("gpu", 0), **requests}, nonzero=nonzero)


ALL = NodeView(CLUSTER.nodes)
SOME = NodeView(CLUSTER.nodes, np.array([1, 0]))


@pytest.mark.parametrize(
    "names", [("cpu", "memory"), ("memory", "cpu"), ("cpu", GPU), ("memory",), ("ephemeral-storage", "cpu", "memory")]
)
def test_columns_come_in_the_order_of_the_arguments(names):
    resources = scored(*names, gpu=1)
    by_name = {
        "cpu": ([8000, 2000], [1000, 0], [1000, 100]),
        "memory": ([16, 32], [6, 0], [6, DEFAULT_MEMORY]),
        GPU: ([4, 0], [3, 0], [3, 0]),
        "ephemeral-storage": ([0, 0], [5, 0], [5, 0]),
    }
    for column, answer in enumerate((resources.allocatable, resources.requested, resources.nonzero_requested)):
        expected = [by_name[name][column] for name in names]
        assert answer(ALL).tolist() == expected
        assert answer(SOME).tolist() == [row[::-1] for row in expected]


def test_amounts_and_weights_follow_the_same_order():
    resources = scored("cpu", GPU, gpu=2)
    assert resources.amounts.tolist() == [[0], [2]]
    assert resources.weights.tolist() == [[1], [2]]


@pytest.mark.parametrize("name", [GPU, "pods", "unknown"], ids=["not requested", "pods", "not counted"])
def test_what_does_not_count_is_left_out(name):
    resources = scored("cpu", name)
    assert len(resources) == 1
    assert resources.allocatable(ALL).tolist() == [[8000, 2000]]


def test_nothing_may_be_left():
    resources = scored(GPU)
    assert len(resources) == 0
    assert resources.allocatable(ALL).shape == (0, 2)
    assert resources.nonzero_requested(SOME).shape == (0, 2)


def test_requests_of_a_shape_are_worked_out_once():
    shape = info(pod("p").cpu("1500m").memory("1Gi")).shape
    assert requests_of(shape) == {"cpu": 1500, "memory": 1 << 30}
    assert requests_of(shape) is requests_of(shape)


@pytest.mark.parametrize(
    ("nonzero", "requested"), [(False, [[1000, 6], [0, 0]]), (True, [[1000, 6], [100, DEFAULT_MEMORY]])]
)
def test_of_one_node_with_the_pod_on_it(nonzero, requested):
    resources = scored("cpu", "memory", nonzero=nonzero, cpu=5, memory=7)
    found = [resources.of_one(CLUSTER.nodes, row) for row in (0, 1)]
    expected = [[cpu + 5, memory + 7] for cpu, memory in requested]
    assert found == [(expected[0], [8000, 16]), (expected[1], [2000, 32])]


def test_amounts_that_floats_would_round_are_not_reckoned_with_alone():
    assert (
        ScoredResources(CLUSTER.nodes, [ResourceSpec(name="cpu", weight=1)], {"cpu": 1 << 53}).of_one(CLUSTER.nodes, 0)
        is None
    )
