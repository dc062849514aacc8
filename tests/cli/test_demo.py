"""`berth demo`: what it prints."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from scheduler.cli import demo

EXAMPLES = str(Path(__file__).parents[2] / "deploy" / "examples")


def run(*arguments: str) -> int:
    """The exit status of the command."""
    parser = argparse.ArgumentParser()
    demo.add_parser(parser.add_subparsers())
    return demo.main(parser.parse_args(["demo", *arguments]))


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What it prints about the examples."""
    assert run(EXAMPLES) == 0
    return capsys.readouterr().out


def test_each_pod_with_its_node(printed: str) -> None:
    lines = re.findall(r"^default/(\S+) +-> (\S+) +(.*)$", printed, re.MULTILINE)
    assert len(lines) == 13
    assert ("cache", "a1", "637 points, the most; 5 of 6 nodes fit") in lines
    assert ("trainer", "c2", "the only one of 6 nodes that fits") in lines


def test_why_a_pod_is_where_it_is(printed: str) -> None:
    assert "Why default/cache is on a1\nPLUGIN" in printed
    assert "a1 leads c2 by 176 points: NodeAffinity +200" in printed


def test_why_a_pod_stays_pending(printed: str) -> None:
    assert "Why default/analytics stays pending\n" in printed
    assert re.search(r"3   NodeResourcesFit +Insufficient cpu +a1, a2, b1\n", printed)
    assert "0/6 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's" in printed


def test_which_pod_is_held_back(printed: str) -> None:
    assert "default/migration: waiting for scheduling gates: [example.com/approval]" in printed


def test_what_to_do_next(printed: str) -> None:
    last = printed.rstrip().splitlines()[-2:]
    assert last[0].startswith(f"berth simulate -f {EXAMPLES} -o wide")
    assert last[1].startswith("make run KUBECONFIG=")


def test_it_fits_on_a_screen(printed: str) -> None:
    assert len(printed.splitlines()) < 60


def test_a_tie_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = "\n---\n".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, status: {{allocatable: {{cpu: 4, pods: 9}}}}}}"
        for name in ("n1", "n2")
    )
    wanted = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: berth, containers: [{name: c}]}}"
    (tmp_path / "in.yaml").write_text(f"{nodes}\n---\n{wanted}\n")
    assert run(str(tmp_path)) == 0
    assert "points, as many as 1 other; 2 of 2 nodes fit" in capsys.readouterr().out


def test_input_that_can_not_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "nowhere")) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "nowhere: No such file or directory" in printed.err
