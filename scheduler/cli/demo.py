"""`berth demo`: the scheduler at work on a cluster inside this process, with what it did and why."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import OK, complain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.app.demo import DemoReport
    from scheduler.cli.parsers import SubParsers
    from scheduler.explain.grid import Part

_GREEN: Final = "\x1b[32m"
_PLAIN: Final = "\x1b[0m"


def add_parser(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    parser = add_command(
        subparsers,
        "demo",
        help="schedule manifests on a cluster inside this process, and show why",
        description=(
            "Run the scheduler on a cluster inside this process. Its nodes, and the Pods that ask for\n"
            "schedulerName: berth, are read from manifests. It ends when nothing more can be placed."
        ),
        epilog="example:\n  berth demo deploy/examples\n",
    )
    parser.add_argument("filename", nargs="+", metavar="FILE", help="manifests: files, or directories of them")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for breaking ties (default 0: reproducible)")


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.admission import AdmissionError
    from scheduler.app.manifests import ManifestError

    try:
        return _main(namespace.filename, namespace.seed)
    except (ManifestError, AdmissionError) as problem:
        return complain(problem)


def _main(paths: Sequence[str], seed: int) -> int:
    from scheduler.app.configuration import all_plugins, read_config
    from scheduler.app.demo import Demo
    from scheduler.app.manifests import read_manifests
    from scheduler.config.features import FeatureGates
    from scheduler.explain.grid import show

    gates, registry = FeatureGates(), all_plugins()
    objects = read_manifests(paths).objects
    config = read_config("", gates=gates, registry=registry)
    demo = Demo(objects, config, registry=registry, gates=gates, bound=_print_bound, seed=seed)
    print(f"{' '.join(paths)}: {demo.summary}\n")
    report = asyncio.run(demo.run())
    show(sys.stdout, [*_told(report), *_next_steps(paths)])
    return OK


def _print_bound(decision: PodDecision) -> None:
    node = f"{decision.node:<8}"
    if sys.stdout.isatty():
        node = f"{_GREEN}{node}{_PLAIN}"
    print(f"{decision.pod:<24} -> {node} {_reason(decision)}")


def _reason(decision: PodDecision) -> str:
    record = decision.record
    fit, every = len(record.feasible), len(record.feasible) + len(record.infeasible)
    if fit == 1:
        return f"the only one of {every} nodes that fits"
    points = record.feasible[decision.node or ""].total
    ties = len(record.best) - 1
    what = f"as many as {ties} other{'' if ties == 1 else 's'}" if ties else "the most"
    return f"{points} points, {what}; {fit} of {every} nodes fit"


def _told(report: DemoReport) -> list[Part]:
    from scheduler.app.decisions import SCHEDULED
    from scheduler.explain import table
    from scheduler.explain.grid import Styled
    from scheduler.explain.whynot import text

    parts: list[Part] = []
    bound = len(report.with_status(SCHEDULED))
    parts.append(Styled(f"\n{bound} bound in {report.seconds * 1000:.0f} ms, {report.left} left"))
    if (clearest := report.clearest) is not None:
        parts.append(Styled(f"\nWhy {clearest.pod} is on {clearest.node}", "bold"))
        parts += table.scores(clearest.record, chosen=clearest.node or "")
    if (pending := report.pending) is not None:
        parts.append(Styled(f"\nWhy {pending.pod} stays pending", "bold"))
        parts.append(table.rejections(pending.record.infeasible))
        if pending.why_not is not None:
            parts += text.helps(pending.why_not)
        parts.append(Styled(f"its event: {pending.message}", "dim"))
    if report.gated:
        parts.append(Styled("\nNot looked at yet", "bold"))
        for decision in report.gated:
            parts.append(Styled(f"{decision.pod}: {decision.message}"))
            parts += text.helps(decision.why_not) if decision.why_not is not None else []
    return parts


def _next_steps(paths: Sequence[str]) -> list[Part]:
    from scheduler.explain.grid import Styled

    files = " ".join(f"-f {path}" for path in paths)
    steps = {
        f"berth simulate {files} -o wide": "every score of every pod",
        "make run KUBECONFIG=~/.kube/config": "schedule the pods of a real cluster that ask for it",
    }
    width = max(map(len, steps))
    return [Styled("\nNext", "bold"), *(Styled(f"{step:<{width}}   {what}") for step, what in steps.items())]
