"""NodeName."""

from __future__ import annotations

from scheduler.framework.interface import NodeNames
from scheduler.framework.status import unresolvable
from scheduler.plugins.node_name import NodeName
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, verdicts

CLUSTER = [node("n1"), node("n2")]
REFUSED = unresolvable("node(s) didn't match the requested node name")


def test_a_pod_that_names_no_node_fits_everywhere():
    cycle = cycle_of(state(CLUSTER), pod("a"))
    assert NodeName().pre_filter(cycle) is None
    assert verdicts(NodeName(), cycle) == {"n1": None, "n2": None}


def test_a_pod_that_names_a_node_fits_there_only():
    cycle = cycle_of(state(CLUSTER), pod("a").on("n2"))
    assert NodeName().pre_filter(cycle) == NodeNames(frozenset({"n2"}))
    assert filtered(NodeName(), cycle) == {"n1": REFUSED, "n2": None}


def test_a_pod_that_names_a_missing_node_fits_nowhere():
    cycle = cycle_of(state(CLUSTER), pod("a").on("gone"))
    assert filtered(NodeName(), cycle) == {"n1": REFUSED, "n2": REFUSED}


def test_verdicts_of_pods_that_name_different_nodes_are_kept_apart():
    cluster = state(CLUSTER)
    free, bound = cycle_of(cluster, pod("a")), cycle_of(cluster, pod("b").on("n1"))
    assert free.shape is bound.shape
    assert NodeName().epoch(free) != NodeName().epoch(bound)


def test_any_new_node_may_help():
    assert events(NodeName().events_to_register()) == {"Node ADD": None}
