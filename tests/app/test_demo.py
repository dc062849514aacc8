"""The scheduler at work on a cluster inside this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scheduler.app.configuration import read_config
from scheduler.app.demo import Demo, DemoReport
from scheduler.app.manifests import read_manifests
from scheduler.client.kinds import PODS
from scheduler.config.features import FeatureGates
from scheduler.plugins.registry import IN_TREE
from tests.builders import expression, node, pod, pod_term, term

if TYPE_CHECKING:
    from scheduler.app.decisions import PodDecision

GATES = FeatureGates()
EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"


def demo(*objects: Any, bound: list[PodDecision] | None = None) -> Demo:
    """A demo on what builders make."""
    config = read_config("", gates=GATES, registry=IN_TREE)
    seen: list[PodDecision] = [] if bound is None else bound
    built = [item.build() if hasattr(item, "build") else item for item in objects]
    return Demo(built, config, registry=IN_TREE, gates=GATES, bound=seen.append, seed=0)


def berths(name: str) -> Any:
    return pod(name).scheduler("berth")


async def run(*objects: Any) -> DemoReport:
    return await demo(*objects).run()


class TestRun:
    async def test_pods_are_bound_with_events(self) -> None:
        it = demo(node("n1"), berths("a"))
        report = await it.run()
        bound = it.cluster.get(PODS, "default", "a")
        assert bound is not None
        assert bound.spec.node_name == "n1"
        assert [event.reason for event in it.cluster.events] == ["Scheduled"]
        assert [decision.node for decision in report.decisions] == ["n1"]

    async def test_each_pod_is_told_as_it_is_bound(self) -> None:
        seen: list[PodDecision] = []
        await demo(node("n1"), pod("old").on("n1"), berths("a"), berths("b"), bound=seen).run()
        assert [(decision.pod, decision.node) for decision in seen] == [("default/a", "n1"), ("default/b", "n1")]

    async def test_pods_of_others_are_left_alone(self) -> None:
        assert (await run(node("n1"), pod("a").scheduler("other"))).decisions == []

    async def test_pods_that_others_help_are_bound_too(self) -> None:
        follower = berths("f").requires_pods(pod_term("kubernetes.io/hostname", {"app": "web"})).priority(5)
        report = await run(node("n1"), follower, berths("web").label(app="web"))
        assert [(d.pod, d.node) for d in report.decisions] == [("default/web", "n1"), ("default/f", "n1")]

    async def test_it_ends_though_pods_stay_pending(self) -> None:
        report = await run(node("n1"), berths("big").cpu("99"), berths("held").gate("g"))
        assert [decision.status for decision in report.decisions] == ["Unschedulable"]
        assert [decision.pod for decision in report.gated] == ["default/held"]
        assert report.left == 2


class TestReport:
    async def test_clearest_is_the_pod_whose_node_is_farthest_ahead(self) -> None:
        ssd = term(expression("disk", "In", "ssd"))
        pods = [berths("a").cpu("1"), berths("b").cpu("1").prefers_node(5, ssd), berths("c").cpu("1")]
        report = await run(node("n1").label(disk="ssd"), node("n2"), *pods)
        assert report.clearest is not None
        assert report.clearest.pod == "default/b"

    async def test_there_is_no_clearest_without_scheduled_pods(self) -> None:
        assert (await run(node("n1"), berths("big").cpu("99"))).clearest is None

    async def test_pending_is_the_pod_with_the_most_reasons(self) -> None:
        nodes = [node("n1"), node("n2").taint("gpu"), node("n3")]
        picky = berths("picky").cpu("99").requires_node(term(expression("kubernetes.io/hostname", "NotIn", "n3")))
        report = await run(*nodes, berths("big").cpu("99").tolerates(), picky)
        assert report.pending is not None
        assert report.pending.pod == "default/picky"

    async def test_there_is_no_pending_where_all_is_bound(self) -> None:
        assert (await run(node("n1"), berths("a"))).pending is None


class TestSummary:
    def test_in_words(self) -> None:
        nodes = [node("n1").zone("a"), node("n2").zone("b")]
        it = demo(*nodes, pod("old").on("n1"), berths("a"), berths("b"))
        assert it.summary == "2 nodes in 2 zones, 1 pod running, 2 to schedule"

    def test_without_zones(self) -> None:
        assert demo(node("n1")).summary == "1 node, 0 pods running, 0 to schedule"


async def test_the_examples_show_each_outcome() -> None:
    report = await demo(*read_manifests([str(EXAMPLES)]).objects).run()
    places = {decision.pod.removeprefix("default/"): decision.node for decision in report.decisions}
    assert places["cache"] == "a1"  # prefers an SSD
    assert places["trainer"] == "c2"  # needs a GPU
    assert places["nightly"] == "b2"  # tolerates the taint
    assert len({places[f"db-{i}"] for i in range(3)}) == 3  # never two on one node
    assert places["analytics"] is None
    assert [decision.pod for decision in report.gated] == ["default/migration"]
    assert report.clearest is not None
    assert report.clearest.pod == "default/cache"
    assert report.pending is not None
    assert report.pending.pod == "default/analytics"
