"""The plugin at its extension points."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from scheduler.config.args.default_preemption import DefaultPreemptionArgs
from scheduler.framework.events import QueueingHint
from scheduler.framework.handle import Handle
from scheduler.framework.interface import PostFilterResult
from scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from scheduler.plugins.defaultpreemption.budgets import KIND
from scheduler.plugins.defaultpreemption.plugin import make
from tests.builders import info, pod, pod_term, state
from tests.framework.stubs import Filter
from tests.plugins.defaultpreemption.attempts import budget, handle, rejected, small, there, wanting
from tests.plugins.harness import UnusedBinder, cycle_of, events


def preempt(cluster, incoming, args=None):
    cycle, rejections = rejected(cluster, incoming)
    cycle.rejections = rejections
    return make(args, handle(cluster)).post_filter(cycle)


def test_room_is_made_where_that_hurts_least():
    pods = there("dear", "a", cpu="2", priority=50), there("cheap", "b", cpu="2", priority=5)
    made = preempt(state([small("a"), small("b")], pods), wanting())
    text = "preemption: found a potential placement for pod on node b, preempting 1 victims"
    assert made.status == Status(Code.SUCCESS, (text,))
    assert made.nominated_node == "b"
    assert [victim.name for victim in made.victims] == ["cheap"]
    assert sorted(candidate.node for candidate in made.candidates) == ["a", "b"]
    assert [tie.node for tie in made.ties] == ["b"]


def test_the_cluster_is_as_before():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    preempt(cluster, wanting())
    assert [p.name for p in cluster.pods.on_node("a")] == ["p"]
    assert int(cluster.nodes.requested[0, 0]) == 2000


def test_of_pods_that_cannot_be_told_apart_the_same_one_is_chosen_each_time():
    """Wherever victims are tried one by one, which an affinity calls for."""
    cluster = state([small("a")], [there(name, "a", cpu="500m") for name in "pqrs"])
    incoming = wanting("500m").requires_pods(pod_term("kubernetes.io/hostname", {"app": "x"}), anti=True)
    assert [[victim.name for victim in preempt(cluster, incoming).victims] for _ in range(3)] == [["s"]] * 3


def test_budgets_of_the_cluster_are_heeded():
    pods = there("dear", "a", cpu="2", priority=50), there("cheap", "b", cpu="2").label(app="web")
    cluster = state([small("a"), small("b")], pods)
    cluster.set_object(KIND, budget("pdb", {"matchLabels": {"app": "web"}}))
    assert preempt(cluster, wanting()).nominated_node == "a"


class Drawn(random.Random):
    """Draws these numbers, one after the other."""

    def __init__(self, *numbers):
        super().__init__()
        self.numbers = list(numbers)

    def randrange(self, *bounds):
        return self.numbers.pop(0) % bounds[-1]


@pytest.mark.parametrize(
    ("offset", "tie", "node"), [(0, 0, "n0"), (0, 3, "n3"), (5, 0, "n5"), (5, 4, "n1")], ids=lambda drawn: str(drawn)
)
def test_where_to_begin_and_which_of_the_nodes_that_tie_is_drawn(offset, tie, node):
    cluster = state([small(f"n{i}") for i in range(8)], [there(f"p{i}", f"n{i}", cpu="2") for i in range(8)])
    cycle, rejections = rejected(cluster, wanting())
    cycle.rejections = rejections
    held = replace(handle(cluster), random=Drawn(offset, tie))
    assert make(None, held).post_filter(cycle).nominated_node == node


def test_lesser_pods_nominated_to_the_node_are_named():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    cluster.nominations.add(info(pod("less").priority(1).nominated("a"), cluster), "a")
    assert [p.name for p in preempt(cluster, wanting()).cleared] == ["less"]


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        (
            wanting(priority=0),
            "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling",
        ),
        (wanting().node_selector(disk="ssd"), "2 Preemption is not helpful for scheduling"),
    ],
    ids=["nobody matters less", "no eviction helps"],
)
def test_where_nothing_helps_the_nomination_is_cleared(incoming, expected):
    cluster = state([small("a"), small("tiny").capacity(cpu="1")], [there("p", "a", cpu="2")])
    told = unschedulable(f"preemption: 0/2 nodes are available: {expected}.")
    assert preempt(cluster, incoming) == PostFilterResult(told, nominated_node="")


def test_a_pod_that_is_not_eligible_keeps_its_nomination():
    made = preempt(state([small("a")], [there("p", "a", cpu="2")]), wanting().set("spec.preemptionPolicy", "Never"))
    told = unschedulable("preemption: not eligible due to preemptionPolicy=Never.")
    assert made == PostFilterResult(told, nominated_node=None)


def test_if_there_were_only_errors_the_attempt_has_failed():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    cycle, rejections = rejected(cluster, wanting())
    cycle.rejections, cycle.filters = rejections, [Filter("F", {"a": error("boom")})]
    with pytest.raises(PluginError, match=r'^preemption: running "F" filter plugin: boom$'):
        make(None, handle(cluster)).post_filter(cycle)


class Extenders:
    """Extenders that choose among the candidates."""

    def __init__(self, choice):
        self.choice = choice

    def preempt(self, candidates, pods_on):
        assert pods_on("gone") is None
        assert [p.name for p in pods_on("a")] == ["p"]
        if isinstance(self.choice, Exception):
            raise self.choice
        return [candidate for candidate in candidates if candidate.node in self.choice]


def preempt_with_extenders(choice):
    pods = there("p", "a", cpu="2", priority=5), there("q", "b", cpu="2")
    cluster = state([small("a"), small("b")], pods)
    cycle, rejections = rejected(cluster, wanting())
    cycle.rejections, cycle.extenders = rejections, Extenders(choice)
    return make(None, handle(cluster)).post_filter(cycle)


def test_extenders_have_a_say_in_it():
    assert preempt_with_extenders(["a"]).nominated_node == "a"
    told = unschedulable("preemption: no candidate node for preemption")
    assert preempt_with_extenders([]) == PostFilterResult(told, nominated_node=None)
    with pytest.raises(PluginError, match=r"^preemption: out of order$"):
        preempt_with_extenders(RuntimeError("out of order"))


def test_attempts_are_counted_whatever_comes_of_them():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    held = handle(cluster)
    plugin = make(None, held)
    for incoming in (wanting(), wanting(priority=0)):
        cycle, rejections = rejected(cluster, incoming)
        cycle.rejections = rejections
        plugin.post_filter(cycle)
    assert held.metrics.preemption_attempts.labels().value == 2


def test_a_pod_that_was_not_filtered_cannot_preempt():
    with pytest.raises(PluginError, match="was not filtered"):
        make(None, handle(state())).post_filter(cycle_of(state(), wanting()))


def test_the_arguments_say_how_many_candidates_are_enough():
    pods = [there(f"p{i}", f"n{i}", cpu="2") for i in range(20)]
    args = DefaultPreemptionArgs(min_candidate_nodes_percentage=10, min_candidate_nodes_absolute=0)
    made = preempt(state([small(f"n{i}") for i in range(20)], pods), wanting(), args)
    assert len(made.candidates) == 2


def test_a_pod_waits_while_its_victims_are_told_to_go():
    cluster = state([small("a")], [there("p", "a", cpu="2")])
    held = handle(cluster)
    cycle, rejections = rejected(cluster, wanting())
    cycle.rejections = rejections
    plugin = make(None, held)
    assert plugin.pre_enqueue(cycle.pod) is None
    plugin.post_filter(cycle)
    assert plugin.pre_enqueue(cycle.pod) == unresolvable("waiting for the preemption for this pod to be finished")


def test_deletions_of_pods_may_end_the_wait_but_do_not_wake_the_pod():
    plugin = make(None, handle(state()))
    assert events(plugin.events_to_register()) == {"AssignedPod DELETE": "after_pod_deletion"}
    assert plugin.after_pod_deletion(info(wanting()), info(there("p", "a")), None) is QueueingHint.SKIP


def test_without_the_gate_nothing_is_waited_for():
    plugin = make(None, Handle(state(), UnusedBinder(), lambda _gate: False, random=random.Random(1)))
    assert list(plugin.events_to_register()) == []
