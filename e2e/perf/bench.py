"""Berth and kube-scheduler in turn on the same workloads, and one table of how they compare.

    python -m e2e.perf.bench --workloads basic,topology-spread --nodes 500 --rounds 3

Measuring and judging is done by ``bench pair`` (README.md): each run has a fresh etcd and kube-apiserver, the
schedulers alternate so that slow drift of the machine cancels, and every placement is checked. Compare by the
scheduler's CPU milliseconds per pod; throughput is bounded by the API server. "Foreign cores" tell how much other
processes disturbed the runs. The exit code is 1 if a run was
incomplete or a placement wrong.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e import tools

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIGURATIONS = REPOSITORY / "e2e" / "perf" / "configs"
LISTEN = "--secure-port {port} --bind-address 127.0.0.1"
BERTH = (
    f"{shlex.quote(sys.executable)} -m scheduler run --config {{config:{CONFIGURATIONS}/berth-qps5000.yaml}} {LISTEN}"
)
KUBE = f"{{kube}} --config {{config:{CONFIGURATIONS}/kube-scheduler-qps5000.yaml}} {LISTEN}"
WORKLOADS = "basic,pod-anti-affinity,topology-spread,preferred-pod-affinity"

# heading, path in a result, digits after the point
FIGURES = (
    ("pods/s", ("throughput",), 0),
    ("CPU ms/pod", ("scheduler_cpu_ms_per_pod",), 2),
    ("latency p50 ms", ("latency_ms", "P50"), 0),
    ("latency p99 ms", ("latency_ms", "P99"), 0),
    ("peak RSS MiB", ("scheduler_peak_rss_mib",), 0),
    ("ready s", ("ready_s",), 1),
    ("bound", ("bound",), 0),
    ("violations", ("n_violations",), 0),
    ("foreign cores", ("foreign_cores",), 2),
)


def table(pairs: list[dict[str, Any]]) -> str:
    """Medians of both sides and their ratio (Berth over kube-scheduler), for each workload and figure."""
    lines = [f"{'workload':26}{'figure':18}{'kube-scheduler':>16}{'berth':>12}{'ratio':>9}"]
    for pair in pairs:
        name = pair["Workload"]
        for heading, path, digits in FIGURES:
            kube, berth = (_median(pair[side], path) for side in ("A", "B"))
            ratio = f"{berth / kube:.2f}" if kube else "-"
            lines.append(f"{name:26}{heading:18}{kube:16.{digits}f}{berth:12.{digits}f}{ratio:>9}")
            name = ""
    return "\n".join(lines)


def _median(results: list[dict[str, Any]], path: tuple[str, ...]) -> float:
    values = []
    for result in results:
        value: Any = result
        for step in path:
            value = value[step]
        values.append(float(value))
    return statistics.median(values)


def run(options: argparse.Namespace, further: list[str]) -> int:
    """Run ``bench pair`` and print the table of its results; returns its exit code."""
    programs = tools.ensure(["bench", "etcd", "kube-apiserver", "kube-scheduler"])
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        directory = Path(folder)
        for name, path in programs.items():
            (directory / name).symlink_to(path)
        results = options.json or directory / "pair.json"
        command = [str(directory / "bench"), "pair", "--bin-dir", folder, "--json", str(results)]
        command += ["--workloads", options.workloads, "--nodes", str(options.nodes)]
        command += ["--rounds", str(options.rounds)]
        command += ["--a-label", "kube-scheduler", "--a", KUBE.replace("{kube}", str(directory / "kube-scheduler"))]
        command += ["--b-label", "berth", "--b-name", "berth", "--b", options.berth, *further]
        done = subprocess.run(command, cwd=REPOSITORY, check=False)
        if results.exists():
            pairs = [pair for pair in json.loads(results.read_text()) if pair["A"] and pair["B"]]
            print(f"\n{options.nodes} nodes, {options.rounds} rounds, medians:\n{table(pairs)}")
    return done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "What is not known here goes on to bench pair: --pods, --init-pods, --backlog, --quiet-wait, ..."
    parser.add_argument("--workloads", default=WORKLOADS, help="comma-separated (default %(default)s)")
    parser.add_argument("--nodes", type=int, default=500, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each scheduler (default %(default)s)")
    parser.add_argument("--berth", default=BERTH, metavar="CMD", help="with the placeholders of README.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results here")
    options, further = parser.parse_known_args(arguments)
    try:
        return run(options, further)
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
