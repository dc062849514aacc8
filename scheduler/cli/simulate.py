"""`berth simulate`: place the pending pods of manifests or of a live cluster, without touching anything."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Final

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import OK, complain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.app.manifests import Manifests
    from scheduler.app.simulation import Simulation
    from scheduler.cli.parsers import SubParsers
    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory

_PROGRESS_FROM: Final = 200
"""Pods from which on progress is shown on a terminal."""

_EPILOG: Final = """\
examples:
  berth simulate -f cluster.yaml -f workloads.yaml      where would these pods go?
  berth simulate -f cluster.yaml -f app.yaml -o wide    ... and with which scores?
  berth simulate -f cluster/ --config scheduler.yaml    under another configuration
  kubectl get nodes,pods,services -A -o yaml | berth simulate -f -
  berth simulate --from-cluster -f new-app.yaml         a new app on the live cluster (read-only)
  berth simulate --jsonl < cases.jsonl                  single decisions, one case a line

A KubeSchedulerConfiguration among the inputs (or --config) is the configuration, and pods of its profiles are
scheduled. Without one, the default profile takes every pending pod whatever its schedulerName. An object of a
file takes the place of the cluster's object of that name.

Exit status: 0 if the input could be read, whatever became of the pods; 2 if not, and then nothing was scheduled.
"""


class _UsageError(ValueError):
    """Flags that make no sense together."""


def add_parser(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    parser = add_command(
        subparsers,
        "simulate",
        help="place pending pods of manifests or of a live cluster, without touching anything",
        description="Schedule the pending pods of the input by the very code that schedules in a cluster.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE",
        help="manifests to read: a YAML or JSON file, a directory, or - for standard input (may be repeated)",
    )
    parser.add_argument(
        "--from-cluster", action="store_true", help="begin with the objects of the cluster that kubeconfig names"
    )
    parser.add_argument("--kubeconfig", default="", metavar="FILE", help="for --from-cluster ($KUBECONFIG otherwise)")
    parser.add_argument("--context", default="", metavar="NAME", help="context of the kubeconfig, for --from-cluster")
    parser.add_argument("--config", default="", metavar="FILE", help="a KubeSchedulerConfiguration")
    parser.add_argument(
        "--feature-gates", action="append", default=[], metavar="A=true,B=false", help="as kube-scheduler's"
    )
    parser.add_argument(
        "-o",
        "--output",
        default="table",
        choices=("table", "wide", "json", "yaml"),
        help="table (default), wide (with scores and reasons), json or yaml (everything)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for breaking ties (default 0: reproducible)")
    parser.add_argument("--self-check", action="store_true", help="compare each decision with one made from scratch")
    parser.add_argument(
        "--jsonl", action="store_true", help="read one case a line on standard input, write one decision a line"
    )


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.manifests import ManifestError
    from scheduler.config.errors import ConfigError
    from scheduler.config.features import FeatureGateError

    try:
        return _main(namespace)
    except (_UsageError, ManifestError, ConfigError, FeatureGateError) as problem:
        return complain(problem)


def _main(namespace: argparse.Namespace) -> int:
    from scheduler.app.configuration import all_plugins, supported_gates
    from scheduler.cli.problems import warn

    _check_usage(namespace)
    gates, warnings = supported_gates(namespace.feature_gates)
    for warning in warnings:
        warn(warning)
    registry = all_plugins()
    if namespace.jsonl:
        return _cases(registry, gates, self_check=namespace.self_check)
    manifests = _read(namespace)
    config, source = _config(namespace, manifests, registry, gates)
    simulation = _simulation(namespace, manifests, config, source, registry, gates)
    decisions = asyncio.run(_run(simulation))
    _print(namespace.output, decisions)
    _remark(manifests, simulation)
    return OK


def _check_usage(namespace: argparse.Namespace) -> None:
    if namespace.jsonl and (namespace.filename or namespace.from_cluster or namespace.config):
        raise _UsageError("--jsonl reads whole cases on standard input: leave out -f, --from-cluster and --config")
    if not (namespace.jsonl or namespace.filename or namespace.from_cluster):
        raise _UsageError("nothing to read: give -f FILE, --from-cluster or --jsonl (see berth simulate --help)")
    if (namespace.kubeconfig or namespace.context) and not namespace.from_cluster:
        raise _UsageError("--kubeconfig and --context go with --from-cluster")


def _cases(registry: Mapping[str, Factory], gates: FeatureGates, *, self_check: bool) -> int:
    import msgspec

    from scheduler.app.cases import CaseRunner

    runner = CaseRunner(registry, gates, checked=_checker(wanted=self_check))
    encode = msgspec.json.Encoder().encode
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        if line.strip():
            out.write(encode(runner.run_line(line)) + b"\n")
            out.flush()
    return OK


def _checker(*, wanted: bool) -> Callable[..., None] | None:
    if not wanted:
        return None
    from scheduler.cycle.self_check import check

    return check


def _read(namespace: argparse.Namespace) -> Manifests:
    from scheduler.app.manifests import read_manifests

    manifests = read_manifests(namespace.filename)
    if namespace.from_cluster:
        from scheduler.app.live import read_cluster

        live = asyncio.run(read_cluster(namespace.kubeconfig, namespace.context))
        manifests.objects[:0] = [item for item in live if not manifests.place_of(item)]
    return manifests


def _config(
    namespace: argparse.Namespace, manifests: Manifests, registry: Mapping[str, Factory], gates: FeatureGates
) -> tuple[KubeSchedulerConfiguration | None, str]:
    from scheduler.app.manifests import ManifestError
    from scheduler.app.texts import read_text
    from scheduler.config.load import load_config

    given: tuple[str, Any] | None = manifests.config
    if namespace.config:
        if given is not None:
            raise ManifestError(f"{given[0]}: a KubeSchedulerConfiguration, while --config names another one")
        given = (namespace.config, read_text(namespace.config))
    if given is None:
        return None, ""
    source, value = given
    return load_config(value, source=source, known_plugins=registry, feature_gates=gates), source


def _simulation(
    namespace: argparse.Namespace,
    manifests: Manifests,
    config: KubeSchedulerConfiguration | None,
    source: str,
    registry: Mapping[str, Factory],
    gates: FeatureGates,
) -> Simulation:
    from scheduler.app.admission import AdmissionError
    from scheduler.app.manifests import ManifestError
    from scheduler.app.simulation import Simulation
    from scheduler.config.load import default_config

    try:
        return Simulation(
            manifests.objects,
            config or default_config(feature_gates=gates),
            registry=registry,
            gates=gates,
            source=source,
            takes_all=config is None,
            details=namespace.output != "table",
            seed=namespace.seed,
            checked=_checker(wanted=namespace.self_check),
        )
    except AdmissionError as problem:
        raise ManifestError(f"{manifests.place_of(problem.pod) or 'cluster'}: {problem}") from problem


async def _run(simulation: Simulation) -> Sequence[PodDecision]:
    if not sys.stderr.isatty():
        return await simulation.run()
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("scheduling"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("scheduling", total=None, visible=False)

        def show(done: int, total: int) -> None:
            if total >= _PROGRESS_FROM:
                progress.update(task, completed=done, total=total, visible=True)

        return await simulation.run(show)


def _print(output: str, decisions: Sequence[PodDecision]) -> None:
    from scheduler.cli import decisions as printing

    if output in ("json", "yaml"):
        sys.stdout.write(printing.as_json(decisions) if output == "json" else printing.as_yaml(decisions))
        return
    if decisions:
        printing.print_table(decisions, sys.stdout, wide=output == "wide")
    else:
        print("No pods to schedule.", file=sys.stderr)


def _remark(manifests: Manifests, simulation: Simulation) -> None:
    """Say what of the input had no part in it, on standard error."""
    if manifests.skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(manifests.skipped.items()))
        print(f"Left out, as scheduling does not read them: {kinds}.", file=sys.stderr)
    if foreign := simulation.foreign:
        pods = ", ".join(f"{count} of {name}" for name, count in sorted(foreign.items()))
        print(f"Left alone, as they ask for other schedulers: {pods}.", file=sys.stderr)
