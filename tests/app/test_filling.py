"""How many more pods like one fit, where they go, and what ends it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.objects import PriorityClass
from scheduler.app import filling
from scheduler.app.admission import AdmissionError
from scheduler.app.filling import Filling, fill
from scheduler.app.progress import unseen
from tests.app.simulating import simulation, weighted
from tests.app.whatif.worlds import read
from tests.builders import expression, node, pod, pod_term, term

if TYPE_CHECKING:
    from scheduler.api.meta import Model
    from scheduler.app.progress import Progress
    from tests.builders import NodeBuilder, PodBuilder

WEB = pod("web").cpu("1").memory("1Gi")
BIG = node("big").capacity(cpu="4", memory="64Gi")
SMALL = node("small").capacity(cpu="1", memory="64Gi")


def filled(
    copy: PodBuilder,
    *items: NodeBuilder | PodBuilder | Model,
    limit: int | None = None,
    progress: Progress = unseen,
    **options: Any,
) -> Filling:
    """What came of filling a cluster of these objects."""

    async def run() -> Filling:
        made = simulation(*items, **options)
        await made.run()
        return await fill(made, copy.build(), progress, limit=limit)

    return asyncio.run(run())


class TestHowMany:
    def test_as_many_as_there_is_room_for(self) -> None:
        found = filled(WEB, BIG, SMALL)
        assert (found.copies, found.ended) == (5, True)
        assert found.where == {"big": 4, "small": 1}
        assert (found.nodes, found.fitted_at_first) == (2, 2)

    def test_pods_that_run_and_pods_that_wait_come_first(self) -> None:
        assert filled(WEB, BIG, pod("a").cpu("1").on("big"), pod("b").cpu("1")).copies == 2

    def test_none(self) -> None:
        found = filled(WEB.cpu("5"), BIG, SMALL)
        assert (found.copies, found.ended, found.where, found.binds) == (0, True, {}, "")
        assert found.message == "0/2 nodes are available: 2 Insufficient cpu."

    def test_no_nodes_at_all(self) -> None:
        found = filled(WEB)
        assert (found.copies, found.nodes, found.reasons) == (0, 0, ())

    def test_the_number_of_pods_ends_it_where_nothing_is_requested(self) -> None:
        found = filled(pod("web"), node("n").capacity(cpu="4", pods="7"))
        assert (found.copies, found.binds) == (7, "pods")

    @pytest.mark.parametrize("limit", [1, 3, 5])
    def test_up_to_a_limit(self, limit: int) -> None:
        found = filled(WEB, BIG, SMALL, limit=limit)
        assert (found.copies, found.ended) == (limit, False)
        assert sum(found.where.values()) == limit

    def test_a_limit_that_is_not_reached(self) -> None:
        assert filled(WEB, BIG, SMALL, limit=6).ended

    def test_nobody_is_evicted_for_a_copy(self) -> None:
        found = filled(WEB.priority(100), SMALL, pod("a").cpu("1").on("small"))
        assert found.copies == 0

    def test_spread_ends_it(self) -> None:
        zoned = [BIG.zone("a"), SMALL.zone("b")]
        spreading = WEB.label(app="web").spreads(
            "topology.kubernetes.io/zone", labelSelector={"matchLabels": {"app": "web"}}
        )
        found = filled(spreading, *zoned)
        assert found.where == {"big": 2, "small": 1}
        assert {reason.plugin for reason in found.reasons} == {"NodeResourcesFit", "PodTopologySpread"}

    def test_anti_affinity_ends_it(self) -> None:
        apart = WEB.label(app="web").requires_pods(pod_term("kubernetes.io/hostname", {"app": "web"}), anti=True)
        found = filled(apart, BIG, node("other"))
        assert (found.where, found.binds) == ({"big": 1, "other": 1}, "")

    def test_host_ports_end_it(self) -> None:
        assert filled(WEB.host_port(80), BIG, SMALL.capacity(cpu="9", memory="9Gi")).where == {"big": 1, "small": 1}


class TestWhatEndsIt:
    def test_the_resource_that_most_nodes_are_short_of(self) -> None:
        found = filled(WEB, BIG, SMALL)
        assert found.binds == "cpu"
        cpu, memory, pods = (next(r for r in found.room if r.resource == name) for name in ("cpu", "memory", "pods"))
        assert (cpu.a_copy, cpu.free_before, cpu.free_after) == (1_000, 5_000, 0)
        assert (cpu.enough_for, cpu.short_on) == (5, 2)
        assert (memory.enough_for, memory.short_on) == (128, 0)
        assert (pods.a_copy, pods.enough_for) == (1, 220)

    def test_each_nodes_reason(self) -> None:
        found = filled(WEB, BIG, SMALL.taint("gpu"))
        assert [(r.nodes, r.plugin, r.which) for r in found.reasons] == [
            (1, "NodeResourcesFit", ("big",)),
            (1, "TaintToleration", ("small",)),
        ]
        assert found.message == ("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).")

    def test_nodes_that_were_not_even_looked_at(self) -> None:
        only = WEB.requires_node(term(fields=[expression("metadata.name", "In", "big")]))
        found = filled(only, BIG, SMALL)
        assert found.copies == 4
        assert {reason.which for reason in found.reasons} == {("big",), ("small",)}


class TestThePod:
    def test_its_priority_class_is_the_clusters(self) -> None:
        gold = read(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "gold"},
                "value": 10,
            }
        )
        assert isinstance(gold, PriorityClass)
        assert filled(WEB.set("spec.priorityClassName", "gold"), BIG, gold).copies == 4
        with pytest.raises(AdmissionError, match="no PriorityClass with name gold"):
            filled(WEB.set("spec.priorityClassName", "gold"), BIG)

    def test_its_namespace_may_be_new(self) -> None:
        found = filled(WEB.namespace("new"), BIG)
        assert (found.pod, found.copies) == ("new/web", 4)

    def test_it_may_have_been_one_that_runs(self) -> None:
        assert filled(WEB.on("small").set("status.phase", "Running"), BIG, SMALL).copies == 5

    def test_one_that_is_held_back_can_not_be_tried(self) -> None:
        with pytest.raises(ValueError, match="holds the pod back"):
            filled(WEB.gate("example.com/wait"), BIG)

    def test_one_that_is_for_another_scheduler_can_not_be_tried(self) -> None:
        with pytest.raises(ValueError, match="no profile of the configuration is for pods of other"):
            filled(WEB.scheduler("other"), BIG, config=weighted("NodeAffinity", 2), takes_all=False)


def test_how_far_it_is() -> None:
    told: list[tuple[str, int, int | None]] = []
    filled(WEB, BIG, SMALL, progress=lambda *step: told.append(step))
    assert told == [("filling", 4, 5), ("filling", 5, 5)]


sizes = st.sampled_from(["1", "2", "3500m", "5"])


@settings(max_examples=12, deadline=None)
@given(
    nodes=st.lists(st.tuples(sizes, st.sampled_from(["2Gi", "9Gi"]), st.integers(1, 5), st.booleans()), max_size=5),
    running=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["500m", "2"])), max_size=4),
    asked=st.tuples(st.sampled_from(["300m", "1"]), st.sampled_from(["100Mi", "1500Mi"])),
    tolerates=st.booleans(),
)
def test_counting_comes_to_the_same_as_placing_one_after_the_other(
    nodes: list[tuple[str, str, int, bool]],
    running: list[tuple[int, str]],
    asked: tuple[str, str],
    *,
    tolerates: bool,
) -> None:
    items: list[Any] = []
    for number, (cpu, memory, pods, tainted) in enumerate(nodes):
        made = node(f"n{number}").capacity(cpu=cpu, memory=memory, pods=str(pods))
        items.append(made.taint("t") if tainted else made)
    items += [pod(f"p{number}").cpu(cpu).on(f"n{where}") for number, (where, cpu) in enumerate(running)]
    copy = pod("web").cpu(asked[0]).memory(asked[1])
    copy = copy.tolerates("t") if tolerates else copy
    counted = filled(copy, *items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filling, "_decided_by_room", lambda *_: False)
        assert filled(copy, *items) == counted
