"""Rules decided once per distinct value."""

from __future__ import annotations

import numpy as np

from scheduler.cache.labels import LabelColumn
from scheduler.framework.by_value import ByValue

ALL = slice(0, 3)


def column(*values: str | None) -> LabelColumn:
    made = LabelColumn("k", len(values))
    for row, value in enumerate(values):
        made.set(row, value)
    return made


def test_answers_go_to_every_row_with_the_value():
    rule = ByValue(lambda value: len(value or ""), np.int64)
    assert rule.gather(column("aa", None, "aa"), ALL).tolist() == [2, 0, 2]
    assert rule.gather(column("aa", None, "b"), np.array([2, 0])).tolist() == [1, 2]


def test_each_value_is_looked_at_once():
    seen = []
    rule = ByValue(lambda value: seen.append(value) is None)
    labels = column("a", "b", "a")
    rule.gather(labels, ALL)
    labels.set(1, "c")
    rule.gather(labels, ALL)
    assert seen == [None, "a", "b", "c"]


def test_another_column_is_another_matter():
    rule = ByValue(lambda value: value == "a")
    assert rule.gather(column("a", "b", None), ALL).tolist() == [True, False, False]
    assert rule.gather(column("b", "a", None), ALL).tolist() == [False, True, False]


def test_the_caller_may_change_what_it_gets():
    rule = ByValue(lambda value: value == "a")
    labels = column("a", "a", "a")
    rule.gather(labels, ALL)[:] = False
    assert rule.gather(labels, ALL).all()
