"""Leave a control plane with hollow nodes running, to try things on.

python -m e2e.controlplane up --nodes 20 --dir .cluster
python -m e2e.controlplane status --dir .cluster
python -m e2e.controlplane down --dir .cluster
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from e2e import tools
from e2e.controlplane import resident
from e2e.controlplane.process import ProcessError

if TYPE_CHECKING:
    from collections.abc import Sequence

NEXT = """\
A Kubernetes {version} control plane is up at {server}, with {nodes} hollow nodes ({components}).

    export KUBECONFIG={kubeconfig}
    kubectl get nodes
    make run KUBECONFIG={kubeconfig}     # Berth places the pods whose schedulerName is berth
    kubectl apply -f deploy/examples/kubectl     # in another terminal
    kubectl get pods -o wide

The logs are in {directory}. End it with: python -m e2e.controlplane down --dir {given}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "serve":
            resident.serve(options.dir, options.nodes, options.zones, _components(options.components))
        elif options.command == "up":
            return _up(options)
        elif options.command == "down":
            print("it has ended" if resident.down(options.dir) else f"nothing is running in {options.dir}")
        else:
            return _status(options.dir)
    except (tools.ToolError, ProcessError, TimeoutError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.controlplane", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("up", "start one in the background"),
        ("serve", "run one in the foreground, until SIGTERM"),
        ("down", "end it"),
        ("status", "tell whether it runs"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--dir", type=Path, default=Path(".cluster"), help="default: %(default)s")
        if name in ("up", "serve"):
            command.add_argument("--nodes", type=int, default=10, help="hollow nodes (default %(default)s)")
            command.add_argument("--zones", type=int, default=3, help="zones (default %(default)s)")
            command.add_argument(
                "--with",
                dest="components",
                default="kube-controller-manager",
                metavar="NAMES",
                help=f"any of {','.join(resident.OPTIONAL)}, or none (default: %(default)s)",
            )
    return parser


def _components(text: str) -> frozenset[str]:
    names = frozenset(name for name in text.split(",") if name and name != "none")
    if unknown := names - set(resident.OPTIONAL):
        raise ProcessError(f"--with {','.join(sorted(unknown))}: give any of {', '.join(resident.OPTIONAL)}")
    return names


def _up(options: argparse.Namespace) -> int:
    components = _components(options.components)
    tools.ensure(["etcd", "kube-apiserver", *sorted(components)])  # so that a build shows here
    state = resident.up(options.dir, options.nodes, options.zones, components)
    print(
        NEXT.format(
            version=tools.version("kube-apiserver"),
            server=state.server,
            nodes=state.nodes,
            components=", ".join(state.processes),
            kubeconfig=state.kubeconfig,
            directory=options.dir.resolve(),
            given=options.dir,
        )
    )
    return 0


def _status(directory: Path) -> int:
    state = resident.running(directory)
    if state is None:
        print(f"nothing is running in {directory}")
        return 1
    print(f"running: {state.server}, {state.nodes} hollow nodes, KUBECONFIG={state.kubeconfig}")
    for name, pid in state.processes.items():
        print(f"  {name:24} pid {pid}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
