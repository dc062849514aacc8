"""How long ago, and how long until."""

from __future__ import annotations

import pytest

from scheduler.explain.ages import age, span, took, until

NOW = "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.6, "1s"),
        (59, "59s"),
        (60, "1m"),
        (190, "3m10s"),
        (600, "10m"),
        (3600 * 5 + 59, "5h"),
        (3600 * 5 + 60, "5h1m"),
        (3600 * 30, "1d6h"),
        (86_400 * 12.4, "12d"),
        (-5, "0s"),
    ],
)
def test_a_span_has_two_units_where_the_smaller_one_matters(seconds, text):
    assert span(seconds) == text


def test_ages_are_between_two_times_whatever_their_fractions():
    assert age("2026-01-02T03:03:05.250000Z", NOW) == "1m"
    assert age("", NOW) == ""


@pytest.mark.parametrize(
    ("when", "text"), [("2026-01-02T03:04:10Z", "in 5s"), (NOW, "now"), ("2026-01-02T03:04:00Z", "now"), ("", "")]
)
def test_what_is_to_come(when, text):
    assert until(when, NOW) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.00035, "350µs"), (0.0123, "12.3ms"), (1.254, "1.25s")])
def test_short_durations(seconds, text):
    assert took(seconds) == text
