"""Tolerations, taints that are removed, nodes that become well again, and nodes that are uncordoned."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.helps.taints import is_well, well
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster

KINDS = ("tolerate", "removeTaint", "uncordon")
NOT_READY = "node.kubernetes.io/not-ready"


def helps(waits: PodBuilder, *nodes: Any) -> list[str]:
    return [help_.sentence for help_ in Cluster([*nodes]).why_not(waits).helps if help_.kind in KINDS]


NEW = pod("new")


class TestTaints:
    def test_a_pod_may_tolerate_it_or_the_node_lose_it(self) -> None:
        assert helps(NEW, node("a").taint("gpu")) == [
            "a toleration for gpu:NoSchedule opens a",
            "removing the taint gpu:NoSchedule from a",
        ]

    def test_the_smaller_change_comes_first(self) -> None:
        """A taint keeps others off as well, and may have been set for that."""
        told = helps(NEW, node("a").taint("gpu"), node("b").taint("gpu"))
        assert told == [
            "a toleration for gpu:NoSchedule opens a and b",
            "removing the taint gpu:NoSchedule from a or b",
        ]

    def test_the_toleration_is_for_that_taint_and_no_other(self) -> None:
        cluster = Cluster([node("a").taint("gpu", "big", "NoExecute")])
        change = next(one.change for one in cluster.found(NEW) if one.change.kind == "tolerate")
        (toleration,) = change.edited(NEW.build()).spec.tolerations
        assert (toleration.key, toleration.operator, toleration.value, toleration.effect) == (
            "gpu",
            "Equal",
            "big",
            "NoExecute",
        )

    def test_one_without_a_value_is_tolerated_as_existing(self) -> None:
        cluster = Cluster([node("a").taint("gpu")])
        change = next(one.change for one in cluster.found(NEW) if one.change.kind == "tolerate")
        (toleration,) = change.edited(NEW.build()).spec.tolerations
        assert (toleration.operator, toleration.value) == ("Exists", "")

    def test_all_that_are_in_the_way_are_told_together(self) -> None:
        assert helps(NEW, node("a").taint("gpu").taint("team", "x"))[0] == (
            "tolerations for gpu:NoSchedule and team=x:NoSchedule open a"
        )

    def test_those_that_are_tolerated_are_not_among_them(self) -> None:
        waits = NEW.tolerates("team", operator="Exists")
        assert helps(waits, node("a").taint("gpu").taint("team", "x"))[0] == "a toleration for gpu:NoSchedule opens a"

    def test_nor_are_those_that_keep_nobody_off(self) -> None:
        soft = node("a").taint("gpu").taint("slow", effect="PreferNoSchedule")
        assert helps(NEW, soft)[0] == "a toleration for gpu:NoSchedule opens a"


class TestNodesNotWell:
    def test_nobody_is_told_to_tolerate_that_a_node_is_not_ready(self) -> None:
        assert helps(NEW, node("a").taint(NOT_READY)) == [
            f"a becoming well again (no longer tainted {NOT_READY}:NoSchedule)"
        ]

    @pytest.mark.parametrize(
        "made", [node("a").unschedulable(), node("a").unschedulable().taint("node.kubernetes.io/unschedulable")]
    )
    def test_a_cordon_is_taken_back_with_its_taint(self, made: Any) -> None:
        assert helps(NEW, made) == ["uncordoning a"]

    def test_any_of_several_may_be_uncordoned(self) -> None:
        assert helps(NEW, node("a").unschedulable(), node("b").unschedulable()) == ["uncordoning a or b"]

    def test_what_is_well_is_told_apart(self) -> None:
        cluster = Cluster([node("a"), node("b").unschedulable(), node("c").taint(NOT_READY), node("d").taint("gpu")])
        survey = Bench(cluster.state, cluster.profile, cluster.info(NEW.cpu("99"))).survey()
        assert is_well(survey).tolist() == [True, False, False, True]

    def test_a_node_made_well_keeps_the_taints_that_somebody_set(self) -> None:
        made = well(node("a").unschedulable().taint(NOT_READY).taint("gpu").build())
        assert not made.spec.unschedulable
        assert [taint.key for taint in made.spec.taints] == ["gpu"]
