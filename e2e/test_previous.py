"""The report of the cycle against another commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.perf import previous
from e2e.perf.instructions import counter

if TYPE_CHECKING:
    import pytest

SMALL = ["--workloads", "basic", "--nodes", "20", "--pods", "20", "--rounds", "1"]


def test_this_tree_against_its_own_commit(capsys: pytest.CaptureFixture[str]) -> None:
    assert previous.main(["--base", "HEAD", *SMALL]) == 0
    heading, columns, line = capsys.readouterr().out.splitlines()
    assert heading.endswith("(ratio of the minimum to HEAD)")
    assert columns.split() == ["workload", "20", "nodes"]
    assert line.startswith("basic")
    assert line.endswith(")")


def test_what_can_not_be_compared_is_said_and_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert previous.main(["--base", "no-such-commit", *SMALL]) == 0
    assert capsys.readouterr().out.startswith("The cycle was not compared with no-such-commit:")


def test_instructions_grow_where_they_are_counted_at_all() -> None:
    with counter() as executed:
        if executed is not None:
            before = executed()
            assert sum(range(1000)) == 499500
            assert executed() > before
