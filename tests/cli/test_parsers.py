"""The parsers of subcommands."""

from __future__ import annotations

import argparse

import pytest

from scheduler.cli.parsers import add_command


def test_texts_keep_their_lines_and_flags_are_not_abbreviated(capsys):
    root = argparse.ArgumentParser(prog="berth")
    parser = add_command(root.add_subparsers(), "x", help="do x", description="first\nsecond", epilog="third\nfourth")
    parser.add_argument("--colour")
    assert "first\nsecond" in parser.format_help()
    assert "third\nfourth" in parser.format_help()
    with pytest.raises(SystemExit):
        root.parse_args(["x", "--col", "red"])
    assert "unrecognized arguments" in capsys.readouterr().err
