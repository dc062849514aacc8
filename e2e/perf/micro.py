"""The scheduling cycle alone, without API server: CPU microseconds to decide, pick and assume.

    python -m e2e.perf.micro                                       all workloads at 500, 5,000 and 15,000 nodes
    python -m e2e.perf.micro --workloads spread --nodes 5000 --profile 25
    python -m e2e.perf.micro --records                             what it costs to record decisions
    python -m e2e.perf.micro --json before.json; ...; python -m e2e.perf.micro --against before.json

Every node is scored. The minimum is the figure to compare: everything else that runs on the machine can only add to it.
Where the machine counts instructions, their number a pod is shown as well, which varies less than time.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import platform
import pstats
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from e2e.perf.cycles import (
    EVENTS,
    WORKLOADS,
    Bench,
    MisfitError,
    cpu_microseconds,
    time_cycles,
    time_events,
    time_records,
)
from e2e.perf.instructions import counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = "500,5000,15000"
Result = dict[str, Any]


def measure(name: str, nodes: int, pods: int) -> Result:
    """One workload on one size of cluster. Raises MisfitError where the placements make no sense."""
    times = _take(name, nodes, pods, cpu_microseconds)
    result = {
        "workload": name,
        "nodes": nodes,
        "pods": pods,
        "min": min(times),
        "median": statistics.median(times),
        "mean": statistics.fmean(times),
    }
    with counter() as executed:
        if executed is not None:
            result["instructions"] = statistics.median(_take(name, nodes, pods, executed))
    return result


def _take(name: str, nodes: int, pods: int, clock: Callable[[], float]) -> list[float]:
    bench = Bench(nodes)
    if name in EVENTS:
        return time_events(bench, name, pods, clock)
    return time_cycles(bench, WORKLOADS[name], pods, clock)


def measure_records(name: str, nodes: int, pods: int) -> str:
    """What recording adds to one workload: the same pods, one by one with and without."""
    off, on = Bench(nodes), Bench(nodes, records=True)
    without, recorded = time_records((off, on), WORKLOADS[name], pods)
    assert on.store is not None
    text = f"{name:20} {nodes:6,} nodes: {min(without):.0f} -> {min(recorded):.0f} at least"
    with counter() as executed:
        if executed is not None:
            benches = Bench(nodes), Bench(nodes, records=True)
            counts = [statistics.median(taken) for taken in time_records(benches, WORKLOADS[name], pods, executed)]
            text += f"; {counts[0] / 1000:.0f} -> {counts[1] / 1000:.0f} thousand instructions"
    return f"{text}; {on.store.bytes / len(on.store):,.0f} bytes a record"


def table(results: list[Result], before: list[Result] | None = None) -> str:
    """A line for each workload, a column for each size; with the results of `before`, also the ratio of the minima."""
    earlier = {(result["workload"], result["nodes"]): result["min"] for result in before or ()}
    texts: dict[tuple[str, int], str] = {}
    for result in results:
        key = result["workload"], result["nodes"]
        ratio = f" ({result['min'] / earlier[key]:.2f})" if key in earlier else ""
        executed = f" {result['instructions'] / 1000:,.0f}k" if "instructions" in result else ""
        texts[key] = f"{result['min']:.0f} / {result['median']:.0f} / {result['mean']:.0f}{executed}{ratio}"
    sizes = sorted({nodes for _, nodes in texts})
    names = list(dict.fromkeys(name for name, _ in texts))
    rows = [["workload", *(f"{size:,} nodes" for size in sizes)]]
    rows += [[name, *(texts.get((name, size), "") for size in sizes)] for name in names]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in rows
    )


def profile(name: str, nodes: int, pods: int, lines: int) -> None:
    """Print where the time goes; setting up is part of what is profiled, but not what takes long in it."""
    profiler = cProfile.Profile()
    bench = Bench(nodes)
    profiler.enable()
    _ = time_events(bench, name, pods) if name in EVENTS else time_cycles(bench, WORKLOADS[name], pods)
    profiler.disable()
    print(f"\n{name}, {nodes:,} nodes, {pods} pods:")
    pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(lines)


def machine() -> dict[str, str]:
    """What the figures were taken with."""
    return {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    names = [*WORKLOADS, *EVENTS]
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.micro", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    known = {**{name: workload.doc for name, workload in WORKLOADS.items()}, **EVENTS}
    parser.epilog = "workloads:\n" + "\n".join(f"  {name:24}{doc}" for name, doc in known.items())
    parser.add_argument("--workloads", default=",".join(names), help="comma-separated (default: all)")
    parser.add_argument("--nodes", default=SIZES, help="comma-separated sizes (default %(default)s)")
    parser.add_argument("--pods", type=int, default=400, help="pods that are timed (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results here")
    parser.add_argument("--against", type=Path, metavar="FILE", help="earlier results to compare the minima with")
    parser.add_argument("--records", action="store_true", help="time each pod with its decision recorded and without")
    parser.add_argument(
        "--profile", type=int, nargs="?", const=25, metavar="LINES", help="print cProfile's top instead"
    )
    options = parser.parse_args(arguments)
    chosen, sizes = options.workloads.split(","), [int(size) for size in options.nodes.split(",")]
    if unknown := [name for name in chosen if name not in names]:
        parser.error(f"no such workload: {', '.join(unknown)}; there are {', '.join(names)}")
    try:
        if options.profile is not None:
            for name in chosen:
                for size in sizes:
                    profile(name, size, options.pods, options.profile)
            return 0
        if options.records:
            print("a pod, without and with records: CPU microseconds, instructions")
            for size in sizes:
                for name in chosen:
                    if name in WORKLOADS:
                        print(measure_records(name, size, options.pods), flush=True)
            return 0
        results = [measure(name, size, options.pods) for size in sizes for name in chosen]
    except MisfitError as problem:
        print(f"error: {problem}; are there too few nodes for so many --pods?", file=sys.stderr)
        return 1
    before = json.loads(options.against.read_text())["results"] if options.against else None
    counted = " instructions" if any("instructions" in result for result in results) else ""
    compared = " (ratio of the minimum to before)" if before else ""
    print(f"CPU microseconds a pod: minimum / median / mean{counted}{compared}")
    print(table(results, before))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
