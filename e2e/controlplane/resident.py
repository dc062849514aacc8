"""A control plane that stays up: one process in the background owns it and plays the kubelets.

That process holds a lock on a file as long as it lives. So nobody has to trust a process id that is written down
and may have been given to another process since.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from e2e.controlplane.cluster import ControlPlane
from e2e.controlplane.hollow import HollowKubelet
from e2e.controlplane.options import Options
from e2e.controlplane.process import ProcessError

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONAL = ("kube-controller-manager", "kube-scheduler")
REPOSITORY = Path(__file__).resolve().parents[2]
_STATE, _LOCK, _LOG = "state.json", "lock", "serve.log"
_UP, _DOWN = 180.0, 30.0
_WATCH = 1.0


@dataclass(frozen=True, kw_only=True)
class State:
    """What a resident control plane says of itself when it is ready."""

    pid: int
    server: str
    kubeconfig: str
    nodes: int
    processes: dict[str, int]


def up(directory: Path, nodes: int, zones: int, components: frozenset[str]) -> State:
    """Start one in the background and wait until it is ready. Raises ProcessError if it can't, or runs already."""
    if running(directory):
        raise ProcessError(f"one is running in {directory} already: end it with down, or give another --dir")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _STATE).unlink(missing_ok=True)
    command = [sys.executable, "-m", "e2e.controlplane", "serve", "--dir", str(directory.resolve())]
    command += [
        "--nodes",
        str(nodes),
        "--zones",
        str(zones),
        "--with",
        ",".join(sorted(components)) or "none",
    ]
    log = directory / _LOG
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    end = time.monotonic() + _UP
    while not (state := running(directory)):
        if process.poll() is not None:
            raise ProcessError(f"it did not come up: {log.read_text().strip()}")
        if time.monotonic() > end:
            process.terminate()
            raise ProcessError(f"it was not up after {_UP:.0f} s; see {log}")
        time.sleep(0.1)
    process.returncode = 0  # it stays: nobody is to wait for it
    return state


def down(directory: Path) -> bool:
    """End the one of this folder and wait for that; False if none runs. Raises ProcessError if it does not end."""
    state = running(directory)
    if state is None:
        return False
    os.kill(state.pid, signal.SIGTERM)
    end = time.monotonic() + _DOWN
    while running(directory):
        if time.monotonic() > end:
            raise ProcessError(f"process {state.pid} has not ended after {_DOWN:.0f} s; see {directory / _LOG}")
        time.sleep(0.1)
    return True


def running(directory: Path) -> State | None:
    """The state of the one that is ready in this folder, or None."""
    try:
        with (directory / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pass  # its owner lives
    except FileNotFoundError:
        return None
    else:
        return None
    try:
        return State(**json.loads((directory / _STATE).read_text()))
    except FileNotFoundError:  # it is still coming up, or already going down
        return None


def serve(directory: Path, nodes: int, zones: int, components: frozenset[str]) -> None:
    """Run one in the foreground until SIGTERM or SIGINT. Raises ProcessError if a component ends before."""
    directory.mkdir(parents=True, exist_ok=True)
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    options = Options(
        kube_controller_manager="kube-controller-manager" in components,
        kube_scheduler="kube-scheduler" in components,
        directory=directory,
    )
    with _locked(directory), ControlPlane(options) as cluster, HollowKubelet(cluster.api):
        cluster.add_nodes(nodes, zones=zones)
        _publish(directory, cluster, nodes)
        while not told.wait(_WATCH):
            for process in cluster.processes.values():
                if not process.running:
                    raise ProcessError(f"{process.name} has ended{process.tail()}")


def _publish(directory: Path, cluster: ControlPlane, nodes: int) -> None:
    state = State(
        pid=os.getpid(),
        server=cluster.server,
        kubeconfig=str(cluster.kubeconfig().resolve()),
        nodes=nodes,
        processes={name: process.pid for name, process in cluster.processes.items()},
    )
    partial = directory / f".{_STATE}"
    partial.write_text(json.dumps(asdict(state), indent=2) + "\n")
    partial.rename(directory / _STATE)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProcessError(f"another process serves {directory}") from None
        try:
            yield
        finally:
            (directory / _STATE).unlink(missing_ok=True)
