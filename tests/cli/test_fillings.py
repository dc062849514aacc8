"""What `berth simulate --fill` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.runs import DEPLOYMENT, Run, small_cluster

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)


class TestFill:
    POD = (
        "{apiVersion: v1, kind: Pod, metadata: {name: job}, "
        "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
    )

    def fill(self, run: Run, *arguments: str, pod: str = POD) -> int:
        path = run.write("c.yaml", small_cluster())
        return run("-f", path, "--fill", run.write("pod.yaml", pod), *arguments)

    def test_in_a_sentence_and_in_tables(self, run: Run) -> None:
        assert self.fill(run) == 0
        lines = run.out.splitlines()
        assert lines[0] == (
            "5 copies of default/job fit, on 2 of 2 nodes. cpu binds first: 2 of the 2 nodes have too little left."
        )
        assert lines[2].split("  ")[0] == "RESOURCE"
        assert ["2", "NodeResourcesFit", "Insufficient", "cpu", "n1,", "n2"] in [line.split() for line in lines]
        assert [line.split() for line in lines[-3:]] == [["NODE", "COPIES"], ["n2", "4"], ["n1", "1"]]

    def test_as_json_and_yaml(self, run: Run) -> None:
        assert self.fill(run, "-o", "json", "--cordon", "n2") == 0
        found = json.loads(run.out)
        assert (found["copies"], found["where"], found["changes"]) == (1, {"n1": 1}, ["cordoned n2"])
        assert found["room"][0]["enoughFor"] == 1
        assert self.fill(run, "-o", "yaml", "--cordon", "n2") == 0
        assert yaml.safe_load(run.out) == found

    def test_the_pods_of_a_workload(self, run: Run) -> None:
        assert self.fill(run, pod=DEPLOYMENT) == 0
        assert run.out.startswith("5 copies of default/shop fit")

    def test_none(self, run: Run) -> None:
        assert self.fill(run, "--cordon", "*") == 0
        assert "No copy of default/job fits on any of 2 nodes.\n" in run.out

    def test_a_limit(self, run: Run) -> None:
        assert self.fill(run, "--fill-limit", "2") == 0
        assert run.out.startswith("At least 2 copies of default/job fit, on ")

    def test_enough_or_not(self, run: Run) -> None:
        assert self.fill(run, "--at-least", "5") == 0
        assert self.fill(run, "--at-least", "6") == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--drain", "n1", "--compare"], "--fill answers one question at a time"),
            (["--fill-limit", "2", "--at-least", "3"], "would never be enough"),
            (["-o", "html"], "-o html shows where pods go"),
        ],
    )
    def test_flags_that_can_not_be_used(self, run: Run, arguments: list[str], message: str) -> None:
        assert self.fill(run, *arguments) == 2
        assert message in run.err

    def test_without_a_pod(self, run: Run) -> None:
        assert run("-f", "c.yaml", "--at-least", "3") == 2
        assert "--fill-limit and --at-least go with --fill POD.yaml" in run.err

    def test_files_that_have_no_single_pod(self, run: Run) -> None:
        assert self.fill(run, pod=small_cluster().split("---")[0]) == 2
        assert "no pods and workloads; --fill takes one" in run.err
        assert self.fill(run, pod=f"{self.POD}\n---\n{DEPLOYMENT}") == 2
        assert "2 pods and workloads; --fill takes one" in run.err

    def test_a_pod_that_is_held_back(self, run: Run) -> None:
        gated = self.POD.replace("spec: {", "spec: {schedulingGates: [{name: g}], ")
        assert self.fill(run, pod=gated) == 2
        assert "pod.yaml: a PreEnqueue plugin or a scheduling gate holds the pod back" in run.err
