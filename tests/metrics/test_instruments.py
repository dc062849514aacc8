from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Histogram as ReferenceHistogram

from scheduler.metrics.exposition import render
from scheduler.metrics.instruments import Counter, Gauge, Histogram, Spec, exponential_buckets

BUCKETS = (1.0, 2.0, 4.0)


def histogram(*labels: str) -> Histogram:
    return Histogram(Spec("h_seconds", "ALPHA", "Help.", labels, BUCKETS), CollectorRegistry())


@pytest.mark.parametrize(("value", "bucket"), [(0.5, 0), (1.0, 0), (1.1, 1), (4.0, 2), (4.1, 3)])
def test_observation_falls_into_the_first_bucket_that_reaches_it(value, bucket):
    series = histogram().labels()
    series.observe(value)
    assert [i for i, count in enumerate(series.counts) if count] == [bucket]
    assert series.sum == value
    assert series.count == 1


@given(st.lists(st.floats(min_value=0, max_value=10, allow_nan=False)))
def test_histogram_agrees_with_prometheus_client(values):
    registry = CollectorRegistry()
    reference = ReferenceHistogram("h_seconds", "Help.", registry=registry, buckets=BUCKETS)
    ours = histogram()
    for value in values:
        reference.observe(value)
        ours.labels().observe(value)
    (theirs,) = registry.collect()
    expected = {
        (sample.name, float(sample.labels.get("le", 0))): sample.value
        for sample in theirs.samples
        if not sample.name.endswith("_created")
    }
    (family,) = ours.collect()
    shown = {(s.name, float(s.labels.get("le", 0))): s.value for s in family.samples}
    assert shown == expected


def test_series_of_the_same_label_values_is_the_same_object():
    family = histogram("a", "b")
    assert family.labels("x", "y") is family.labels("x", "y")
    assert family.labels("x", "y") is not family.labels("y", "x")


@pytest.mark.parametrize("values", [(), ("x",), ("x", "y", "z")])
def test_wrong_number_of_label_values_names_the_metric(values):
    with pytest.raises(ValueError, match="h_seconds has the labels"):
        histogram("a", "b").labels(*values)


def test_gauge_shows_what_was_set_and_what_its_source_says():
    registry = CollectorRegistry()
    gauge = Gauge(Spec("g", "BETA", "Help.", ("name",)), registry)
    gauge.labels("set").set(2)
    gauge.read(lambda: {("read",): 5})
    assert render(registry) == (b'# HELP g [BETA] Help.\n# TYPE g gauge\ng{name="read"} 5\ng{name="set"} 2\n')


def test_gauge_without_labels_shows_its_source_alone():
    registry = CollectorRegistry()
    Gauge(Spec("g", "BETA", "Help."), registry).read(lambda: {(): 1.5})
    assert render(registry).endswith(b"\ng 1.5\n")


def test_source_with_wrong_labels_is_an_error():
    registry = CollectorRegistry()
    Gauge(Spec("g", "BETA", "Help.", ("name",)), registry).read(lambda: {("a", "b"): 1})
    with pytest.raises(ValueError, match="g has the labels"):
        render(registry)


def test_prometheus_client_can_write_the_families_too():
    registry = CollectorRegistry()
    Counter(Spec("c_total", "STABLE", "Help.", ("a",)), registry).labels("x").inc(2)
    assert b'\nc_total{a="x"} 2.0\n' in generate_latest(registry)


def test_exponential_buckets_are_multiplied_one_after_the_other():
    assert exponential_buckets(0.001, 2, 4) == (0.001, 0.002, 0.004, 0.008)
    bounds = exponential_buckets(0.00001, 1.5, 20)
    assert bounds[19] == bounds[18] * 1.5
