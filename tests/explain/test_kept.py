"""A record restores a decision to the last point, whatever has become of the cluster since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.client import kinds
from scheduler.explain.decision_view import of_picture, picture
from scheduler.explain.store import RecordStore
from scheduler.explain.views import Summary
from scheduler.framework.scoring import detailed_scores
from tests.builders import node, pod, pod_term
from tests.cycle.rig import Rig

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.journal import Attempted
    from scheduler.explain.views import Decision as View
    from scheduler.framework.profile import Profile
    from tests.builders import NodeBuilder, PodBuilder

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


class Twice:
    """A scheduler whose decisions are looked at as they fall, and recorded besides."""

    def __init__(self, percentage: int = 100, **limits: Any) -> None:
        self.store = RecordStore(**limits)
        self.seen: dict[int, View] = {}
        self._last: tuple[Decision, View] | None = None
        self.rig = Rig(checked=self._check, journal=self, percentage=percentage)
        self.store.watch(self.rig.scheduler)

    def attempted(self, attempt: Attempted) -> None:
        """As the journal."""
        self.store.attempted(attempt)
        number = self.store.recent(1).items[0].id
        if self._last is not None and self._last[0] is attempt.decision:
            self.seen[number] = self._last[1]

    def _check(self, profile: Profile, pod: PodInfo, decision: Decision) -> None:
        if decision.totals is not None:
            decision.scores = detailed_scores(profile, decision.cycle, decision.pre_score_skipped)
        self._last = decision, of_picture(picture(decision), Summary(id=0, time="", pod=pod.key, result=""))
        decision.scores = []

    def compare(self) -> None:
        """Every record against what was seen."""
        for number, seen in self.seen.items():
            kept = self.store.get(number)
            assert kept is not None
            assert kept.summary.pod == seen.summary.pod
            assert _by_name(kept) == _by_name(seen)
            assert kept.rejected == seen.rejected
            assert (kept.ties, kept.not_evaluated) == (seen.ties, seen.not_evaluated)
            for place, total in enumerate(kept.feasible.totals):
                assert total == sum(column.weighted[place] for column in kept.feasible.columns)
            for column in kept.feasible.columns:
                assert column.weighted == tuple(score * column.weight for score in column.normalized)


def _by_name(view: View) -> Any:
    """The feasible nodes with all that is known of each; those that tie are in no order."""
    feasible = view.feasible
    return {
        name: (
            feasible.totals[place] if feasible.totals else None,
            [(c.plugin, c.weight, c.raw[place], c.normalized[place], c.weighted[place]) for c in feasible.columns],
        )
        for place, name in enumerate(feasible.names)
    }


def a_node(number: int, kind: int) -> NodeBuilder:
    found = node(f"n{number}").capacity(cpu="4", memory="8Gi", pods="10").zone(f"z{number % 3}")
    if kind == 1:
        return found.taint("dedicated", "gpu").label(disk="ssd")
    if kind == 2:
        return found.taint("soft", effect="PreferNoSchedule").capacity(cpu="2")
    return found.unschedulable() if kind == 3 else found.image("registry.example/main:1", size=500_000_000)


PODS: list[PodBuilder] = [
    pod("").cpu("1"),
    pod("").cpu("500m").memory("1Gi").tolerates("dedicated", operator="Exists"),
    pod("").cpu("100m").label(app="a").spreads(ZONE, 1, labelSelector={"matchLabels": {"app": "a"}}),
    pod("").cpu("100m").label(app="a").spreads(HOST, 1, soft=True, labelSelector={"matchLabels": {"app": "a"}}),
    pod("").cpu("100m").label(app="b").requires_pods(pod_term(HOST, {"app": "b"}), anti=True),
    pod("").cpu("100m").label(app="b").prefers_pods(10, pod_term(ZONE, {"app": "a"})),
    pod("").cpu("100m").prefers_pods(10, pod_term(ZONE, {"app": "b"}), anti=True),
    pod("").cpu("100m").node_selector(disk="ssd"),
    pod("").cpu("200m").prefers_node(5, {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}),
    pod("").cpu("100m").requires_node({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}),
    pod("").cpu("3").priority(10),
    pod("").cpu("100m").host_port(80),
    pod("").cpu("50"),
]

step = st.one_of(
    st.tuples(st.just("pod"), st.integers(0, len(PODS) - 1), st.integers(1, 3)),
    st.tuples(st.just("node"), st.integers(0, 11), st.integers(0, 3)),
    st.tuples(st.just("gone"), st.integers(0, 11), st.just(0)),
    st.tuples(st.just("deleted"), st.integers(0, 40), st.just(0)),
    st.tuples(st.just("wait"), st.integers(1, 400), st.just(0)),
)


async def play(twice: Twice, steps: list[tuple[str, int, int]]) -> None:
    """Let the cluster live through some steps."""
    rig = twice.rig
    names: list[PodBuilder] = []
    nodes: set[int] = set()
    for what, which, how in steps:
        if what == "pod":
            for _ in range(how):
                names.append(PODS[which].set("metadata.name", f"p{len(names)}").uid(f"u{len(names)}"))
                rig.put(names[-1])
        elif what == "node":
            nodes.add(which)
            rig.put(a_node(which, how))
        elif what == "gone" and which in nodes:
            nodes.discard(which)
            rig.delete(a_node(which, 0))
        elif what == "deleted" and which < len(names):
            if rig.cluster.get(kinds.PODS, "default", f"p{which}") is not None:
                rig.delete(names[which])
        elif what == "wait":
            rig.clock.advance(which)
            rig.queue.flush_backoff()
            rig.queue.flush_unschedulable()
        await rig.run()


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(step, min_size=5, max_size=40), st.sampled_from([100, 30]))
async def test_records_restore_what_every_plugin_said_of_every_node(
    steps: list[tuple[str, int, int]], percentage: int
) -> None:
    twice = Twice(percentage)
    await play(twice, [("node", 0, 0), ("node", 1, 1), ("node", 2, 2), *steps])
    twice.compare()


@pytest.mark.parametrize("template", range(len(PODS)))
async def test_long_histories_of_one_template(template: int) -> None:
    """Longer than the distance between two copies of a vector, on more nodes than differences begin to pay for."""
    twice = Twice()
    twice.rig.put(*(a_node(number, number % 3) for number in range(300)))
    for number in range(200):
        twice.rig.put(PODS[template].set("metadata.name", f"p{number}").uid(f"u{number}"))
        await twice.rig.step()
    twice.compare()
