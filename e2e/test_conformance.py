"""Berth takes kube-scheduler's decisions: a sample of generated cases (``make conformance`` takes more)."""

from __future__ import annotations

import pytest

from e2e.oracle.conformance import DEFAULT_PROFILES, run

pytestmark = pytest.mark.usefixtures("oracle")

CASES = 40


@pytest.mark.parametrize("profile", DEFAULT_PROFILES)
def test_decisions_equal_those_of_kube_scheduler(profile: str):
    report = run(profile, seed=1, n=CASES)
    assert report.ok, str(report)
