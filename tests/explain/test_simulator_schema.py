"""Annotations in the form of kube-scheduler-simulator."""

from __future__ import annotations

import json

from scheduler.explain.record import PostFilterRecord
from scheduler.explain.simulator_schema import (
    HISTORY,
    LEFT_OUT,
    LIMIT,
    PREFIX,
    TOTAL_LIMIT,
    Plugins,
    plugins_of,
    to_annotations,
)
from scheduler.explain.views import Decision, Feasible, Rejected, ScoreColumn, Step, Summary
from tests.cycle.rig import Rig

PLUGINS = Plugins(
    pre_filter=("NodeAffinity", "NodeResourcesFit"),
    filter=("TaintToleration", "NodeAffinity", "NodeResourcesFit"),
    post_filter=("DefaultPreemption",),
    pre_score=("NodeAffinity", "NodeResourcesFit"),
    reserve=("VolumeBinding", "Devices"),
    permit=("Gang", "Quota"),
)


def summary(node="", result="Scheduled"):
    return Summary(id=1, time="", pod="ns/a", uid="u", attempt=1, result=result, node=node)


def steps(*points, **codes):
    return tuple(Step(point=point, seconds=0.1, code=codes.get(point, "Success")) for point in points)


def column(plugin, weight, *raw):
    weighted = tuple(score * weight for score in raw)
    return ScoreColumn(plugin=plugin, weight=weight, raw=raw, normalized=raw, weighted=weighted)


def of(decision, present=None, **more):
    """The annotations without the prefix, and what is JSON read."""
    found = {}
    for key, text in to_annotations(decision, PLUGINS, present or {}, **more).items():
        found[key.removeprefix(PREFIX)] = json.loads(text) if text and text[0] in "{[" else text
    return found


PLACED = Decision(
    summary=summary("a"),
    feasible=Feasible(
        names=("a", "b"),
        totals=(230, 130),
        columns=(column("TaintToleration", 3, 60, 20), column("NodeResourcesFit", 1, 50, 70)),
    ),
    rejected=(
        Rejected(plugin="TaintToleration", code="Unschedulable", reasons=("tainted",), nodes=("c",)),
        Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("cpu", "memory"), nodes=("d",)),
    ),
    skipped_filters=("NodeAffinity",),
    skipped_scores=("NodeAffinity",),
    steps=(
        *steps("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit"),
        Step(point="PreBind", plugin="VolumeBinding", seconds=0.1),
        Step(point="Bind", plugin="DefaultBinder", seconds=0.1),
    ),
)
PLACED_RESULT = {
    "prefilter-result-status": {"NodeAffinity": "", "NodeResourcesFit": "success"},
    "prefilter-result": {},
    "filter-result": {
        "a": {"TaintToleration": "passed", "NodeResourcesFit": "passed"},
        "b": {"TaintToleration": "passed", "NodeResourcesFit": "passed"},
        "c": {"TaintToleration": "tainted"},
        "d": {"TaintToleration": "passed", "NodeResourcesFit": "cpu, memory"},
    },
    "postfilter-result": {},
    "prescore-result": {"NodeAffinity": "", "NodeResourcesFit": "success"},
    "score-result": {
        "a": {"TaintToleration": "60", "NodeResourcesFit": "50"},
        "b": {"TaintToleration": "20", "NodeResourcesFit": "70"},
    },
    "finalscore-result": {
        "a": {"TaintToleration": "180", "NodeResourcesFit": "50"},
        "b": {"TaintToleration": "60", "NodeResourcesFit": "70"},
    },
    "reserve-result": {"VolumeBinding": "success", "Devices": "success"},
    "permit-result": {"Gang": "success", "Quota": "success"},
    "permit-result-timeout": {"Gang": "0s", "Quota": "0s"},
    "prebind-result": {"VolumeBinding": "success"},
    "bind-result": {"DefaultBinder": "success"},
    "selected-node": "a",
}


def crowd(fitting, others):
    names = tuple(f"fits-{number:05}" for number in range(fitting))
    scores = column("NodeResourcesFit", 1, *range(fitting, 0, -1))
    return Decision(
        summary=summary(names[0]),
        feasible=Feasible(names=names, totals=scores.weighted, columns=(scores,)),
        rejected=(
            Rejected(
                plugin="TaintToleration",
                code="Unschedulable",
                reasons=("tainted",),
                nodes=tuple(f"far-{number:05}" for number in range(others)),
            ),
            Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("cpu",), nodes=("near",)),
        ),
        steps=steps("PreFilter", "Filter"),
    )


def size(annotations):
    return sum(len(key) + len(text) for key, text in annotations.items() if text is not None)


class TestResults:
    def test_a_placed_pod(self):
        found = of(PLACED)
        (last,) = found.pop("result-history")
        assert found.pop(LEFT_OUT) is None
        assert found == PLACED_RESULT
        assert last == {key: text for key, text in to_annotations(PLACED, PLUGINS, {}).items() if key in last}
        assert len(last) == len(PLACED_RESULT)

    def test_values_are_compact_and_sorted_as_gos_encoder_makes_them(self):
        text = to_annotations(PLACED, PLUGINS, {})[PREFIX + "score-result"]
        assert text == (
            '{"a":{"NodeResourcesFit":"50","TaintToleration":"60"},"b":{"NodeResourcesFit":"70","TaintToleration":"20"}}'
        )

    def test_a_pod_that_fits_nowhere_and_victims_that_make_room(self):
        made_room = PostFilterRecord("Success", "", "d", ("ns/v",), ("ns/v",))
        found = of(
            Decision(
                summary=summary(result="Unschedulable"),
                rejected=PLACED.rejected,
                steps=(*steps("PreFilter", "Filter"), Step(point="PostFilter", seconds=0.1)),
                post_filter=made_room,
            )
        )
        assert found["postfilter-result"] == {"c": {}, "d": {"DefaultPreemption": "preemption victim"}}
        assert found["filter-result"]["c"] == {"TaintToleration": "tainted"}
        assert (found["score-result"], found["prescore-result"], found["selected-node"]) == ({}, {}, "")

    def test_a_pod_that_pre_filter_refuses(self):
        refusal = Rejected(plugin="NodeAffinity", code="UnschedulableAndUnresolvable", reasons=("no",), nodes=("a",))
        found = of(
            Decision(
                summary=summary(result="Unschedulable"),
                rejected=(refusal,),
                steps=steps("PreFilter", PreFilter="UnschedulableAndUnresolvable"),
            )
        )
        assert found["prefilter-result-status"] == {"NodeAffinity": "no"}
        assert found["filter-result"] == {}

    def test_nodes_that_pre_filter_left_out_are_in_no_filter_result(self):
        out = Rejected(plugin="NodeAffinity", code="", reasons=(), nodes=("b", "c"), left_out=True)
        found = of(Decision(summary=summary("a"), feasible=Feasible(names=("a",)), rejected=(out,)))
        assert found["prefilter-result"] == {"NodeAffinity": ["a"]}
        assert list(found["filter-result"]) == ["a"]

    def test_plugins_that_fail_or_wait_on_the_way(self):
        waits = Step(point="Permit", plugin="Gang", seconds=0.1, code="Wait", timeouts={"Gang": 90.5})
        fails = Step(point="PreBind", plugin="VolumeBinding", seconds=0.1, code="Error", error="boom")
        found = of(Decision(summary=summary("a", "Error"), steps=(waits, fails)))
        assert found["permit-result"] == {"Gang": "wait", "Quota": "success"}
        assert found["permit-result-timeout"] == {"Gang": "1m30.5s", "Quota": "0s"}
        assert (found["prebind-result"], found["bind-result"]) == ({"VolumeBinding": "boom"}, {})
        refuses = Step(point="Reserve", plugin="VolumeBinding", seconds=0.1, code="Unschedulable", error="full")
        assert of(Decision(summary=summary("a"), steps=(refuses,)))["reserve-result"] == {"VolumeBinding": "full"}

    def test_a_plugin_that_would_wait_is_told_of_though_another_one_refuses(self):
        refuses = Step(
            point="Permit", plugin="Quota", seconds=0.1, code="Unschedulable", error="full", timeouts={"Gang": 3.0}
        )
        found = of(Decision(summary=summary("a"), steps=(refuses,)))
        assert found["permit-result"] == {"Gang": "wait", "Quota": "full"}
        assert found["permit-result-timeout"] == {"Gang": "3s", "Quota": "0s"}

    def test_the_names_of_a_profiles_plugins(self):
        (profile,) = Rig().scheduler.profiles.values()
        assert plugins_of(profile).post_filter == ("DynamicResources", "DefaultPreemption")


class TestHistory:
    def test_former_results_come_first(self):
        former = [{"x": "1"}, {"x": "2"}]
        history = of(PLACED, {HISTORY: json.dumps(former)})["result-history"]
        assert history[:2] == former
        assert len(history) == 3

    def test_what_is_none_is_replaced(self):
        for text in ("", "no JSON", '{"a": 1}', "[1]"):
            assert len(of(PLACED, {HISTORY: text})["result-history"]) == 1

    def test_the_oldest_ones_go_where_there_is_no_room(self):
        former = [{"x": str(number) * 60_000} for number in range(9)]
        annotations = to_annotations(PLACED, PLUGINS, {HISTORY: json.dumps(former)})
        kept = json.loads(annotations[HISTORY])
        assert [one["x"][0] for one in kept[:-1]] == ["6", "7", "8"]
        assert size(annotations) <= LIMIT


class TestRoom:
    def test_the_best_and_the_nearest_nodes_stay(self):
        annotations = to_annotations(crowd(3000, 3000), PLUGINS, {})
        nodes = json.loads(annotations[PREFIX + "filter-result"])
        assert LIMIT * 0.8 < size(annotations) <= LIMIT
        assert {"fits-00000", "fits-00001", "near"} <= set(nodes)
        fitting = sorted(name for name in nodes if name.startswith("fits"))
        assert fitting == [f"fits-{number:05}" for number in range(len(fitting))]
        assert set(json.loads(annotations[PREFIX + "score-result"])) == set(fitting)
        assert annotations[LEFT_OUT].startswith(f"{6001 - len(nodes)} of 6001 nodes are left out")

    def test_other_annotations_keep_theirs(self):
        present = {"theirs": "x" * 200_000}
        annotations = to_annotations(crowd(3000, 0), PLUGINS, present)
        assert size(annotations) + size(present) <= TOTAL_LIMIT
        assert json.loads(annotations[PREFIX + "filter-result"])

    def test_own_former_ones_do_not_count(self):
        decision = crowd(300, 0)
        first = to_annotations(decision, PLUGINS, {})
        again = to_annotations(decision, PLUGINS, first | {LEFT_OUT: "x"})
        assert again[PREFIX + "filter-result"] == first[PREFIX + "filter-result"]

    def test_without_any_nothing_is_written(self):
        assert to_annotations(PLACED, PLUGINS, {"theirs": "x" * 260_000}) == {}

    def test_escapes_count(self):
        group = Rejected(
            plugin="TaintToleration", code="Unschedulable", reasons=('"\\é' * 99,), nodes=tuple(map(str, range(2000)))
        )
        annotations = to_annotations(Decision(summary=summary(), rejected=(group,)), PLUGINS, {})
        assert sum(len(text.encode()) for text in annotations.values() if text) <= LIMIT
