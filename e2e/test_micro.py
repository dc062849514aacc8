"""The benchmark of the cycle alone: that each workload does what it says, and the table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from e2e.perf import micro
from e2e.perf.cycles import EVENTS, WARM_UP, WORKLOADS, Bench, MisfitError, time_cycles, time_events

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [name for name, workload in WORKLOADS.items() if workload.fits])
def test_every_pod_is_placed_and_the_pods_after_the_warm_up_are_timed(name):
    bench = Bench(60)
    workload = WORKLOADS[name]
    times = time_cycles(bench, workload, 10)
    assert len(times) == 10
    assert min(times) > 0
    assert len(bench.state.pods) == 10 + max(WARM_UP, 2 * (workload.shapes or 0))


def test_unschedulable_pods_are_not_placed_but_others_between_them_are():
    bench = Bench(60)
    time_cycles(bench, WORKLOADS["unschedulable"], 10)
    assert {pod.name.partition("-")[0] for pod in bench.state.pods} == {"other"}


def test_pods_without_room_are_an_error_that_names_the_first():
    with pytest.raises(MisfitError, match=r"pod default/pod-12, number 13 of 21, fits nowhere"):
        time_cycles(Bench(12), WORKLOADS["anti-affinity"], 1)


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if kind != "event-added"])
def test_events_of_assigned_pods_count_them_once(kind):
    bench = Bench(5)
    assert len(time_events(bench, kind, 10)) == 10
    assert int(bench.state.nodes.pod_count.sum()) == 10 + WARM_UP
    assert not bench.state.assumed


def test_the_event_of_a_pending_pod_counts_nothing():
    bench = Bench(5)
    time_events(bench, "event-added", 10)
    assert len(bench.state.pods) == 0


def result(workload: str, nodes: int, figure: float) -> micro.Result:
    return {"workload": workload, "nodes": nodes, "min": figure, "median": figure + 1, "mean": figure + 2}


def test_the_table_has_a_line_for_a_workload_and_a_column_for_a_size():
    lines = micro.table([result("basic", 500, 10), result("spread", 500, 30), result("basic", 5000, 20)]).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "workload 500 nodes 5,000 nodes",
        "basic 10 / 11 / 12 20 / 21 / 22",
        "spread 30 / 31 / 32",
    ]


def test_the_table_has_the_ratio_of_the_minima_where_there_are_earlier_results():
    text = micro.table([result("basic", 500, 10), result("spread", 500, 1)], [result("basic", 500, 20)])
    assert text.count("(") == 1
    assert "10 / 11 / 12 (0.50)" in text


def test_results_are_kept_and_compared_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "micro.json"
    arguments = ["--workloads", "basic,event-added", "--nodes", "30", "--pods", "5"]
    assert micro.main([*arguments, "--json", str(file)]) == 0
    kept = json.loads(file.read_text())["results"]
    assert [(one["workload"], one["nodes"], one["pods"]) for one in kept] == [("basic", 30, 5), ("event-added", 30, 5)]
    assert micro.main([*arguments, "--against", str(file)]) == 0
    assert "ratio of the minimum to before" in capsys.readouterr().out


def test_a_profile_names_functions_of_the_cycle(capsys: pytest.CaptureFixture[str]):
    assert micro.main(["--workloads", "basic", "--nodes", "30", "--pods", "5", "--profile", "200"]) == 0
    assert "(decide)" in capsys.readouterr().out


def test_an_unknown_workload_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        micro.main(["--workloads", "basics"])
    assert "no such workload: basics; there are basic," in capsys.readouterr().err
