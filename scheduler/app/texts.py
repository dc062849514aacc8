"""Reading small text files that the user names."""

from __future__ import annotations

from pathlib import Path

from scheduler.config.errors import ConfigError, plain


def read_text(path: str) -> str:
    """The text of a file. Raises ConfigError that says what is in the way."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(path, [plain(problem.strerror or str(problem))]) from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(path, [plain(f"not UTF-8 text: {problem.reason} at byte {problem.start}")]) from problem
