"""Temporary folders that the next start removes when their owner was killed.

The owner holds a lock on a file in its folder as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "berth-controlplane-"
_OWNER = ".owner"
_TMPFS = Path("/dev/shm")


class OwnedFolder:
    """A new folder, on tmpfs where there is one. Those whose owners have ended are removed first."""

    def __init__(self) -> None:
        base = _TMPFS if _TMPFS.is_dir() and os.access(_TMPFS, os.W_OK) else Path(tempfile.gettempdir())
        for left in base.glob(f"{_PREFIX}*"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        self._owner = (self.path / _OWNER).open("w")
        fcntl.flock(self._owner, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._owner.close()


def _remove_if_left(folder: Path) -> None:
    try:
        with (folder / _OWNER).open() as owner:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # it is in use, is being made, belongs to another user, or has just gone
        return
