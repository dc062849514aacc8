from __future__ import annotations

from scheduler.metrics import specs
from scheduler.metrics.instruments import Spec

SPECS = [value for value in vars(specs).values() if isinstance(value, Spec)]


def test_names_are_unique():
    names = [spec.name for spec in SPECS]
    assert len(names) == len(set(names)) == 35


def test_bounds_grow():
    assert all(list(spec.buckets) == sorted(set(spec.buckets)) for spec in SPECS)
