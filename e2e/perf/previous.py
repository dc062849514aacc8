"""The cycle alone, this tree against the previous commit, in turn: a report, which never fails on noise.

python -m e2e.perf.previous                    a small run, as `make test` makes it
python -m e2e.perf.previous --base main --rounds 5 --nodes 500,5000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e.perf.micro import table

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = "hatch_build.py"
Result = dict[str, Any]


class NoBaseError(Exception):
    """There is nothing to compare with; says why."""


def compare(base: str, flags: Sequence[str], rounds: int) -> tuple[list[Result], list[Result]]:
    """The best results of this tree, and of the commit `base`, of so many runs in turn. Raises NoBaseError."""
    with tempfile.TemporaryDirectory(prefix="berth-previous-") as folder:
        tree = Path(folder) / "tree"
        _check_out(base, tree)
        runs: dict[Path, list[list[Result]]] = {REPOSITORY: [], tree: []}
        for number in range(rounds):
            for place, results in runs.items():
                results.append(_measure(place, flags, Path(folder) / f"{number}.json"))
        return _best(runs[REPOSITORY]), _best(runs[tree])


def _check_out(base: str, tree: Path) -> None:
    """The files of a commit, without touching the repository's own list of working trees, compiled if it does that."""
    archive = subprocess.run(["git", "archive", base], cwd=REPOSITORY, capture_output=True, check=False)
    if archive.returncode != 0:
        raise NoBaseError(archive.stderr.decode(errors="replace").strip() or f"git knows no {base}")
    tree.mkdir()
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
    if (tree / BUILD).exists():
        built = subprocess.run([sys.executable, BUILD], cwd=tree, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise NoBaseError(f"{BUILD} of {base} failed:\n{built.stderr.strip()[-2000:]}")


def _measure(place: Path, flags: Sequence[str], out: Path) -> list[Result]:
    command = [sys.executable, "-m", "e2e.perf.micro", *flags, "--json", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoBaseError(f"{' '.join(command[1:])} in {place.name} failed:\n{done.stderr.strip()[-2000:]}")
    results: list[Result] = json.loads(out.read_text())["results"]
    return results


def _best(runs: list[list[Result]]) -> list[Result]:
    """Of each workload and size the run with the smallest minimum."""
    best: dict[tuple[str, int], Result] = {}
    for results in runs:
        for result in results:
            key = result["workload"], result["nodes"]
            if key not in best or result["min"] < best[key]["min"]:
                best[key] = result
    return list(best.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is 0 whatever was found, since a shared machine is no judge."""
    parser = argparse.ArgumentParser(prog="python -m e2e.perf.previous", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--base", default="HEAD^", metavar="COMMIT", help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each (default %(default)s)")
    parser.add_argument("--workloads", default="basic,spread,event-added", help="default %(default)s")
    parser.add_argument("--nodes", default="500", help="default %(default)s")
    parser.add_argument("--pods", default="200", help="default %(default)s")
    options = parser.parse_args(arguments)
    flags = ["--workloads", options.workloads, "--nodes", options.nodes, "--pods", options.pods]
    try:
        now, before = compare(options.base, flags, options.rounds)
    except NoBaseError as problem:
        print(f"The cycle was not compared with {options.base}: {problem}")
        return 0
    print(f"CPU microseconds a pod: minimum / median / mean (ratio of the minimum to {options.base})")
    print(table(now, before))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
