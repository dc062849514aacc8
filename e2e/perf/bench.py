"""Berth and kube-scheduler in turn on the same workloads, and one table of how they compare.

    python -m e2e.perf.bench --workloads basic,topology-spread --nodes 500 --rounds 3

Measuring and judging is done by ``bench pair`` (README.md): each run has a fresh etcd and kube-apiserver, the
schedulers alternate so that slow drift of the machine cancels, and every placement is checked. Compare by the
scheduler's CPU milliseconds per pod; throughput is bounded by the API server. With ``--floor`` a program takes its
turn that binds each pod to a node at random, respects nothing, and writes the events of a scheduler: what cannot
well be undercut. "Foreign cores" tell how much other processes disturbed the runs. The exit code is 1 if a run was
incomplete or a placement wrong.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e import tools
from e2e.perf.stages import ORDER

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
    """Medians of the sides and the ratios of each alternation, by workload and figure.

    That is Berth over kube-scheduler; and Berth over the floor, where that has taken its turn.
    """
    floor = any(pair.get("Floor") for pair in pairs)
    of_floor = f"{'floor':>12}{'of it: min':>14}{'median':>9}{'max':>9}" if floor else ""
    heading = f"{'workload':26}{'figure':18}{'kube-scheduler':>16}{'berth':>12}"
    lines = [f"{heading}{'ratio: min':>14}{'median':>9}{'max':>9}{of_floor}"]
    for pair in pairs:
        name = pair["Workload"]
        for figure, path, digits in FIGURES:
            kube, berth = (_values(pair[side], path) for side in ("A", "B"))
            middle = f"{statistics.median(kube):16.{digits}f}{statistics.median(berth):12.{digits}f}"
            line = f"{name:26}{figure:18}{middle}{_ratios(kube, berth)}"
            if pair.get("Floor"):
                least = _values(pair["Floor"], path)
                line += f"{statistics.median(least):12.{digits}f}{_ratios(least, berth)}"
            lines.append(line)
            name = ""
    return "\n".join(lines)


def stages_table(stages: dict[str, dict[str, float]]) -> str:
    """Where Berth's CPU went, in percent by stage, a line a workload."""
    lines = [f"{'workload':26}" + "".join(f"{stage:>9}" for stage in ORDER)]
    for workload, shares in stages.items():
        lines.append(f"{workload:26}" + "".join(f"{100 * shares.get(stage, 0):8.0f}%" for stage in ORDER))
    return "\n".join(lines)


def _values(results: list[dict[str, Any]], path: tuple[str, ...]) -> list[float]:
    values = []
    for result in results:
        value: Any = result
        for step in path:
            value = value[step]
        values.append(float(value))
    return values


def _ratios(others: list[float], berth: list[float]) -> str:
    ratios = [mine / theirs for theirs, mine in zip(others, berth, strict=True) if theirs]
    if not ratios:
        return f"{'-':>14}{'-':>9}{'-':>9}"
    return f"{min(ratios):14.2f}{statistics.median(ratios):9.2f}{max(ratios):9.2f}"


def run(options: argparse.Namespace, further: list[str]) -> int:
    """Run ``bench pair`` and print the table of its results; returns its exit code."""
    programs = tools.ensure(["bench", "etcd", "kube-apiserver", "kube-scheduler"])
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        directory = Path(folder)
        for name, path in programs.items():
            (directory / name).symlink_to(path)
        results = directory / "pair.json"  # those of this run, whatever file there is from another one
        command = [str(directory / "bench"), "pair", "--bin-dir", folder, "--json", str(results)]
        command += ["--workloads", options.workloads, "--nodes", str(options.nodes)]
        command += ["--rounds", str(options.rounds)]
        command += ["--a-label", "kube-scheduler", "--a", KUBE.replace("{kube}", str(directory / "kube-scheduler"))]
        command += ["--b-label", "berth", "--b-name", "berth", "--b", options.berth]
        command += [*(["--floor"] if options.floor else []), *further]
        done = subprocess.run(command, cwd=REPOSITORY, check=False)
        if results.exists():
            pairs = [pair for pair in json.loads(results.read_text()) if pair["A"] and pair["B"]]
            print(f"\n{options.nodes} nodes, {options.rounds} rounds, medians:\n{table(pairs)}")
            if options.json:
                shutil.copyfile(results, options.json)
        if options.stages:
            stages = _stages(directory, options, further)
            print(f"\nBerth's CPU by stage, sampled in runs of their own:\n{stages_table(stages)}")
            if options.json:
                options.json.with_suffix(".stages.json").write_text(json.dumps(stages, indent=2) + "\n")
    return done.returncode


def _stages(directory: Path, options: argparse.Namespace, further: list[str]) -> dict[str, dict[str, float]]:
    """A run of Berth for each workload with the sampler on, and what that found."""
    found = {}
    for workload in options.workloads.split(","):
        out = directory / f"{workload}.stages"
        sampled = options.berth.replace("-m scheduler ", f"-m e2e.perf.stages --out {shlex.quote(str(out))} ", 1)
        command = [str(directory / "bench"), "run", "--bin-dir", str(directory), "--workload", workload]
        command += ["--nodes", str(options.nodes), "--label", "berth, sampled", "--scheduler-name", "berth"]
        subprocess.run([*command, "--scheduler", sampled, *further], cwd=REPOSITORY, check=False)
        if out.exists():
            found[workload] = json.loads(out.read_text())
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "What is not known here goes on to bench pair: --pods, --init-pods, --backlog, --quiet-wait, ..."
    parser.add_argument("--workloads", default=WORKLOADS, help="comma-separated (default %(default)s)")
    parser.add_argument("--nodes", type=int, default=500, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each scheduler (default %(default)s)")
    parser.add_argument("--berth", default=BERTH, metavar="CMD", help="with the placeholders of README.md")
    parser.add_argument("--floor", action="store_true", help="in turn with a binder that picks at random, in Go")
    parser.add_argument("--stages", action="store_true", help="sample where Berth's CPU goes, in a run more a workload")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results here")
    options, further = parser.parse_known_args(arguments)
    try:
        return run(options, further)
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
