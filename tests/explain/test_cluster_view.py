"""Nodes, the pods on them, and the scheduler at a glance."""

from __future__ import annotations

from scheduler.explain.cluster_view import node_pods, nodes_view, overview
from scheduler.explain.views import NodePods
from tests.builders import node, pod, state
from tests.cycle.rig import PROFILE, Rig


class TestNodes:
    def test_they_are_listed_by_name_in_columns(self) -> None:
        cluster = state(
            [
                node("b").capacity(cpu="2", memory="1Gi", pods="5").zone("z1").unschedulable(),
                node("a").capacity({"cpu": "4", "example.com/gpu": "2"}).taint("gpu", "yes").taint("slow"),
            ],
            [pod("p").cpu("500m").on("b"), pod("q").cpu("1").on("a")],
        )
        view = nodes_view(cluster, 0.0)
        assert view.names == ("a", "b")
        assert view.zones == ("", "z1")
        assert view.unschedulable == (False, True)
        assert view.pods == (1, 1)
        assert view.allowed_pods[1] == 5
        assert view.allocatable["cpu"] == (4000, 2000)
        assert view.requested["cpu"] == (1000, 500)
        assert view.allocatable["example.com/gpu"] == (2, 0)
        assert set(view.resources) == set(view.allocatable) == set(view.requested)
        assert view.taints == ("gpu=yes:NoSchedule, slow:NoSchedule", "")

    def test_a_node_has_its_pods_by_name(self) -> None:
        cluster = state([node("n")], [pod("q").on("n"), pod("p").on("n")])
        assert node_pods(cluster, "n") == NodePods(name="n", pods=("default/p", "default/q"))
        assert node_pods(cluster, "gone") is None


async def test_the_overview_counts_nodes_pods_queues_and_attempts() -> None:
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"), pod("fits").cpu("1"), pod("huge").cpu("5"))
    await rig.run()
    view = overview(rig.scheduler, None, leader=True, started=0.0, now=1.0)
    assert (view.nodes, view.pods, view.profiles, view.leader) == (1, 1, (PROFILE,), True)
    assert view.queues["unschedulable"] == 1
    assert view.counts == {"Scheduled": 1, "Unschedulable": 1, "Error": 0}
    assert (view.recording, view.records) == (False, 0)
