"""What a command says when it can't do what was asked for, and the exit code that goes with it."""

from __future__ import annotations

import sys
from typing import Final

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2


def complain(problem: object, *, code: int = BAD_INPUT) -> int:
    """Print a problem on standard error, line by line under the command's name, and answer `code`."""
    text = str(problem)
    if isinstance(problem, OSError) and problem.filename:
        text = f"{problem.filename}: {problem.strerror}"
    for line in text.splitlines() or [type(problem).__name__]:
        print(f"berth: error: {line}", file=sys.stderr)
    return code


def warn(problem: str) -> None:
    """Print what a user should know, though it keeps nothing from going on."""
    print(f"berth: warning: {problem}", file=sys.stderr)
