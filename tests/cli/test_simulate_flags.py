"""The flags of `berth simulate`: which may be repeated, in which order changes are made, what holds by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.cli.main import build_parser

if TYPE_CHECKING:
    import argparse


def flags(*arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["simulate", *arguments])


def test_by_default_nothing_is_read_or_changed() -> None:
    given = flags()
    assert (given.filename, given.configs, given.settings, given.changes) == ([], [], [], [])
    assert (given.from_cluster, given.jsonl, given.compare, given.anonymize, given.self_check) == (False,) * 5
    assert (given.output, given.seed, given.fail_on) == ("table", 0, [])


def test_two_runs_share_no_list() -> None:
    flags("--drain", "n1", "-f", "x")
    assert (flags().changes, flags().filename) == ([], [])


def test_changes_of_all_kinds_are_made_in_the_order_in_which_they_are_written() -> None:
    given = flags(
        "--drain", "n1", "--scale", "deployment/web=3", "--add-nodes", "2=n1", "--drain", "n2", "--reschedule"
    )
    assert given.changes == [
        ("--drain", "n1"),
        ("--scale", "deployment/web=3"),
        ("--add-nodes", "2=n1"),
        ("--drain", "n2"),
        ("--reschedule", "*"),
    ]


@pytest.mark.parametrize(("arguments", "pods"), [([], "*"), (["shop/web-*"], "shop/web-*")])
def test_all_pods_are_placed_anew_unless_some_are_named(arguments: list[str], pods: str) -> None:
    assert flags("--reschedule", *arguments).changes == [("--reschedule", pods)]


def test_what_may_be_repeated_adds_up() -> None:
    given = flags("-f", "a", "-f", "b", "--config", "c", "--config", "d", "--set", "e=1", "--set", "f=2")
    assert (given.filename, given.configs, given.settings) == (["a", "b"], ["c", "d"], ["e=1", "f=2"])
    assert flags("--fail-on", "pending", "--fail-on", "moved").fail_on == ["pending", "moved"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fail-on", "sometimes"], "argument --fail-on: invalid choice: 'sometimes'"),
        (["-o", "csv"], "argument -o/--output: invalid choice: 'csv'"),
        (["--fill-limit", "none"], "argument --fill-limit: 'none' is no number from 1 up"),
        (["--seed", "x"], "argument --seed"),
        (["--drain"], "argument --drain: expected one argument"),
        (["--drai", "n1"], "unrecognized arguments: --drai n1"),
    ],
)
def test_what_makes_no_sense_is_said_with_its_flag(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        flags(*arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
