"""`berth version`: what is installed."""

from __future__ import annotations

import json
import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import OK
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    import argparse

    from scheduler.cli.parsers import SubParsers


def add_parser(subparsers: SubParsers) -> None:
    """Add the subcommand's parser."""
    parser = add_command(
        subparsers,
        "version",
        help="print the version",
        description=(
            "Print Berth's version, the kube-scheduler whose decisions it takes, and whether it was built with its "
            "compiled kernels. Without these it decides the same, and takes longer where many templates take turns."
        ),
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="format (default text)")


def main(namespace: argparse.Namespace) -> int:
    """Print the version."""
    facts = {
        "berth": __version__,
        "kubernetes": KUBERNETES_VERSION,
        "python": platform.python_version(),
        "compiled": find_spec("scheduler.kernels._compiled") is not None,  # found, not loaded: that takes its time
    }
    if namespace.output == "json":
        print(json.dumps(facts))
    else:
        kernels = "compiled kernels" if facts["compiled"] else "kernels not compiled"
        print(f"berth {facts['berth']}, kube-scheduler {facts['kubernetes']}, Python {facts['python']}, {kernels}")
    return OK
