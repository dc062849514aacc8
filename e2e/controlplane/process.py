"""Child processes that cannot outlive their parent."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# Asks Linux to kill the process when its parent ends, however that ends, and then becomes the program. Done by
# a program of its own rather than between fork and exec, which is not safe in a process with threads.
_DIE_WITH_PARENT = """\
import ctypes, os, sys
parent, *command = sys.argv[1:]
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() != int(parent):
        sys.exit("the parent has ended")
os.execv(command[0], command)
"""
_PORTS = range(20000, 32768)  # below the range from which outgoing connections get theirs
_TAIL = 25


class ProcessError(RuntimeError):
    """A process ended or did not become ready; the message has the end of its log."""


class Process:
    """A running program whose output goes to a log file.

    On Linux it is killed when the thread that started it ends: start it from one that lasts. Elsewhere only
    ``stop`` ends it.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], log: Path, *, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = log
        self.command = [str(part) for part in command]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid()), *self.command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
                start_new_session=True,  # Ctrl-C is for the parent, which then stops them in order
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def wait_ready(self, ready: Callable[[], bool], timeout: float) -> None:
        """Poll ``ready`` until it is true. Raises ProcessError if the process ends first, or after ``timeout`` s."""
        end = time.monotonic() + timeout
        while not ready():
            if not self.running:
                raise ProcessError(f"{self.name} ended with code {self._process.returncode}{self.tail()}")
            if time.monotonic() > end:
                raise ProcessError(f"{self.name} was not ready after {timeout:.0f} s{self.tail()}")
            time.sleep(0.05)

    def tail(self) -> str:
        """The last lines of its log, for a message."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join([f"; {self.log} ends:", *lines[-_TAIL:]])

    def stop(self, *, grace: float = 10.0) -> int:
        """SIGTERM, then SIGKILL after ``grace`` seconds; returns the exit code, negative for a signal."""
        if self.running:
            self._process.terminate()
        try:
            return self._process.wait(grace)
        except subprocess.TimeoutExpired:
            return self.kill()

    def wait(self, timeout: float) -> int:
        """The exit code once it has ended of itself; raises subprocess.TimeoutExpired after ``timeout`` seconds."""
        return self._process.wait(timeout)

    def kill(self) -> int:
        """SIGKILL, and wait for the end."""
        if self.running:
            self._process.send_signal(signal.SIGKILL)
        return self._process.wait()


def free_port() -> int:
    """A TCP port that nothing listens on at the moment."""
    for port in random.SystemRandom().sample(_PORTS, 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ProcessError(f"no free TCP port found between {_PORTS.start} and {_PORTS.stop}")
