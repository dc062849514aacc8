"""What all filters say of all nodes, those for feasible nodes included."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from scheduler.explain.whynot import explain
from scheduler.explain.whynot.survey import Survey
from scheduler.framework.per_node import NodeFilterPlugin
from scheduler.framework.status import Status, unschedulable
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import claim, volume

ZONE = "topology.kubernetes.io/zone"


def surveyed(cluster: Cluster, waiting: Any) -> Survey:
    return Survey(cluster.state, cluster.profile.aside(), cluster.info(waiting))


def plugins_on(survey: Survey, name: str) -> set[str]:
    """Who turns a node down."""
    row = survey.state.nodes.rows[name]
    return {status.plugin for status in survey.statuses(row)}


def test_every_plugin_that_turns_a_node_down_counts() -> None:
    cluster = Cluster([node("n1").capacity(cpu="1", memory="1Gi").taint("x").unschedulable(), node("n2")])
    survey = surveyed(cluster, pod("a").cpu("2").node_selector(disk="ssd"))
    assert plugins_on(survey, "n1") == {"TaintToleration", "NodeUnschedulable", "NodeAffinity", "NodeResourcesFit"}
    assert plugins_on(survey, "n2") == {"NodeAffinity"}
    assert survey.obstacles[survey.state.nodes.rows["n1"]] == 4
    assert survey.node_names(survey.rows("NodeAffinity", most=1).tolist()) == ["n2"]


def test_filters_for_feasible_nodes_are_asked_about_the_others_in_a_closer_look() -> None:
    objects = [volume("pv", reserved="data", node="n2"), claim("data", volume="pv")]
    cluster = Cluster([node("n1").taint("x"), node("n2").taint("x")], [], objects)
    survey = surveyed(cluster, pod("a").volume("data", persistentVolumeClaim={"claimName": "data"}))
    assert plugins_on(survey, "n1") == {"TaintToleration"}
    survey.look_closer()
    assert plugins_on(survey, "n1") == {"TaintToleration", "VolumeBinding"}
    assert plugins_on(survey, "n2") == {"TaintToleration"}


def test_nodes_that_pre_filter_leaves_out_are_turned_down_by_who_does_so() -> None:
    affinity = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    cluster = Cluster([node("n1"), node("n2").taint("x")])
    survey = surveyed(cluster, pod("a").requires_node(affinity))
    assert plugins_on(survey, "n1") == {"NodeAffinity"}


def test_a_node_kept_free_for_a_pod_that_is_nominated_to_it() -> None:
    cluster = Cluster([node("n1").capacity(cpu="2", memory="8Gi")])
    cluster.state.nominations.add(cluster.info(pod("first").cpu("2").priority(10)), "n1")
    survey = surveyed(cluster, pod("a").cpu("1"))
    assert not survey.fits.any()
    assert plugins_on(survey, "n1") == {"NodeResourcesFit"}
    answer = explain(cluster.state, cluster.profile, cluster.info(pod("a").cpu("1")))
    assert answer is not None
    assert answer.facts == ("n1 is kept free for default/first (priority 10), which is nominated to it",)
    assert "one more node like n1" in [help_.sentence for help_ in answer.helps]


def test_what_filters_remember_of_decisions_is_left_alone() -> None:
    cluster = Cluster([node("n1").taint("x")])
    waiting = cluster.info(pod("a"))
    before = cluster.profile.caches.of(waiting.shape)
    explain(cluster.state, cluster.profile, waiting)
    assert cluster.profile.caches.of(waiting.shape) is before
    assert np.array_equal(cluster.state.nodes.live[:1], [True])


class Counting(NodeFilterPlugin):
    """Turns all nodes down, and counts how often it is asked."""

    name: ClassVar[str] = "Counting"
    asked = 0

    def filter_node(self, cycle: Any, node: Any) -> Status:
        del cycle, node
        Counting.asked += 1
        return unschedulable("no")


def test_plugins_that_look_at_one_node_at_a_time_are_asked_only_where_all_else_fits() -> None:
    cluster = Cluster([node("n1").taint("x"), node("n2")])
    cluster.profile.filter.append(Counting())
    Counting.asked = 0
    survey = surveyed(cluster, pod("a"))
    survey.look_closer()
    assert Counting.asked == 1
    answer = cluster.why_not(pod("a"))
    assert answer.sentence == ("a fits on none of 2 nodes: 1 is turned down by Counting: no, 1 is tainted x:NoSchedule")
    assert answer.not_tried == ("Counting looks at one node at a time and was asked only where all else fits",)
