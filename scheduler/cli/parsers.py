"""Making the parsers of subcommands alike."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    SubParsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    subparsers: SubParsers,
    name: str,
    *,
    help: str,  # noqa: A002 (argparse's name)
    description: str,
    epilog: str = "",
) -> argparse.ArgumentParser:
    """A parser for the subcommand `name` that keeps the lines of its texts, and takes no abbreviated flags."""
    return subparsers.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
