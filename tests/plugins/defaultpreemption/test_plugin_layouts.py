"""From the pods of a cluster to what the plugin answers, and to the node that it chooses."""

from __future__ import annotations

import pytest

from scheduler.client.extender.interface import ExtenderError, VictimUIDs
from scheduler.config.args.default_preemption import DefaultPreemptionArgs
from scheduler.framework.extenders import ExtenderCalls
from scheduler.framework.status import unschedulable
from scheduler.plugins.defaultpreemption.budgets import KIND
from scheduler.plugins.defaultpreemption.plugin import make
from tests.builders import node, pod_term, state
from tests.framework.stubs import StubExtender
from tests.plugins.defaultpreemption.attempts import budget, handle, rejected, small, there, wanting

NEG, LOW, MID, HIGH, TOP = -100, 0, 100, 1000, 10000
GUARDED = {"matchLabels": {"guarded": "yes"}}


def single(name):
    """A node with room for one pod."""
    return node(name).capacity(cpu="32", pods="1")


def preempt(nodes, pods, incoming, *, budgets=(), extenders=(), args=None):
    cluster = state(nodes, pods)
    for each in budgets:
        cluster.set_object(KIND, each)
    cycle, rejections = rejected(cluster, incoming)
    cycle.rejections = rejections
    cycle.extenders = ExtenderCalls(extenders, cycle.pod) if extenders else None
    return make(args, handle(cluster)).post_filter(cycle)


def outcome(*args, **more):
    """The node and the victims' names, or why there are none."""
    made = preempt(*args, **more)
    if made.nominated_node:
        told = f"preemption: found a potential placement for pod on node {made.nominated_node}, "
        assert made.status.message == f"{told}preempting {len(made.victims)} victims"
        return made.nominated_node, sorted(victim.name for victim in made.victims)
    assert made.status == unschedulable(made.status.message)
    return made.status.message.removeprefix("preemption: ")


class TestAnswers:
    def test_one_pod_makes_way_for_another(self):
        assert outcome([single("a")], [there("v", "a")], wanting("1", HIGH)) == ("a", ["v"])

    def test_not_for_one_that_matters_as_much(self):
        answer = outcome([single("a")], [there("v", "a")], wanting("1", LOW))
        assert answer == "0/1 nodes are available: 1 No preemption victims found for incoming pod."

    def test_not_where_evictions_are_no_help(self):
        nodes = [single("a").taint("t")]
        answer = outcome(nodes, [there("v", "a")], wanting("1", HIGH))
        assert answer == "0/1 nodes are available: 1 Preemption is not helpful for scheduling."

    def test_nor_on_nodes_that_were_never_looked_at(self):
        only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
        pods = [there("v", "a"), there("w", "b", priority=TOP)]
        answer = outcome([single("a"), single("b")], pods, wanting("1", HIGH).requires_node(only))
        assert answer == (
            "0/2 nodes are available: 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling."
        )

    def test_only_nodes_whose_pods_matter_less_are_taken(self):
        pods = there("v", "a", priority=HIGH), there("w", "b", priority=LOW)
        assert outcome([single("a"), single("b")], pods, wanting("1", MID)) == ("b", ["w"])

    def test_as_many_broken_budgets_leave_it_to_the_priorities(self):
        pods = [
            there("v", "a", priority=HIGH).label(guarded="no"),
            there("w", "a", priority=LOW).label(guarded="yes"),
            there("x", "b", priority=MID).label(guarded="yes"),
        ]
        budgets = budget("tight", GUARDED), budget("loose", {"matchLabels": {"guarded": "no"}}, 2**31 - 1)
        assert outcome([single("a"), single("b")], pods, wanting("1", TOP), budgets=budgets) == ("b", ["x"])

    def test_evictions_that_free_too_little(self):
        pods = there("v", "a"), there("w", "b")
        answer = outcome([small("a"), small("b")], pods, wanting("3", HIGH))
        # More than the whole node: no eviction can help.
        assert answer == "0/2 nodes are available: 2 Preemption is not helpful for scheduling."

    @pytest.mark.parametrize(
        ("others", "expected"),
        [
            (0, "2 Insufficient cpu"),
            (2, "2 Insufficient cpu, 2 Preemption is not helpful for scheduling"),
        ],
    )
    def test_evictions_that_free_too_little_beside_pods_that_stay(self, others, expected):
        pods = [pod_ for name in "ab" for pod_ in (there(f"{name}1", name, priority=TOP), there(f"{name}2", name))]
        cordoned = [small(f"c{i}").unschedulable() for i in range(others)]
        answer = outcome([small("a"), small("b"), *cordoned], pods, wanting("2", HIGH))
        assert answer == f"0/{2 + others} nodes are available: {expected}."

    def test_reasons_of_several_kinds(self):
        pods = [there("v", "a", priority=HIGH), there("w", "b", priority=HIGH), there("x", "b"), there("y", "c")]
        nodes = [single("a"), small("b"), single("c").taint("t")]
        assert outcome(nodes, pods, wanting("2", HIGH)) == (
            "0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling."
        )

    def test_a_pod_of_a_group_preempts_like_any_other_while_groups_are_off(self):
        incoming = wanting("1", HIGH).set("spec.schedulingGroup", {"podGroupName": "g"})
        assert outcome([single("a")], [there("v", "a")], incoming) == ("a", ["v"])

    def test_where_no_candidates_are_wanted_there_are_none(self):
        args = DefaultPreemptionArgs(min_candidate_nodes_percentage=1, min_candidate_nodes_absolute=0)
        pods = [there(f"v{i}", f"n{i}") for i in range(3)]
        answer = outcome([single(f"n{i}") for i in range(3)], pods, wanting("1", HIGH), args=args)
        assert answer == "0/3 nodes are available: 3 Preemption is not helpful for scheduling."


NODES = [small("a"), small("b"), small("c")]
PODS = [
    there("a1", "a", cpu="500m", priority=MID),
    there("a2", "a", cpu="500m", priority=LOW),
    there("b1", "b", cpu="1500m", priority=HIGH),
    there("c1", "c", cpu="1", priority=MID),
]


class TestPolicy:
    @pytest.mark.parametrize("policy", [None, "PreemptLowerPriority"])
    def test_pods_preempt_unless_they_say_never(self, policy):
        incoming = wanting("2", HIGH).set("spec.preemptionPolicy", policy)
        pods = [each if each.document["metadata"]["name"] != "a1" else each.priority(LOW) for each in PODS]
        assert outcome(NODES, pods, incoming) == ("a", ["a1", "a2"])

    def test_never_is_never(self):
        incoming = wanting("2", HIGH).set("spec.preemptionPolicy", "Never")
        assert outcome(NODES, PODS, incoming) == "not eligible due to preemptionPolicy=Never."


def keeping(*names):
    """An extender's answer: these nodes of those proposed, or all of them, with the victims proposed there."""

    def answer(candidates):
        return {
            name: VictimUIDs([victim.uid for victim in victims.pods], victims.pdb_violations)
            for name, victims in candidates.items()
            if not names or name in names
        }

    return answer


class TestExtenders:
    """Without any, node c would be chosen, where one pod of medium priority goes."""

    def chosen(self, *extenders):
        return outcome(NODES, PODS, wanting("2", HIGH), extenders=extenders)

    def test_where_all_agree_the_least_costly_node_is_taken(self):
        assert self.chosen(StubExtender(preempt=keeping())) == ("c", ["c1"])

    def test_one_alone_may_leave_a_single_node(self):
        extenders = StubExtender(preempt=keeping()), StubExtender(preempt=keeping("a"))
        assert self.chosen(*extenders) == ("a", ["a1", "a2"])

    def test_one_may_leave_none(self):
        assert self.chosen(StubExtender(preempt=keeping("elsewhere"))) == "no candidate node for preemption"

    def test_one_that_fails_is_passed_over_if_it_may_be(self):
        failing = StubExtender(preempt=ExtenderError("broken"), ignorable=True)
        assert self.chosen(failing, StubExtender(preempt=keeping("a"))) == ("a", ["a1", "a2"])

    def test_one_without_interest_has_no_say(self):
        bored = StubExtender(preempt=keeping("a"), interested=False)
        assert self.chosen(bored, StubExtender(preempt=keeping())) == ("c", ["c1"])


def four(name, *victims):
    """Pods of a node with four CPUs of which half are taken by each of two, or as told: (priority, CPUs, start)."""
    return [
        there(f"{name}{i}", name, cpu=cpu, priority=priority, started=started)
        for i, (priority, cpu, started) in enumerate(victims)
    ]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ({"a": [(MID, "3", 0)], "b": [(MID, "3", 0)]}, "ab"),
        ({"a": [(MID, "2", 0)] * 2, "b": [(MID, "2", 0), (LOW, "2", 0)], "c": [(LOW, "2", 0)] * 2}, "c"),
        ({"a": [(MID, "2", 0)] * 2, "b": [(MID, "2", 0), (LOW, "2", 0)], "c": [(MID, "2", 0)] * 2}, "b"),
        (
            {
                "a": [(MID, "1", 0), (NEG, "1", 0), (MID, "1", 0), (NEG, "1", 0)],
                "b": [(MID, "2", 0), (NEG, "2", 0)],
                "c": [(MID, "2", 0), (NEG, "1", 0), (LOW, "1", 0)],
            },
            "b",
        ),
        (
            {
                "a": [(MID, "1", 0), (NEG, "1", 0), (NEG, "1", 0)],
                "b": [(MID, "2", 0), (NEG, "2", 0)],
                "c": [(MID, "2", 0), (NEG, "1", 0), (LOW, "1", 0)],
            },
            "b",
        ),
        (
            {
                "a": [(MID, "1", 0), (LOW, "1", 0), (LOW, "1", 0)],
                "b": [(HIGH, "3", 0)],
                "c": [(MID, "1", 0), (LOW, "1", 0), (LOW, "1", 0), (LOW, "1", 0)],
                "d": [(MID, "1", 0), (MID, "1", 0), (MID, "1", 0), (NEG, "1", 0)],
            },
            "a",
        ),
        ({"a": [(MID, "2", 2)] * 2, "b": [(MID, "2", 3)] * 2, "c": [(MID, "2", 1)] * 2}, "b"),
        (
            {
                "a": [(MID, "2", 4), (MID, "2", 2)],
                "b": [(MID, "2", 5), (MID, "2", 1)],
                "c": [(MID, "2", 3), (MID, "2", 6)],
            },
            "c",
        ),
        (
            {
                "a": [(LOW, "2", 4), (MID, "2", 2)],
                "b": [(MID, "2", 6), (LOW, "2", 1)],
                "c": [(LOW, "2", 3), (MID, "2", 5)],
            },
            "b",
        ),
    ],
    ids=[
        "a tie",
        "lowest highest priority",
        "smallest sum",
        "fewest pods",
        "negative priorities do not make up for number",
        "highest priority before sum before number",
        "latest start",
        "latest earliest start",
        "latest start of those of highest priority",
    ],
)
def test_which_node_it_is(layout, expected):
    nodes = [small(name).capacity(cpu="4", memory="8Gi") for name in layout]
    pods = [each for name, victims in layout.items() for each in four(name, *victims)]
    made = preempt(nodes, pods, wanting("4", TOP))
    assert "".join(tie.node for tie in sorted(made.ties, key=lambda tie: tie.node)) == expected
    assert made.nominated_node in expected


HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def web(name, on, priority):
    return there(name, on, cpu="0", priority=priority).label(app="web")


def spread(incoming):
    for key in (ZONE, HOST):
        incoming = incoming.spreads(key, labelSelector={"matchLabels": {"app": "web"}})
    return incoming


class TestFarNodes:
    """Pods of node b are in one zone with those of a; those of x are in another one."""

    nodes = small("a").zone("1"), small("b").zone("1"), small("x").zone("2")

    def test_pods_of_the_node_itself_go_for_the_sake_of_spreading(self):
        pods = [
            web("a1", "a", HIGH),
            web("a2", "a", HIGH),
            web("b1", "b", LOW),
            web("x1", "x", HIGH),
            web("x2", "x", HIGH),
        ]
        assert outcome(self.nodes, pods, spread(wanting("1", HIGH).label(app="web"))) == ("b", ["b1"])

    def test_each_node_of_the_zone_may_be_the_one(self):
        pods = [
            web("a1", "a", MID),
            web("a2", "a", LOW),
            web("b1", "b", LOW),
            web("x1", "x", HIGH),
            web("x2", "x", HIGH),
        ]
        made = preempt(self.nodes, pods, spread(wanting("1", HIGH).label(app="web")))
        found = {each.node: [victim.name for victim in each.victims] for each in made.candidates}
        assert found == {"a": ["a2"], "b": ["b1"]}

    def test_a_pod_that_wants_to_be_alone_goes(self):
        shy = there("shy", "a", cpu="100m", priority=LOW).requires_pods(pod_term(HOST, {"app": "web"}), anti=True)
        pods = [
            shy.label(app="web"),
            there("mid", "a", cpu="100m", priority=MID),
            there("high", "a", cpu="100m", priority=HIGH),
            there("other", "b", cpu="2", priority=HIGH),
        ]
        incoming = wanting("100m", HIGH).label(app="web")
        assert outcome([small("a"), small("b")], pods, incoming) == ("a", ["shy"])
