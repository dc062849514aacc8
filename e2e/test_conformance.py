"""Berth takes kube-scheduler's decisions: a sample of generated cases (``make conformance`` takes more)."""

from __future__ import annotations

import pytest

from e2e.oracle import conformance, coverage
from e2e.oracle.berth import BERTH
from e2e.oracle.conformance import DEFAULT_PROFILES, run

pytestmark = pytest.mark.usefixtures("oracle")

CASES = 40
GATED = [(gates, profile) for gates, profiles in coverage.GATED.items() for profile in profiles]


@pytest.mark.parametrize("profile", DEFAULT_PROFILES)
def test_decisions_equal_those_of_kube_scheduler(profile: str):
    report = run(profile, seed=1, n=CASES)
    assert report.ok, str(report)


@pytest.mark.parametrize("profile", DEFAULT_PROFILES)
def test_so_they_do_with_what_is_kept_from_earlier_decisions_and_each_checked(profile: str):
    """Each case is come to by decisions on parts of its state, and compared with a state rebuilt from scratch."""
    report = run(profile, seed=2, n=CASES // 2, berth=[*BERTH, "--self-check"])
    assert report.ok, str(report)


@pytest.mark.parametrize(("gates", "profile"), GATED)
def test_so_they_do_under_feature_gates_that_change_them(gates: str, profile: str):
    report = run(profile, seed=1, n=CASES, gates=gates)
    assert report.ok, str(report)


def test_many_cases_are_compared_in_batches_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch):
    told: list[tuple[int, int, int]] = []
    monkeypatch.setattr(conformance, "BATCH", 4)
    report = run("taints", seed=1, n=10, progress=lambda *numbers: told.append(numbers))
    assert report.ok, str(report)
    assert told == [(number, 10, 0) for number in range(1, 11)]
