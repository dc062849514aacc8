"""What extenders said, in the form of kube-scheduler-simulator."""

from __future__ import annotations

import json

from msgspec.structs import replace

from scheduler.client.extender.interface import VictimUIDs
from scheduler.explain.simulator_extenders import KEYS, NOTHING, Heard, heard
from scheduler.explain.simulator_schema import LIMIT, PREFIX, Plugins, to_annotations
from scheduler.explain.views import Decision, Feasible, Rejected, ScoreColumn, Step, Summary
from scheduler.framework.extenders import ExtenderCalls, Refused
from scheduler.framework.interface import Eviction
from tests.builders import info, pod
from tests.framework.stubs import StubExtender, passing

FIRST, SECOND = "http://first/", "http://second/"
PLUGINS = Plugins(filter=("NodeResourcesFit",), extenders=(FIRST, SECOND))
HEARD = Heard(
    {FIRST: Refused({"c": "small"}, {}), SECOND: Refused({}, {"d": "odd"})},
    {FIRST: {"c": VictimUIDs(("u1", "u2"), 1)}},
)


def column(plugin, *weighted):
    return ScoreColumn(plugin=plugin, weight=1, raw=weighted, normalized=weighted, weighted=weighted)


PLACED = Decision(
    summary=Summary(id=1, time="", pod="ns/a", result="Scheduled", node="a"),
    feasible=Feasible(
        names=("a", "b"), totals=(70, 40), columns=(column("NodeResourcesFit", 50, 30), column(FIRST, 20, 10))
    ),
    rejected=(
        Rejected(plugin="", code="Unschedulable", reasons=("small",), nodes=("c",)),
        Rejected(plugin="", code="UnschedulableAndUnresolvable", reasons=("odd",), nodes=("d",)),
        Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("cpu",), nodes=("e",)),
    ),
    steps=(Step(point="Bind", plugin=SECOND, seconds=0.1),),
)


def of(decision, heard=HEARD, present=None, **more):
    found = to_annotations(decision, PLUGINS, present or {}, heard=heard, **more)
    return {
        key.removeprefix(PREFIX): json.loads(text) if text and text[0] in "{[" else text for key, text in found.items()
    }


def test_each_key_has_the_answers_by_the_extenders_url():
    found = of(PLACED)
    assert {key: found[key] for key in KEYS} == {
        "extender-filter-result": {
            FIRST: {
                "Nodes": None,
                "NodeNames": ["a", "b", "d"],
                "FailedNodes": {"c": "small"},
                "FailedAndUnresolvableNodes": {},
                "Error": "",
            },
            SECOND: {
                "Nodes": None,
                "NodeNames": ["a", "b"],
                "FailedNodes": {},
                "FailedAndUnresolvableNodes": {"d": "odd"},
                "Error": "",
            },
        },
        "extender-prioritize-result": {FIRST: [{"Host": "a", "Score": 20}, {"Host": "b", "Score": 10}]},
        "extender-preempt-result": {
            FIRST: {"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "u1"}, {"UID": "u2"}], "NumPDBViolations": 1}}}
        },
        "extender-bind-result": {SECOND: {"Error": ""}},
    }


def test_they_stand_among_no_plugins():
    found = of(PLACED)
    assert found["score-result"] == {"a": {"NodeResourcesFit": "50"}, "b": {"NodeResourcesFit": "30"}}
    assert found["filter-result"]["c"] == {"NodeResourcesFit": "passed"}
    assert found["filter-result"]["e"] == {"NodeResourcesFit": "cpu"}
    assert found["bind-result"] == {}


def test_the_result_of_an_attempt_is_the_last_one_of_the_history():
    found = of(PLACED)
    assert json.loads(found["result-history"][-1][PREFIX + KEYS[3]]) == found[KEYS[3]]


def test_without_a_word_from_any_there_are_no_keys_and_former_ones_go():
    alone = replace(PLACED, feasible=replace(PLACED.feasible, columns=()), steps=())
    assert not set(KEYS) & of(alone, NOTHING).keys()
    assert of(alone, NOTHING, {PREFIX + KEYS[0]: "{}"})[KEYS[0]] is None


def test_nodes_without_room_are_in_none_of_them():
    many = tuple(f"node-{number:05}" for number in range(9000))
    feasible = Feasible(names=many, totals=(1,) * 9000, columns=(column(FIRST, *range(9000)),))
    refused = Heard({FIRST: Refused({f"far-{number:05}": "small" for number in range(9000)}, {})})
    rejected = (
        Rejected(plugin="", code="Unschedulable", reasons=("small",), nodes=tuple(refused.refused[FIRST].failed)),
    )
    decision = replace(PLACED, feasible=feasible, rejected=rejected)
    found = to_annotations(decision, PLUGINS, {}, heard=refused)
    assert sum(len(key) + len(text) for key, text in found.items() if text) <= LIMIT
    values = {key: json.loads(found[PREFIX + key])[FIRST] for key in KEYS[:2]}
    names = set(json.loads(found[PREFIX + "filter-result"]))
    assert set(values[KEYS[0]]["NodeNames"]) | set(values[KEYS[0]]["FailedNodes"]) == names
    assert {one["Host"] for one in values[KEYS[1]]} == names & set(many)
    assert len(names) > 100


async def test_calls_are_kept_of_whoever_answered():
    calls = ExtenderCalls(
        [
            StubExtender(FIRST, filter=passing("a", "b", failed={"c": "small"}), preempt={"a": VictimUIDs(("u",), 2)}),
            StubExtender(SECOND, filter=passing("a", unresolvable={"b": "odd"})),
            StubExtender("http://mute", prioritize=[]),
        ],
        info(pod("p")),
    )
    assert heard(calls) is NOTHING
    calls.filter(["a", "b", "c"])
    victim = info(pod("v").uid("u"))
    calls.preempt([Eviction("a", (victim,))], lambda _: [victim])
    found = heard(calls)
    assert found.refused == {FIRST: Refused({"c": "small"}, {}), SECOND: Refused({}, {"b": "odd"})}
    assert found.preempted == {FIRST: {"a": VictimUIDs(("u",), 2)}}
    assert found.size == 4
