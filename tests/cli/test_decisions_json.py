"""Decisions written piece by piece are what they would be as one value."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from scheduler.app.decisions import PodDecision
from scheduler.cli import structured
from scheduler.cli.decisions import print_json
from scheduler.explain.record import DecisionRecord, NodeRejection, NodeScore, PreFilterRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

SCORE = NodeScore(371, {"TaintToleration": 300, "NodeResourcesFit": 71}, {"TaintToleration": 0, "NodeResourcesFit": 71})
OTHER = NodeScore(300, {"TaintToleration": 300})
FULL = NodeRejection("NodeResourcesFit", "Unschedulable", ("Insufficient cpu",))
AWAY = NodeRejection("A", "UnschedulableAndUnresolvable", (), restricted=True)


def decision(
    pod: str,
    *,
    feasible: Mapping[str, NodeScore] | None = None,
    infeasible: Mapping[str, NodeRejection] | None = None,
    **details: Any,
) -> PodDecision:
    """A decision, pending unless a node fits."""
    fits = feasible or {}
    record = DecisionRecord(feasible=fits, infeasible=infeasible or {}, best=tuple(fits)[:1], **details)
    return PodDecision(pod=pod, node=next(iter(fits), None), status="Scheduled", message='a „word"\n', record=record)


def printed(*decisions: PodDecision, changes: tuple[str, ...] = ()) -> str:
    out = io.BytesIO()
    print_json(decisions, out, changes)
    return out.getvalue().decode()


def whole(*decisions: PodDecision, changes: tuple[str, ...] = ()) -> str:
    """The same made as one value first, in the documented order."""
    values = []
    for one in decisions:
        record = msgspec.to_builtins(one.record)
        record.pop("message", None)
        values.append(
            {
                "pod": one.pod,
                "node": one.node,
                "status": one.status,
                "message": one.message,
                "nominatedNode": one.nominated_node,
                "victims": list(one.victims),
                "feasible": {},
                "infeasible": {},
                "best": [],
                **record,
            }
        )
    return structured.as_json({**({"changes": list(changes)} if changes else {}), "decisions": values})


@pytest.mark.parametrize(
    "decisions",
    [
        [],
        [decision("a/plain")],
        [decision("a/one", feasible={"n1": SCORE})],
        [decision("a/none", infeasible={"n1": FULL, "n2": FULL, "n3": AWAY})],
        [
            decision("a/first", feasible={"n1": SCORE, "n2": SCORE}, infeasible={"n3": FULL}, score_skipped=True),
            decision("a/second", feasible={"n3": OTHER, "n2": SCORE}, infeasible={"n1": AWAY}),
        ],
        [
            decision(
                "a/details",
                feasible={'odd"näme': OTHER},
                prefilter_status=PreFilterRecord("Success", skipped_filter=("NodePorts",)),
                message="left out, as it stands above",
            )
        ],
    ],
    ids=lambda decisions: "-".join(one.pod.partition("/")[2] for one in decisions) or "nothing",
)
@pytest.mark.parametrize("changes", [(), ("drained n1", 'set "x"')], ids=["unchanged", "changed"])
def test_the_pieces_make_the_whole(decisions: list[PodDecision], changes: tuple[str, ...]) -> None:
    assert printed(*decisions, changes=changes) == whole(*decisions, changes=changes)


def test_equal_values_need_not_be_the_same_object() -> None:
    again = NodeScore(OTHER.total, dict(OTHER.plugins))
    decisions = [decision("a/one", feasible={"n1": OTHER}), decision("a/two", feasible={"n1": again})]
    assert printed(*decisions) == whole(*decisions)
