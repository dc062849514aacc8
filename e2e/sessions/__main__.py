"""Berth through the sessions that were recorded with kube-scheduler: the same state after every step.

    python -m e2e.sessions check                          # Berth on every recorded session
    python -m e2e.sessions check --seeds 1000-1003 -v     # on some, step by step
    python -m e2e.sessions record --seeds 1100-1110       # record more with kube-scheduler
    python -m e2e.sessions show 1001 [STEP]               # a recorded session
    python -m e2e.sessions stats                          # what the sessions exercise

Further flags go on to the program (README.md). The exit code of ``check`` is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from e2e import tools

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).resolve().parent / "golden"
BERTH = (
    f"{shlex.quote(sys.executable)} -m scheduler run --config {{config}} --authentication-kubeconfig {{kubeconfig}} "
    "--authorization-kubeconfig {kubeconfig} --secure-port {port} --bind-address 127.0.0.1"
)
"""Placeholders are filled in by the program; the configuration is the one that the session was recorded with."""
PROGRAMS = ("sessions", "etcd", "kube-apiserver")


def check(*further: str, golden: Path = GOLDEN, scheduler: str = BERTH) -> subprocess.CompletedProcess[str]:
    """Run a scheduler, Berth unless told otherwise, on recorded sessions; what differed is in the output."""
    name = ["--scheduler-name", "berth", "--scheduler", scheduler]
    return run(["check", "--golden", str(golden), *name, *further], PROGRAMS)


def run(command: list[str], programs: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the program beside those that it starts; its output is shown, and returned as ``stdout``."""
    found = tools.ensure(programs)
    with tempfile.TemporaryDirectory(prefix="berth-sessions-") as folder:
        for name, path in found.items():
            (Path(folder) / name).symlink_to(path)
        line = [str(found["sessions"]), *command]
        if command[0] in ("record", "check"):
            line[2:2] = ["--bin-dir", folder]
        with subprocess.Popen(
            line, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            output = []
            for told in process.stdout:
                print(told, end="", flush=True)
                output.append(told)
    return subprocess.CompletedProcess(line, process.returncode, "".join(output))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.sessions", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="compare Berth with the recorded sessions", add_help=False)
    checking.add_argument("--golden", type=Path, default=GOLDEN)
    checking.add_argument("--scheduler", default=BERTH)
    recording = commands.add_parser("record", help="record sessions with kube-scheduler", add_help=False)
    recording.add_argument("--out", type=Path, default=GOLDEN)
    showing = commands.add_parser("show", help="print a recorded session")
    showing.add_argument("seed", type=int)
    showing.add_argument("step", nargs="?", default="0")
    showing.add_argument("--golden", type=Path, default=GOLDEN)
    counting = commands.add_parser("stats", help="what the sessions exercise")
    counting.add_argument("--golden", type=Path, default=GOLDEN)
    options, further = parser.parse_known_args(arguments)
    try:
        if options.command == "check":
            return check(*further, golden=options.golden, scheduler=options.scheduler).returncode
        if options.command == "record":
            command = ["record", "--out", str(options.out), *further]
            return run(command, (*PROGRAMS, "kube-scheduler")).returncode
        if options.command == "show":
            command = ["show", str(options.golden / f"seed-{options.seed:03}.json.gz"), options.step]
        else:
            command = ["stats", "--golden", str(options.golden)]
        return run(command, ("sessions",)).returncode
    except tools.ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
