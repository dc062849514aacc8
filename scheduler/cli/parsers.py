"""Making the parsers of subcommands alike, and the kinds of values that several of them take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
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


def whole(*, least: int) -> Callable[[str], int]:
    """What reads a whole number that is not below `least`. It raises argparse.ArgumentTypeError."""

    def read(text: str) -> int:
        value = _digits(text)
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} up")
        return value

    return read


def port(text: str) -> int:
    """A TCP port, or 0 for none in particular. Raises argparse.ArgumentTypeError."""
    value = _digits(text)
    if value is None or value > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: they are 1 to 65535")
    return value


def _digits(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
