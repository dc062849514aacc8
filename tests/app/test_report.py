from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from scheduler.app.report import Report
from scheduler.plugins.registry import IN_TREE
from tests.app.test_simulation import Pairs, simulation
from tests.builders import node, pod


async def answers(*objects, size=None, notes=(), **options):
    """The answers in the report of a simulation, and all that it holds."""
    made = Report() if size is None else Report(size=size)
    run = simulation(*objects, details=True, seed=1, observe=made.add, **options)
    return shown(made.document(run, await run.run(), notes))


def shown(document):
    """The answers in a report by path, and all that it holds."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', document.html.decode(), re.DOTALL)
    data = json.loads(text[1])
    unpacked = {path: json.loads(gzip.decompress(base64.b64decode(packed))) for path, packed in data["answers"].items()}
    return unpacked, data


CLUSTER = (
    node("n1").capacity(cpu="4"),
    node("n2").capacity(cpu="2"),
    pod("there").on("n2").requests(cpu="1"),
    pod("a").requests(cpu="1"),
    pod("b").requests(cpu="8"),
    pod("c").gate("example.com/wait"),
)


@pytest.fixture
async def report():
    return (await answers(*CLUSTER))[0]


def test_each_attempt_is_there_with_all_its_scores(report):
    newest_first = report["decisions"]["items"]
    assert [item["id"] for item in newest_first] == [2, 1]
    assert {item["pod"]: item["result"] for item in newest_first} == {
        "default/a": "Scheduled",
        "default/b": "Unschedulable",
    }
    decision = next(report[f"decisions/{i}"] for i in (1, 2) if report[f"decisions/{i}"]["summary"]["node"])
    feasible = decision["feasible"]
    assert sorted(feasible["names"]) == ["n1", "n2"]
    assert feasible["totals"] == [sum(row) for row in zip(*(c["weighted"] for c in feasible["columns"]), strict=True)]


def test_what_waits_is_there_with_what_would_help(report):
    assert {group["example"]: group["count"] for group in report["pending"]["groups"]} == {
        "default/b": 1,
        "default/c": 1,
    }
    evaluation = report["pods/default/b/evaluation"]
    assert evaluation["decision"]["summary"]["result"] == "Unschedulable"
    assert evaluation["whyNot"]["helps"]
    assert report["pods/default/c/evaluation"]["decision"]["summary"]["result"] == "Gated"


def test_the_cluster_is_as_it_is_in_the_end(report):
    assert report["overview"]["nodes"] == 2
    assert report["overview"]["counts"] == {"Scheduled": 1, "Unschedulable": 1}
    placed = report["pods/default/a"]["node"]
    assert "default/a" in report[f"nodes/{placed}"]["pods"]
    assert "default/there" in report["nodes/n2"]["pods"]
    names, requested = report["nodes"]["names"], report["nodes"]["requested"]["cpu"]
    assert dict(zip(names, requested, strict=True))["n2"] == (2000 if placed == "n2" else 1000)


def test_pods_have_their_state_and_attempts(report):
    assert (report["pods/default/a"]["state"], report["pods/default/b"]["state"]) == ("Scheduled", "Pending")
    assert report["pods/default/b"]["queue"] == "unschedulable"
    assert report["pods/default/b"]["waitsFor"] == ["NodeResourcesFit"]
    assert [attempt["pod"] for attempt in report["pods/default/b"]["decisions"]] == ["default/b"]
    assert report["pods/default/c"]["queue"] == "gated"


def test_times_that_are_made_up_are_left_out(report):
    text = json.dumps({path: answer for path, answer in report.items() if path.startswith(("decisions", "pending"))})
    assert "2026-01-01" not in text
    assert {item["time"] for item in report["decisions"]["items"]} == {""}


async def test_notes_and_size_of_the_simulation_are_told():
    _, data = await answers(*CLUSTER, notes=["node n3 was left out"])
    assert data["title"] == "simulation of 2 pods"
    assert data["notes"] == ["node n3 was left out"]


async def test_a_report_that_is_full_keeps_the_best_nodes_and_says_so():
    nodes = [node(f"n{number:02}").capacity(cpu="4") for number in range(30)]
    whole, _ = await answers(*nodes, pod("a").requests(cpu="1"))
    short, _ = await answers(*nodes, pod("a").requests(cpu="1"), size=0)
    best = short["decisions/1"]["feasible"]["names"]
    assert len(best) == 20
    assert best == whole["decisions/1"]["feasible"]["names"][:20]
    assert {len(column["raw"]) for column in short["decisions/1"]["feasible"]["columns"]} == {20}
    assert short["decisions/1"]["incomplete"].endswith("the best 20 of 30 nodes are in it")
    assert short["decisions/1"]["summary"]["feasible"] == 30


async def test_a_pod_that_was_turned_down_while_it_waited_at_permit_is_listed_so():
    made, pairs = Report(), Pairs()
    registry = {**IN_TREE, "Pairs": lambda _args, _handle: pairs}
    profiles = [{"schedulerName": "s", "plugins": {"multiPoint": {"enabled": [{"name": "Pairs"}]}}}]
    pods = [pod("odd").scheduler("s")]
    run = simulation(node("n1"), *pods, profiles=profiles, registry=registry, details=True, observe=made.add)
    pairs.waiting = run.scheduler.waiting
    found, _ = shown(made.document(run, await run.run()))
    last, *earlier = found["decisions"]["items"]
    assert (last["result"], last.get("node", "")) == ("Unschedulable", "")
    assert "still waiting" in last["message"]
    assert {(item["result"], item.get("node", "")) for item in earlier} == {("Unschedulable", "")}
    assert found[f"decisions/{last['id']}"]["summary"] == last
    assert found["pods/default/odd"]["state"] == "Pending"
