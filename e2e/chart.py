"""The chart, rendered by real helm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "charts" / "berth"
#: Arguments that make helm use the default values, or those of one of the files in the chart's folder ci.
VALUES = {
    "defaults": [],
    **{file.stem.removesuffix("-values"): ["-f", str(file)] for file in CHART.glob("ci/*.yaml")},
}

Object = dict[str, Any]
Objects = list[Object]


class Helm:
    """Real helm with its files in a folder of its own."""

    def __init__(self, program: str, home: Path) -> None:
        self.program = program
        self.environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Any command, whatever its outcome."""
        command = [self.program, *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)

    def __call__(self, *arguments: str) -> str:
        """The output of a command that must succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def template(self, *arguments: str, release: str = "berth", namespace: str = "kube-system") -> str:
        """The chart as text."""
        return self("template", release, str(CHART), "--namespace", namespace, *arguments)

    def render(self, *arguments: str, release: str = "berth", namespace: str = "kube-system") -> Objects:
        """The chart as objects."""
        text = self.template(*arguments, release=release, namespace=namespace)
        return [document for document in yaml.safe_load_all(text) if document]

    def refusal(self, *arguments: str) -> str:
        """What helm says to values that it must refuse."""
        done = self.run("template", "berth", str(CHART), *arguments)
        assert done.returncode != 0, f"rendered with {arguments}"
        return done.stderr


def one(objects: Objects, kind: str, name: str | None = None) -> Object:
    """The only object of that kind, or of that kind and name."""
    found = [o for o in objects if o["kind"] == kind and name in (None, o["metadata"]["name"])]
    assert len(found) == 1, f"{len(found)} objects of kind {kind} called {name}"
    return found[0]


def pod_template(objects: Objects) -> Object:
    """What the Deployment makes its Pods from."""
    template: Object = one(objects, "Deployment")["spec"]["template"]
    return template


def container(objects: Objects) -> Object:
    """The scheduler's container."""
    found: Object = pod_template(objects)["spec"]["containers"][0]
    return found


def configuration(objects: Objects) -> Object:
    """The KubeSchedulerConfiguration."""
    maps = [o for o in objects if o["kind"] == "ConfigMap" and "config.yaml" in o["data"]]
    assert len(maps) == 1
    loaded: Object = yaml.safe_load(maps[0]["data"]["config.yaml"])
    return loaded
