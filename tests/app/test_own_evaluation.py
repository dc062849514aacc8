"""A decision taken here, from what a user may read."""

from __future__ import annotations

import pytest

from scheduler.app.manifests import ManifestError
from scheduler.app.own_evaluation import evaluate_here
from tests.builders import node, pod

NODES = [node("a").capacity(cpu="4").build(), node("b").capacity(cpu="8").build()]


def test_a_pending_pod_of_any_scheduler_is_decided_on_alone():
    pods = [pod("p").cpu("5").scheduler("default-scheduler").build(), pod("q").cpu("5").build()]
    found = evaluate_here([*NODES, *pods], "default", "p", asked=("a",))
    assert (found.source, found.pod.state, found.evaluation.decision.summary.result) == (
        "simulated",
        "Pending",
        "Scheduled",
    )
    assert found.evaluation.decision.feasible.names == ("b",)
    assert [(one.other, one.rejected.plugin) for one in found.compared] == [("a", "NodeResourcesFit")]


def test_a_placed_pod_is_decided_on_as_if_it_were_not():
    placed = pod("p").cpu("5").on("b").scheduler("default-scheduler").build()
    found = evaluate_here([*NODES, placed], "default", "p")
    assert (found.pod.node, found.evaluation.decision.feasible.names) == ("b", ("b",))


def test_a_pod_that_fits_nowhere():
    found = evaluate_here([*NODES, pod("p").cpu("9").build()], "default", "p")
    assert found.evaluation.decision.summary.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_a_pod_that_is_not_there():
    with pytest.raises(ManifestError, match="no pod shop/p that has not ended"):
        evaluate_here(NODES, "shop", "p")
