from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from scheduler.metrics.exposition import go_float, label_text, render
from scheduler.metrics.instruments import Counter, Histogram, Spec


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5e-05, "1.5e-05"),
        (5.0625e-05, "5.0625e-05"),
        (999999.0, "999999"),
        (999999.5, "999999.5"),
        (1e6, "1e+06"),
        (1048576.0, "1.048576e+06"),
        (1.79602507507e9, "1.79602507507e+09"),
        (1e21, "1e+21"),
        (1e100, "1e+100"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value, text):
    assert go_float(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_numbers_read_back_exactly(value):
    assert float(go_float(value)) == value


def test_labels_are_ordered_by_name_with_the_bound_last():
    assert label_text({"result": "r", "le": "1", "profile": "p"}) == '{profile="p",result="r",le="1"}'


def test_label_values_and_help_are_escaped():
    registry = CollectorRegistry()
    Counter(Spec("c_total", "ALPHA", 'a\\b\n"c"', ("x",)), registry).labels('q"\\\n').inc()
    assert render(registry) == (
        b'# HELP c_total [ALPHA] a\\\\b\\n"c"\n# TYPE c_total counter\nc_total{x="q\\"\\\\\\n"} 1\n'
    )


def test_families_are_ordered_by_name_and_empty_ones_left_out():
    registry = CollectorRegistry()
    for name in ("b_total", "a_total"):
        Counter(Spec(name, "ALPHA", "Help."), registry)
    Counter(Spec("empty_total", "ALPHA", "Help.", ("x",)), registry)
    names = [line.split()[2] for line in render(registry).decode().splitlines() if line.startswith("# TYPE")]
    assert names == ["a_total", "b_total"]


def test_counts_of_a_histogram_stay_integers():
    registry = CollectorRegistry()
    family = Histogram(Spec("h", "ALPHA", "Help.", (), (1.0,)), registry)
    family.labels().counts[0] = 2_000_000
    assert 'h_bucket{le="1"} 2000000\n' in render(registry).decode()
    assert "h_count 2000000\n" in render(registry).decode()
