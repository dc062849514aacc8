"""Ways to come to the state of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from scheduler.api.objects import PersistentVolume
from scheduler.app.case_history import fill
from scheduler.cache.state import ClusterState
from tests.builders import node, pod

if TYPE_CHECKING:
    from collections.abc import Callable

ZONE = "topology.kubernetes.io/zone"
NODES = [node(f"n{number}").zone(f"z{number % 2}").build() for number in range(6)]
PODS = [pod(f"p{number}").label(app=f"a{number}").on(f"n{number}").build() for number in range(6)]
WAITING = pod("waiting").build()
VOLUME = msgspec.convert({"metadata": {"name": "pv"}}, PersistentVolume)
OBJECTS = [*NODES, VOLUME, *PODS, WAITING]


def zones(state: ClusterState) -> dict[str, str | None]:
    column = state.nodes.labels(ZONE)
    return {name: column.values[column.ids[row]] for name, row in state.nodes.rows.items()}


def placed(state: ClusterState) -> dict[str, tuple[str, str]]:
    return {entry.name: (entry.node_name, entry.shape.labels["app"]) for entry in state.pods}


def filled(rehearse: Callable[[ClusterState], None] | None, *, ordered: bool = False) -> ClusterState:
    state = ClusterState()
    fill(state, OBJECTS, {}, (lambda: rehearse(state)) if rehearse else None, ordered=ordered)
    return state


@pytest.mark.parametrize("ordered", [False, True])
def test_a_history_comes_to_the_state_that_the_straight_way_comes_to(ordered: bool):
    straight = filled(None)
    state = filled(lambda _: None, ordered=ordered)
    assert (zones(state), placed(state)) == (zones(straight), placed(straight))
    assert state.objects.get("PersistentVolume", "", "pv") is VOLUME


def test_on_the_way_nodes_change_their_zones():
    seen: list[dict[str, str | None]] = []
    final = zones(filled(lambda state: seen.append(zones(state))))
    full = [found for found in seen if len(found) == len(NODES)]
    changed = [[name for name in final if found[name] != final[name]] for found in full]
    assert changed[:3] == [["n1", "n3", "n5"], ["n3", "n5"], ["n3", "n5"]]
    assert changed[-1] == ["n3", "n5"], "some change when the pods are there"


def test_on_the_way_pods_are_others_that_go_and_objects_come_back():
    seen: list[tuple[dict[str, tuple[str, str]], bool]] = []
    filled(lambda state: seen.append((placed(state), state.objects.get("PersistentVolume", "", "pv") is None)))
    assert any(gone for _, gone in seen[2:])
    last = next(found for found, _ in reversed(seen) if found["p1"] != ("n1", "a1"))
    assert {name: last[name] for name in ("p0", "p1", "p4")} == {
        "p0": ("n0", "a0"),
        "p1": ("n0", "a0"),
        "p4": ("n3", "a3"),
    }


def test_where_the_order_of_nodes_counts_none_changes_its_zone():
    seen: list[dict[str, str | None]] = []
    final = zones(filled(lambda state: seen.append(zones(state)), ordered=True))
    assert all(final[name] == zone for found in seen for name, zone in found.items())
