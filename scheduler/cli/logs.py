"""The log of a running scheduler: lines as klog writes them, or JSON as component-base does."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Final

_ERROR_LETTERS: Final = ((logging.CRITICAL, "F"), (logging.ERROR, "E"), (logging.WARNING, "W"))
_DEBUG_FROM: Final = 4
"""The verbosity that Kubernetes' conventions give to debugging."""
_LIBRARIES_FROM: Final = 6


def level(verbosity: int) -> int:
    """The level to log from at -v `verbosity`: INFO at 0, a level less for each step, DEBUG from 4 on."""
    return logging.DEBUG if verbosity >= _DEBUG_FROM else logging.INFO - max(verbosity, 0)


def verbosity(levelno: int) -> int:
    """The -v from which records of a level are logged."""
    return min(max(logging.INFO - levelno, 0), _DEBUG_FROM)


def set_up(*, style: str, verbosity: int) -> None:
    """Send the log to standard error, as "text" or "json". Libraries are heard from warnings on, or from -v 6."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else KlogFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG if verbosity >= _LIBRARIES_FROM else logging.WARNING)
    logging.getLogger("scheduler").setLevel(level(verbosity))
    logging.captureWarnings(True)


class KlogFormatter(logging.Formatter):
    """`I1130 08:09:18.123456    4711 file.py:12] message`, times local."""

    def format(self, record: logging.LogRecord) -> str:
        """One record; a traceback follows on lines of its own."""
        letter = next((letter for least, letter in _ERROR_LETTERS if record.levelno >= least), "I")
        stamp = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1e6)
        head = f"{letter}{stamp}.{micros:06d} {record.process:7d} {record.filename}:{record.lineno}] "
        return head + record.getMessage() + "".join(f"\n{line}" for line in _trace(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: ts (milliseconds), caller, msg, and v or err, as component-base's JSON format."""

    def format(self, record: logging.LogRecord) -> str:
        """One record."""
        entry: dict[str, object] = {
            "ts": round(record.created * 1000, 4),
            "caller": f"{record.module}/{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno >= logging.WARNING:
            entry["level"] = record.levelname.lower()
        else:
            entry["v"] = verbosity(record.levelno)
        if trace := _trace(record):
            entry["stacktrace"] = "\n".join(trace)
        return json.dumps(entry, ensure_ascii=False)


def _trace(record: logging.LogRecord) -> list[str]:
    if not record.exc_info or record.exc_info[0] is None:
        return []
    return "".join(traceback.format_exception(*record.exc_info)).rstrip().splitlines()


def flush() -> None:
    """Write what is still buffered."""
    for handler in logging.getLogger().handlers:
        handler.flush()
