"""A node, for people."""

from __future__ import annotations

import pytest

from scheduler.explain.node_text import amount, node_parts
from scheduler.explain.views import NodePods, NodesView
from tests.explain.test_placement import text

NODES = NodesView(
    time="", names=("a", "b"), zones=("z1", ""), unschedulable=(False, True), pods=(2, 0), allowed_pods=(110, 0),
    resources=("cpu", "memory", "example.com/gpu"), taints=("", "dedicated=gpu:NoSchedule"),
    allocatable={"cpu": (4000, 2000), "memory": (2**34, 2**30), "example.com/gpu": (0, 4)},
    requested={"cpu": (1500, 0), "memory": (2**33, 0), "example.com/gpu": (0, 1)},
)  # fmt: skip


def test_what_is_taken_of_what_there_is():
    lines = text(node_parts(NodePods(name="a", pods=("shop/web-1", "shop/web-2")), NODES)).splitlines()
    assert lines[0] == "a in z1"
    assert [line.split() for line in lines[2:5]] == [
        ["pods", "2", "110", "2%"],
        ["cpu", "1500m", "4", "38%"],
        ["memory", "8Gi", "16Gi", "50%"],
    ]
    assert lines[-3:] == ["2 pods", "  shop/web-1", "  shop/web-2"]


def test_what_keeps_pods_off_is_said():
    shown = text(node_parts(NodePods(name="b", pods=()), NODES))
    assert shown.startswith("b, closed to new pods\ntaints: dedicated=gpu:NoSchedule\n")
    assert "example.com/gpu           1     4     25%" in shown
    assert "0 pods" in shown


@pytest.mark.parametrize(
    ("resource", "value", "written"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 250, "250m"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 1000, "1000"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("example.com/gpu", 3, "3"),
    ],
)
def test_amounts_are_written_as_people_do(resource, value, written):
    assert amount(resource, value) == written
