"""The parsers of subcommands."""

from __future__ import annotations

import argparse

import pytest

from scheduler.cli.main import main
from scheduler.cli.parsers import add_command, port, whole


def test_texts_keep_their_lines_and_flags_are_not_abbreviated(capsys):
    root = argparse.ArgumentParser(prog="berth")
    parser = add_command(root.add_subparsers(), "x", help="do x", description="first\nsecond", epilog="third\nfourth")
    parser.add_argument("--colour")
    assert "first\nsecond" in parser.format_help()
    assert "third\nfourth" in parser.format_help()
    with pytest.raises(SystemExit):
        root.parse_args(["x", "--col", "red"])
    assert "unrecognized arguments" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "1", "70000", "007"])
def test_a_whole_number_is_written_in_digits(text):
    assert whole(least=0)(text) == int(text)


@pytest.mark.parametrize("text", ["", " 3", "-1", "+1", "1_000", "1e3", "1.0", "٣", "²", "x"])
def test_nothing_else_is_one(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is no number from 0 up"):
        whole(least=0)(text)


def test_there_is_a_least_number():
    assert whole(least=1)("1") == 1
    with pytest.raises(argparse.ArgumentTypeError, match="'0' is no number from 1 up"):
        whole(least=1)("0")


@pytest.mark.parametrize("text", ["0", "1", "65535"])
def test_a_port_is_a_number_of_16_bits(text):
    assert port(text) == int(text)


@pytest.mark.parametrize("text", ["", "-1", "65536", "https"])
def test_no_other_port_is_tried(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is no port: they are 1 to 65535"):
        port(text)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["run", "--record-decisions=-1"], "--record-decisions: '-1' is no number from 0 up"),
        (["shadow", "--decisions=0"], "--decisions: '0' is no number from 1 up"),
        (["simulate", "--fill-limit=x"], "--fill-limit: 'x' is no number from 1 up"),
        (["simulate", "--at-least=0"], "--at-least: '0' is no number from 1 up"),
        (["page", "--port=70000"], "--port: '70000' is no port"),
        (["pending", "--scheduler-port=x"], "--scheduler-port: 'x' is no port"),
    ],
)
def test_commands_say_which_flag_wants_what(command, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert f"argument {said}" in capsys.readouterr().err
