"""`berth help`: the help of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import OK

if TYPE_CHECKING:
    import argparse

    from scheduler.cli.parsers import SubParsers


def add_parser(subparsers: SubParsers) -> None:
    """Add the subcommand's parser."""
    parser = add_command(
        subparsers,
        "help",
        help="show the help of a command",
        description="Show what a command does, and all its flags.",
    )
    parser.add_argument("topic", nargs="?", choices=sorted(subparsers.choices), help="the command (default: all)")


def main(namespace: argparse.Namespace) -> int:
    """Print the help."""
    from scheduler.cli.main import build_parser

    parser = build_parser()
    if namespace.topic is None:
        parser.print_help()
        return OK
    parser.parse_args([namespace.topic, "--help"])  # ends the process
    return OK
