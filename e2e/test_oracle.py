"""The oracle gives kube-scheduler's known results, and the same ones each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from e2e import tools
from e2e.oracle import expected
from e2e.oracle.berth import REPOSITORY

pytestmark = pytest.mark.usefixtures("oracle")


def node(name: str, *, cpu: str = "4", memory: str = "8Gi", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **more.get("labels", {})}},
        "spec": {"taints": more.get("taints", [])},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
            "images": more.get("images", []),
        },
    }


def pod(name: str = "p", *, app: str = "", image: str = "app", requests: Any = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": image, "resources": {"requests": requests or {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [container], **spec},
    }


def prefer_nodes(weight: int, value: str) -> dict[str, Any]:
    expression = {"key": "d", "operator": "In", "values": [value]}
    return {"weight": weight, "preference": {"matchExpressions": [expression]}}


def prefer_pods(weight: int, app: str) -> dict[str, Any]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return {"weight": weight, "podAffinityTerm": term}


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TAINTS = [{"key": f"t{number}", "effect": "PreferNoSchedule"} for number in range(3)]
IMAGES = [{"names": ["app:v1"], "sizeBytes": 200 << 20}]
FACTS = [
    pytest.param(
        [node("a"), node("b", cpu="8", memory="16Gi")],
        pod(requests={"cpu": "2", "memory": "6Gi"}),
        "NodeResourcesFit",
        {"a": 37, "b": 68},
        id="LeastAllocated, 50 and 25 % free",
    ),
    pytest.param(
        [node("a"), node("b", taints=TAINTS[:1]), node("c", taints=TAINTS)],
        pod(),
        "TaintToleration",
        {"a": 3 * 100, "b": 3 * 67, "c": 0},
        id="0, 1 and 3 taints",
    ),
    pytest.param(
        [node("a", labels={"d": "x"}), node("b", labels={"d": "y"})],
        pod(affinity={"nodeAffinity": {PREFERRED: [prefer_nodes(80, "x"), prefer_nodes(30, "y")]}}),
        "NodeAffinity",
        {"a": 2 * 100, "b": 2 * 37},
        id="node affinity of 80 and 30",
    ),
    pytest.param(
        [node("a", images=IMAGES), node("b", images=IMAGES), node("c"), node("d")],
        pod(image="app:v1"),
        "ImageLocality",
        {"a": 7, "b": 7, "c": 0, "d": 0},
        id="an image of 200 MiB on half of the nodes",
    ),
    pytest.param(
        [*map(node, "abc"), pod("x", app="x", nodeName="a"), pod("y", app="y", nodeName="c")],
        pod(
            affinity={
                "podAffinity": {PREFERRED: [prefer_pods(30, "y")]},
                "podAntiAffinity": {PREFERRED: [prefer_pods(20, "x")]},
            }
        ),
        "InterPodAffinity",
        {"a": 0, "b": 2 * 40, "c": 2 * 100},
        id="pod affinity of -20, 0 and 30",
    ),
]


@pytest.mark.parametrize(("objects", "target", "plugin", "scores"), FACTS)
def test_weighted_scores(objects: list[Any], target: dict[str, Any], plugin: str, scores: dict[str, int]):
    case = json.dumps({"id": 1, "config": None, "objects": objects, "pod": target}).encode()
    decision = json.loads(expected.decide([case])[0])
    assert {name: one["plugins"][plugin] for name, one in decision["feasible"].items()} == scores


def answer(target: dict[str, Any], *objects: dict[str, Any], **asked: Any) -> dict[str, Any]:
    case = {"id": 1, "config": None, "objects": objects, "pod": target, **asked}
    decision: dict[str, Any] = json.loads(expected.decide([json.dumps(case).encode()])[0])
    return decision


def test_hints_about_a_node_that_is_large_enough_and_one_that_is_not():
    events = [{"old": None, "new": node("b", cpu=cpu)} for cpu in ("64", "1")]
    heard = answer(pod(requests={"cpu": "32"}), node("a"), events=events)["hints"]
    assert [[(one["event"], one["hints"]["NodeResourcesFit"]) for one in event] for event in heard] == [
        [("NodeAdd", "Queue")],
        [("NodeAdd", "QueueSkip")],
    ]


def test_sampling_goes_on_where_it_left_off_and_looks_at_no_more_nodes_than_it_must():
    nodes = [node(f"n{number}") for number in range(150)]
    assert answer(pod(), *nodes, sampling=True)["sampled"] == [{"evaluated": 100, "feasible": 100}] * 3


def test_the_binding_cycle_of_a_pod_without_volumes_binds_it():
    bound = answer(pod(), node("a"), binding="binds")["bound"]
    assert bound == {"node": "a", "code": "Success", "writes": ["bind default/p to a"]}


@pytest.mark.parametrize("profile", expected.PROFILES)
def test_schedule_pod_itself_agrees_with_the_steps_that_the_oracle_takes(profile: str):
    cases = b"\n".join(expected.generate(profile, 15, seed=3))
    run = subprocess.run([tools.binary("oracle"), "-check"], input=cases, stdout=subprocess.PIPE, check=True)
    decisions = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(decisions) == 15
    assert [decision["error"] for decision in decisions if "error" in decision] == []


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_same_seed_gives_the_same_cases_in_every_process(hash_seed: str):
    command = [sys.executable, "-m", "e2e.oracle.cases", "--profile", "all", "-n", "150", "--seed", "5"]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env, cwd=REPOSITORY).stdout
    assert printed.splitlines() == expected.generate("all", 150, seed=5)


def test_a_case_has_its_number_whichever_case_is_the_first():
    assert expected.generate("all", 5, seed=5, first=7) == expected.generate("all", 12, seed=5)[7:]


def test_the_same_cases_get_the_same_decisions():
    cases = expected.generate("scoring", 30, seed=5)
    assert expected.decide(cases) == expected.decide(cases)


def test_cases_are_objects_that_the_api_server_accepts():
    cases = b"\n".join(expected.generate("mixed", 40, seed=2))
    run = subprocess.run([tools.binary("oracle"), "-validate"], input=cases, stdout=subprocess.PIPE, check=True)
    assert [line for line in map(json.loads, run.stdout.splitlines()) if line["problems"]] == []


def test_decisions_are_remembered(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    oracle = tools.binary("oracle")
    monkeypatch.setattr(tools, "binary", lambda _: oracle)
    monkeypatch.setattr(tools, "cache_root", lambda: tmp_path)
    cases = expected.generate("taints", 5, seed=1)
    decisions = expected.decide_cached(cases, "taints", 1)
    monkeypatch.setattr(expected, "decide", lambda _: pytest.fail("the oracle ran again"))
    assert expected.decide_cached(cases, "taints", 1) == decisions
