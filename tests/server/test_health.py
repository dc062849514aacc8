"""Texts recorded from kube-scheduler v1.37.2."""

from __future__ import annotations

import pytest

from scheduler.server.health import Check, HealthEndpoint

LEADER = Check("leaderElection", lambda: None)
SHUTDOWN = Check("shutdown", lambda: "")
SYNC = Check("sched-handler-sync", lambda: "handlers are not fully synchronized")


def raises():
    raise RuntimeError("boom")


class Results(list):
    def record(self, check, endpoint, *, passed):
        self.append((check, endpoint, passed))


def endpoint(name, *checks, results=None):
    return HealthEndpoint(name, checks, (results if results is not None else Results()).record)


@pytest.mark.parametrize(
    ("probed", "options", "healthy", "text"),
    [
        (endpoint("livez"), {"verbose": False}, True, "ok"),
        (endpoint("livez"), {"verbose": True}, True, "[+]ping ok\nlivez check passed\n"),
        (endpoint("healthz", LEADER), {"verbose": True}, True, "[+]leaderElection ok\nhealthz check passed\n"),
        (
            endpoint("readyz", LEADER, SHUTDOWN, SYNC),
            {"verbose": False},
            False,
            "[+]leaderElection ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\n"
            "readyz check failed\n",
        ),
        (
            endpoint("readyz", LEADER, SYNC),
            {"verbose": True, "excluded": {"sched-handler-sync"}},
            True,
            "[+]leaderElection ok\n[+]sched-handler-sync excluded: ok\nreadyz check passed\n",
        ),
        (
            endpoint("readyz", SYNC),
            {"verbose": True, "excluded": {"foo", "bar"}},
            False,
            "[-]sched-handler-sync failed: reason withheld\n"
            'warn: some health checks cannot be excluded: no matches for "bar","foo"\nreadyz check failed\n',
        ),
        (
            endpoint("readyz", Check("a", raises)),
            {"verbose": False},
            False,
            "[-]a failed: reason withheld\nreadyz check failed\n",
        ),
    ],
)
def test_answer_of_an_endpoint(probed, options, healthy, text):
    assert probed.all(**options) == (healthy, text)


@pytest.mark.parametrize(
    ("check", "healthy", "text"),
    [
        (SHUTDOWN, True, "ok"),
        (SYNC, False, "internal server error: handlers are not fully synchronized\n"),
        (Check("a", raises), False, "internal server error: boom\n"),
    ],
)
def test_answer_of_a_single_check(check, healthy, text):
    assert endpoint("readyz", check).one(check) == (healthy, text)


def test_results_are_recorded_but_for_excluded_checks():
    results = Results()
    endpoint("readyz", LEADER, SHUTDOWN, SYNC, results=results).all(verbose=False, excluded={"shutdown"})
    assert results == [("leaderElection", "readyz", True), ("sched-handler-sync", "readyz", False)]


def test_reason_of_a_failure_is_logged(caplog):
    caplog.set_level("INFO")
    endpoint("readyz", SYNC).all(verbose=False)
    assert "readyz check failed: sched-handler-sync: handlers are not fully synchronized" in caplog.text
