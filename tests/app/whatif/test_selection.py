"""Nodes picked by name, by glob, or by label selector."""

from __future__ import annotations

import pytest

from scheduler.app.whatif.selection import matches, parse_selector
from scheduler.app.whatif.world import ChangeError
from tests.app.whatif.worlds import world
from tests.builders import node

NODES = (node("a1").label(pool="a", disk="ssd"), node("a2").label(pool="a"), node("b1").label(pool="b"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a1", ["a1"]),
        ("a*", ["a1", "a2"]),
        ("pool=a", ["a1", "a2"]),
        ("pool==a", ["a1", "a2"]),
        ("pool!=a", ["b1"]),
        ("pool in (a, b)", ["a1", "a2", "b1"]),
        ("pool notin (a)", ["b1"]),
        ("pool=a,disk", ["a1"]),
        ("pool=a,!disk", ["a2"]),
        ("pool in (a,b),disk=ssd", ["a1"]),
    ],
)
def test_selection(text: str, names: list[str]) -> None:
    assert [found.metadata.name for found in matches(world(*NODES), text)] == names


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pool=c", "no node has labels that match 'pool=c'$"),
        ("poll=a", "no node has labels that match 'poll=a'; did you mean pool"),
        ("pool=a disk", "a comma is missing before 'disk'"),
        ("=a", "is no label selector"),
        ("pool=" + "x" * 64, "must be no more than 63"),
    ],
)
def test_what_can_not_be_used(text: str, problem: str) -> None:
    with pytest.raises(ChangeError, match=problem):
        matches(world(*NODES), text)


def test_set_operators_as_kubectl_writes_them() -> None:
    assert str(parse_selector("a in (b,c),d notin (e),!f,g")) == "a in (b,c),d notin (e),!f,g"
