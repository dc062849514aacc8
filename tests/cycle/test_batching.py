"""What is counted of opportunistic batching, though no pod is batched."""

from __future__ import annotations

import pytest

from scheduler.framework.status import unresolvable, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Filter, PreFilter, Score

ATTEMPTS = "scheduler_batch_attempts"
FLUSHED = "scheduler_batch_cache_flushed"


def counts(rig, name):
    """The counter's values by the label that is not the profile."""
    for family in rig.metrics.registry.collect():
        if family.name == name:
            samples = [sample for sample in family.samples if sample.name == f"{name}_total"]
            assert all(sample.labels["profile"] == PROFILE for sample in samples)
            return {
                value: sample.value
                for sample in samples
                for label, value in sample.labels.items()
                if label != "profile"
            }
    return {}


async def scheduled(*plugins, nodes="ab"):
    rig = Rig(*(plugins or (Filter("A"), Score("S"))))
    rig.put(*(node(name) for name in nodes), pod("p"))
    await rig.step()
    return rig


async def test_a_pod_with_a_choice_of_nodes_is_not_batchable():
    rig = await scheduled()
    assert counts(rig, ATTEMPTS) == {"no_hint": 1}
    assert counts(rig, FLUSHED) == {"pod_not_batchable": 1}


async def test_a_pod_without_a_choice_leaves_nothing_to_keep():
    assert counts(await scheduled(nodes="a"), FLUSHED) == {"empty_list": 1}


async def test_a_pod_that_fits_nowhere_had_no_hint():
    rig = await scheduled(Filter("A", dict.fromkeys("ab", unschedulable("no"))))
    assert counts(rig, ATTEMPTS) == {"no_hint": 1}
    assert counts(rig, FLUSHED) == {}


async def test_a_pod_that_is_turned_down_before_filtering_asks_for_no_hint():
    rig = await scheduled(PreFilter("P", unresolvable("no")), Filter("A"))
    assert counts(rig, ATTEMPTS) == {}


@pytest.mark.parametrize("histogram", ["get_node_hint", "store_schedule_results"])
async def test_the_times_are_counted_as_often(histogram):
    rig = await scheduled()
    text = [
        sample.value
        for family in rig.metrics.registry.collect()
        for sample in family.samples
        if sample.name == f"scheduler_{histogram}_duration_seconds_count"
    ]
    assert text == [1]


async def test_nothing_is_counted_where_it_is_off():
    rig = Rig(Filter("A"), Score("S"), batching=False)
    rig.put(node("a"), node("b"), pod("p"))
    await rig.step()
    assert counts(rig, ATTEMPTS) == {}
    assert counts(rig, FLUSHED) == {}
