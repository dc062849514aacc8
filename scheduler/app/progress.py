"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Progress = Callable[[str, int, "int | None"], Any]
"""(what is being done, how much of it is done, of how much or None where nobody knows)."""


def unseen(_what: str, _done: int, _total: int | None) -> None:
    """Nobody watches."""
