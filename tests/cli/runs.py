"""Running `berth simulate` on files of a directory, and small clusters for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scheduler.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: other}]
"""


class Run:
    """Runs the command on files of a directory, and keeps what it printed."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory = directory
        self._capsys = capsys
        self.out = self.err = ""

    def write(self, name: str, text: str) -> str:
        """A file with this text; its path."""
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def __call__(self, *arguments: str) -> int:
        """The exit status."""
        status = main(["simulate", *arguments])
        self.out, self.err = self._capsys.readouterr()
        return status

    def decisions(self, *arguments: str) -> list[dict[str, Any]]:
        """The decisions, from JSON."""
        assert self(*arguments, "-o", "json") == 0
        found: list[dict[str, Any]] = json.loads(self.out)["decisions"]
        return found


def small_cluster(nodes: int = 2, *, cpu: int = 4) -> str:
    """Nodes n1, n2, ... and a pod web-5d-1 that runs on n1."""
    parts = [
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{number}}}, "
        f'status: {{allocatable: {{cpu: "{cpu}", pods: "9"}}}}}}'
        for number in range(1, nodes + 1)
    ]
    owner = "{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d, uid: r, controller: true}"
    parts.append(
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: web-5d-1, labels: {{pod-template-hash: 5d}}, "
        f"ownerReferences: [{owner}]}}, "
        "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}"
    )
    return "\n---\n".join(parts)


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 3
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
"""
