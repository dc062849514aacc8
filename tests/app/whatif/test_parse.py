"""Changes as they are written on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.app.whatif.nodes import AddNodes, RemoveTaint
from scheduler.app.whatif.parse import parse_add_nodes, parse_remove_taint, parse_scale
from scheduler.app.whatif.scale import Scale
from scheduler.app.whatif.world import ChangeError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("parse", "text", "change"),
    [
        (parse_add_nodes, "3=n1", AddNodes(3, "n1")),
        (parse_scale, "deployment/web=5", Scale("Deployment", "", "web", 5)),
        (parse_scale, "deploy/shop/web=5", Scale("Deployment", "shop", "web", 5)),
        (parse_scale, "deployment.apps/web=0", Scale("Deployment", "", "web", 0)),
        (parse_scale, "sts/db=2", Scale("StatefulSet", "", "db", 2)),
        (parse_scale, "StatefulSet/db=2", Scale("StatefulSet", "", "db", 2)),
        (parse_scale, "job/load=2", Scale("Job", "", "load", 2)),
        (parse_remove_taint, "n1:dedicated", RemoveTaint("n1", "dedicated")),
        (
            parse_remove_taint,
            "pool=a:example.com/x:NoExecute",
            RemoveTaint("pool=a", "example.com/x", "NoExecute"),
        ),
    ],
)
def test_written_well(parse: Callable[[str], object], text: str, change: object) -> None:
    assert parse(text) == change


@pytest.mark.parametrize(
    ("parse", "text", "problem"),
    [
        (parse_add_nodes, "n1", "--add-nodes n1: write a number"),
        (parse_add_nodes, "-1=n1", "write a number"),
        (parse_add_nodes, "x=n1", "write a number"),
        (parse_add_nodes, "3=", "write a number"),
        (parse_scale, "web=5", "write KIND/NAME=N"),
        (parse_scale, "deployment/web", "write KIND/NAME=N"),
        (parse_scale, "deployment/web=many", "write KIND/NAME=N"),
        (parse_scale, "deployment//web=5", "write KIND/NAME=N"),
        (parse_scale, "deploymnt/web=5", "'deploymnt' is nothing that can be scaled; did you mean deployment"),
        (parse_remove_taint, "n1", "write NODES:KEY"),
        (parse_remove_taint, "n1:", "write NODES:KEY"),
        (parse_remove_taint, "n1:a:Never", "write NODES:KEY"),
    ],
)
def test_written_badly(parse: Callable[[str], object], text: str, problem: str) -> None:
    with pytest.raises(ChangeError, match=problem):
        parse(text)
