"""The record of one decision: every node's verdict, every plugin's score."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from scheduler.app.profiles import build_profiles
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, Decision, FitError
from scheduler.cycle.outcome import Failure
from scheduler.explain.record import DecisionRecord, KnownScores, failed, gated, post_filter_record, record
from scheduler.framework.handle import Handle
from scheduler.framework.interface import Eviction, PostFilterResult
from scheduler.framework.post_filter import PostFilterOutcome
from scheduler.framework.status import Code, PluginError, Status, unresolvable
from scheduler.plugins.registry import IN_TREE
from tests.builders import NodeBuilder, PodBuilder, info, node, pod, state

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def decide(wanted: PodBuilder, *nodes: NodeBuilder, plugins: Any = None) -> DecisionRecord:
    """The record of a decision, under a profile with changes to its plugins."""
    cluster = state(nodes)
    gates = FeatureGates()
    given = {**HEADER, "profiles": [{"schedulerName": "s", "plugins": plugins or {}}]}
    config = load_config(given, source="", known_plugins=IN_TREE, feature_gates=gates)
    handle = Handle(cluster, MemoryWriter(MemoryCluster()), gates.enabled)
    (profile,) = build_profiles(config, IN_TREE, handle).values()
    begun: list[Decision] = []
    failure: Failure | None = None
    try:
        Algorithm(cluster, all_nodes=True).decide(profile, info(wanted, cluster), details=True, observe=begun.append)
    except FitError as problem:
        plugins_heard = frozenset(problem.rejections.rejecting_plugins())
        failure = Failure(outcome.UNSCHEDULABLE, str(problem), plugins_heard)
    except PluginError as problem:
        failure = outcome.error(str(problem))
    return record(begun[0], failure)


def only(*names: str) -> dict[str, Any]:
    """Required node affinity by name."""
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}


class TestFeasible:
    def test_totals_are_the_sums_of_what_each_plugin_adds(self) -> None:
        found = decide(pod("p").cpu("1"), node("n1"), node("n2"))
        for score in found.feasible.values():
            assert score.total == sum(score.plugins.values())
            assert set(score.plugins) == set(score.raw)

    def test_raw_scores_are_those_before_normalizing(self) -> None:
        found = decide(pod("p"), node("n1"), node("n2").taint("slow", effect="PreferNoSchedule"))
        taints = {name: (s.raw["TaintToleration"], s.plugins["TaintToleration"]) for name, s in found.feasible.items()}
        assert taints == {"n1": (0, 300), "n2": (1, 0)}

    def test_best_are_all_nodes_with_the_highest_total(self) -> None:
        found = decide(pod("p"), node("n3"), node("n1"), node("n2").taint("slow", effect="PreferNoSchedule"))
        assert found.best == ("n1", "n3")

    def test_plugins_that_skip_scoring_are_named_and_have_no_score(self) -> None:
        found = decide(pod("p").cpu("1"), node("n1"), node("n2"))
        assert found.prescore_skipped == ("InterPodAffinity", "NodeAffinity", "PodTopologySpread")
        assert not set(found.prescore_skipped) & set(found.feasible["n1"].plugins)

    def test_a_single_node_is_scored_though_the_scheduler_would_not(self) -> None:
        found = decide(pod("p"), node("n1"), node("n2").taint("gpu"))
        assert found.score_skipped
        assert found.feasible["n1"].total > 0

    def test_a_profile_that_does_not_score_gives_each_node_one_point(self) -> None:
        found = decide(pod("p"), node("n1"), node("n2"), plugins={"score": {"disabled": [{"name": "*"}]}})
        assert {name: (score.total, score.plugins) for name, score in found.feasible.items()} == {
            "n1": (1, {}),
            "n2": (1, {}),
        }


class TestInfeasible:
    def test_each_node_has_its_first_refusal(self) -> None:
        found = decide(pod("p").cpu("64"), node("n1"), node("n2").taint("gpu"), node("n3").capacity(cpu="128"))
        assert {name: (r.plugin, r.code, r.reasons) for name, r in found.infeasible.items()} == {
            "n1": ("NodeResourcesFit", "UnschedulableAndUnresolvable", ("Insufficient cpu",)),
            "n2": ("TaintToleration", "UnschedulableAndUnresolvable", ("node(s) had untolerated taint(s)",)),
        }
        assert list(found.feasible) == ["n3"]

    def test_reasons_are_sorted(self) -> None:
        found = decide(pod("p").requests(cpu="64", memory="999Gi"), node("n1"))
        assert found.infeasible["n1"].reasons == ("Insufficient cpu", "Insufficient memory")

    def test_nodes_that_prefilter_left_out(self) -> None:
        found = decide(pod("p").requires_node(only("n1")), node("n1"), node("n2"))
        rejection = found.infeasible["n2"]
        assert (rejection.plugin, rejection.code, rejection.restricted) == (
            "NodeAffinity",
            "UnschedulableAndUnresolvable",
            True,
        )
        assert rejection.reasons == ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)


class TestPreFilter:
    def test_success_names_who_restricts_and_who_is_skipped(self) -> None:
        found = decide(pod("p").requires_node(only("n1", "n2")), node("n1"), node("n3")).prefilter_status
        assert found is not None
        assert (found.code, found.node_names, found.restricted_by) == ("Success", ("n1", "n2"), ("NodeAffinity",))
        assert "NodePorts" in found.skipped_filter
        assert "NodeResourcesFit" not in found.skipped_filter

    def test_a_refusal_is_that_of_all_nodes(self) -> None:
        term = {"matchFields": [*only("n1")["matchFields"], *only("n2")["matchFields"]]}
        found = decide(pod("p").requires_node(term), node("n1"), node("n2"))
        assert found.prefilter_status is not None
        assert found.prefilter_status.code == "UnschedulableAndUnresolvable"
        assert found.prefilter_status.plugin == "NodeAffinity"
        assert found.prefilter_status.reasons == ("pod affinity terms conflict",)
        assert {name: (r.plugin, r.restricted) for name, r in found.infeasible.items()} == {
            "n1": ("NodeAffinity", False),
            "n2": ("NodeAffinity", False),
        }
        assert found.unschedulable_plugins == ("NodeAffinity",)
        assert found.message == "0/2 nodes are available: pod affinity terms conflict."

    def test_a_node_in_prospect_settles_it(self) -> None:
        found = decide(pod("p").nominated("n2"), node("n1"), node("n2"))
        assert (found.nominated_path, list(found.feasible), found.infeasible) == (True, ["n2"], {})


class TestFailures:
    def test_of_the_attempt_itself(self) -> None:
        broken = {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-1"]}]}}
        path = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
        found = decide(pod("p").set(path, [broken]), node("n1"), node("n2"))
        assert found.reason == "SchedulerError"
        assert (found.feasible, found.best, found.unschedulable_plugins) == ({}, (), ())

    def test_before_any_node_was_looked_at(self) -> None:
        found = failed(Failure("Unschedulable", "no nodes available to schedule pods"))
        assert msgspec.to_builtins(found) == {
            "reason": "Unschedulable",
            "message": "no nodes available to schedule pods",
        }

    def test_before_the_queue(self) -> None:
        found = gated(unresolvable("waiting").by("SchedulingGates"))
        assert msgspec.to_builtins(found) == {
            "prefilter_status": {
                "code": "PreEnqueue:UnschedulableAndUnresolvable",
                "plugin": "SchedulingGates",
                "reasons": ("waiting",),
            },
            "reason": "SchedulingGated",
            "message": "waiting",
        }


@pytest.mark.parametrize("field", ["feasible", "infeasible", "best", "prefilter_status", "score_skipped"])
def test_what_there_is_nothing_to_tell_of_is_left_out(field: str) -> None:
    assert field not in msgspec.to_builtins(DecisionRecord())


def plain(found: Any) -> Any:
    """As it is printed."""
    return msgspec.json.decode(msgspec.json.encode(found))


def test_what_was_done_to_make_room_is_told() -> None:
    cluster = state([node("n")])
    leaving, victim, nominated = (info(made, cluster) for made in (pod("a").terminating(), pod("b"), pod("c")))
    eviction = Eviction("n", (leaving, victim), 1)
    other = Eviction("m", (victim,))
    result = PostFilterResult(Status(Code.SUCCESS), "n", eviction.victims, (eviction, other), (eviction,), (nominated,))
    found = post_filter_record(PostFilterOutcome(Code.SUCCESS, "made room", "n", "", result))
    assert plain(found) == {
        "code": "Success",
        "message": "made room",
        "nominatedNode": "n",
        "victims": ["default/a", "default/b"],
        "deleted": ["default/b"],
        "candidates": [
            {"node": "m", "victims": ["default/b"], "pdbViolations": 0},
            {"node": "n", "victims": ["default/a", "default/b"], "pdbViolations": 1},
        ],
        "ties": [{"node": "n", "victims": ["default/a", "default/b"], "pdbViolations": 1}],
        "clearedNominations": ["default/c"],
    }


def test_without_an_answer_there_is_no_more_than_the_message() -> None:
    found = post_filter_record(PostFilterOutcome(Code.ERROR, "boom", None, "A"))
    assert plain(found) == {
        "code": "Error",
        "message": "boom",
        "nominatedNode": None,
        "victims": [],
        "deleted": [],
        "plugin": "A",
    }
    assert post_filter_record(None) is None


def test_a_nominated_node_that_prefilter_leaves_out_is_told_like_the_others() -> None:
    wanted = pod("p").nominated("a").requires_node(only("b")).cpu("99")
    found = decide(wanted, node("a"), node("b"), node("c")).infeasible
    assert {name: rejection.restricted for name, rejection in found.items()} == {"a": True, "b": False, "c": True}


class TestKnownScores:
    def test_nodes_with_the_same_points_share_one_score(self) -> None:
        found = decide(pod("p"), node("n1"), node("n2"), node("n3").taint("slow", effect="PreferNoSchedule")).feasible
        assert found["n1"] is found["n2"]
        assert found["n1"] != found["n3"]

    def test_so_do_the_nodes_of_later_decisions(self) -> None:
        known = KnownScores()
        first = known.of(("A", "B"), np.array([[3, 5], [1, 2], [2, 3], [7, 8], [9, 10]]))
        assert [msgspec.to_builtins(score) for score in first] == [
            {"total": 3, "plugins": {"A": 1, "B": 2}, "raw": {"A": 7, "B": 9}},
            {"total": 5, "plugins": {"A": 2, "B": 3}, "raw": {"A": 8, "B": 10}},
        ]
        again = known.of(("A", "B"), np.array([[5, 3, 5], [2, 1, 2], [3, 2, 3], [8, 7, 9], [10, 9, 10]]))
        assert (again[0], again[1]) == (first[1], first[0])
        assert again[0] is first[1]
        assert again[2].raw["A"] == 9

    def test_points_of_other_plugins_are_other_scores(self) -> None:
        known = KnownScores()
        points = np.array([[3], [3], [3]])
        assert known.of(("A",), points)[0].plugins == {"A": 3}
        assert known.of(("B",), points)[0].plugins == {"B": 3}

    def test_there_may_be_no_node_and_no_plugin(self) -> None:
        assert KnownScores().of(("A",), np.empty((3, 0), np.int64)) == []
        assert [score.total for score in KnownScores().of((), np.array([[1, 1]]))] == [1, 1]
