"""What counts as a difference between two decisions."""

from __future__ import annotations

import copy
import sys
from typing import TYPE_CHECKING, Any

import pytest

from e2e.oracle import conformance
from e2e.oracle.compare import Difference, Verdict, compare

if TYPE_CHECKING:
    from pathlib import Path

PLACED: dict[str, Any] = {
    "id": "placed",
    "feasible": {
        "a": {"total": 37, "plugins": {"NodeResourcesFit": 37}, "raw": {"NodeResourcesFit": 37}},
        "b": {"total": 30, "plugins": {"NodeResourcesFit": 30}, "raw": {"NodeResourcesFit": 30}},
    },
    "infeasible": {"c": {"plugin": "NodeName", "code": "Unschedulable", "reasons": ["y", "x"]}},
    "best": ["a"],
    "prefilter_status": {"code": "Success", "skippedFilter": ["NodePorts"]},
    "prescore_skipped": ["NodeAffinity"],
}
REFUSED: dict[str, Any] = {
    "id": "refused",
    "feasible": {},
    "infeasible": {"a": {"plugin": "NodePorts", "code": "Unschedulable", "reasons": ["taken"]}},
    "best": [],
    "prefilter_status": {"code": "Success"},
    "unschedulable_plugins": ["NodePorts"],
    "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 taken. preemption: 0/1 nodes are available.",
    "postfilter": {"code": "Unschedulable", "message": "preemption: 0/1 nodes are available."},
}
FAILED: dict[str, Any] = {
    "id": "failed",
    "feasible": {},
    "infeasible": {"a": {"plugin": "X", "code": "Error", "reasons": ["one"]}, "b": {"code": "Unschedulable"}},
    "reason": "SchedulerError",
    "message": "one",
}


def changed(decision: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one value set, or taken out if it is None."""
    copied = copy.deepcopy(decision)
    *parents, last = path.split(".")
    place = copied
    for step in parents:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


@pytest.mark.parametrize("decision", [PLACED, REFUSED, FAILED], ids=lambda decision: decision["id"])
def test_a_decision_agrees_with_itself(decision: dict[str, Any]):
    assert compare(decision, decision).verdict is Verdict.AGREED


@pytest.mark.parametrize(
    ("decision", "path", "value", "difference"),
    [
        (PLACED, "feasible.a.total", 38, Difference("feasible.a.total", 37, 38)),
        (
            PLACED,
            "feasible.a.plugins.NodeResourcesFit",
            None,
            Difference("feasible.a.plugins.NodeResourcesFit", 37, None),
        ),
        (PLACED, "feasible.b.raw.ImageLocality", 0, Difference("feasible.b.raw.ImageLocality", None, 0)),
        (PLACED, "infeasible.c", None, Difference("infeasible.c", PLACED["infeasible"]["c"], None)),
        (PLACED, "infeasible.c.plugin", "NodePorts", Difference("infeasible.c.plugin", "NodeName", "NodePorts")),
        (PLACED, "infeasible.c.code", "Error", Difference("infeasible.c.code", "Unschedulable", "Error")),
        (PLACED, "infeasible.c.reasons", ["x"], Difference("infeasible.c.reasons", ["x", "y"], ["x"])),
        (PLACED, "infeasible.c.restricted", True, Difference("infeasible.c.restricted", False, True)),
        (PLACED, "best", ["a", "b"], Difference("best", ["a"], ["a", "b"])),
        (PLACED, "score_skipped", True, Difference("score_skipped", False, True)),
        (PLACED, "prescore_skipped", None, Difference("prescore_skipped", ["NodeAffinity"], [])),
        (PLACED, "prefilter_status.nodeNames", [], Difference("prefilter_status.nodeNames", None, [])),
        (
            PLACED,
            "prefilter_status.skippedFilter",
            [],
            Difference("prefilter_status.skippedFilter", ["NodePorts"], []),
        ),
        (REFUSED, "reason", "SchedulerError", Difference("reason", "Unschedulable", "SchedulerError")),
        (REFUSED, "unschedulable_plugins", [], Difference("unschedulable_plugins", ["NodePorts"], [])),
        (
            REFUSED,
            "message",
            "0/1 nodes are available: 1 free.",
            Difference("message", "0/1 nodes are available: 1 taken. <postfilter>", "0/1 nodes are available: 1 free."),
        ),
        (FAILED, "infeasible.b.code", "Error", Difference("nodes in error", ["a"], ["a", "b"])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_changed_value_is_the_one_difference(decision: dict[str, Any], path: str, value: Any, difference: Difference):
    comparison = compare(decision, changed(decision, path, value))
    assert comparison.verdict is Verdict.DIFFERS
    assert comparison.differences == (difference,)


@pytest.mark.parametrize(
    ("decision", "path", "value"),
    [
        (PLACED, "infeasible.c.reasons", ["x", "y"]),
        (PLACED, "reason", ""),
        (PLACED, "nominated_path", False),
        (PLACED, "unschedulable_plugins", []),
        (FAILED, "message", "another"),
        (FAILED, "infeasible.a.reasons", ["another"]),
        (FAILED, "infeasible.b.code", "UnschedulableAndUnresolvable"),
    ],
)
def test_what_is_random_or_empty_makes_no_difference(decision: dict[str, Any], path: str, value: Any):
    assert compare(decision, changed(decision, path, value)).verdict is Verdict.AGREED


def test_what_postfilter_adds_is_one_difference_and_not_two():
    ours = changed(REFUSED, "message", "0/1 nodes are available: 1 taken. nothing to evict")
    ours["postfilter"] = {"code": "Unschedulable", "message": "nothing to evict"}
    assert [found.path for found in compare(REFUSED, ours).differences] == ["postfilter.message"]


def preempting(node: str, *, ties: str = "ab", victims: str = "", **more: Any) -> dict[str, Any]:
    """A decision to evict from one of two nodes."""
    candidates = [{"node": name, "victims": [f"ns/on-{name}"], "pdbViolations": 0} for name in "ab"]
    message = f"preemption: found a potential placement for pod on node {node}, preempting 1 victims"
    postfilter = {
        "code": "Success",
        "message": message,
        "nominatedNode": node,
        "victims": [victims or f"ns/on-{node}"],
        "deleted": [victims or f"ns/on-{node}"],
        "candidates": candidates,
        "ties": [candidate for candidate in candidates if candidate["node"] in ties],
        **more,
    }
    text = f"0/1 nodes are available: 1 taken. {message}"
    return {**REFUSED, "message": text, "postfilter": postfilter}


def test_any_of_the_candidates_that_tie_may_be_taken():
    assert compare(preempting("a"), preempting("b")).verdict is Verdict.AGREED
    assert compare(preempting("a"), preempting("a")).verdict is Verdict.AGREED


@pytest.mark.parametrize(
    ("expected", "ours", "paths"),
    [
        (preempting("a"), preempting("b", victims="ns/on-a"), ["postfilter.victims"]),
        (preempting("a"), preempting("a", deleted=[]), ["postfilter.deleted"]),
        (preempting("a"), preempting("a", candidates=[]), ["postfilter.candidates"]),
        (preempting("a"), preempting("a", ties="a"), ["postfilter.ties"]),
        (preempting("a"), preempting("a", nominatedNode=None), ["postfilter.nominatedNode"]),
        (preempting("a"), preempting("a", clearedNominations=["ns/p"]), ["postfilter.clearedNominations"]),
        (preempting("a"), preempting("b", message="no"), ["message", "postfilter.message"]),
        (preempting("a"), {**preempting("a"), "postfilter": None}, ["message", "postfilter"]),
    ],
    ids=["victims", "deleted", "candidates", "ties", "nomination", "cleared", "message", "not asked"],
)
def test_what_differs_about_preemption_is_told(expected: dict[str, Any], ours: dict[str, Any], paths: list[str]):
    assert [found.path for found in compare(expected, ours).differences] == paths


def test_a_candidate_that_does_not_tie_is_the_wrong_one():
    found = compare(preempting("a", ties="a"), preempting("b", ties="a")).differences
    assert "postfilter.nominatedNode" in [difference.path for difference in found]


BESIDE = {
    **PLACED,
    "sampled": [{"evaluated": 105, "feasible": 100}],
    "bound": {"node": "a", "code": "Success", "writes": ["bind default/p to a"]},
    "hints": [[{"event": "NodeAdd", "hints": {"NodeName": "Queue", "NodeAffinity": "QueueSkip"}}]],
}


@pytest.mark.parametrize(
    ("path", "value", "difference"),
    [
        ("sampled", [{"evaluated": 100, "feasible": 100}], "sampled"),
        ("bound.code", "Error", "bound.code"),
        ("bound.writes", [], "bound.writes"),
        ("hints", [], "hints: events"),
        ("hints", [[{"event": "NodeAdd", "hints": {"NodeName": "Queue"}}]], "hints.0.NodeAdd.NodeAffinity"),
        (
            "hints",
            [[{"event": "NodeAdd", "hints": {"NodeName": "QueueSkip", "NodeAffinity": "QueueSkip"}}]],
            "hints.0.NodeAdd.NodeName",
        ),
    ],
)
def test_what_differs_beside_the_decision_is_told(path: str, value: Any, difference: str):
    assert [found.path for found in compare(BESIDE, changed(BESIDE, path, value)).differences] == [difference]


def test_an_event_that_one_side_does_not_hear_of_is_told():
    other = changed(BESIDE, "hints", [[{"event": "NodeDelete", "hints": {}}]])
    assert compare(BESIDE, other).differences[0] == Difference("hints.0: events", ["NodeAdd"], ["NodeDelete"])


def test_the_hints_of_the_plugin_of_devices_are_not_compared():
    hints = {"NodeName": "Queue", "NodeAffinity": "QueueSkip", "DynamicResources": "Queue"}
    assert compare(changed(BESIDE, "hints", [[{"event": "NodeAdd", "hints": hints}]]), BESIDE).differences == ()


RESERVED = {**PLACED, "reserve": {"a": {"code": "Success", "volumes": {"claim": "pv"}}}}


@pytest.mark.parametrize(
    ("path", "value", "difference"),
    [
        ("reserve.a.volumes.claim", "provision", "reserve.a.volumes"),
        ("reserve.a.volumes", None, "reserve.a.volumes"),
        ("reserve.a.code", "Error", "reserve.a.code"),
        ("reserve", None, "reserve.a.volumes"),
    ],
)
def test_what_differs_about_reserved_volumes_is_told(path: str, value: Any, difference: str):
    comparison = compare(RESERVED, changed(RESERVED, path, value))
    assert [found.path for found in comparison.differences] == [difference]


def test_reservations_that_the_oracle_does_not_tell_of_are_not_compared():
    assert compare(PLACED, RESERVED).verdict is Verdict.AGREED


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [({"id": 1, "error": "no"}, Verdict.REFUSED), ({"id": 1, "feasible": {}}, Verdict.SKIPPED)],
)
def test_a_case_that_the_oracle_cannot_decide_is_counted_apart(ours: dict[str, Any], verdict: Verdict):
    assert compare({"id": 1, "error": "a panic"}, ours).verdict is verdict


def test_a_case_that_only_we_refuse_differs():
    comparison = compare(PLACED, {"id": "placed", "error": "unknown field"})
    assert comparison.differences == (Difference("error", None, "unknown field"),)


class TestCheck:
    """The comparison of many cases, with programs in the place of Berth."""

    CASES = (b'{"id": 0}', b'{"id": 1}', b'{"id": 2}')

    def check(self, program: str, **options: Any) -> conformance.Report:
        berth = [sys.executable, "-c", f"import sys, json\n{program}"]
        return conformance.check("some", list(self.CASES), list(self.CASES), berth=berth, **options)

    @pytest.mark.parametrize("workers", [1, 2, 5])
    def test_every_case_is_compared_with_its_own_decision(self, workers: int):
        report = self.check("for line in sys.stdin: print(line, end='', flush=True)", workers=workers)
        assert report.ok
        assert report.verdicts == {Verdict.AGREED: 3}

    def test_a_difference_is_reported_and_its_case_kept(self, tmp_path: Path):
        report = self.check("for line in sys.stdin: print(line.replace('1', '7'), end='')", keep=tmp_path)
        assert not report.ok
        (failure,) = report.failures
        assert failure.differences == (Difference("id", 1, 7),)
        assert failure.path is not None
        assert failure.path.read_bytes() == b'{"id": 1}\n'
        assert f"--case {failure.path}" in str(report)

    def test_berth_ending_early_is_a_failure_with_its_last_words(self):
        report = self.check("print(sys.stdin.readline(), end=''); sys.exit('out of ideas')")
        assert not report.ok
        assert report.cases == 1
        assert report.broken == "berth ended at case 2 of 3, exit code 1\nout of ideas"

    def test_an_answer_that_is_not_json_is_a_failure(self):
        report = self.check("[print('oops') for line in sys.stdin]")
        assert "berth's answer to case 1 is not JSON" in report.broken
