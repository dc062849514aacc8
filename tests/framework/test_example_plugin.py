"""The example plugin of the documentation: installed as a package, found, configured, and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "berth-plugin-example"

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: berth
  plugins:
    multiPoint:
      enabled:
      - name: LowPrice
        weight: 100
  pluginConfig:
  - name: LowPrice
    args: {label: price}
"""

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: dear, labels: {price: "90"}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: cheap, labels: {price: "10"}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: kept, labels: {price: "1"}, annotations: {example.com/kept-for: infra}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {schedulerName: berth, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky, namespace: shop}
spec: {schedulerName: berth, nodeSelector: {price: "1"}, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: proxy, namespace: infra}
spec: {schedulerName: berth, containers: [{name: c, image: i}]}
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the example package installed."""
    target = tmp_path_factory.mktemp("packages")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    where = {**os.environ, "PIP_NO_INPUT": "1"}
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(EXAMPLE)],
        check=True,
        env=where,
    )
    return target


def simulate(packages: Path, folder: Path, config: str) -> subprocess.CompletedProcess[str]:
    (folder / "config.yaml").write_text(config)
    (folder / "cluster.yaml").write_text(CLUSTER)
    command = [sys.executable, "-c", "import sys; from scheduler.cli.main import main; sys.exit(main())", "simulate"]
    return subprocess.run(
        [*command, "--config", "config.yaml", "-f", "cluster.yaml", "-o", "json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_takes_part_in_decisions(packages, tmp_path):
    result = simulate(packages, tmp_path, CONFIG)
    assert result.returncode == 0, result.stderr
    decisions = {decision["pod"]: decision for decision in json.loads(result.stdout)["decisions"]}
    assert decisions["shop/web"]["node"] == "cheap"
    assert decisions["infra/proxy"]["node"] == "kept"
    assert decisions["shop/picky"]["node"] is None
    assert decisions["shop/picky"]["message"].startswith(
        "0/3 nodes are available: 1 node(s) were kept for infra, 2 node(s) didn't match Pod's node affinity/selector."
    )


def test_its_arguments_are_checked_before_anything_starts(packages, tmp_path):
    result = simulate(packages, tmp_path, CONFIG.replace("{label: price}", "{price: label}"))
    assert result.returncode == 2
    assert 'initializing plugin "LowPrice": args: Object contains unknown field `price`' in result.stderr


def test_without_the_package_the_configuration_is_refused(tmp_path):
    result = simulate(tmp_path, tmp_path, CONFIG)
    assert result.returncode == 2
    assert "LowPrice" in result.stderr
