"""`berth run`: schedule the pods of a cluster."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler.api import quantity
from scheduler.cli.parsers import add_command, whole
from scheduler.cli.problems import FAILED, OK, complain
from scheduler.config.bursts import BUSY, INTERVAL, LONGEST
from scheduler.config.features import parse_bool
from scheduler.config.flags import add_scheduler_flags, go_bool, ineffective, seconds
from scheduler.config.recording import BYTES, RECORDS

if TYPE_CHECKING:
    from scheduler.app.settings import Settings
    from scheduler.cli.parsers import SubParsers

_DESCRIPTION = """\
Schedule the Pods of a cluster. Takes kube-scheduler's flags and configuration (--config), and serves its endpoints.

Without --config there is one profile, whose schedulerName is "berth": Pods that don't ask for it are left to
kube-scheduler. With --config the file decides, as for kube-scheduler, whose name for a profile without one is
"default-scheduler". The lease of the leader election is called "berth" unless the configuration names another.

A changed --config file is taken up while the scheduler runs: its profiles, and percentageOfNodesToScore. One that is
not valid is refused, and the last good one stays. All other fields, and flags, are read at the start only.

The cluster is that of --config's clientConnection.kubeconfig or of --kubeconfig; else the one that the process runs
in; else that of $KUBECONFIG or ~/.kube/config."""

_EPILOG = """\
examples:
  berth run --leader-elect=false                    alone, on the cluster of your kubeconfig
  berth run --config /etc/berth/config.yaml -v 2    as the Helm chart runs it
  berth run --write-config-to berth.yaml            a file to start from
  berth run --record-decisions=0                    keep nothing to explain decisions with
  berth run --annotate-decisions                    show them in the pods' annotations as well
  kill -USR2 PID                                    compare the caches and dump them to the log

SIGTERM and SIGINT stop it in order: no more pods are taken, binds under way end, the lease is released. A second
one stops it at once. Exit codes: 0 stopped in order, 1 failed or lease lost, 2 configuration that can't be used.

documentation: docs/operations.md, docs/configuration.md
"""

_SELF_CHECK_VARIABLE = "BERTH_SELF_CHECK"


def add_parser(subparsers: SubParsers) -> None:
    """Add the subcommand's parser."""
    parser = add_command(
        subparsers,
        "run",
        help="schedule the pods of a cluster",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.usage = "berth run [flags]"
    own = parser.add_argument_group("Berth's own flags")
    own.add_argument(
        "--self-check",
        type=go_bool,
        nargs="?",
        const=True,
        default=None,
        metavar="true|false",
        help="check every decision against one computed from scratch, which is slow "
        f"(default: the environment's {_SELF_CHECK_VARIABLE}, else false)",
    )
    own.add_argument(
        "--random-seed",
        type=int,
        default=None,
        metavar="N",
        help="break ties between nodes reproducibly (default: differently each time)",
    )
    own.add_argument(
        "--record-decisions",
        type=whole(least=0),
        default=RECORDS,
        metavar="N",
        help=f"keep records of the last N attempts, to explain them; 0 for none (default {RECORDS:,})",
    )
    own.add_argument(
        "--record-decisions-bytes",
        type=_size,
        default=BYTES,
        metavar="SIZE",
        help=f"memory that the records may take, as 64Mi; older ones lose details first (default {BYTES >> 20}Mi)",
    )
    own.add_argument(
        "--annotate-decisions",
        type=go_bool,
        nargs="?",
        const=True,
        default=False,
        metavar="true|false",
        help="write the outcome of each attempt to the pod's annotations, as kube-scheduler-simulator does: verdicts "
        "and scores, up to 200Ki a pod (default false; needs the right to patch pods)",
    )
    own.add_argument(
        "--shutdown-grace-period",
        type=seconds,
        default=20.0,
        metavar="VALUE",
        help="how long binds under way may take after SIGTERM (default 20s)",
    )
    own.add_argument(
        "--burst-interval",
        type=_interval,
        default=INTERVAL,
        metavar="VALUE",
        help=f"while more than {BUSY} pods a second are tried, deal with what comes in only this often and with all of "
        "it in one go, for up to a third less CPU; more often where a pod is bound in less than twice that time; at "
        f"most {_milliseconds(LONGEST)}, 0 to deal with each at once (default {_milliseconds(INTERVAL)})",
    )
    own.add_argument(
        "--scheduler-profiles",
        type=go_bool,
        nargs="?",
        const=True,
        default=False,
        metavar="true|false",
        help="let SchedulerProfile resources change weights and plugins of the profiles while the scheduler runs "
        "(default false; needs its CRD, which the chart has)",
    )
    add_scheduler_flags(parser)


def main(namespace: argparse.Namespace) -> int:
    """Run the scheduler until it is told to stop."""
    from scheduler.cli import logs

    try:
        settings = _settings(namespace)
        if settings.options.write_config_to:
            _write_config(settings)
            return OK
    except (ValueError, OSError) as problem:
        return complain(problem)
    logs.set_up(style=settings.options.logging_format, verbosity=settings.options.v)
    from scheduler.app.problems import SettingsError, StartError
    from scheduler.app.process import run_process

    try:
        return run_process(settings)
    except SettingsError as problem:
        return complain(problem)
    except StartError as problem:
        return complain(problem, code=FAILED)
    finally:
        logs.flush()


def _settings(namespace: argparse.Namespace) -> Settings:
    """Everything that was asked for, read and checked. Raises ValueError (of many kinds) and OSError."""
    from msgspec.structs import replace

    from scheduler.app.settings import read_settings

    if namespace.annotate_decisions and not (namespace.record_decisions and namespace.record_decisions_bytes):
        none = "--record-decisions" if not namespace.record_decisions else "--record-decisions-bytes"
        raise ValueError(
            f"--annotate-decisions writes what is recorded, and {none}=0 records nothing: give one of them only"
        )
    settings = read_settings(namespace)
    ignored = [f"{flag} has no effect, as --config is given" for flag in settings.options.ignored]
    return replace(
        settings,
        warnings=(*settings.warnings, *ignored, *ineffective(namespace)),
        self_check=_self_check(namespace.self_check),
        random_seed=namespace.random_seed,
        records=namespace.record_decisions,
        record_bytes=namespace.record_decisions_bytes,
        annotate=namespace.annotate_decisions,
        grace=namespace.shutdown_grace_period,
        burst_interval=namespace.burst_interval,
        scheduler_profiles=namespace.scheduler_profiles,
    )


def _size(text: str) -> int:
    """Bytes, as a quantity. Raises argparse.ArgumentTypeError."""
    try:
        size = quantity.value(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"invalid size {text!r}: {problem}") from problem
    if size < 0:
        raise argparse.ArgumentTypeError(f"invalid size {text!r}: it is negative")
    return size


def _interval(text: str) -> float:
    """Seconds between rounds. Raises argparse.ArgumentTypeError."""
    interval = seconds(text)
    if not 0 <= interval <= LONGEST:
        raise argparse.ArgumentTypeError(f"invalid interval {text!r}: it is not between 0 and {_milliseconds(LONGEST)}")
    return interval


def _milliseconds(span: float) -> str:
    return f"{1000 * span:g}ms"


def _self_check(flag: bool | None) -> bool:
    if flag is not None:
        return flag
    text = os.environ.get(_SELF_CHECK_VARIABLE, "")
    value = parse_bool(text) if text else False
    if value is None:
        raise ValueError(f"the environment's {_SELF_CHECK_VARIABLE} is {text!r}: set it to true or false")
    return value


def _write_config(settings: Settings) -> None:
    from scheduler.config.render import to_yaml

    Path(settings.options.write_config_to).write_text(to_yaml(settings.config), encoding="utf-8")
