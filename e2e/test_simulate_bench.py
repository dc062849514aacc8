"""The benchmark of simulations: that its inputs are one cluster in three forms, and what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.perf import simulate
from e2e.perf.inputs import FORMS, cluster, write
from e2e.perf.simulate import Result, Run
from scheduler.app.manifests import read_manifests

if TYPE_CHECKING:
    from pathlib import Path


def test_the_forms_hold_the_same_cluster(tmp_path: Path) -> None:
    objects = list(cluster(3, 20, 20))
    read = {}
    for form, ending in FORMS.items():
        path = tmp_path / f"cluster{ending}"
        write(objects, form, path)
        read[form] = read_manifests([str(path)]).objects
    assert read["json"] == read["yaml"]
    assert [item.metadata.name for item in read["snapshot"]] == [item.metadata.name for item in read["json"]]
    assert len(read["json"]) == 43


def test_a_cluster_is_simulated_in_a_process_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--nodes", "20", "--pods", "40", "--running", "5", "--rounds", "1", "--keep", str(tmp_path)]
    assert simulate.main([*flags, "--forms", "json"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split()[:5] == ["running", "input", "output", "CPU", "s"]
    assert [line.split()[:3] for line in lines] == [["5", "json", "table"], ["5", "json", "json"]]
    assert [path.name for path in tmp_path.iterdir()] == ["20-40-5.json"]


def test_the_table_has_a_column_for_each_stage_there_is() -> None:
    results = [
        Result(0, "json", "table", Run(5.04, 240.0), {"read": 1.0, "cycle": 4.0}),
        Result(50_000, "yaml", "json", Run(20.0, 1240.0), {"read": 12.0, "print": 3.0}),
    ]
    assert [line.split() for line in simulate.table(results).splitlines()] == [
        ["running", "input", "output", "CPU", "s", "MiB", "read", "cycle", "print"],
        ["0", "json", "table", "5.0", "240", "1.0", "4.0"],
        ["50,000", "yaml", "json", "20.0", "1,240", "12.0", "3.0"],
    ]


def test_a_form_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        simulate.main(["--forms", "toml"])
    assert "no such form: toml; there are snapshot, json, yaml" in capsys.readouterr().err
