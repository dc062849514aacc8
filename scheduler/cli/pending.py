"""`berth pending`: the pods that wait, grouped by what holds them up."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import FAILED, OK, complain

if TYPE_CHECKING:
    import argparse

    from scheduler.cli.parsers import SubParsers

_EPILOG: Final = """\
examples:
  berth pending                    the waiting pods of your context's namespace
  berth pending -A                 of all namespaces
  berth pending -n shop -o json    of one, for programs
  kubectl berth pending -A         the same as a kubectl plugin

Pods of one template that wait for the same reason are one line. `berth explain pod` says of one of them what would
help.

Exit status: 0, whether pods are waiting or not; 1 if the scheduler can't be asked; 2 for flags that can't be used.
"""


def add_parser(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    from scheduler.cli.reaching import RIGHTS, add_flags

    parser = add_command(
        subparsers,
        "pending",
        help="the waiting pods, grouped by what holds them up",
        description="Ask the running scheduler which pods wait, since when, why, and when they are tried again.",
        epilog=_EPILOG + "\n" + RIGHTS,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-n", "--namespace", default="", metavar="NAME", help="of this namespace (default: your context's)"
    )
    which.add_argument("-A", "--all-namespaces", action="store_true", help="of all namespaces")
    parser.add_argument(
        "-o", "--output", default="table", choices=("table", "json", "yaml"), help="table (default), json or yaml"
    )
    add_flags(parser)


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.reach import ReachError
    from scheduler.client.auth import AuthError

    try:
        return asyncio.run(_pending(namespace))
    except AuthError as problem:
        return complain(problem)
    except ReachError as problem:
        return complain(problem, code=FAILED)


async def _pending(namespace: argparse.Namespace) -> int:
    from scheduler.cli.reaching import asking, connection_of
    from scheduler.cli.structured import as_json, as_yaml
    from scheduler.explain.grid import show
    from scheduler.explain.waiting import of_namespace, waiting

    connection = await connection_of(namespace)
    async with asking(namespace, connection) as scheduler:
        pending = await scheduler.pending()
    if not namespace.all_namespaces:
        pending = of_namespace(pending, namespace.namespace or connection.namespace or "default")
    if namespace.output != "table":
        sys.stdout.write(as_json(pending) if namespace.output == "json" else as_yaml(pending))
    else:
        show(sys.stdout, waiting(pending))
    return OK
