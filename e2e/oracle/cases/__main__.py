"""Print cases: python -m e2e.oracle.cases --profile all -n 500 --seed 1."""

from __future__ import annotations

import argparse
import sys

from e2e.oracle.cases.profiles import ALL, generate


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m e2e.oracle.cases", description="Print generated cases.")
    parser.add_argument("--profile", default="all", choices=ALL, help="default: each in turn")
    parser.add_argument("-n", type=int, default=100, help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default %(default)s")
    options = parser.parse_args()
    for case in generate(options.profile, options.n, options.seed):
        sys.stdout.buffer.write(case + b"\n")


if __name__ == "__main__":
    main()
