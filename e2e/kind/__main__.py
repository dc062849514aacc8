"""A kind cluster with Berth installed in it as a second scheduler, from the Dockerfile and the Helm chart.

    python -m e2e.kind up        make the cluster, build and load the image, install the chart
    python -m e2e.kind down      delete the cluster

It needs Docker; where there is none, ``python -m e2e.controlplane up`` gives a control plane without it.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from e2e import tools

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
IMAGE = "berth:dev"
NAMESPACE = "kube-system"
RELEASE = "berth"
INSTEAD = "or use `make cluster`, which needs no Docker"
NEXT = """\
Berth runs in the kind cluster {name}, beside kube-scheduler.

    export KUBECONFIG={kubeconfig}
    kubectl -n {namespace} get pods
    kubectl apply -f deploy/examples/kubectl     # pods whose schedulerName is berth
    kubectl get pods -o wide

End it with: python -m e2e.kind down --name {name}
"""


class KindError(RuntimeError):
    """Something that is needed is not here, or a step failed; the message says what to do."""


def require_docker() -> None:
    """Raises KindError unless a Docker daemon answers."""
    docker = shutil.which("docker")
    if docker is None:
        raise KindError(f"kind needs Docker and there is no docker on PATH: install it, {INSTEAD}")
    done = subprocess.run([docker, "info"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        told = (done.stderr.strip() or done.stdout.strip()).splitlines()
        last = told[-1] if told else f"exit code {done.returncode}"
        raise KindError(f"kind needs Docker and `docker info` fails ({last}): start it, {INSTEAD}")


def up(name: str, directory: Path, image: str | None) -> None:
    """Make the cluster if it is not there, and install or upgrade Berth in it. Raises KindError, ToolError."""
    require_docker()
    kind, helm, kubectl = (str(tools.binary(program)) for program in ("kind", "helm", "kubectl"))
    directory.mkdir(parents=True, exist_ok=True)
    kubeconfig = directory / "kubeconfig"
    env = {**os.environ, "KUBECONFIG": str(kubeconfig.resolve())}
    there = subprocess.run([kind, "get", "clusters"], capture_output=True, text=True, check=False)
    if name not in there.stdout.split():
        _step([kind, "create", "cluster", "--name", name, *(["--image", image] if image else [])], env)
    _step([kind, "export", "kubeconfig", "--name", name], env)
    _step(["docker", "build", "--tag", IMAGE, "."], env)
    _step([kind, "load", "docker-image", IMAGE, "--name", name], env)
    repository, tag = IMAGE.split(":")
    values = {"image.repository": repository, "image.tag": tag, "image.pullPolicy": "Never"}
    settings = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    chart = str(REPOSITORY / "charts" / "berth")
    _step([helm, "upgrade", "--install", RELEASE, chart, "--namespace", NAMESPACE, *settings], env)
    wait = ["rollout", "status", f"deployment/{RELEASE}", "--timeout=120s"]
    _step([kubectl, "--namespace", NAMESPACE, *wait], env)
    print(NEXT.format(name=name, kubeconfig=kubeconfig.resolve(), namespace=NAMESPACE))


def down(name: str) -> None:
    """Delete the cluster. Raises KindError, ToolError."""
    require_docker()
    _step([str(tools.binary("kind")), "delete", "cluster", "--name", name], dict(os.environ))


def _step(command: list[str], env: dict[str, str]) -> None:
    print(f"+ {shlex.join([Path(command[0]).name, *command[1:]])}", file=sys.stderr, flush=True)
    code = subprocess.run(command, cwd=REPOSITORY, env=env, check=False).returncode
    if code != 0:
        raise KindError(f"{Path(command[0]).name} {command[1]} failed with exit code {code}: see above")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.kind", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("up", "down"))
    parser.add_argument("--name", default="berth", help="name of the cluster (default %(default)s)")
    parser.add_argument("--dir", type=Path, default=Path(".cluster/kind"), help="for the kubeconfig (%(default)s)")
    parser.add_argument("--image", metavar="IMAGE", help="kind's node image (default: that of this kind)")
    options = parser.parse_args(arguments)
    try:
        if options.command == "up":
            up(options.name, options.dir, options.image)
        else:
            down(options.name)
    except (KindError, tools.ToolError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
