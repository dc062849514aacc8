"""All that there is to say about a pod."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from scheduler.explain.explanation import SIMULATED, explain, story
from scheduler.explain.views import Evaluation, NodeComparison, Rejected, WhyNot
from tests.explain.test_placement import text
from tests.fakes.decisions import BIG, DECISION, PREEMPTION, REFUSAL, WEB

NOW = "2026-01-02T03:14:05Z"
WHY = WhyNot(sentence="no node has 8 CPUs", tried=4)


def test_a_placed_pod_is_explained_by_the_attempt_that_placed_it():
    shown = text(story(explain(WEB, time=NOW, decision=DECISION, asked=("c",)), asked=("c",)))
    assert shown.startswith("shop/web-1 is on a: 187 points, 57 more than b")
    assert "c was turned down by NodeName" in shown
    assert "In the queue" in shown
    assert "DefaultBinder" in shown


def test_what_was_recorded_and_what_is_so_now_are_told_apart():
    evaluation = Evaluation(time=NOW, decision=REFUSAL, why_not=WHY)
    lines = text(story(explain(BIG, time=NOW, decision=REFUSAL, evaluation=evaluation))).splitlines()
    assert lines[0].startswith("shop/big is pending and waits for something to change")
    recorded, now = (
        lines.index("Attempt 3, 10m ago: Unschedulable"),
        lines.index("Now, by a fresh evaluation"),
    )
    assert recorded < now
    assert lines[now + 1 : now + 3] == ["still no node, for the same reasons", "no node has 8 CPUs."]


def test_whether_preemption_would_help_comes_after_what_would_help():
    evaluation = Evaluation(time=NOW, decision=REFUSAL, why_not=WHY, preemption=PREEMPTION)
    shown = text(story(explain(BIG, time=NOW, decision=REFUSAL, evaluation=evaluation)))
    assert shown.index("Nothing of what was tried would help") < shown.index(
        "Preemption would help now: it would evict"
    )


def test_a_change_since_the_attempt_is_said():
    def changed(before, after):
        evaluation = Evaluation(time=NOW, decision=after)
        return text(story(explain(BIG, time=NOW, decision=before, evaluation=evaluation)))

    fits = replace(DECISION, summary=replace(DECISION.summary, node=""))
    assert "there is a node for it now: it only has to be tried again" in changed(REFUSAL, fits)
    assert "it would find no node any more" in changed(DECISION, REFUSAL)
    assert "the same node would be chosen again" in changed(DECISION, fits)
    elsewhere = replace(DECISION, summary=replace(DECISION.summary, node="b"))
    assert "it would go to a instead of b" in changed(elsewhere, fits)
    taint = Rejected(plugin="TaintToleration", code="Unschedulable", reasons=("taint",), nodes=("a", "b", "c"))
    other = replace(REFUSAL, rejected=(taint,), summary=replace(REFUSAL.summary, message="0/3: taint"))
    assert "still no node, though the reasons have changed: 0/3: taint" in changed(REFUSAL, other)


def test_a_simulated_evaluation_says_that_it_is_one():
    evaluation = Evaluation(time=NOW, decision=REFUSAL, why_not=WHY)
    shown = text(story(explain(BIG, time=NOW, evaluation=evaluation, source=SIMULATED)))
    assert shown.startswith("Evaluated here, from what you may read of the cluster\nno node has 8 CPUs.")
    assert "pending" not in shown


def test_a_record_that_is_not_whole_says_so():
    partly = replace(DECISION, incomplete="the scores made room for newer ones")
    assert "not all is known any more: the scores made room" in text(story(explain(WEB, time=NOW, decision=partly)))


def test_a_pod_without_any_record():
    assert "no attempt of it is on record" in text(story(explain(replace(BIG, latest=None), time=NOW)))


def test_as_json_it_carries_its_version_and_the_comparisons():
    value = msgspec.json.decode(msgspec.json.encode(explain(WEB, time=NOW, decision=DECISION, asked=("c", "zzz"))))
    assert (value["apiVersion"], value["kind"], value["source"]) == (
        "explain.berth.dev/v1",
        "PodExplanation",
        "recorded",
    )
    runner_up, asked = msgspec.convert(value["compared"], tuple[NodeComparison, ...])
    assert (runner_up.node, runner_up.other, runner_up.lead) == ("a", "b", 57)
    assert sum(part.points for part in runner_up.parts) == 57
    assert (asked.other, asked.rejected.plugin) == ("c", "NodeName")
