"""What docs/comparison.md quotes of Berth, and so of kube-scheduler, is what comes of the files that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scheduler.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = sorted(file.name for file in (DOCS / "examples" / "pending").glob("*.yaml"))


def quoted(file: str, whose: str) -> list[str]:
    """The lines that the section about a file has in one tool's row."""
    sections = (DOCS / "comparison.md").read_text().split("\n### ")
    (section,) = [text for text in sections if f"(examples/pending/{file})" in text.partition("\n\n|")[0]]
    (row,) = re.findall(rf"^\| {whose} \| (.+) \|$", section, re.MULTILINE)
    return [line.replace("\\|", "|") for line in re.findall(r"`([^`]+)`", row)]


@pytest.fixture
def printed(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of `berth simulate -o wide` on a file."""
    assert main(["simulate", "-f", str(DOCS / "examples" / "pending" / request.param), "-o", "wide"]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def cases(whose: str) -> pytest.MarkDecorator:
    both = [(file, quoted(file, whose)) for file in EXAMPLES]
    return pytest.mark.parametrize(("printed", "lines"), both, indirect=["printed"], ids=EXAMPLES)


@cases("Berth")
def test_berth_prints_each_line_that_is_quoted(printed: list[str], lines: list[str]) -> None:
    assert lines
    assert [line for line in lines if line not in printed] == []


@cases("Berth")
def test_nothing_that_would_help_is_left_out(printed: list[str], lines: list[str]) -> None:
    helps = printed[printed.index("Any one of these would help") + 1 :]
    assert [line for line in lines if line in helps] == helps


@cases("kube-scheduler")
def test_the_event_is_quoted_whole(printed: list[str], lines: list[str]) -> None:
    (event,) = lines
    assert any(line.endswith(f": {event}") for line in printed)
