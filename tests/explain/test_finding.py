"""Pods and nodes by a part of their names."""

from __future__ import annotations

import pytest

from scheduler.explain.finding import find
from scheduler.explain.views import Found, FoundPod
from tests.builders import node, pod
from tests.cycle.rig import Rig


@pytest.fixture
def rig() -> Rig:
    """Pods that run, on a node that is there and on one that is not, and pods that wait."""
    made = Rig()
    made.put(
        node("web-node"),
        node("db-node"),
        pod("web-1").namespace("shop").on("web-node"),
        pod("web").namespace("shop").on("db-node"),
        pod("old-web").namespace("lab").on("gone"),
        pod("web-2").namespace("lab"),
        pod("db-0").namespace("web").on("db-node"),
    )
    return made


def names(found: Found) -> list[str]:
    return [one.pod for one in found.pods]


def test_running_and_waiting_pods_are_found_and_say_where_they_are(rig: Rig) -> None:
    assert find(rig.scheduler, "web-", 9).pods == (
        FoundPod(pod="shop/web-1", state="Scheduled", node="web-node"),
        FoundPod(pod="lab/web-2", state="Pending"),
    )
    assert find(rig.scheduler, "old", 9).pods == (FoundPod(pod="lab/old-web", state="Scheduled", node="gone"),)


async def test_a_pod_on_its_way_to_a_node_is_found_once(rig: Rig) -> None:
    assert rig.scheduler.schedule_next()
    [found] = find(rig.scheduler, "web-2", 9).pods
    assert (found.state, found.node) == ("Pending", "db-node")
    await rig.scheduler.settle()


def test_names_that_begin_with_it_come_first_and_all_are_sorted(rig: Rig) -> None:
    assert names(find(rig.scheduler, "web", 9)) == ["shop/web", "shop/web-1", "lab/web-2", "lab/old-web"]
    assert find(rig.scheduler, "node", 9).nodes == ("db-node", "web-node")
    assert find(rig.scheduler, "web", 9).nodes == ("web-node",)


def test_there_are_as_many_as_asked_for_and_it_is_said_how_many_there_are(rig: Rig) -> None:
    found = find(rig.scheduler, "web", 2)
    assert (names(found), found.pod_count, found.node_count) == (["shop/web", "shop/web-1"], 4, 1)
    assert find(rig.scheduler, "nothing", 2) == Found()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop/web", ["shop/web", "shop/web-1"]),
        ("op/web-1", ["shop/web-1"]),
        ("lab/", ["lab/old-web", "lab/web-2"]),
        ("/web", ["shop/web", "shop/web-1", "lab/web-2"]),
        ("shop/eb", []),
        ("shop/web/", []),
        ("SHOP/Web-1", ["shop/web-1"]),
        ("<img src=x>", []),
    ],
)
def test_a_slash_stands_between_namespace_and_name(rig: Rig, text: str, expected: list[str]) -> None:
    assert names(find(rig.scheduler, text, 9)) == expected
