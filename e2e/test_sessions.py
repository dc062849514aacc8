"""Berth keeps in step with kube-scheduler through recorded sessions (``make sessions`` takes all of them)."""

from __future__ import annotations

import gzip
import json

import pytest

from e2e import tools
from e2e.sessions.__main__ import GOLDEN, check

SHORT = GOLDEN / "short"
"""Sessions of half the length; the others take a minute each."""


@pytest.mark.usefixtures("session_programs")
def test_the_same_state_as_with_kube_scheduler_after_each_step():
    done = check("--parallel", "3", golden=SHORT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.json.gz")), ids=lambda path: path.name.partition(".")[0])
def test_a_recording_is_whole_and_of_the_release_that_is_compared_with(path):
    session = json.loads(gzip.decompress(path.read_bytes()))
    assert session["recordedWith"] == f"kube-scheduler {tools.version('kube-scheduler')}"
    assert all(len(step["ops"]) == len(step["codes"]) for step in session["steps"])
    assert not any(step.get("timeout") for step in session["steps"])
