"""`berth simulate --snapshot` from end to end."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from scheduler.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c, image: secret/app}]}}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return str(path)


def test_saved_and_used(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "s.tar.zst"
    assert main(["simulate", "-f", cluster, "--snapshot", str(target)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{target}: 1 nodes, 1 pods (")
    assert main(["simulate", "-f", str(target), "--add-nodes", "1=n1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("shop/web   n1")


def test_only_its_owner_may_read_it_and_nothing_is_left_beside_it(cluster: str, tmp_path: Path) -> None:
    target = tmp_path / "s.tar.zst"
    assert main(["simulate", "-f", cluster, "--snapshot", str(target)]) == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.yaml", "s.tar.zst"]


def test_anonymous_with_a_list_of_pseudonyms(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, names = tmp_path / "s.tar.zst", tmp_path / "names.json"
    arguments = ["simulate", "-f", cluster, "--snapshot", str(target), "--anonymize", "--pseudonyms", str(names)]
    assert main(arguments) == 0
    assert "names replaced)" in capsys.readouterr().err
    assert json.loads(names.read_text())["node"] == {"n1": "node-1"}
    assert main(["simulate", "-f", str(target)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:2] == ["namespace-1/pod-1", "node-1"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--snapshot", "x", "--drain", "n1"], "--snapshot saves the input as it is"),
        (["--snapshot", "x", "--config", "c"], "--snapshot saves the input as it is"),
        (["--anonymize"], "--anonymize goes with --snapshot FILE"),
        (["--snapshot", "x", "--pseudonyms", "p"], "--pseudonyms with both"),
        (["--snapshot", "/nowhere/x"], "/nowhere/"),
    ],
)
def test_what_can_not_be_done(
    cluster: str, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "-f", cluster, *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_snapshot_that_can_not_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd rest")
    assert main(["simulate", "-f", str(path)]) == 2
    assert f"{path}: not a whole snapshot" in capsys.readouterr().err
