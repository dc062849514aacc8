"""Node selectors and node affinity: asking for less, or labelling a node."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.whynot.helps.labels import requirement_text, wanted_labels
from tests.builders import PodBuilder, expression, node, pod, term
from tests.explain.whynot.cluster import Cluster

KINDS = ("dropNodeSelector", "dropNodeAffinity", "labelNode")


def helps(waits: PodBuilder, *nodes: Any) -> list[str]:
    return [help_.sentence for help_ in Cluster([*nodes]).why_not(waits).helps if help_.kind in KINDS]


def bare(name: str, **labels: str) -> Any:
    return node(name).set("metadata.labels", {"kubernetes.io/hostname": name, **labels})


class TestAskingForLess:
    def test_a_label_of_the_selector(self) -> None:
        waits = pod("p").node_selector({"a": "1", "b": "2"})
        assert helps(waits, bare("n", a="1"))[0] == "the label b=2 on n"
        assert "dropping nodeSelector b=2 opens n" in helps(waits, bare("n", a="1"))

    def test_the_whole_selector_where_no_label_alone_is_enough(self) -> None:
        told = helps(pod("p").node_selector({"a": "1", "b": "2"}), bare("n"))
        assert "dropping nodeSelector a=1,b=2 opens n" in told
        assert not any(text.startswith("dropping nodeSelector a=1 ") for text in told)

    def test_a_requirement_of_the_affinity(self) -> None:
        waits = pod("p").requires_node(term(expression("disk", "In", "ssd", "nvme"), expression("pool", "Exists")))
        assert "dropping the node affinity requirement disk in (ssd, nvme) opens n" in helps(waits, bare("n", pool="x"))

    def test_the_only_requirement_of_one_of_several_terms_is_all_of_them(self) -> None:
        """Terms are alternatives: one that asks for nothing lets everything through."""
        waits = pod("p").requires_node(term(expression("disk", "In", "ssd")), term(expression("pool", "In", "x")))
        told = helps(waits, bare("n"))
        assert "dropping the node affinity requirement disk in (ssd) opens n" in told
        assert "dropping the node affinity requirement pool in (x) opens n" in told


class TestLabellingANode:
    def test_nodes_that_would_do_are_told_as_one(self) -> None:
        told = helps(pod("p").node_selector(disk="ssd"), bare("a"), bare("b"))
        assert told[0] == "the label disk=ssd on a or b"

    def test_labels_of_kubernetes_own_are_not_for_users_to_set(self) -> None:
        assert not any(
            "the label" in text for text in helps(pod("p").node_selector({"kubernetes.io/os": "x"}), bare("a"))
        )

    def test_a_node_that_something_else_keeps_the_pod_off_is_no_help(self) -> None:
        assert not any(
            "on a" in text for text in helps(pod("p").node_selector(disk="ssd"), bare("a").taint("x"), bare("b"))
        )


@pytest.mark.parametrize(
    ("waits", "labels", "wanted"),
    [
        (pod("p"), {}, {}),
        (pod("p").node_selector(a="1"), {}, {"a": "1"}),
        (pod("p").node_selector(a="1"), {"a": "1"}, {}),
        (pod("p").requires_node(term(expression("a", "In", "1", "2"))), {"a": "3"}, {"a": "1"}),
        (pod("p").requires_node(term(expression("a", "In", "1", "2"))), {"a": "2"}, {}),
        (pod("p").requires_node(term(expression("a", "Exists"))), {}, {"a": "true"}),
        (pod("p").requires_node(term(expression("a", "DoesNotExist"))), {}, {}),
        (pod("p").requires_node(term(expression("a", "DoesNotExist"))), {"a": "1"}, None),
        (pod("p").requires_node(term(expression("a", "NotIn", "1"))), {"a": "1"}, None),
        (pod("p").requires_node(term(expression("a", "NotIn", "1"))), {"a": "2"}, {}),
        (pod("p").requires_node(term(expression("a", "Gt", "5"))), {"a": "1"}, None),
        (
            pod("p").requires_node(
                term(expression("a", "In", "1"), expression("b", "In", "1")), term(expression("c", "In", "1"))
            ),
            {},
            {"c": "1"},
        ),
        (pod("p").requires_node(term(fields=[expression("metadata.name", "In", "x")])), {}, None),
    ],
    ids=[
        "nothing is asked", "a selector", "that is there", "in", "that is there already", "exists", "does not exist",
        "that does", "not in", "that is not", "a comparison", "of several terms the one that takes fewest", "a name",
    ],
)  # fmt: skip
def test_the_labels_that_would_make_a_node_match(
    waits: PodBuilder, labels: dict[str, str], wanted: dict[str, str] | None
) -> None:
    assert wanted_labels(waits.build(), node("n").set("metadata.labels", labels).build()) == wanted


@pytest.mark.parametrize(
    ("operator", "values", "text"),
    [
        ("In", ("a", "b"), "k in (a, b)"),
        ("NotIn", ("a",), "k not in (a)"),
        ("Exists", (), "k exists"),
        ("DoesNotExist", (), "k absent"),
        ("Gt", ("5",), "k > (5)"),
    ],
)
def test_a_requirement_in_words(operator: str, values: tuple[str, ...], text: str) -> None:
    made = pod("p").requires_node(term(expression("k", operator, *values))).build()
    required = made.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution  # type: ignore[union-attr]
    assert requirement_text(required.node_selector_terms[0].match_expressions[0]) == text  # type: ignore[union-attr]
