"""The pending pods of docs/examples on the real control plane: kube-scheduler says what the files lead Berth to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from e2e import berth
from e2e.controlplane import ControlPlane, HollowKubelet, Options, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = sorted((berth.ROOT / "docs" / "examples" / "pending").glob("*.yaml"))


@pytest.fixture(scope="module")
def with_kube_scheduler() -> Iterator[ControlPlane]:
    """A control plane as `python -m e2e.controlplane up` leaves one, without a node."""
    options = Options(kube_controller_manager=True, kube_scheduler=True)
    with ControlPlane(options) as cluster, HollowKubelet(cluster.api):
        yield cluster


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def example(request: pytest.FixtureRequest, with_kube_scheduler: ControlPlane) -> Iterator[Path]:
    """A file that is applied, and gone after the test."""
    file = str(request.param)
    with_kube_scheduler.kubectl("apply", "-f", file)
    yield request.param
    with_kube_scheduler.kubectl("delete", "-f", file, "--force", "--grace-period=0")


def answer(*arguments: str) -> Any:
    command = [sys.executable, "-m", "scheduler", *arguments, "-o", "json"]
    env = {**os.environ, "PYTHONPATH": str(berth.ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_berth_says_of_the_file_what_kube_scheduler_and_berth_say_of_the_cluster(
    with_kube_scheduler: ControlPlane, example: Path
) -> None:
    (simulated,) = answer("simulate", "-f", str(example))["decisions"]
    name = simulated["pod"].partition("/")[2]

    def told() -> bool:
        return simulated["message"] in [one.get("note") for one in berth.events(with_kube_scheduler, "default", name)]

    wait_until(f"kube-scheduler to say: {simulated['message']}", told)
    kubeconfig = str(with_kube_scheduler.kubeconfig())
    explained = answer("explain", "pod", name, "--from-cluster", "--kubeconfig", kubeconfig)
    for part in ("sentence", "rejected", "nearest", "spread", "affinity", "facts", "helps"):
        assert explained["evaluation"]["whyNot"].get(part) == simulated["whyNot"].get(part)
