"""Following the configuration file: what is changed there is taken up while the scheduler runs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from scheduler.app.configuration import parse_config
from scheduler.app.running import FILE
from scheduler.config.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.app.running import Change, RunningConfiguration

log = logging.getLogger(__name__)

PERIOD: Final = 2.0
"""Seconds between two looks. A mounted ConfigMap follows its object within a minute or so."""

_Mark = tuple[int, int, int, int]


class ConfigFile:
    """A file that may be replaced (by a rename, or a symbolic link on the way that leads elsewhere) or written anew."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: _Mark | None = None
        self._read: _Mark | None = None
        self._missing = False

    def look(self) -> bytes | None:
        """The content if it may be another than at the last such answer, else None.

        A file is read only once it looks the same twice, as it may be half written. One that can't be read is told of
        once, and waited for.
        """
        try:
            mark = _mark(self.path)
            if mark != self._seen:
                self._seen = mark
                return None
            if mark == self._read:
                return None
            content = Path(self.path).read_bytes()
        except OSError as problem:
            if not self._missing:
                self._missing = True
                log.warning("%s can't be read, the last good configuration stays in force: %s", self.path, problem)
            return None
        self._missing = False
        self._read = mark
        return content


class FileReload:
    """Takes up what a configuration file says, unless it says the same as before."""

    def __init__(
        self, path: str, running: RunningConfiguration, document: Any, changed: Callable[[], object] | None = None
    ) -> None:
        self._path = path
        self._changed = changed
        self._running = running
        self._document = document

    def take_up(self, content: bytes) -> None:
        """Bring a file's content into force, or say why not."""
        try:
            given = parse_config(content, source=self._path)
            if given == self._document:
                return
            self._document = given
            change = self._running.use_file(given)
        except ConfigError as problem:
            self._document = None  # so that whatever comes next is told of
            self._running.refused(FILE)
            log.error("%s is refused, the last good configuration stays in force:\n%s", self._path, problem)
            return
        self._running.taken_up(FILE)
        _tell(self._path, change)
        if self._changed is not None:
            self._changed()


async def follow(
    path: str,
    running: RunningConfiguration,
    document: Any,
    *,
    changed: Callable[[], object] | None = None,
    period: float = PERIOD,
) -> NoReturn:
    """Take up the changes of a configuration file, for ever; `document` is what it said at the start.

    `changed` is called after each that was taken up.
    """
    file, reload = ConfigFile(path), FileReload(path, running, document, changed)
    while True:
        content = file.look()
        if content is not None:
            reload.take_up(content)
        await asyncio.sleep(period)


def _mark(path: str) -> _Mark:
    found = Path(path).stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _tell(path: str, change: Change) -> None:
    changed = f"changed profiles: {', '.join(change.profiles)}" if change.profiles else "no profile changes"
    log.info("%s is in force; %s", path, changed)
    if change.restart:
        log.warning("%s: takes effect at the next start only: %s", path, ", ".join(change.restart))
