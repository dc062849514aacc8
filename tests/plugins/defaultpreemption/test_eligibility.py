"""Which pods may preempt, and whom."""

from __future__ import annotations

import pytest

from scheduler.plugins.defaultpreemption.eligibility import (
    NEVER,
    VICTIM_TERMINATING,
    possible_victims,
    why_not_eligible,
)
from tests.builders import pod, state
from tests.plugins.defaultpreemption.attempts import rejected, small, there, wanting

PREEMPTED = ("DisruptionTarget", "True", "PreemptionByScheduler")


def leaving(priority=0, condition=PREEMPTED, on="n"):
    return there("leaving", on, cpu="2", priority=priority).terminating().condition(*condition)


def why_not(incoming, *others, nodes=("n",)):
    cluster = state([small(name) for name in nodes], others)
    return why_not_eligible(*rejected(cluster, incoming))


def test_a_pod_that_must_not_preempt_is_told_so():
    assert why_not(wanting().set("spec.preemptionPolicy", "Never"), there("p", "n", cpu="2")) == NEVER


def test_a_pod_waits_for_its_victims_to_leave():
    assert why_not(wanting().nominated("n"), leaving()) == VICTIM_TERMINATING


@pytest.mark.parametrize(
    "victim",
    [
        leaving(priority=100),
        leaving(condition=("DisruptionTarget", "False", "PreemptionByScheduler")),
        leaving(condition=("DisruptionTarget", "True", "EvictionByEvictionAPI")),
        leaving(condition=("Ready", "True", "PreemptionByScheduler")),
        there("there", "n", cpu="2").condition(*PREEMPTED),
    ],
    ids=["matters as much", "not disrupted", "evicted by others", "no such condition", "not leaving"],
)
def test_other_pods_are_not_waited_for(victim):
    assert why_not(wanting().nominated("n"), victim) == ""


@pytest.mark.parametrize("nominated", ["", "gone", "other"], ids=["none", "a node that is gone", "another node"])
def test_only_the_nominated_node_is_looked_at(nominated):
    others = leaving(), there("p", "other", cpu="2")
    assert why_not(wanting().nominated(nominated), *others, nodes=("n", "other")) == ""


def test_nobody_is_waited_for_on_a_node_that_is_out_of_the_question():
    assert why_not(wanting().nominated("n").node_selector(disk="ssd"), leaving()) == ""


def test_victims_are_pods_of_lower_priority():
    pods = [pod(f"p{priority}").on("n").cpu("1").priority(priority) for priority in (-1, 5, 6)]
    cycle, _ = rejected(state([small("n")], pods), wanting(priority=6))
    assert [victim.name for victim in possible_victims(cycle, 0)] == ["p-1", "p5"]
