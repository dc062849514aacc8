"""Placements as they were written before, held against those of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.app.decisions import SCHEDULED, PodDecision
from scheduler.app.expectation import differences, read_expectation
from scheduler.app.problems import ManifestError
from scheduler.explain.record import DecisionRecord

if TYPE_CHECKING:
    from pathlib import Path


def decided(pod: str, node: str | None) -> PodDecision:
    return PodDecision(pod=pod, node=node, status=SCHEDULED, message="", record=DecisionRecord())


def test_what_json_says_of_nodes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"changes": ["x"], "decisions": [{"pod": "a/b", "node": "n", "best": []}, {"pod": "a/c"}]}')
    assert read_expectation(str(path)) == {"a/b": "n", "a/c": None}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"decisions": [{}]}', "default/p n1"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(ManifestError, match=r"old.json: not what `berth simulate -o json` writes: "):
        read_expectation(str(path))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ManifestError, match=r"^/nowhere: No such file or directory$"):
        read_expectation("/nowhere")


@pytest.mark.parametrize(
    ("expected", "found", "told"),
    [
        ("n1", "n1", []),
        (None, None, []),
        ("n1", "n2", ["p was expected on n1, and is on n2."]),
        ("n1", None, ["p was expected on n1, and is on no node."]),
        (None, "n1", ["p was expected on no node, and is on n1."]),
    ],
)
def test_a_pod_elsewhere(expected: str | None, found: str | None, told: list[str]) -> None:
    assert differences({"p": expected}, [decided("p", found)]) == told


def test_pods_that_only_one_has() -> None:
    assert differences({"old": "n1"}, [decided("new", "n2")]) == [
        "old was expected on n1, and is not among the pods to schedule.",
        "new was not expected, and is on n2.",
    ]
