"""The nodes by why they are turned down, and the sentence that it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.reasons import groups_of, sentence, views
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster

if TYPE_CHECKING:
    from scheduler.explain.whynot.reasons import Group
    from scheduler.explain.whynot.survey import Survey


def asked(nodes: list[Any], waits: Any, pods: list[Any] | None = None) -> tuple[Survey, list[Group]]:
    cluster = Cluster(nodes, pods or [])
    survey = Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()
    return survey, groups_of(survey)


def told(nodes: list[Any], waits: Any, pods: list[Any] | None = None) -> str:
    survey, groups = asked(nodes, waits, pods)
    return sentence(survey, groups, "it")


def small(name: str) -> Any:
    return node(name).capacity(cpu="1", memory="8Gi")


def full(name: str) -> Any:
    return pod(f"on-{name}").on(name).cpu("1").memory("1Gi")


BIG = pod("new").cpu("900m")


class TestGroups:
    def test_each_node_is_in_one_the_largest_first(self) -> None:
        nodes = [small("a"), small("b"), small("c").taint("gpu"), small("d").taint("gpu"), small("e").taint("gpu")]
        _, groups = asked(nodes, BIG, [full("a"), full("b")])
        assert [group.phrase for group in groups] == [
            "3 are tainted gpu:NoSchedule",
            "2 lack CPU",
        ]

    def test_the_nodes_of_one_are_in_the_order_of_their_names(self) -> None:
        survey, groups = asked([small("b"), small("c"), small("a")], BIG, [full("a"), full("b"), full("c")])
        assert [survey.state.nodes.name(row) for row in groups[0].rows] == ["a", "b", "c"]

    def test_a_node_counts_for_the_first_plugin_that_turns_it_down(self) -> None:
        _, groups = asked([small("a").taint("gpu")], BIG, [full("a")])
        assert [group.status.plugin for group in groups] == ["TaintToleration"]

    def test_of_equally_large_ones_the_order_does_not_depend_on_that_of_the_nodes(self) -> None:
        nodes = [small("a").taint("gpu"), small("b")]
        ways = [asked(order, BIG, [full("b")])[1] for order in (nodes, nodes[::-1])]
        first, second = ([group.phrase for group in groups] for groups in ways)
        assert first == second

    def test_where_the_pod_is_refused_before_any_node_all_nodes_are_one(self) -> None:
        claims = pod("new").volume("v", persistentVolumeClaim={"claimName": "missing"})
        _, (group,) = asked([small("a"), small("b")], claims)
        assert (len(group.rows), group.left_out) == (2, False)

    def test_nodes_that_prefilter_leaves_out_are_one_of_their_own(self) -> None:
        named = (
            pod("new")
            .cpu("2")
            .requires_node({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]})
        )
        survey, groups = asked([small("a"), small("b"), small("c")], named)
        assert [(group.phrase, group.left_out) for group in groups] == [
            ("2 are not the node a, which the pod names", True),
            ("1 is too small for the pod's CPU", False),
        ]
        assert [view.left_out for view in views(survey, groups)] == [True, False]


class TestViews:
    def test_they_say_who_and_why_for_machines_and_for_people(self) -> None:
        (view,) = views(*asked([small("a"), small("b")], BIG, [full("a"), full("b")]))
        assert (view.plugin, view.code, view.reasons) == (
            "NodeResourcesFit",
            "Unschedulable",
            ("Insufficient cpu",),
        )
        assert (view.nodes, view.words) == (("a", "b"), "lack CPU")

    def test_words_of_one_node_are_in_the_singular(self) -> None:
        (view,) = views(*asked([small("a")], BIG, [full("a")]))
        assert view.words == "lacks CPU"


class TestSentence:
    @pytest.mark.parametrize(
        ("nodes", "said"),
        [
            ([], "it fits nowhere: there is no node"),
            (["a"], "it does not fit on the only node: a lacks CPU"),
            (["a", "b"], "it fits on none of 2 nodes: both lack CPU"),
            (["a", "b", "c"], "it fits on none of 3 nodes: all lack CPU"),
        ],
    )
    def test_one_reason(self, nodes: list[str], said: str) -> None:
        assert told([small(name) for name in nodes], BIG, [full(name) for name in nodes]) == said

    def test_several_reasons_with_their_counts(self) -> None:
        nodes = [small("a"), small("b"), small("c").taint("gpu")]
        assert told(nodes, BIG, [full("a"), full("b")]) == (
            "it fits on none of 3 nodes: 2 lack CPU, 1 is tainted gpu:NoSchedule"
        )

    def test_the_rarest_of_many_reasons_are_summed_up(self) -> None:
        nodes = [small(f"n{number}").taint(f"t{number}") for number in range(8)]
        said = told(nodes, BIG)
        assert said.count("is tainted") == 5
        assert said.endswith(", 3 have 3 other reasons")

    def test_one_reason_too_many(self) -> None:
        nodes = [small(f"n{number}").taint(f"t{number}") for number in range(6)]
        assert told(nodes, BIG).endswith(", 1 has 1 other reason")

    def test_a_refusal_is_in_the_plugins_own_words(self) -> None:
        said = told([small("a")], pod("new").volume("v", persistentVolumeClaim={"claimName": "missing"}))
        assert said == 'it can\'t be placed on any node: persistentvolumeclaim "missing" not found'
