"""`berth simulate` on a large cluster, start to end: CPU seconds, memory, and where the time goes.

    python -m e2e.perf.simulate                 10,000 pods on 5,000 nodes, with none and with 50,000 running
    python -m e2e.perf.simulate --forms yaml --outputs table --running 0
    python -m e2e.perf.simulate --keep DIR      make the inputs there, or use those that are there

Each is run some times, and the minimum is shown: everything else that runs on the machine can only add to it. Where the
time goes is sampled in one more run (see ``stages``) and given as shares of that minimum.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from e2e.perf.inputs import FORMS, cluster, write
from e2e.perf.stages import ORDER

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT = Path(__file__).parents[2]
OUTPUTS = ("table", "json", "wide", "yaml", "html")


class Run(NamedTuple):
    """CPU seconds of user and system together, and the most memory in MiB."""

    seconds: float
    memory: float


class Result(NamedTuple):
    """The best of some runs; `stages` are CPU seconds by stage."""

    running: int
    form: str
    output: str
    best: Run
    stages: dict[str, float]


def run(module: Sequence[str], path: Path, output: str) -> Run:
    """Simulate once. Raises CalledProcessError if it fails."""
    command = [sys.executable, "-m", *module, "simulate", "-f", str(path), "-o", output]
    # As it is installed: modules are compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(running: int, form: str, output: str, path: Path, rounds: int) -> Result:
    """Simulate some times, and once more with sampling."""
    best = min(run(["scheduler"], path, output) for _ in range(rounds))
    with tempfile.TemporaryDirectory() as directory:
        shares = Path(directory) / "stages.json"
        run(["e2e.perf.stages", "--out", str(shares)], path, output)
        stages = json.loads(shares.read_text(encoding="utf-8"))
    return Result(running, form, output, best, {name: share * best.seconds for name, share in stages.items()})


def table(results: Sequence[Result]) -> str:
    """A line for each result, with a column for each stage that there is in one."""
    stages = [name for name in ORDER if any(name in result.stages for result in results)]
    rows: list[Sequence[str]] = [["running", "input", "output", "CPU s", "MiB", *stages]]
    for result in results:
        shown = [f"{result.stages[name]:.1f}" if name in result.stages else "" for name in stages]
        figures = f"{result.best.seconds:.1f}", f"{result.best.memory:,.0f}"
        rows.append([f"{result.running:,}", result.form, result.output, *figures, *shown])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.simulate", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--nodes", type=int, default=5_000, help="(default %(default)s)")
    parser.add_argument("--pods", type=int, default=10_000, help="pods to be scheduled (default %(default)s)")
    parser.add_argument("--running", default="0,50000", help="pods that run, comma-separated (default %(default)s)")
    parser.add_argument("--forms", default="snapshot,json", help=f"of {', '.join(FORMS)} (default %(default)s)")
    parser.add_argument("--outputs", default="table,json", help=f"of {', '.join(OUTPUTS)} (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the inputs are, or are to be")
    options = parser.parse_args(arguments)
    forms, outputs = options.forms.split(","), options.outputs.split(",")
    for name, given, known in (("form", forms, FORMS), ("output", outputs, OUTPUTS)):
        if unknown := [each for each in given if each not in known]:
            parser.error(f"no such {name}: {', '.join(unknown)}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as directory:
        print(table(_measure_all(options, forms, outputs, options.keep or Path(directory))))
    return 0


def _measure_all(options: Any, forms: Sequence[str], outputs: Sequence[str], folder: Path) -> list[Result]:
    results = []
    for running in map(int, options.running.split(",")):
        size = f"{options.nodes}-{options.pods}-{running}"
        for form in forms:
            path = folder / f"{size}{FORMS[form]}"
            if not path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                # In a process of its own: the memory of a child counts from what its parent takes when it begins.
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as maker:
                    maker.submit(_make, options.nodes, options.pods, running, form, path).result()
            for output in outputs:
                results.append(measure(running, form, output, path, options.rounds))
                print(f"{size}, {form}, {output}: {results[-1].best.seconds:.1f} s", file=sys.stderr)
    return results


def _make(nodes: int, pods: int, running: int, form: str, path: Path) -> None:
    write(list(cluster(nodes, pods, running)), form, path)


if __name__ == "__main__":
    sys.exit(main())
