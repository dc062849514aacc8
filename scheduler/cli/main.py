"""The `berth` command line. Importing it, and asking it for help, loads nothing that talks to a cluster."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from scheduler.cli.problems import FAILED, OK
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cli.parsers import SubParsers

COMMANDS: Final = ("run", "explain", "pending", "page", "simulate", "shadow", "demo", "config", "version", "help")

_INTERRUPTED: Final = 130
_EPILOG: Final = """\
examples:
  berth run                                  schedule the Pods that ask for schedulerName: berth, with the
                                             cluster and the credentials of your kubeconfig
  berth run --config berth.yaml -v 2         the same with a KubeSchedulerConfiguration, as in a cluster
  berth explain pod web-1 -n shop            why a pod is where it is, or pending and what would help
  berth pending -A                           the waiting pods, by what holds them up
  berth page                                 the queue, every decision and the cluster in a browser
  berth simulate -f cluster.yaml             what would go where, and why, without a cluster
  berth shadow                               how far kube-scheduler's decisions agree, before you switch
  berth demo deploy/examples                 the scheduler at work on a small cluster in this process
  berth config --config berth.yaml           what a configuration amounts to once defaults are in
  berth help run                             all flags of a command

documentation: docs/operations.md (endpoints, signals, logs), docs/configuration.md, docs/architecture.md
"""


class Command(Protocol):
    """What the module of a subcommand offers."""

    def add_parser(self, subparsers: SubParsers) -> None:
        """Add the subcommand's parser."""

    def main(self, namespace: argparse.Namespace) -> int:
        """Do what was asked for; the exit code."""


def build_parser(program: str = "berth", commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of the command line with these commands; each leaves its module's name in `command`."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="A Kubernetes scheduler: kube-scheduler's decisions, every node scored, every decision explained.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    version = f"berth {__version__} (decides as kube-scheduler {KUBERNETES_VERSION})"
    parser.add_argument("--version", action="version", version=version)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in commands:
        _command(name).add_parser(subparsers)
    return parser


def kubectl() -> int:
    """The same under the name by which kubectl finds its plugins: kubectl-berth."""
    return main(program="kubectl berth")


def main(arguments: Sequence[str] | None = None, program: str = "berth") -> int:
    """Run one command; its exit code: 0, 1 if it failed, 2 if what it was given can't be used."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads for algebra that nobody does here
    given = sys.argv[1:] if arguments is None else arguments
    # Each command's module takes its time to load, so only the one that is asked for is, where that is plain.
    one_is_enough = bool(given) and given[0] in COMMANDS and given[0] != "help"
    parser = build_parser(program, given[:1] if one_is_enough else COMMANDS)
    namespace = parser.parse_args(arguments)
    if namespace.command is None:
        parser.print_help()
        return OK
    try:
        code = _command(namespace.command).main(namespace)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; keep Python from complaining when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return code


def _command(name: str) -> Command:
    return cast("Command", import_module(f"scheduler.cli.{name}"))
