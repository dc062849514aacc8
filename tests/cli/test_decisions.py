"""What `berth simulate` prints."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
import yaml

from scheduler.app.decisions import PodDecision
from scheduler.cli.decisions import as_yaml, print_json, print_table
from scheduler.explain.record import DecisionRecord, NodeRejection, NodeScore, PreFilterRecord

REJECTION = NodeRejection("NodeResourcesFit", "Unschedulable", ("Insufficient cpu",))
DECISIONS = [
    PodDecision(
        pod="default/a",
        node="n1",
        status="Scheduled",
        message="Successfully assigned default/a to n1",
        record=DecisionRecord(
            feasible={"n1": NodeScore(300, {"TaintToleration": 300}, {"TaintToleration": 0})},
            infeasible={"n2": REJECTION, "n3": REJECTION},
            best=("n1",),
            prefilter_status=PreFilterRecord("Success", skipped_filter=("NodePorts",)),
            score_skipped=True,
        ),
    ),
    PodDecision(
        pod="default/b",
        node=None,
        status="Unschedulable",
        message="0/1 nodes are available: 1 Insufficient cpu.",
        nominated_node="n2",
        victims=("default/low",),
        record=DecisionRecord(
            unschedulable_plugins=("NodeResourcesFit",), reason="Unschedulable", message="0/1 nodes are available"
        ),
    ),
]


def as_json(decisions: list[PodDecision]) -> str:
    """What is printed with -o json."""
    out = io.BytesIO()
    print_json(decisions, out)
    return out.getvalue().decode()


def parsed(form: str) -> list[dict[str, Any]]:
    """The decisions that JSON or YAML output holds."""
    value = json.loads(as_json(DECISIONS)) if form == "json" else yaml.safe_load(as_yaml(DECISIONS))
    assert list(value) == ["decisions"]
    found: list[dict[str, Any]] = value["decisions"]
    return found


@pytest.mark.parametrize("form", ["json", "yaml"])
class TestAllThereIs:
    def test_the_documented_fields_come_first_and_are_always_there(self, form: str) -> None:
        documented = ["pod", "node", "status", "message", "nominatedNode", "victims", "feasible", "infeasible", "best"]
        assert [list(decision)[:9] for decision in parsed(form)] == [documented, documented]

    def test_fields_have_their_values(self, form: str) -> None:
        first, second = parsed(form)
        assert (first["pod"], first["node"], first["status"]) == ("default/a", "n1", "Scheduled")
        assert (first["nominatedNode"], first["victims"]) == (None, [])
        assert (second["node"], second["nominatedNode"], second["victims"]) == (None, "n2", ["default/low"])
        assert second["message"] == "0/1 nodes are available: 1 Insufficient cpu."
        assert (second["feasible"], second["infeasible"], second["best"]) == ({}, {}, [])

    def test_details_are_those_of_the_record(self, form: str) -> None:
        first, second = parsed(form)
        assert first["feasible"]["n1"] == {
            "total": 300,
            "plugins": {"TaintToleration": 300},
            "raw": {"TaintToleration": 0},
        }
        assert first["infeasible"]["n2"]["reasons"] == ["Insufficient cpu"]
        assert first["prefilter_status"] == {"code": "Success", "skippedFilter": ["NodePorts"]}
        assert first["score_skipped"] is True
        assert second["unschedulable_plugins"] == ["NodeResourcesFit"]
        assert second["reason"] == "Unschedulable"


def test_json_ends_with_a_newline() -> None:
    assert as_json([]) == '{\n  "decisions": []\n}\n'


def test_yaml_does_not_refer_back() -> None:
    assert "&" not in as_yaml(DECISIONS)
    assert "*" not in as_yaml(DECISIONS)


def printed(*, wide: bool = False) -> list[str]:
    stream = io.StringIO()
    print_table(DECISIONS, stream, wide=wide)
    return stream.getvalue().splitlines()


def test_table() -> None:
    assert printed() == [
        "POD         NODE   STATUS          MESSAGE",
        "default/a   n1     Scheduled",
        "default/b   -      Unschedulable   0/1 nodes are available: 1 Insufficient cpu.",
    ]


def test_wide_table_has_scores_and_reasons() -> None:
    assert printed(wide=True)[3:] == [
        "",
        "default/a: Successfully assigned default/a to n1",
        "PLUGIN             n1",
        "TaintToleration   300",
        "total             300",
        "the only node that fits, whatever its score",
        "NODES   TURNED DOWN BY     REASON             WHICH",
        "    2   NodeResourcesFit   Insufficient cpu   n2, n3",
        "",
        "default/b: 0/1 nodes are available: 1 Insufficient cpu.",
    ]


def test_a_scheduled_pod_is_listed_with_those_that_went_for_it() -> None:
    stream = io.StringIO()
    print_table([msgspec.structs.replace(DECISIONS[0], victims=("default/low", "default/lower"))], stream)
    assert stream.getvalue().splitlines()[1].endswith("Scheduled   preempted default/low, default/lower")
