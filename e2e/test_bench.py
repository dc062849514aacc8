"""The table of a comparison of two schedulers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from e2e import tools
from e2e.perf.bench import FIGURES, main, stages_table, table

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def result(**figures: float) -> dict[str, Any]:
    zeros = {path[0]: 0 for _, path, _ in FIGURES if len(path) == 1}
    return {**zeros, "latency_ms": {"P50": 10, "P99": 20}, **figures}


def test_medians_of_the_rounds_and_berth_over_kube_scheduler():
    kube = [result(throughput=value) for value in (100, 300, 200)]
    berth = [result(throughput=value) for value in (150, 50, 100)]
    lines = table([{"Workload": "basic", "A": kube, "B": berth}]).splitlines()
    assert lines[0].split() == ["workload", "figure", "kube-scheduler", "berth", "ratio:", "min", "median", "max"]
    assert lines[1].split() == ["basic", "pods/s", "200", "100", "0.17", "0.50", "1.50"]


def test_how_far_berth_is_from_the_floor_where_that_took_its_turn():
    pair = {"Workload": "basic", "A": [result(throughput=100)], "B": [result(throughput=190)]}
    heading, line = table([{**pair, "Floor": [result(throughput=200)]}]).splitlines()[:2]
    assert heading.split()[8:] == ["floor", "of", "it:", "min", "median", "max"]
    assert line.split() == ["basic", "pods/s", "100", "190", "1.90", "1.90", "1.90", "200", "0.95", "0.95", "0.95"]


def test_no_ratio_to_nothing():
    lines = table([{"Workload": "basic", "A": [result()], "B": [result(n_violations=2)]}]).splitlines()
    assert lines[-2].split() == ["violations", "0", "2", "-", "-", "-"]


def test_shares_of_the_stages_in_percent():
    heading, line = stages_table({"basic": {"cycle": 0.25, "loop": 0.75}}).splitlines()
    found = dict(zip(heading.split(), line.split(), strict=True))
    assert (found["workload"], found["cycle"], found["loop"], found["bind"]) == ("basic", "25%", "75%", "0%")


def test_a_run_that_fails_shows_no_figures_of_another_one_and_leaves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = tmp_path / "bench"
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr(tools, "ensure", lambda names: dict.fromkeys(names, failing))
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps([{"Workload": "basic", "A": [result()], "B": [result()]}]))
    before = kept.read_text()
    assert main(["--json", str(kept)]) == 1
    assert "medians" not in capsys.readouterr().out
    assert kept.read_text() == before
