"""Which existing volume a claim would be bound to on each node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.plugins.volumebinding.matching import Choices, MatchError, choose, claims_by_size
from scheduler.plugins.volumebinding.topology import Topology
from tests.builders import node, state
from tests.plugins.storage import claim, volume

CLUSTER = state([node("a"), node("b")])


def chosen(wanted: Any, *volumes: Any, before: list[Choices] | None = None) -> Choices:
    topology = Topology(CLUSTER)
    topology.refresh()
    return choose(wanted, volumes, np.ones(2, np.bool_), before or [], topology)


def names(choices: Choices) -> list[str | None]:
    found = [choices.on(CLUSTER.nodes.rows[name]) for name in ("a", "b")]
    return [None if each is None else each.metadata.name for each in found]


def test_the_first_one_that_can_be_reached_is_taken() -> None:
    volumes = [volume("small-a", node="a"), volume("b", node="b"), volume("large-a", node="a")]
    assert names(chosen(claim("c"), *volumes)) == ["small-a", "b"]


def test_a_node_that_no_volume_reaches_has_no_match() -> None:
    assert names(chosen(claim("c"), volume("b", node="b"))) == [None, "b"]


@pytest.mark.parametrize(
    ("wanted", "offered", "fits"),
    [
        (claim("c", size="10Gi"), volume("v", size="10Gi"), True),
        (claim("c", size="10Gi"), volume("v", size="9Gi"), False),
        (claim("c"), volume("v", phase="Released"), False),
        (claim("c"), volume("v", phase=""), False),
        (claim("c", volumeAttributesClassName="silver"), volume("v", volumeAttributesClassName="gold"), False),
        (claim("c"), volume("v", deleted=True), False),
        (claim("c"), volume("v", volumeMode="Filesystem"), True),
        (claim("c", volumeMode="Block"), volume("v"), False),
        (claim("c", accessModes=["ReadWriteMany"]), volume("v"), False),
        (claim("c"), volume("v", accessModes=["ReadOnlyMany", "ReadWriteOnce"]), True),
        (claim("c", volumeAttributesClassName="gold"), volume("v"), False),
        (claim("c", volumeAttributesClassName=""), volume("v"), True),
        (claim("c", volumeAttributesClassName="gold"), volume("v", volumeAttributesClassName="gold"), True),
        (claim("c"), volume("v", volumeAttributesClassName="gold"), False),
        (claim("c", selector={"matchLabels": {"tier": "gold"}}), volume("v", labels={"tier": "gold"}), True),
        (claim("c", selector={"matchLabels": {"tier": "gold"}}), volume("v"), False),
        (claim("c"), volume("v", reserved="other"), False),
    ],
)
def test_what_a_volume_must_be_like(wanted: Any, offered: Any, fits: bool) -> None:
    assert names(chosen(wanted, offered)) == (["v", "v"] if fits else [None, None])


class TestReservedVolumes:
    def test_are_taken_at_once_whatever_else_there_is(self) -> None:
        reserved = volume("mine", size="1Ti", reserved="c", phase="Bound", labels={})
        assert names(chosen(claim("c"), volume("smaller"), reserved)) == ["mine", "mine"]

    def test_that_are_out_of_reach_leave_no_other_choice(self) -> None:
        reserved = volume("mine", reserved="c", node="a")
        assert names(chosen(claim("c"), volume("free"), reserved)) == ["mine", None]

    def test_must_be_large_enough_and_of_the_mode(self) -> None:
        free = volume("free")
        assert names(chosen(claim("c"), free, volume("mine", size="1Gi", reserved="c"))) == ["free", "free"]
        assert names(chosen(claim("c"), free, volume("mine", reserved="c", volumeMode="Block"))) == ["free", "free"]

    def test_must_have_the_attributes_class(self) -> None:
        silver = claim("c", volumeAttributesClassName="silver")
        reserved = volume("mine", reserved="c", volumeAttributesClassName="gold")
        assert names(chosen(silver, reserved)) == [None, None]
        assert names(chosen(claim("c", volumeAttributesClassName="gold"), reserved)) == ["mine", "mine"]

    def test_of_another_claim_of_that_name_are_not_reserved_for_this_one(self) -> None:
        other = {"namespace": "default", "name": "c", "uid": "another"}
        assert names(chosen(claim("c"), volume("v", claimRef=other))) == [None, None]


def test_a_volume_is_given_to_one_claim_of_the_pod_only() -> None:
    shared, spare = volume("shared"), volume("spare", node="b")
    first = chosen(claim("first"), shared, spare)
    second = chosen(claim("second"), shared, spare, before=[first])
    assert names(first) == ["shared", "shared"]
    assert names(second) == [None, "spare"]


def test_the_next_one_is_taken_where_the_first_is_given_away() -> None:
    volumes = [volume("v1", node="a"), volume("v2", node="a"), volume("v3", node="b")]
    taken = chosen(claim("first"), *volumes)
    left = chosen(claim("second"), *volumes, before=[taken])
    assert names(left) == ["v2", None]
    assert names(chosen(claim("third"), *volumes, before=[taken, left])) == [None, None]


def test_a_selector_that_does_not_parse_is_an_error() -> None:
    wanted = claim("c", selector={"matchExpressions": [{"key": "k", "operator": "Bad"}]})
    text = 'error creating internal label selector for claim: default/c: "Bad" is not a valid label selector operator'
    with pytest.raises(MatchError, match=text):
        chosen(wanted, volume("v"))


def test_small_claims_go_first_in_their_order() -> None:
    claims = [claim("large", size="1Gi"), claim("b", size="5Mi"), claim("a", size="5120Ki")]
    assert [each.metadata.name for each in claims_by_size(claims)] == ["b", "a", "large"]


def test_many_claims_of_a_size_go_in_the_order_in_which_kube_scheduler_sorts_them() -> None:
    claims = [claim(f"c{i}", size=f"{1 + i % 2}Gi") for i in range(14)]
    ordered = " ".join(each.metadata.name for each in claims_by_size(claims))
    assert ordered == "c8 c12 c2 c0 c4 c10 c6 c3 c7 c9 c5 c11 c1 c13"
