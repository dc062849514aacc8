"""One label key as a column of small integers."""

from __future__ import annotations

import pytest

from scheduler.cache.labels import ABSENT, LabelColumn


def test_equal_values_share_an_id_and_nodes_without_the_label_have_none():
    column = LabelColumn("zone", 4)
    for row, value in enumerate(["z1", "z2", "z1", None]):
        column.set(row, value)
    assert column.ids.tolist() == [1, 2, 1, ABSENT]
    assert column.values == [None, "z1", "z2"]


def test_an_empty_value_is_a_value():
    column = LabelColumn("zone", 1)
    column.set(0, "")
    assert column.ids[0] != ABSENT


@pytest.mark.parametrize(("then", "moves"), [("z1", False), ("z2", True), (None, True)])
def test_the_version_moves_when_a_row_changes(then, moves):
    column = LabelColumn("zone", 1)
    column.set(0, "z1")
    version = column.version
    column.set(0, then)
    assert (column.version != version) is moves


def test_a_rule_is_decided_once_per_distinct_value():
    column = LabelColumn("zone", 5)
    for row in range(4):
        column.set(row, f"z{row % 2}")
    asked = []
    decided = column.decide(lambda value: asked.append(value) or value == "z1", bool)
    assert asked == [None, "z0", "z1"]
    assert decided[column.ids].tolist() == [False, True, False, True, False]


def test_more_rows_start_without_the_label():
    column = LabelColumn("zone", 1)
    column.set(0, "z1")
    column.resize(3)
    assert column.ids.tolist() == [1, ABSENT, ABSENT]
