"""`berth shadow`: take another scheduler's decisions once more, at the same state, and say how far they agree."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any, Final

from scheduler.cli.parsers import add_command, whole
from scheduler.cli.problems import FAILED, OK, complain, warn
from scheduler.config.flags import seconds

if TYPE_CHECKING:
    from scheduler.app.observing.report import Observation, Report, Tally
    from scheduler.app.observing.service import ShadowService
    from scheduler.app.settings import Settings
    from scheduler.cli.parsers import SubParsers
    from scheduler.config.types import KubeSchedulerConfiguration

_DESCRIPTION = """\
Watch what another scheduler decides, take each decision once more at the same state of the cluster, with every node
scored, and report how far both agree. Nothing is written to the cluster: the right to list and watch is enough.

A decision agrees if the node that was chosen is among Berth's best (kube-scheduler draws among equals), or if no
node fits for either. What does not is looked at closer: the other scheduler counts its pods before anybody sees them
bound (OtherOrder: it agrees once binds that crossed on their way are counted in another order), and it looks at a
sample of the nodes only (Sampled: it agrees for such a sample). What is left is Different, and the plugins behind it
are named."""

_EPILOG = """\
examples:
  berth shadow                                      kube-scheduler's own pods, until Ctrl-C
  berth shadow --config kube-scheduler.yaml         ... by the configuration that it runs with
  berth shadow --decisions 1000 --fail-below 99     for a pipeline: exit code 1 if less than 99 % agree
  berth shadow --for 1h -o jsonl > decisions.jsonl  each decision a line, the report last
  berth shadow --secure-port 10260                  with berth_observed_* on /metrics

Exit codes: 0 done (also by Ctrl-C), 1 failed or less agreement than asked for, 2 bad input.

documentation: docs/shadow.md
"""

_SHOWN: Final = 10
_DEFAULT: Final = "default-scheduler"


def add_parser(subparsers: SubParsers) -> None:
    """Add the subcommand's parser."""
    parser = add_command(
        subparsers,
        "shadow",
        help="compare another scheduler's decisions with Berth's, without binding anything",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--scheduler-name",
        action="append",
        default=[],
        metavar="NAME",
        help=f"whose pods to watch (may be repeated; default: --config's profiles, else {_DEFAULT})",
    )
    parser.add_argument("--config", default="", metavar="FILE", help="the KubeSchedulerConfiguration that it runs with")
    parser.add_argument(
        "--feature-gates", action="append", default=[], metavar="A=true,B=false", help="as kube-scheduler's"
    )
    parser.add_argument("--kubeconfig", default=None, metavar="FILE", help="the cluster ($KUBECONFIG otherwise)")
    parser.add_argument("--context", default="", metavar="NAME", help="context of the kubeconfig")
    parser.add_argument(
        "--decisions", type=whole(least=1), default=None, metavar="N", help="end after so many decisions"
    )
    parser.add_argument("--for", type=seconds, default=None, dest="span", metavar="TIME", help="end after, say, 10m")
    parser.add_argument(
        "--fail-below", type=_percentage, default=None, metavar="PERCENT", help="exit code 1 if less than this agrees"
    )
    parser.add_argument(
        "-o",
        "--output",
        default="table",
        choices=("table", "json", "jsonl"),
        help="table (default), json, or jsonl: a line for each decision as it comes, and the report last",
    )
    serving = parser.add_argument_group("serving /metrics, with the access control of `berth run`")
    serving.add_argument("--secure-port", type=int, default=0, metavar="PORT", help="0, the default, serves nothing")
    serving.add_argument("--bind-address", default="0.0.0.0", metavar="IP", help="default 0.0.0.0")
    serving.add_argument("--authentication-kubeconfig", default="", metavar="FILE", help="as kube-scheduler's")
    serving.add_argument("--authorization-kubeconfig", default="", metavar="FILE", help="as kube-scheduler's")


def main(namespace: argparse.Namespace) -> int:
    """Observe until enough was seen; the exit code."""
    from scheduler.app.problems import SettingsError, StartError
    from scheduler.cli import logs
    from scheduler.client.supervise import TaskDiedError

    try:
        settings = _settings(namespace)
    except (ValueError, OSError, SettingsError) as problem:
        return complain(problem)
    logs.set_up(style="text", verbosity=0)
    try:
        report = asyncio.run(_observe(namespace, settings))
    except SettingsError as problem:
        return complain(problem)
    except (StartError, TaskDiedError) as problem:
        return complain(problem, code=FAILED)
    finally:
        logs.flush()
    _print(namespace.output, report)
    wanted = namespace.fail_below
    if wanted is not None and report.agreement * 100 < wanted:
        return complain(f"{report.agreement:.2%} agree, less than {wanted:g} %", code=FAILED)
    return OK


def _settings(namespace: argparse.Namespace) -> Settings:
    """What to observe by, read and checked. Raises SettingsError, ValueError (of many kinds) and OSError."""
    from msgspec.structs import replace

    from scheduler.app.observing.service import default_profiles, observed_config
    from scheduler.app.settings import read_settings

    names = list(dict.fromkeys(namespace.scheduler_name))

    def observed(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        config = observed_config(config, names) if namespace.config else default_profiles(config, names or [_DEFAULT])
        if not namespace.kubeconfig:
            return config
        return replace(config, client_connection=replace(config.client_connection, kubeconfig=namespace.kubeconfig))

    settings = read_settings(namespace, adjusted=observed)
    for warning in settings.warnings:
        warn(warning)
    return settings


async def _observe(namespace: argparse.Namespace, settings: Settings) -> Report:
    from scheduler.app.observing.service import Extent, ShadowService
    from scheduler.app.process import StopSignals

    extent = Extent(namespace.decisions, namespace.span)
    arguments: dict[str, Any] = {"context": namespace.context, "extent": extent}
    if namespace.output == "jsonl":
        arguments["on_observation"] = _print_line

    async def run(service: ShadowService) -> Report:
        StopSignals(service.stop).install()
        return await service.run()

    if not sys.stderr.isatty():
        return await run(ShadowService(settings, **arguments))
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("reading the cluster") as status:

        def show(tally: Tally, waiting: int) -> None:
            report = tally.report()
            counts = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items() if count)
            status.update(f"{report.observed} decisions ({counts or 'none yet'}), {waiting} pods waiting; Ctrl-C ends")

        return await run(ShadowService(settings, on_progress=show, **arguments))


def _print_line(observation: Observation) -> None:
    import msgspec

    sys.stdout.buffer.write(msgspec.json.encode(observation) + b"\n")
    sys.stdout.buffer.flush()


def _print(output: str, report: Report) -> None:
    import msgspec

    if output == "table":
        from scheduler.app.observing.text import report_parts
        from scheduler.explain.grid import show

        show(sys.stdout, report_parts(report, limit=_SHOWN))
        return
    encoded = msgspec.json.encode(report)
    if output == "json":
        encoded = msgspec.json.format(encoded, indent=2)
    sys.stdout.buffer.write(encoded + b"\n")
    sys.stdout.buffer.flush()


def _percentage(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 100")
    return value
