"""NodeUnschedulable."""

from __future__ import annotations

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import unresolvable
from scheduler.plugins.node_unschedulable import NodeUnschedulable
from tests.builders import info, node, pod, state
from tests.plugins.harness import cycle_of, events, verdicts

PLUGIN = NodeUnschedulable()
CORDON = "node.kubernetes.io/unschedulable"
REFUSED = unresolvable("node(s) were unschedulable")


@pytest.mark.parametrize(
    ("incoming", "cordoned"),
    [
        (pod("a"), REFUSED),
        (pod("a").tolerates(CORDON, effect="NoSchedule"), None),
        (pod("a").tolerates(CORDON), None),
        (pod("a").tolerates(), None),
        (pod("a").tolerates(CORDON, effect="NoExecute"), REFUSED),
        (pod("a").tolerates("other"), REFUSED),
        (pod("a").set("spec.tolerations", [{"key": CORDON, "effect": "NoSchedule"}]), None),
    ],
    ids=["none", "the taint", "any effect", "everything", "another effect", "another key", "no operator"],
)
def test_a_cordoned_node_takes_only_pods_that_tolerate_the_cordon(incoming, cordoned):
    cycle = cycle_of(state([node("open"), node("closed").unschedulable()]), incoming)
    assert verdicts(PLUGIN, cycle) == {"open": None, "closed": cordoned}


def test_the_taint_alone_is_not_the_cordon():
    cycle = cycle_of(state([node("tainted").taint(CORDON)]), pod("a"))
    assert verdicts(PLUGIN, cycle) == {"tainted": None}


class TestHints:
    def test_events(self):
        assert events(PLUGIN.events_to_register()) == {
            "Node ADD|UPDATE_NODE_TAINT": "after_node_change",
            "TargetPod UPDATE_POD_TOLERATION": "after_toleration_change",
        }

    @pytest.mark.parametrize(
        ("old", "new", "hint"),
        [
            (None, node("n"), QueueingHint.QUEUE),
            (None, node("n").unschedulable(), QueueingHint.SKIP),
            (node("n").unschedulable(), node("n"), QueueingHint.QUEUE),
            (node("n"), node("n").unschedulable(), QueueingHint.SKIP),
            (node("n"), node("n").taint("x"), QueueingHint.SKIP),
            (node("n").unschedulable(), node("n").unschedulable().taint("x"), QueueingHint.SKIP),
        ],
        ids=["new", "new cordoned", "uncordoned", "cordoned", "open before and after", "still cordoned"],
    )
    def test_node_change(self, old, new, hint):
        assert PLUGIN.after_node_change(info(pod("a")), old and old.build(), new.build()) is hint

    @pytest.mark.parametrize(
        ("new", "hint"),
        [
            (pod("a").tolerates(CORDON), QueueingHint.QUEUE),
            (pod("a").tolerates("other"), QueueingHint.SKIP),
        ],
        ids=["the cordon", "something else"],
    )
    def test_toleration_change(self, new, hint):
        old = info(pod("a"))
        assert PLUGIN.after_toleration_change(old, old, info(new)) is hint
