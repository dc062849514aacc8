from __future__ import annotations

from scheduler.config.args.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
from scheduler.config.args.scoring import DEFAULT_RESOURCES, ResourceSpec


def test_no_resources_means_cpu_and_memory(gates):
    assert NodeResourcesBalancedAllocationArgs(resources=()).defaulted(gates).resources == DEFAULT_RESOURCES


def test_each_resource_is_named_once_with_weight_one(gates):
    resources = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="cpu", weight=2))
    errors = NodeResourcesBalancedAllocationArgs(resources=resources).validate("a", gates)
    assert [str(error) for error in errors] == [
        'a.resources[1].name: Duplicate value: "cpu"',
        "a.resources[1].weight: Invalid value: 2: must be 1",
    ]
