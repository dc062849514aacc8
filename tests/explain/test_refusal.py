"""Why a pod fits nowhere, for people."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler.explain.record import PostFilterRecord
from scheduler.explain.refusal import refusal, refused
from scheduler.explain.views import (
    AffinityArithmetic,
    AffinityDomain,
    Help,
    NearestMiss,
    Rejected,
    SpreadArithmetic,
    SpreadDomain,
    WhyNot,
)
from tests.explain.test_placement import text
from tests.fakes.decisions import REFUSAL

NODES = tuple(f"n{number}" for number in range(8))
WHY = WhyNot(
    sentence="shop/big fits on none of 9 nodes",
    rejected=(
        Rejected(plugin="TaintToleration", code="Unschedulable", reasons=("untolerated taint",), nodes=("cp",)),
        Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("Insufficient cpu",), nodes=NODES),
    ),
    nearest=NearestMiss(node="n3", sentence="n3 lacks 300m CPU"),
    spread=(
        SpreadArithmetic(
            topology_key="zone", max_skew=1, minimum=0, self_match=1, sentence="2 + 1 - 0 = 3 is more than maxSkew 1",
            domains=(
                SpreadDomain(name="a", count=2, nodes=4, fits=False),
                SpreadDomain(name="b", count=0, nodes=4, fits=True),
            ),
        ),
    ),
    affinity=(
        AffinityArithmetic(
            kind="antiAffinity", topology_key="host", sentence="no host without app=big is left",
            domains=tuple(AffinityDomain(name=f"h{number:02}", count=1, nodes=1) for number in range(20)),
        ),
    ),
    helps=(
        Help(kind="lowerRequests", sentence="300m less CPU on n3", opens=1, nodes=("n3",)),
        Help(kind="tolerate", sentence="a toleration for dedicated:NoSchedule", opens=8, nodes=NODES),
    ),
    tried=12,
)  # fmt: skip


def test_nodes_are_grouped_by_reason_the_largest_group_first():
    lines = text(refusal(WHY)).splitlines()
    assert lines[0] == "shop/big fits on none of 9 nodes"
    assert [line.split()[:2] for line in lines[2:4]] == [["8", "NodeResourcesFit"], ["1", "TaintToleration"]]
    assert lines[2].endswith("n0, n1, n2, n3, n4 and 3 more")
    assert "nearest miss: n3 lacks 300m CPU" in lines


def test_the_arithmetic_of_spread_and_affinity_is_shown_by_domain():
    shown = text(refusal(WHY))
    assert "spread over zone: 2 + 1 - 0 = 3 is more than maxSkew 1" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith(("a ", "b "))] == [
        ["a", "2", "4", "no"],
        ["b", "0", "4", "yes"],
    ]
    assert "no host without app=big is left" in shown
    assert ("h11" in shown, "h12" in shown, "and 8 more" in shown) == (True, False, True)


def test_what_would_help_is_listed_with_the_nodes_that_it_opens():
    lines = text(refusal(WHY)).splitlines()
    at = lines.index("What would help (each was tried; 12 in all)")
    assert lines[at + 1 :] == [
        "  - 300m less CPU on n3",
        "  - a toleration for dedicated:NoSchedule (n0, n1, n2, n3, n4 and 3 more)",
    ]


def test_that_nothing_helps_is_only_said_where_something_was_tried():
    nothing = replace(WHY, helps=())
    assert "None of 12 changes that were tried would be enough by itself" in text(refusal(nothing))
    assert "tried" not in text(refusal(replace(nothing, tried=0)))


def test_what_was_recorded_is_the_message_the_groups_and_who_had_to_go():
    shown = text(refused(REFUSAL))
    assert shown.startswith("0/3 nodes are available: 3 Insufficient cpu.\nNODES")
    made = PostFilterRecord("Success", "", "a", ("shop/old", "shop/older"), ("shop/old",))
    assert "preemption on a: shop/old, shop/older have to go" in text(refused(replace(REFUSAL, post_filter=made)))
    vain = PostFilterRecord("Unschedulable", "preemption: 0/3 nodes help", None, (), ())
    assert "preemption: 0/3 nodes help" in text(refused(replace(REFUSAL, post_filter=vain)))
