"""Cases from the generator, and what kube-scheduler decides on them.

Cases and decisions are lines of JSON in the format of README.md. The oracle's answers are kept in the cache of
``e2e.tools``, named after everything that they depend on.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess

from e2e import tools
from e2e.oracle.cases import profiles

PROFILES = (
    "resources",
    "taints",
    "nodeaffinity",
    "basic",
    "ports",
    "spread",
    "interpod",
    "image",
    "scoring",
    "volumes",
    "storage",
    "binding",
    "sampling",
    "preemption",
    "combined",
    "dra",
    "mixed",
)
"""All profiles of the generator; what needs no devices first."""


def generate(profile: str, n: int, seed: int, first: int = 0) -> list[bytes]:
    """``n`` cases of one profile from number ``first`` on; the same arguments give the same cases."""
    return list(profiles.generate(profile, n, seed, first))


def defaulted(cases: list[bytes]) -> list[bytes]:
    """The cases as the API server would store them, its defaults filled in."""
    return _oracle(cases, "-emit-defaulted")


def decide(cases: list[bytes], gates: str = "") -> list[bytes]:
    """kube-scheduler's decision on each case, straight from the oracle; ``gates`` like "A=true,B=false"."""
    # Many at a time: a case that runs the binding cycle waits for a second.
    return _oracle(cases, "-workers", "32", "-feature-gates", gates)


def decide_cached(cases: list[bytes], profile: str, seed: int, gates: str = "") -> list[bytes]:
    """``decide``, remembered between runs by the oracle's binary and the cases themselves."""
    key = hashlib.sha256(tools.binary("oracle").read_bytes() + gates.encode())
    for case in cases:
        key.update(case + b"\n")
    file = tools.cache_root() / "oracle-answers" / f"{profile}-{len(cases)}-{seed}-{key.hexdigest()[:16]}.gz"
    if file.exists():
        return gzip.decompress(file.read_bytes()).splitlines()
    decisions = decide(cases, gates)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_bytes(gzip.compress(b"\n".join(decisions), compresslevel=3))
    partial.rename(file)
    return decisions


def _oracle(cases: list[bytes], *arguments: str) -> list[bytes]:
    lines = b"".join(case + b"\n" for case in cases)
    run = subprocess.run([tools.binary("oracle"), *arguments], input=lines, stdout=subprocess.PIPE, check=True)
    answers = run.stdout.splitlines()
    if len(answers) != len(cases):
        raise RuntimeError(f"the oracle was given {len(cases)} cases and answered {len(answers)}")
    return answers
