"""Situations that people reported as bugs of schedulers, each with the outcome that is right.

`NN-name.yaml` is what `berth simulate -f` is given, `NN-name.expect.yaml` what has to come out and which reports it
goes back to. Cases about what Berth does not do yet come with it: groups of pods (30, 31), devices (32), Volcano's node
order (33).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scheduler.api.quantity import milli_value, value
from scheduler.api.requests import incoming_requests
from scheduler.app.manifests import read_manifests
from scheduler.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
STATUSES = {"scheduled": "Scheduled", "unschedulable": "Unschedulable", "gated": "Gated", "preempting": "Scheduled"}
"""A pod for which others were evicted is scheduled once they are gone, which in a simulation is at once."""
SEEDS = {"24-node-affinity-operators": 1}
"""For cases whose later scores depend on how a tie came out."""


def expectations() -> dict[str, dict[str, Any]]:
    """What is expected of each case, by its name."""
    found = {}
    for path in sorted(HERE.glob("*.expect.yaml")):
        found[path.name.removesuffix(".expect.yaml")] = yaml.safe_load(path.read_text())
    return found


CASES = expectations()
BROKEN = [name for name, case in CASES.items() if case.get("result") == "config-error"]
PREEMPTING = [
    name for name, case in CASES.items() if any(p["result"] == "preempting" for p in case.get("pods", {}).values())
]
DECIDED = [name for name in CASES if name not in BROKEN]
PLACED = [name for name in DECIDED if name not in PREEMPTING]


def simulated(name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The decisions that `berth simulate` prints about a case."""
    seed = str(SEEDS.get(name, 0))
    assert main(["simulate", "-f", str(HERE / f"{name}.yaml"), "-o", "json", "--seed", seed]) == 0
    decisions: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["decisions"]
    return decisions


def pods_of(case: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods that have an outcome."""
    return ((pod, wanted) for pod, wanted in case["pods"].items() if wanted["result"] != "ignored")


def test_every_case_has_its_expectation() -> None:
    inputs = {path.name.removesuffix(".yaml") for path in HERE.glob("*.yaml") if ".expect." not in path.name}
    assert inputs == set(CASES)
    assert all(case["source"] for case in CASES.values())


@pytest.mark.parametrize("name", PREEMPTING)
def test_pods_are_evicted_for_one_that_matters_more(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (decision,) = simulated(name, capsys)
    wanted = CASES[name]["pods"][decision["pod"]]
    assert decision["status"] == STATUSES[wanted["result"]]
    assert decision["nominatedNode"] == decision["node"] == wanted["nominated"]
    assert decision["victims"] == decision["postfilter"]["victims"] == wanted["victims"]
    assert wanted["message"].endswith(f" {decision['postfilter']['message']}")


@pytest.mark.parametrize("name", PLACED)
class TestCase:
    def test_pods_come_out_as_they_should(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        decisions = simulated(name, capsys)
        wanted = dict(pods_of(CASES[name]))
        assert {d["pod"]: d["status"] for d in decisions} == {
            pod: STATUSES[outcome["result"]] for pod, outcome in wanted.items()
        }
        for decision in decisions:
            outcome = wanted[decision["pod"]]
            assert decision["node"] in outcome.get("chosen", [None])
            assert decision["victims"] == outcome.get("victims", [])
            if "condition_reason" in outcome:
                assert decision["reason"] == outcome["condition_reason"]

    def test_nodes_fit_or_are_turned_down_by_the_right_plugin(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for decision in simulated(name, capsys):
            outcome = CASES[name]["pods"][decision["pod"]]
            rejected = {node: verdict["plugin"] for node, verdict in decision["infeasible"].items()}
            assert sorted(decision["feasible"]) == sorted(outcome.get("feasible", []))
            assert outcome.get("rejected", {}).items() <= rejected.items()

    def test_scores_are_exact(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        for decision in simulated(name, capsys):
            scores = {
                node: {**score["plugins"], "total": score["total"]} for node, score in decision["feasible"].items()
            }
            assert scores == CASES[name]["pods"][decision["pod"]].get("weighted_scores", {})

    def test_messages_are_worded_as_kube_scheduler_words_them(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        decisions = simulated(name, capsys)
        for decision in decisions:
            wanted = CASES[name]["pods"][decision["pod"]].get("message")
            if wanted is not None:
                assert decision["message"] == wanted
        told = [decision["message"] for decision in decisions]
        told += [reason for d in decisions for verdict in d["infeasible"].values() for reason in verdict["reasons"]]
        assert any(CASES[name].get("message_contains", "") in text for text in told)

    def test_pods_are_tried_in_order_of_priority(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        tried = [d["pod"] for d in simulated(name, capsys) if d["status"] != "Gated"]
        assert tried == [pod for pod, wanted in pods_of(CASES[name]) if wanted["result"] != "gated"]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_configuration_is_an_error_that_names_file_and_field(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = HERE / f"{name}.yaml"
    assert main(["simulate", "-f", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert str(path) in printed.err
    assert CASES[name]["message_contains"] in printed.err


def test_a_sidecar_runs_beside_the_init_containers_after_it() -> None:
    name = "09-sidecar-before-init"
    (pod,) = (item for item in read_manifests([str(HERE / f"{name}.yaml")]).objects if type(item).__name__ == "Pod")
    wanted = CASES[name]["pods"]["default/train"]["effective_requests"]
    assert incoming_requests(pod) == {"cpu": milli_value(wanted["cpu"]), "memory": value(wanted["memory"])}
