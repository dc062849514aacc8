"""An attempt to make room, rehearsed: the same candidates and the same words, with nothing begun."""

from __future__ import annotations

from scheduler.plugins.defaultpreemption.choice import cost_of
from scheduler.plugins.defaultpreemption.plugin import make
from scheduler.plugins.defaultpreemption.rehearsal import Rehearsal
from tests.builders import info, state
from tests.plugins.defaultpreemption.attempts import handle, rejected, small, there, wanting


def rehearsed(cluster, incoming):
    """What comes of it, and whether anything was begun or drawn."""
    used = handle(cluster)
    before = used.random.getstate()
    found = make(None, used).rehearse(*rejected(cluster, incoming))
    assert used.random.getstate() == before
    assert used.metrics.preemption_attempts.labels().value == 0
    return found


def test_the_cheapest_candidate_comes_first_with_what_it_costs():
    pods = (
        there("dear", "a", cpu="2", priority=50),
        there("cheap", "b", cpu="2", priority=5),
        there("top", "c", cpu="2", priority=100),
    )
    found = rehearsed(state([small("a"), small("b"), small("c")], pods), wanting())
    assert [(cost.highest, eviction.node) for cost, eviction in found.candidates] == [(5, "b"), (50, "a")]
    assert found.message == "preemption: found a potential placement for pod on node b, preempting 1 victims"
    assert (found.tried, found.might_help) == (3, 3)
    assert {status.message: count for status, count in found.refused.items()} == {
        "No preemption victims found for incoming pod": 1
    }


def test_candidates_that_cost_the_same_come_by_name():
    pods = [there(f"p{name}", name, cpu="2") for name in "cab"]
    found = rehearsed(state([small(name) for name in "cab"], pods), wanting())
    assert [eviction.node for _, eviction in found.candidates] == ["a", "b", "c"]
    assert len({cost for cost, _ in found.candidates}) == 1


def test_what_helps_nowhere_is_said_in_the_words_of_an_attempt():
    found = rehearsed(state([small("a"), small("b").taint("x")], [there("p", "a", cpu="2")]), wanting(priority=0))
    assert found.candidates == ()
    assert found.message == (
        "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )


def test_who_must_not_preempt_is_not_tried():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    why = "not eligible due to preemptionPolicy=Never."
    assert rehearsed(cluster, wanting().set("spec.preemptionPolicy", "Never")) == Rehearsal(
        message=f"preemption: {why}", ineligible=why
    )


def test_lesser_nominations_are_told_by_candidate():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    cluster.nominations.add(info(there("less", "a", priority=1).nominated("a"), cluster), "a")
    assert rehearsed(cluster, wanting()).cleared == {"a": ("default/less",)}


def test_a_cost_has_a_name_for_all_that_is_compared():
    cluster = state([small("a")], [there("p", "a", priority=7, started=3)])
    ((cost, eviction),) = rehearsed(cluster, wanting("2")).candidates
    assert cost == cost_of(eviction, 0.0)
    assert (cost.violations, cost.highest, cost.victims) == (0, 7, 1)
    assert cost.total == 7 + 2**31
    assert -cost.age == eviction.victims[0].start_time
