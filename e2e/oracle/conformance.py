"""Compare Berth's decisions with kube-scheduler's on generated cases.

    python -m e2e.oracle.conformance --profile resources -n 2000 --seed 1
    python -m e2e.oracle.conformance --case build/conformance/resources-1-17.json

Each case goes to the oracle and to ``berth simulate --jsonl``, one a line, and the decisions are compared field by
field (``e2e.oracle.compare``). A case that differs is shown and kept in a file that ``--case`` takes. The exit code
is 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from e2e import tools
from e2e.oracle import expected
from e2e.oracle.berth import BERTH, BerthError, decisions
from e2e.oracle.compare import Comparison, Decision, Difference, Verdict, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_PROFILES = expected.PROFILES[: expected.PROFILES.index("combined") + 1]
KEEP = Path("build/conformance")
SHOWN_DIFFERENCES = 12
BATCH = 2000
"""So many cases are in memory at a time, and as many being made and decided by kube-scheduler's code meanwhile."""
MANY = 1000
"""With more cases that differ, a run ends with the batch."""
TOLD_EVERY = 10_000
"""Where nobody watches, progress is told after so many cases."""


@dataclass(frozen=True)
class Failure:
    """A case on which the decisions differ; ``path`` is the file that it was kept in, if any."""

    name: str
    case: bytes
    expected: Decision
    actual: Decision
    differences: tuple[Difference, ...]
    path: Path | None = None

    def __str__(self) -> str:
        lines = [f"case {self.name}: {len(self.differences)} differences"]
        for difference in self.differences[:SHOWN_DIFFERENCES]:
            lines += [
                f"  {difference.path}",
                f"    kube-scheduler  {json.dumps(difference.expected)}",
                f"    berth           {json.dumps(difference.actual)}",
            ]
        if len(self.differences) > SHOWN_DIFFERENCES:
            lines.append(f"  and {len(self.differences) - SHOWN_DIFFERENCES} more")
        if self.path:
            lines.append(f"  again: python -m e2e.oracle.conformance --case {self.path}")
        return "\n".join(lines)


@dataclass
class Report:
    """The comparison of a set of cases: how many ended how, and those that differ."""

    profile: str
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    berth_seconds: float = 0.0
    broken: str = ""
    """Why Berth stopped before the last case, or empty."""

    @property
    def cases(self) -> int:
        """How many cases were compared."""
        return self.verdicts.total()

    @property
    def ok(self) -> bool:
        """Whether every case was compared and none differs."""
        return not self.failures and not self.broken and self.cases > 0

    def take(self, other: Report) -> None:
        """Add the comparison of further cases of the profile."""
        self.verdicts += other.verdicts
        self.failures += other.failures
        self.berth_seconds += other.berth_seconds
        self.broken = other.broken

    def __str__(self) -> str:
        shown = [str(failure) for failure in self.failures[:3]]
        summary = ", ".join(f"{count} {verdict.value}" for verdict, count in self.verdicts.items())
        return "\n".join([f"{self.profile}: {self.cases} cases: {summary or 'none compared'}", self.broken, *shown])


def run(
    profile: str,
    seed: int = 1,
    n: int = 200,
    *,
    berth: Sequence[str] = BERTH,
    gates: str = "",
    defaulted: bool = False,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Report:
    """Compare Berth with kube-scheduler on ``n`` generated cases of a profile.

    ``gates`` are feature gates for both, "A=true,B=false"; ``defaulted`` hands Berth the cases with the API server's
    defaults filled in, ``workers`` is the number of Berth processes, failing cases are written to the folder ``keep``,
    and ``progress`` is told (done, of, differing) as the decisions come in.
    """
    report = Report(profile)
    decided = expected.decide if n > BATCH else partial(expected.decide_cached, profile=profile, seed=seed)

    def prepare(first: int) -> tuple[list[bytes], list[bytes], list[bytes]]:
        cases = expected.generate(profile, min(BATCH, n - first), seed, first)
        return cases, decided(cases, gates=gates), expected.defaulted(cases) if defaulted else cases

    def tell(done: int, _: int, differing: int) -> None:
        assert progress is not None
        progress(report.cases + done, n, len(report.failures) + differing)

    with ThreadPoolExecutor(max_workers=1) as ahead:
        coming = ahead.submit(prepare, 0)
        for first in range(0, n, BATCH):
            cases, wanted, ours = coming.result()
            if first + BATCH < n:
                coming = ahead.submit(prepare, first + BATCH)
            part = check(
                profile,
                cases,
                wanted,
                berth_cases=ours,
                berth=_gated(berth, gates),
                workers=workers,
                keep=keep,
                progress=tell if progress else None,
            )
            report.take(part)
            if report.broken or len(report.failures) > MANY:
                break
    return report


def _gated(berth: Sequence[str], gates: str) -> Sequence[str]:
    return [*berth, "--feature-gates", gates] if gates else berth


def check(
    profile: str,
    cases: list[bytes],
    wanted: list[bytes],
    *,
    berth_cases: list[bytes] | None = None,
    berth: Sequence[str] = BERTH,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Report:
    """Compare Berth's decisions on ``cases`` with the lines ``wanted``, the oracle's decisions on them."""
    report = Report(profile)
    start = time.monotonic()
    try:
        for index, actual in decisions(berth_cases or cases, berth, workers=workers):
            want = json.loads(wanted[index])
            comparison = compare(want, actual)
            report.verdicts[comparison.verdict] += 1
            if comparison.verdict is Verdict.DIFFERS:
                report.failures.append(_failure(index, cases[index], want, actual, comparison, keep))
            if progress:
                progress(report.cases, len(cases), len(report.failures))
    except BerthError as error:
        report.broken = str(error)
    report.berth_seconds = time.monotonic() - start
    return report


def _failure(
    index: int, case: bytes, want: Decision, actual: Decision, comparison: Comparison, keep: Path | None
) -> Failure:
    name = str(want.get("id") or index)
    path = None
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        path = keep / f"{name.replace('/', '_')}.json"
        path.write_bytes(case + b"\n")
    return Failure(name, case, want, actual, comparison.differences, path)


def _progress(profile: str) -> Callable[[int, int, int], None]:
    live = sys.stderr.isatty()

    def tell(done: int, of: int, differing: int) -> None:
        if (done % 10 == 0 if live else done % TOLD_EVERY == 0) or done == of:
            end = "\r" if live and done < of else "\n"
            print(f"{profile}: {done}/{of} cases, {differing} differ ", end=end, file=sys.stderr, flush=True)

    return tell


def _table(reports: list[Report]) -> str:
    rows = [("profile", "cases", *(verdict.name.lower() for verdict in Verdict), "cases/s")]
    for report in reports:
        counts = [str(report.verdicts[verdict]) for verdict in Verdict]
        rate = f"{report.cases / report.berth_seconds:.0f}" if report.berth_seconds else "-"
        rows.append((report.profile, str(report.cases), *counts, rate))
    return "\n".join(f"{row[0]:14}" + "".join(f"{cell:>9}" for cell in row[1:]) for row in rows)


def _common_paths(reports: list[Report]) -> str:
    """Which fields differ most, with the node's name left out."""
    paths: Counter[str] = Counter()
    for failure in (failure for report in reports for failure in report.failures):
        seen = set()
        for difference in failure.differences:
            parts = difference.path.split(".")
            if parts[0] in ("feasible", "infeasible") and len(parts) > 1:
                parts[1] = "*"
            seen.add(".".join(parts))
        paths.update(seen)
    return "\n".join(f"  {count:6} cases  {path}" for path, count in paths.most_common(15))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.oracle.conformance", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    profiles = f"one of {', '.join(expected.PROFILES)} (default: the first {len(DEFAULT_PROFILES)}), comma-separated"
    parser.add_argument("--profile", default=",".join(DEFAULT_PROFILES), help=profiles)
    parser.add_argument("-n", type=int, default=200, help="cases of each profile (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generator (default %(default)s)")
    parser.add_argument("--case", type=Path, metavar="FILE", help="compare the cases of this file instead")
    parser.add_argument("--berth", default=shlex.join(BERTH), metavar="CMD", help="default: %(default)s")
    parser.add_argument("--workers", type=int, default=1, help="Berth processes (default %(default)s)")
    parser.add_argument("--defaulted", action="store_true", help="apply the API server's defaults to Berth's input")
    parser.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="for both of them")
    parser.add_argument("--show", type=int, default=3, help="differing cases to show in full (default %(default)s)")
    options = parser.parse_args(arguments)
    names = options.profile.split(",")
    if unknown := [name for name in names if name not in expected.PROFILES]:
        parser.error(f"there is no profile {unknown[0]!r}: give {profiles}")
    try:
        reports = _reports(options, names)
    except (tools.ToolError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    failures = [failure for report in reports for failure in report.failures]
    for failure in failures[: options.show]:
        print(failure, end="\n\n")
    print(_table(reports))
    if failures:
        print("\nwhat differs:\n" + _common_paths(reports))
    for report in reports:
        if report.broken:
            print(f"\n{report.profile}: {report.broken}")
    return 0 if all(report.ok for report in reports) else 1


def _reports(options: argparse.Namespace, names: list[str]) -> list[Report]:
    berth: Sequence[str] = shlex.split(options.berth)
    if options.case:
        cases = [line for line in options.case.read_bytes().splitlines() if line.strip()]
        ours = expected.defaulted(cases) if options.defaulted else cases
        wanted = expected.decide(cases, options.feature_gates)
        berth = _gated(berth, options.feature_gates)
        return [check(options.case.name, cases, wanted, berth_cases=ours, berth=berth)]
    return [
        run(
            name,
            options.seed,
            options.n,
            berth=berth,
            gates=options.feature_gates,
            defaulted=options.defaulted,
            workers=options.workers,
            keep=KEEP,
            progress=_progress(name),
        )
        for name in names
    ]


if __name__ == "__main__":
    raise SystemExit(main())
