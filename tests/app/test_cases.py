"""Single decisions, one case a line."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from scheduler.app.cases import CaseError, CaseRunner
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.cycle.self_check import check
from scheduler.plugins.registry import IN_TREE
from tests.builders import NodeBuilder, PodBuilder, node, pod

API = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
RUNNER = CaseRunner(IN_TREE, FeatureGates())


def case(wanted: PodBuilder, *objects: NodeBuilder | PodBuilder | dict[str, Any], config: Any = None) -> dict[str, Any]:
    """A case as it is read."""
    return {
        "id": "x",
        "config": config,
        "objects": [item if isinstance(item, dict) else full(item) for item in objects],
        "pod": full(wanted),
    }


def full(item: NodeBuilder | PodBuilder) -> dict[str, Any]:
    kind = "Pod" if isinstance(item, PodBuilder) else "Node"
    return {"apiVersion": "v1", "kind": kind, **item.document}


def decide(*args: Any, **options: Any) -> dict[str, Any]:
    """What is printed about a case."""
    return printed(case(*args, **options))


def printed(line: dict[str, Any]) -> dict[str, Any]:
    """What is printed about a line."""
    found: dict[str, Any] = json.loads(msgspec.json.encode(RUNNER.run_line(json.dumps(line))))
    return found


class TestDecisions:
    def test_feasible_and_infeasible_nodes(self) -> None:
        found = decide(pod("p"), node("n1"), node("n2"), node("n3").taint("gpu"))
        assert found["id"] == "x"
        assert set(found["feasible"]) == {"n1", "n2"}
        assert found["feasible"]["n1"]["plugins"]["TaintToleration"] == 300
        assert found["feasible"]["n1"]["raw"]["TaintToleration"] == 0
        assert found["infeasible"]["n3"] == {
            "plugin": "TaintToleration",
            "code": "UnschedulableAndUnresolvable",
            "reasons": ["node(s) had untolerated taint(s)"],
        }
        assert found["best"] == ["n1", "n2"]
        assert "reason" not in found

    def test_nodes_left_out_by_prefilter(self) -> None:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
        found = decide(pod("p").requires_node(term), node("n1"), node("n2"))
        assert found["infeasible"]["n2"]["restricted"] is True
        assert found["infeasible"]["n2"]["plugin"] == "NodeAffinity"
        assert found["prefilter_status"]["nodeNames"] == ["n1"]
        assert found["prefilter_status"]["restrictedBy"] == ["NodeAffinity"]
        assert found["score_skipped"] is True

    def test_gated_pod(self) -> None:
        found = decide(pod("p").gate("g"), node("n1"))
        assert found["prefilter_status"] == {
            "code": "PreEnqueue:UnschedulableAndUnresolvable",
            "plugin": "SchedulingGates",
            "reasons": ["waiting for scheduling gates: [g]"],
        }
        assert found["reason"] == "SchedulingGated"

    def test_pod_that_fits_nowhere(self) -> None:
        found = decide(pod("p").cpu("64"), node("n1"))
        assert found["reason"] == "Unschedulable"
        assert found["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert found["unschedulable_plugins"] == ["NodeResourcesFit"]

    def test_no_nodes(self) -> None:
        assert decide(pod("p")) == {
            "id": "x",
            "feasible": {},
            "infeasible": {},
            "best": [],
            "reason": "Unschedulable",
            "message": "no nodes available to schedule pods",
        }

    def test_nominated_node(self) -> None:
        found = decide(pod("p").nominated("n2"), node("n1"), node("n2"))
        assert found["nominated_path"] is True
        assert (list(found["feasible"]), found["infeasible"]) == (["n2"], {})

    def test_every_node_is_scored_whatever_the_configuration_says(self) -> None:
        nodes = [node(f"n{i}") for i in range(150)]
        header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        found = decide(pod("p"), *nodes, config={**header, "percentageOfNodesToScore": 1})
        assert len(found["feasible"]) == 150

    def test_other_pods_count_by_where_they_are(self) -> None:
        others = [pod("running").on("n1").cpu("31"), pod("done").on("n2").cpu("32").set("status.phase", "Failed")]
        found = decide(pod("p").cpu("2"), node("n1"), node("n2"), *others)
        assert list(found["feasible"]) == ["n2"]

    def test_the_pod_need_not_say_what_it_is(self) -> None:
        line = {"id": 1, "objects": [full(node("n1"))], "pod": pod("p").document}
        assert printed(line)["best"] == ["n1"]

    def test_objects_of_other_kinds_are_left_out(self) -> None:
        found = decide(pod("p"), node("n1"), {"apiVersion": "example.com/v1", "kind": "Thing"})
        assert found["best"] == ["n1"]

    def test_decisions_are_handed_to_the_check(self) -> None:
        seen: list[str] = []
        runner = CaseRunner(IN_TREE, FeatureGates(), checked=lambda _profile, entry, _decision: seen.append(entry.name))
        runner.run(case(pod("p"), node("n1")))
        runner.run(case(pod("q").cpu("1000"), node("n1")))
        assert seen == ["p", "p", "q"]  # one that fits is decided a second time, without details

    def test_a_warm_runner_has_decided_before_and_decides_the_same(self) -> None:
        zones = [node(f"n{number}").zone(f"z{number % 2}") for number in range(4)]
        there = [pod(f"there-{number}").label(app="a").on(f"n{number}").cpu("1") for number in range(3)]
        asked = (
            pod("p")
            .label(app="a")
            .cpu("1")
            .spreads("topology.kubernetes.io/zone", labelSelector={"matchLabels": {"app": "a"}})
        )
        cold, warm = (CaseRunner(IN_TREE, FeatureGates(), checked=check, warm=warm) for warm in (False, True))
        given = case(asked, *zones, *there)
        assert warm.run(given) == cold.run(given)
        assert cold.run(given).best == ("n3",)


class TestWhatIsAskedForBeside:
    def test_sampling_tells_how_many_nodes_each_attempt_looks_at(self) -> None:
        nodes = [node(f"n{i}") for i in range(150)]
        line = {**case(pod("p"), *nodes, config={**API, "percentageOfNodesToScore": 70}), "sampling": True}
        assert printed(line)["sampled"] == [{"evaluated": 105, "feasible": 105}] * 3

    def test_a_pod_that_fits_nowhere_samples_nothing(self) -> None:
        line = {**case(pod("p").cpu("64"), node("n1")), "sampling": True}
        assert printed(line)["sampled"] == [{"evaluated": 0, "feasible": 0}] * 3

    def test_events_are_answered_by_hints(self) -> None:
        line = {**case(pod("p").cpu("64"), node("n1")), "events": [{"old": None, "new": full(node("n2"))}]}
        ((event,),) = printed(line)["hints"]
        assert event["event"] == "NodeAdd"
        assert event["hints"]["NodeResourcesFit"] == "QueueSkip"

    @pytest.mark.parametrize(
        ("given", "detail"),
        [
            ({"events": {}}, "events: not a list"),
            ({"events": [1]}, "events[0]: not an object"),
            ({"events": [{"old": None}]}, "events[0]: neither old nor new is of a kind that scheduling reads"),
            ({"binding": "sings"}, "binding: 'sings': one of binds, "),
        ],
    )
    def test_what_makes_no_sense_is_named(self, given: dict[str, Any], detail: str) -> None:
        assert printed({**case(pod("p"), node("n1")), **given})["error"].startswith(detail)


class TestBrokenLines:
    @pytest.mark.parametrize(("line", "detail"), [("{", "case: "), ("[]", "case: not a JSON object"), ("\xff", "case")])
    def test_that_hold_no_case_have_no_id(self, line: str, detail: str) -> None:
        found = RUNNER.run_line(line.encode("latin-1"))
        assert found["id"] is None
        assert found["error"].startswith(detail)

    @pytest.mark.parametrize(
        ("given", "detail"),
        [
            ({}, "pod: not an object"),
            ({"pod": {"kind": "Node"}}, "pod: not a Pod"),
            ({"pod": {}, "objects": {}}, "objects: not a list"),
            ({"pod": {}, "objects": [1]}, "objects[0]: not an object"),
            ({"pod": {"spec": {"priority": "high"}}}, "pod: Pod: spec.priority: Expected"),
            ({"pod": {}, "objects": [{"apiVersion": "v1", "kind": "Node", "spec": 3}]}, "objects[0]: Node: spec:"),
            ({"pod": {"spec": {"schedulerName": "x"}}}, 'pod: no profile for schedulerName "x"'),
            ({"pod": {}, "config": {"kind": "x"}}, "config: apiVersion: "),
            ({"pod": {}, "config": {**API, "extenders": [{"urlPrefix": "x"}]}}, "config: extenders have no place"),
        ],
    )
    def test_keep_their_id(self, given: dict[str, Any], detail: str) -> None:
        found = printed({"id": 7, **given})
        assert (found["id"], found["feasible"], found["infeasible"], found["best"]) == (7, {}, {}, [])
        assert detail in found["error"]

    def test_what_goes_wrong_inside_is_told_of_that_case_only(self) -> None:
        def fail(*_: object) -> None:
            raise LookupError("column 3")

        runner = CaseRunner(IN_TREE, FeatureGates(), checked=fail)
        assert runner.run_line(json.dumps(case(pod("p"), node("n1"))))["error"] == "LookupError: column 3"

    def test_run_raises_what_run_line_tells(self) -> None:
        with pytest.raises(CaseError):
            RUNNER.run({})
        with pytest.raises(ConfigError):
            RUNNER.run({"config": {}, "pod": {}})
