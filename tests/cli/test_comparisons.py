"""What `berth simulate` prints of a comparison."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.runs import CONFIG, Run, small_cluster

if TYPE_CHECKING:
    from pathlib import Path

PREFERRING = """
apiVersion: v1
kind: Node
metadata: {name: small, labels: {disk: ssd}}
status: {allocatable: {cpu: 4, pods: "9"}}
---
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: 16, pods: "9"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, resources: {requests: {cpu: 1}}}]
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, preference: {matchExpressions: [{key: disk, operator: Exists}]}}
"""
FIT = "profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight=100"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)


class TestComparison:
    def test_with_the_input_as_it_is(self, run: Run) -> None:
        path = run.write("c.yaml", PREFERRING)
        assert run("-f", path, "--set", FIT, "--compare") == 0
        lines = run.out.splitlines()
        assert lines[0] == f"What if: set {FIT}"
        assert lines[2].split("  ")[-1] == " B: changed"
        (row,) = [line for line in lines if line.startswith("default/p")]
        assert row.split()[:3] == ["default/p", "small", "large"]
        assert "A: small leads large by" in row
        assert "NodeAffinity +200" in row
        assert "B: large leads small by" in row

    def test_two_configurations(self, run: Run) -> None:
        plain = CONFIG.replace("other", "default-scheduler")
        weights = "plugins: {multiPoint: {enabled: [{name: NodeResourcesFit, weight: 100}]}}"
        a, b = run.write("a.yaml", plain), run.write("b.yaml", plain.replace("}]", f", {weights}}}]"))
        path = run.write("c.yaml", PREFERRING)
        assert run("-f", path, "--config", a, "--config", b, "-o", "json") == 0
        found = json.loads(run.out)
        assert (found["a"]["name"], found["b"]["name"]) == (a, b)
        (moved,) = found["moved"]
        assert (moved["pod"], moved["a"]["node"], moved["b"]["node"]) == ("default/p", "small", "large")
        assert moved["under_b"]["points"]["large"]["plugins"]["NodeResourcesFit"] > 0
        assert run("-f", path, "--config", a, "--config", b, "-o", "yaml") == 0
        assert yaml.safe_load(run.out) == found

    def test_wide_has_all_points(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", PREFERRING), "--set", FIT, "--compare", "-o", "wide") == 0
        assert "PLUGIN                            A small   A large   B large   B small" in run.out

    def test_nothing_that_differs(self, run: Run) -> None:
        path = run.write("c.yaml", PREFERRING)
        assert run("-f", path, "--uncordon", "small", "--compare", "--fail-on", "moved") == 0
        assert "The one pod comes out alike." in run.out

    def test_a_drain_is_compared_with_where_pods_are(self, run: Run) -> None:
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "--drain", "n1", "--compare", "--fail-on", "moved") == 1
        assert "default/web-5d-1   n1   n2" in run.out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--compare"], "--compare needs a change"),
            (["--compare", "--drain", "n", "-o", "html"], "-o html shows where pods go"),
            (["--config", "a", "--config", "b", "--compare", "--drain", "n"], "two at a time are compared"),
            (["--config", "a", "--config", "b", "--config", "c"], "two at a time are compared"),
            (["--fail-on", "moved"], "--fail-on moved goes with two --config, or with --compare"),
        ],
    )
    def test_flags_that_can_not_be_used(self, run: Run, arguments: list[str], message: str) -> None:
        assert run("-f", "c.yaml", *arguments) == 2
        assert message in run.err
