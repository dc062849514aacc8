"""`berth help`."""

from __future__ import annotations

import pytest

from scheduler.cli.main import main


def test_alone_it_shows_all_commands(capsys):
    assert main(["help"]) == 0
    assert "commands:" in capsys.readouterr().out


def test_with_a_command_it_shows_its_flags(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["help", "config"])
    assert ended.value.code == 0
    assert "--feature-gates" in capsys.readouterr().out
