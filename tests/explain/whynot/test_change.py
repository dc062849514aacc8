"""Changes as data: what they say, and two of them as one."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler.explain.whynot.change import PAIR, Change, both
from tests.builders import info, node, pod


def change(kind: str = "x", cost: int = 10, what: str = "doing x", **fields: Any) -> Change:
    return Change(kind=kind, cost=cost, what=lambda _: what, solves=frozenset((kind,)), **fields)


def labelled(key: str, item: Any) -> Any:
    labels = {**item.metadata.labels, key: str(len(item.metadata.labels))}
    return replace(item, metadata=replace(item.metadata, labels=labels))


@pytest.mark.parametrize(
    ("nodes", "said"),
    [([], "doing x"), (["a"], "doing x opens a"), (["a", "b"], "doing x opens a and b")],
)
def test_it_says_what_comes_of_it_on_nodes_that_are_there_already(nodes: list[str], said: str) -> None:
    assert change().sentence(nodes) == said


def test_nodes_that_come_with_it_are_not_there_without_it() -> None:
    assert change(new=(node("new").build(),)).known(["a", "new", "b"]) == ["a", "b"]


def test_a_change_that_leaves_the_pod_alone() -> None:
    same = pod("p").build()
    assert change().edited(same) is same
    assert change(pod=partial(labelled, "k")).edited(same).metadata.labels == {"k": "0"}


class TestBoth:
    def test_two_are_dearer_than_either_and_solve_what_each_solves(self) -> None:
        pair = both(change("x", 10), change("y", 20))
        assert (pair.kind, pair.cost, pair.solves) == ("x+y", 30 + PAIR, {"x", "y"})

    def test_it_says_that_both_are_needed(self) -> None:
        pair = both(change(what="doing x"), change("y", what="doing y"))
        assert pair.sentence(["a", "b"]) == "doing x and doing y together open a and b"
        assert pair.sentence(["a"]) == "doing x and doing y together open a"

    def test_the_pod_is_edited_by_one_after_the_other(self) -> None:
        pair = both(change(pod=partial(labelled, "first")), change("y", pod=partial(labelled, "second")))
        assert pair.edited(pod("p").build()).metadata.labels == {"first": "0", "second": "1"}

    def test_so_is_a_node_that_both_change(self) -> None:
        pair = both(
            change(nodes={"a": partial(labelled, "first")}),
            change("y", nodes={"a": partial(labelled, "second"), "b": partial(labelled, "second")}),
        )
        bare = node("a").set("metadata.labels", {}).build()
        assert pair.nodes["a"](bare).metadata.labels == {"first": "0", "second": "1"}
        assert pair.nodes["b"](bare).metadata.labels == {"second": "0"}

    def test_a_pod_that_both_evict_goes_once(self) -> None:
        one, other = info(pod("one").uid("1")), info(pod("other").uid("2"))
        pair = both(change(gone=(one,), evicts=True), change("y", gone=(one, other)))
        assert [each.name for each in pair.gone] == ["one", "other"]
        assert pair.evicts

    def test_what_comes_with_either_comes(self) -> None:
        pair = both(
            change(new=(node("n").build(),), come=(info(pod("d")),)),
            change("y", objects=(("StorageClass", "s"),)),
        )
        assert [each.metadata.name for each in pair.new] == ["n"]
        assert [each.name for each in pair.come] == ["d"]
        assert pair.objects == (("StorageClass", "s"),)

    def test_of_details_that_both_have_those_of_the_first_count(self) -> None:
        pair = both(change(details={"a": "1"}), change("y", details={"a": "2", "b": "3"}))
        assert pair.details == {"a": "1", "b": "3"}
