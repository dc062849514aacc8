"""Why pods found no node in a simulation and what would help them, found once for pods that are alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from scheduler.app import pending
from scheduler.app.pending import with_reasons
from tests.app.simulating import simulation
from tests.builders import node, pod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.cycle.scheduler import Scheduler
    from tests.builders import NodeBuilder, PodBuilder


def decided(*items: NodeBuilder | PodBuilder) -> tuple[Scheduler, Sequence[PodDecision]]:
    """A scheduler that has done what it can with a cluster, and its last decision on each pod, without reasons."""
    made = simulation(*items)
    decisions = asyncio.run(made.run())
    return made.scheduler, decisions


def explained(*items: NodeBuilder | PodBuilder) -> dict[str, PodDecision]:
    """The decisions with their reasons, by the names of the pods."""
    return {decision.pod.partition("/")[2]: decision for decision in with_reasons(*decided(*items))}


def small(name: str) -> NodeBuilder:
    return node(name).capacity(cpu="2")


def sentence(decision: PodDecision) -> str:
    assert decision.why_not is not None
    return decision.why_not.sentence


def test_a_pod_with_a_node_needs_no_reason() -> None:
    found = explained(small("a"), pod("fits").cpu("1"), pod("big").cpu("8"))
    assert found["fits"].why_not is None
    assert sentence(found["big"]) == "big does not fit on the only node: a is too small for the pod's CPU"


def test_the_decisions_themselves_and_their_order_stay() -> None:
    scheduler, before = decided(small("a"), pod("fits").cpu("1"), pod("big").cpu("8"))
    assert [replace(after, why_not=None) for after in with_reasons(scheduler, before)] == list(before)


def test_the_reason_is_how_things_are_in_the_end() -> None:
    """The pod was tried while the node was empty; what it lacks is counted with what came there since."""
    why = explained(small("a"), pod("big").cpu("3").priority(9), pod("came later").cpu("1"))["big"].why_not
    assert why is not None
    assert "2 less CPU (1 instead of 3) fits on a" in [help_.sentence for help_ in why.helps]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pods whose answers were worked out."""
    pods: list[str] = []
    explain = pending.explain

    def counted(state, profile, pod):
        pods.append(pod.name)
        return explain(state, profile, pod)

    monkeypatch.setattr(pending, "explain", counted)
    return pods


def test_pods_of_one_template_share_an_answer_in_which_each_is_named(asked: list[str]) -> None:
    found = explained(small("a"), *(pod(f"web-{number}").cpu("8") for number in range(3)))
    assert asked == ["web-0"]
    assert [sentence(found[f"web-{number}"]) for number in range(3)] == [
        f"web-{number} does not fit on the only node: a is too small for the pod's CPU" for number in range(3)
    ]


def test_a_gated_pod_is_named_in_its_answer_too() -> None:
    found = explained(small("a"), pod("one").gate("wait"), pod("two").gate("wait"))
    assert [sentence(found[name]) for name in ("one", "two")] == [
        f"{name} waits for its scheduling gate wait; without the gate it fits on 1 of 1 node" for name in ("one", "two")
    ]


@pytest.mark.parametrize(
    "other",
    [
        pod("other").cpu("9"),
        pod("other").cpu("8").priority(1),
        pod("other").cpu("8").set("spec.preemptionPolicy", "Never"),
        pod("other").cpu("8").namespace("elsewhere"),
    ],
)
def test_pods_that_differ_in_what_counts_have_their_own(asked: list[str], other: PodBuilder) -> None:
    explained(small("a"), pod("one").cpu("8"), other)
    assert sorted(asked) == ["one", "other"]


def test_a_pod_for_which_room_is_made_is_like_no_other() -> None:
    leaving = pod("leaving").on("a").cpu("2").priority(1).terminating()
    full = pod("full").on("b").cpu("2").priority(50)
    ours = pod("awaited").cpu("2").priority(10).nominated("a"), pod("alike").cpu("2").priority(10)
    found = explained(small("a"), small("b"), leaving, full, *ours)
    awaited, alike = found["awaited"].why_not, found["alike"].why_not
    assert awaited is not None
    assert alike is not None
    assert awaited.facts == ("it is nominated to a, where default/leaving is leaving",)
    assert "it is nominated" not in str(alike.facts)


def test_a_pod_that_is_no_longer_queued_is_left_as_it_was() -> None:
    scheduler, decisions = decided(small("a"), pod("big").cpu("8"))
    entry = scheduler.queue.get("default", "big")
    assert entry is not None
    scheduler.queue.delete(entry.pod)
    assert with_reasons(scheduler, decisions) == list(decisions)


def test_there_is_an_end_to_how_many_kinds_are_explained(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "_WORK", 0)
    pods = [pod(f"kind-{number}").cpu(str(3 + number)).priority(9 - number) for number in range(7)]
    alike = pod("kind-0-too").cpu("3").priority(9)
    found = explained(small("a"), *pods, alike)
    assert asked == [f"kind-{number}" for number in range(5)]
    assert [name for name, decision in found.items() if decision.why_not is None] == ["kind-5", "kind-6"]
    assert sentence(found["kind-0-too"]).startswith("kind-0-too ")
