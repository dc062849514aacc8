"""The nodes of the cluster in columns."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.cache.nodes import CPU, MEMORY, NodeTable, NodeView
from tests.builders import node


def table_of(*nodes) -> NodeTable:
    table = NodeTable()
    for item in nodes:
        table.set(item.build())
    return table


def test_keeps_amounts_in_milli_cpus_bytes_and_counts():
    table = table_of(node("a").capacity({"cpu": "1500m", "memory": "1Ki", "example.com/gpu": "2", "pods": "7"}))
    gpu = table.resources["example.com/gpu"]
    assert table.allocatable[[CPU, MEMORY, gpu], 0].tolist() == [1500, 1024, 2]
    assert table.allowed_pods[0] == 7


def test_a_resource_that_is_gone_is_no_longer_allocatable():
    table = table_of(node("a").capacity({"example.com/gpu": "2"}))
    table.set(node("a").capacity(cpu="1").build())
    assert table.allocatable[table.resources["example.com/gpu"], 0] == 0


def test_rows_are_stable_and_those_of_removed_nodes_are_used_again():
    table = table_of(node("a"), node("b"), node("c"))
    table.remove("b")
    assert (table.rows, table.live[:3].tolist(), len(table)) == ({"a": 0, "c": 2}, [True, False, True], 2)
    assert table.set(node("d").build())[0] == 1
    assert [item.metadata.name for item in table] == ["a", "d", "c"]


def test_grows_with_all_its_columns():
    table = table_of(*(node(f"n{i}").zone(f"z{i % 3}").taint("x") for i in range(100)))
    zones = table.labels("topology.kubernetes.io/zone")
    assert [zones.values[i] for i in zones.ids[:100]] == [f"z{i % 3}" for i in range(100)]
    assert (table.allocatable[CPU, :100] == 32000).all()
    assert len(table.taints.values) == 2


def test_its_columns_are_those_that_there_are_now():
    table = table_of(node("n0"))

    def are_current():
        expected = (table.allocatable, table.requested, table.nonzero, table.allowed_pods, table.pod_count)
        return all(column is other for column, other in zip(table.columns, expected, strict=True))

    assert are_current()
    table.resource("example.com/gpu")
    assert are_current()
    for number in range(1, 40):
        table.set(node(f"n{number}").build())
    assert are_current()


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (node("a").label(x="y"), Change.LABELS),
        (node("a").taint("x"), Change.TAINTS),
        (node("a").unschedulable(), Change.TAINTS),
        (node("a").capacity(cpu="1"), Change.ALLOCATABLE),
        (node("a").image("x", size=1), Change.IMAGES),
        (node("a").features("F"), Change.FEATURES),
        (node("a").condition("Ready", "True"), Change.CONDITIONS),
        (node("a").set("metadata.annotations", {"x": "y"}), Change.ANNOTATIONS),
        (node("a").set("metadata.resourceVersion", "2"), Change.NONE),
    ],
)
def test_says_and_logs_what_changed(changed, what):
    table = table_of(node("a"))
    start = table.log.end
    assert table.set(changed.build()) == (0, what)
    assert table.log.rows(start, what).tolist() == ([0] if what else [])


def test_equal_lists_of_taints_are_interned():
    table = table_of(node("a").taint("x"), node("b").taint("x"), node("c").taint("y"), node("d"))
    ids = table.taints.ids[:4].tolist()
    assert ids[0] == ids[1] != ids[2]
    assert (ids[3], table.taints.values[0]) == (0, ())


def test_a_column_of_labels_asked_for_late_has_all_nodes():
    table = table_of(node("a").label(disk="ssd"), node("b"))
    assert table.labels("disk").ids[:2].tolist() == [1, 0]


def test_a_view_shows_all_rows_or_those_that_it_was_given():
    table = table_of(node("a").zone("z1"), node("b").zone("z2").unschedulable(), node("c").zone("z1"))
    whole, part = NodeView(table), NodeView(table, np.array([2, 1]))
    zone = "topology.kubernetes.io/zone"
    assert (len(whole), whole.indices.tolist(), whole.label_ids(zone).tolist()) == (3, [0, 1, 2], [1, 2, 1])
    assert (len(part), part.indices.tolist(), part.label_ids(zone).tolist()) == (2, [2, 1], [1, 2])
    assert part.unschedulable.tolist() == [False, True]
    assert part.allocatable(CPU).tolist() == [32000, 32000]


def test_a_view_tells_its_rows_or_how_many_of_the_first_ones():
    table = table_of(node("a"), node("b"))
    assert NodeView(table).chosen == 2
    assert NodeView(table, np.array([1])).chosen.tolist() == [1]
