"""The waiting pods, for people."""

from __future__ import annotations

import pytest

from scheduler.explain.views import Pending, PendingGroup
from scheduler.explain.waiting import of_namespace, waiting
from tests.explain.test_placement import text

NOW = "2026-01-02T03:14:05Z"


def group(example, count, **changes):
    values = {
        "shape": "1f", "profile": "berth", "cause": "0/3 nodes are available: 3 Insufficient cpu.",
        "plugins": ("NodeResourcesFit",), "count": count, "queues": {"unschedulable": count}, "example": example,
        "oldest": "2026-01-02T03:04:05Z", "attempts": 3, "next_try": "2026-01-02T03:18:05Z", **changes,
    }  # fmt: skip
    return PendingGroup(**values)


PENDING = Pending(
    time=NOW,
    total=5,
    queues={"active": 0, "unschedulable": 4, "gated": 1},
    groups=(
        group("shop/web-7d4-x", 4, owner="ReplicaSet/web-7d4"),
        group("lab/job", 1, plugins=("SchedulingGates",), queues={"gated": 1}, next_try="", attempts=0),
    ),
)


def test_a_line_a_group_says_how_many_whose_since_when_and_what_comes_next():
    lines = text(waiting(PENDING)).splitlines()
    assert lines[0] == "5 pods are waiting: 4 waiting for a change, 1 held back"
    assert [line.split() for line in lines[2:4]] == [
        ["4", "shop/ReplicaSet/web-7d4", "10m", "3", "in", "4m", "NodeResourcesFit"],
        ["1", "lab/job", "10m", "0", "-", "SchedulingGates"],
    ]
    assert "lab/job: 0/3 nodes are available" in text(waiting(PENDING))


def test_no_pods_is_said_too():
    assert text(waiting(Pending(time=NOW, total=0, queues={}, groups=()))) == "No pods are waiting.\n"


@pytest.mark.parametrize(
    ("namespace", "total", "queues"),
    [("shop", 4, {"unschedulable": 4}), ("lab", 1, {"gated": 1}), ("none", 0, {})],
)
def test_one_namespace_can_be_picked_out(namespace, total, queues):
    found = of_namespace(PENDING, namespace)
    assert (found.total, found.queues, len(found.groups)) == (total, queues, int(total > 0))
