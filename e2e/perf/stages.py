"""Where the CPU of `berth run` and `berth simulate` goes, by sampled stacks.

    python -m e2e.perf.stages --out stages.json run --config berth.yaml ...

runs Berth in this process with a timer of CPU time, notes at each tick the innermost frame that belongs to a stage, and
writes the shares when it ends. A sample counts for the time since the one before it, as there are none within a long
call of compiled code. Sampling costs about a hundredth.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scheduler.cli.main import main as berth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

TICK: Final = 0.002
"""Seconds of CPU between two samples."""

STAGES: Final = (
    ("decode", ("scheduler/client/reflector", "scheduler/client/watching", "scheduler/client/lines", "scheduler/api/")),
    ("events", ("scheduler/client/events", "scheduler/client/eventwriter")),
    ("bind", ("scheduler/client/", "scheduler/cycle/binding", "scheduler/framework/binding")),
    ("preempt", ("scheduler/plugins/defaultpreemption",)),
    ("cycle", ("scheduler/cycle/algorithm", "scheduler/cycle/scheduler", "scheduler/framework/", "scheduler/plugins/")),
    ("queue", ("scheduler/queue/",)),
    ("state", ("scheduler/cache/", "scheduler/cycle/handlers", "scheduler/client/informer")),
    ("loop", ("scheduler/app/process", "scheduler/cli/", "scheduler/__main__")),
    ("other", ("scheduler/",)),
)
"""By name, the parts of paths that it is known by; the first that fits a frame holds. What is called by nothing but the
beginning of the program is the event loop's: its own work, TLS, and the kernel's for it."""
ORDER: Final = (
    *("imports", "read", "decode", "state", "queue", "cycle", "preempt", "bind", "events", "record", "print"),
    *("loop", "other"),
)

IMPORTS: Final = "imports"
"""The stage of the code that makes modules, wherever these are."""
SIMULATE_STAGES: Final = (
    (IMPORTS, ("<frozen importlib", "/importlib/")),
    ("read", ("scheduler/app/manifests", "scheduler/app/json_text", "scheduler/app/yaml_")),
    ("read", ("scheduler/app/snapshot/", "scheduler/api/decode", "scheduler/api/defaults", "scheduler/api/stored")),
    ("print", ("scheduler/cli/decisions", "scheduler/cli/structured")),
    ("print", ("scheduler/explain/table", "scheduler/explain/grid")),
    ("record", ("scheduler/app/decisions", "scheduler/explain/")),
    *(stage for stage in STAGES if stage[0] not in ("decode", "events", "loop")),
)
"""Those of `berth simulate`: reading is that of files, and `bind` is the cluster in memory with all that it does."""


class Sampler:
    """Adds up CPU seconds by stage from `start` on."""

    def __init__(self, stages: Sequence[tuple[str, Sequence[str]]] = STAGES) -> None:
        self.samples: Counter[str] = Counter()
        self._stages = stages
        self._stage_of: dict[str, str] = {}
        self._last = time.process_time()

    def stage_of(self, file: str) -> str:
        """The stage of a source file, "" if it belongs to none."""
        known = self._stage_of.get(file)
        if known is None:
            known = next((name for name, parts in self._stages if any(part in file for part in parts)), "")
            self._stage_of[file] = known
        return known

    def start(self) -> None:
        """Begin."""
        signal.signal(signal.SIGPROF, self.take)
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)

    def take(self, _number: int, frame: FrameType | None) -> None:
        """One sample: the innermost frame of the scheduler's own says whose it is.

        A state's own code that runs for the cycle counts for the cycle, so the search goes on outward from it.
        """
        found = ""
        while frame is not None:
            stage = self.stage_of(frame.f_code.co_filename)
            if stage and frame.f_code.co_name == "<module>":
                stage = IMPORTS
            if stage and (not found or (found == "state" and stage in ("cycle", "preempt"))):
                found = stage
            if found and found != "state":
                break
            frame = frame.f_back
        now = time.process_time()
        self.samples[found or "loop"] += now - self._last  # type: ignore[assignment]  # a Counter of seconds
        self._last = now

    def shares(self) -> dict[str, float]:
        """The share of each stage, 0 to 1."""
        total = self.samples.total() or 1
        return {stage: self.samples[stage] / total for stage in ORDER if self.samples[stage]}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is Berth's."""
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.stages", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the shares go, as JSON")
    options, command = parser.parse_known_args(arguments)
    sampler = Sampler(SIMULATE_STAGES if command[:1] == ["simulate"] else STAGES)
    sampler.start()
    try:
        return berth(command)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        options.out.write_text(json.dumps(sampler.shares()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
