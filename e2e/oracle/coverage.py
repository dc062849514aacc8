"""How much of kube-scheduler's plugins the generated cases reach: Go coverage of the oracle.

    python -m e2e.oracle.coverage                  # cases of all profiles; a table by plugin
    python -m e2e.oracle.coverage -n 2000 --functions 40

The oracle is built once more with ``go build -cover`` over pkg/scheduler/framework/plugins, decides the cases, and the
counters that it leaves behind are added up. Profiles whose branches depend on a feature gate that Berth can switch are
run under that gate as well. The exit code is 1 if less than ``--least`` per cent of the statements were reached.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from e2e import tools
from e2e.oracle import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLUGINS = f"{tools.KUBERNETES}/pkg/scheduler/framework/plugins/"
LEFT_OUT = {
    "dynamicresources": "devices have profiles and tests of their own",
    "gangscheduling": "enabled only with the feature gate GenericWorkload, which is off",
    "podgrouppodscount": "enabled only with the feature gate TopologyAwareWorkloadScheduling, which is off",
    "topologyaware": "enabled only with the feature gate TopologyAwareWorkloadScheduling, which is off",
    "deferredpodscheduling": "enabled only with InPlacePodVerticalScalingSchedulerPreemption, which is off",
    "helper/podgroup.go": "only called for pod groups (GenericWorkload, which is off)",
    "testing": "helpers of unit tests",
    "volumebinding/test_utils.go": "helpers of unit tests",
    "volumebinding/fake_binder.go": "a stand-in for unit tests",
}
"""What is not counted, a package or a file, and why."""
GATED = {
    "InterPodAffinityHostnameFastPath=true": ("interpod", "preemption", "combined"),
    "StorageCapacityScoring=false,VolumeLimitScaling=false": ("volumes", "storage"),
    "TaintTolerationComparisonOperators=true": ("taints", "combined"),
    "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false": ("spread",),
}
"""Feature gates and the profiles to run under them besides."""
_BLOCK = re.compile(re.escape(PLUGINS) + r"(\S+):((\d+)\.\S+) (\d+) (\d+)")
_FUNCTION = re.compile(r"^func (?:\(.*?\) )?(\w+)")


@dataclass(frozen=True)
class Block:
    """A run of statements without a branch: where it begins, how many, and whether any case came there."""

    file: str
    line: int
    statements: int
    reached: bool

    @property
    def plugin(self) -> str:
        """The package, below that of the plugins."""
        return str(Path(self.file).parent)


def measure(profiles: Sequence[str], n: int, seed: int) -> list[Block]:
    """Run ``n`` cases of each profile through the oracle; all blocks that count. Raises ToolError."""
    program = tools.binary("oracle-cover")
    with tempfile.TemporaryDirectory() as folder:
        runs = [("", profile) for profile in profiles]
        runs += [(gates, name) for gates, names in GATED.items() for name in names if name in profiles]
        for gates, profile in runs:
            _say(f"{profile} {gates}".strip())
            cases = b"".join(case + b"\n" for case in expected.generate(profile, n, seed))
            env = {**os.environ, "GOCOVERDIR": folder}
            command = [str(program), "-workers", "32", "-feature-gates", gates]
            subprocess.run(command, input=cases, stdout=subprocess.DEVNULL, env=env, check=True)
        text = Path(folder) / "profile.txt"
        command = ["go", "tool", "covdata", "textfmt", "-i", folder, "-o", str(text)]
        subprocess.run(command, cwd=tools.HERE, check=True)
        return blocks(text.read_text())


def blocks(profile: str) -> list[Block]:
    """The blocks of a coverage profile that count; several entries for one are one."""
    found: dict[tuple[str, str], Block] = {}
    for line in profile.splitlines():
        match = _BLOCK.match(line)
        if match is None or match[1].split("/")[0] in LEFT_OUT or match[1] in LEFT_OUT:
            continue
        file, place, first, statements, count = match.groups()
        before = found.get((file, place))
        reached = count != "0" or (before is not None and before.reached)
        found[file, place] = Block(file, int(first), int(statements), reached)
    return [found[key] for key in sorted(found)]


def share(of: Iterable[Block]) -> tuple[int, int]:
    """(statements reached, statements)."""
    reached = total = 0
    for block in of:
        total += block.statements
        reached += block.statements if block.reached else 0
    return reached, total


def table(measured: Sequence[Block]) -> str:
    """Coverage by plugin, and of all."""
    rows = [f"{'plugin':26}{'statements':>12}{'reached':>10}{'%':>8}"]
    by_plugin: dict[str, list[Block]] = {}
    for block in measured:
        by_plugin.setdefault(block.plugin, []).append(block)
    rows += [_row(plugin, *share(found)) for plugin, found in sorted(by_plugin.items())]
    return "\n".join([*rows, _row("all", *share(measured))])


def _row(name: str, reached: int, total: int) -> str:
    return f"{name:26}{total:>12}{reached:>10}{100 * reached / max(total, 1):>8.1f}"


def missed(measured: Sequence[Block], most: int) -> str:
    """The functions with the most statements that no case reached, with the lines where these begin."""
    folder = _sources()
    counts: Counter[tuple[str, str]] = Counter()
    lines: dict[tuple[str, str], list[int]] = {}
    for block in measured:
        if not block.reached and block.statements:
            key = (block.file, _function(folder / block.file, block.line))
            counts[key] += block.statements
            lines.setdefault(key, []).append(block.line)
    rows = [
        f"{count:>5}  {file}:{name} {', '.join(map(str, sorted(lines[file, name])))}"
        for (file, name), count in counts.most_common(most)
    ]
    return "\n".join(rows)


def _sources() -> Path:
    command = ["go", "list", "-m", "-f", "{{.Dir}}", tools.KUBERNETES]
    env = {**os.environ, "GOWORK": "off"}
    run = subprocess.run(command, cwd=tools.HERE, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return Path(run.stdout.strip()) / "pkg" / "scheduler" / "framework" / "plugins"


def _function(file: Path, line: int) -> str:
    before = [name for start, name in _functions(file) if start <= line]
    return before[-1] if before else "?"


@functools.cache
def _functions(file: Path) -> list[tuple[int, str]]:
    matches = ((number, _FUNCTION.match(text)) for number, text in enumerate(file.read_text().splitlines(), 1))
    return [(number, match[1]) for number, match in matches if match]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.oracle.coverage", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--profile", default=",".join(expected.PROFILES), help="comma-separated (default: all)")
    parser.add_argument("-n", type=int, default=1000, help="cases of each profile (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generator (default %(default)s)")
    parser.add_argument("--functions", type=int, default=15, help="functions to list (default %(default)s)")
    parser.add_argument("--least", type=float, default=85.0, help="per cent to be reached (default %(default)s)")
    options = parser.parse_args(arguments)
    names = options.profile.split(",")
    if unknown := [name for name in names if name not in expected.PROFILES]:
        parser.error(f"there is no profile {unknown[0]!r}: give some of {', '.join(expected.PROFILES)}")
    try:
        measured = measure(names, options.n, options.seed)
    except (tools.ToolError, OSError) as error:
        _say(f"error: {error}")
        return 1
    print(table(measured))
    print("\nnot counted:\n" + "\n".join(f"  {name}: {why}" for name, why in LEFT_OUT.items()))
    print("\nnot reached, by function and line:\n" + missed(measured, options.functions))
    reached, total = share(measured)
    return 0 if 100 * reached >= options.least * total else 1


if __name__ == "__main__":
    raise SystemExit(main())
