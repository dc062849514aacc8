"""What a command says when it can't do what was asked for."""

from __future__ import annotations

import pytest

from scheduler.cli.problems import BAD_INPUT, FAILED, complain, warn


@pytest.mark.parametrize(
    ("problem", "lines"),
    [
        (ValueError("not a number"), ["berth: error: not a number"]),
        (ValueError("a.yaml: first\na.yaml: second"), ["berth: error: a.yaml: first", "berth: error: a.yaml: second"]),
        (
            FileNotFoundError(2, "No such file or directory", "a.yaml"),
            ["berth: error: a.yaml: No such file or directory"],
        ),
        (KeyError(), ["berth: error: KeyError"]),
    ],
)
def test_a_problem_is_told_line_by_line(problem, lines, capsys):
    assert complain(problem) == BAD_INPUT
    assert capsys.readouterr().err.splitlines() == lines


def test_a_failure_has_a_code_of_its_own():
    assert (complain("no", code=FAILED), BAD_INPUT) == (1, 2)


def test_a_warning_is_told(capsys):
    warn("mind the gap")
    assert capsys.readouterr().err == "berth: warning: mind the gap\n"
