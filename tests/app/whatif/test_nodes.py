"""Nodes that come, go, or take no more pods."""

from __future__ import annotations

import pytest

from scheduler.api.objects import CSINode, ObjectMeta, VolumeAttachment, VolumeAttachmentSpec
from scheduler.app.whatif.nodes import AddNodes, Cordon, Drain, RemoveTaint, Reschedule, Uncordon, WithoutNode
from scheduler.app.whatif.pods import MIRROR
from scheduler.app.whatif.world import ChangeError
from tests.app.whatif.worlds import nodes_of, world
from tests.builders import node, pod

WEB = pod("web").on("n1").owned_by("ReplicaSet", "web-1")
AGENT = pod("agent").on("n1").owned_by("DaemonSet", "agent")
STATIC = pod("static").on("n1").merge("metadata.annotations", {MIRROR: "abc"})
WAITING = pod("waiting")


class TestAddNodes:
    def test_they_are_like_the_one_that_is_named(self) -> None:
        changed = world(node("n1").capacity(cpu="4").label(pool="a").zone("z1").taint("dedicated", "gpu"))
        assert AddNodes(2, "n1").apply(changed) == "added 2 nodes like n1"
        assert [name for _, name in changed.nodes] == ["n1", "n1-new-1", "n1-new-2"]
        like, made = changed.nodes["", "n1"], changed.nodes["", "n1-new-1"]
        assert made.status.allocatable == like.status.allocatable
        assert made.spec.taints == like.spec.taints
        assert made.metadata.uid != like.metadata.uid

    def test_labels_that_repeat_the_name_repeat_the_new_one(self) -> None:
        changed = world(node("n1").label({"kubernetes.io/hostname": "host-1", "example.com/name": "n1", "pool": "a"}))
        AddNodes(1, "n1").apply(changed)
        assert changed.nodes["", "n1-new-1"].metadata.labels == {
            "kubernetes.io/hostname": "n1-new-1",
            "example.com/name": "n1-new-1",
            "pool": "a",
        }

    def test_the_state_of_the_node_is_not_theirs(self) -> None:
        busy = node("n1").unschedulable().taint("node.kubernetes.io/not-ready").image("app:1", size=9)
        changed = world(busy.condition("Ready", "False"))
        AddNodes(1, "n1").apply(changed)
        made = changed.nodes["", "n1-new-1"]
        assert (made.spec.unschedulable, made.spec.taints) == (False, ())
        assert (made.status.images, made.status.conditions) == ((), ())

    def test_daemon_and_static_pods_run_on_them_and_others_do_not(self) -> None:
        changed = world(node("n1"), WEB, AGENT, STATIC)
        assert AddNodes(1, "n1").apply(changed) == "added 1 node like n1 with 2 daemon or static pods each"
        assert nodes_of(changed) == {
            "web": "n1",
            "agent": "n1",
            "static": "n1",
            "agent-1": "n1-new-1",
            "static-1": "n1-new-1",
        }

    def test_volume_limits_are_theirs(self) -> None:
        changed = world(node("n1"), CSINode(metadata=ObjectMeta(name="n1")))
        AddNodes(1, "n1").apply(changed)
        assert ("", "n1-new-1") in changed.of(CSINode)

    def test_names_that_are_taken_are_left_out(self) -> None:
        changed = world(node("n1"), node("n1-new-1"))
        AddNodes(1, "n1").apply(changed)
        assert ("", "n1-new-2") in changed.nodes

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (AddNodes(0, "n1"), "0 nodes can't be added"),
            (AddNodes(1, "n*"), "'n.' matches 2 nodes; name one"),
            (AddNodes(1, "m1"), "there is no node 'm1'; there is n1, n2"),
        ],
    )
    def test_what_can_not_be_done_is_said(self, change: AddNodes, problem: str) -> None:
        with pytest.raises(ChangeError, match=problem):
            change.apply(world(node("n1"), node("n2")))


class TestCordon:
    def test_as_kubectl_and_the_node_controller_do(self) -> None:
        changed = world(node("n1"), node("n2"))
        assert Cordon("n1").apply(changed) == "cordoned n1"
        spec = changed.nodes["", "n1"].spec
        assert spec.unschedulable
        assert [(t.key, t.effect) for t in spec.taints] == [("node.kubernetes.io/unschedulable", "NoSchedule")]
        assert not changed.nodes["", "n2"].spec.unschedulable

    def test_twice_is_as_once(self) -> None:
        changed = world(node("n1"))
        Cordon("n1").apply(changed)
        once = changed.nodes["", "n1"]
        Cordon("n1").apply(changed)
        assert changed.nodes["", "n1"] == once

    def test_uncordon_takes_it_back(self) -> None:
        before = node("n1").taint("dedicated").build()
        changed = world(before)
        Cordon("n1").apply(changed)
        assert Uncordon("n1").apply(changed) == "uncordoned n1"
        assert changed.nodes["", "n1"] == before

    def test_many_nodes_are_counted(self) -> None:
        changed = world(*(node(f"n{i}") for i in range(5)))
        assert Cordon("n*").apply(changed) == "cordoned 5 nodes"


class TestDrain:
    def test_pods_are_pending_again_behind_those_that_wait_already(self) -> None:
        changed = world(node("n1"), WEB, WAITING)
        assert Drain("n1").apply(changed) == "drained n1: 1 pod to place again"
        assert list(nodes_of(changed).items()) == [("waiting", ""), ("web", "")]
        assert changed.nodes["", "n1"].spec.unschedulable

    def test_they_have_no_history(self) -> None:
        running = WEB.set("status.phase", "Running").condition("Ready", "True").nominated("n1")
        changed = world(node("n1"), running.set("status.startTime", "2026-01-01T00:00:00Z"))
        Drain("n1").apply(changed)
        status = changed.pods["default", "web"].status
        assert (status.phase, status.conditions, status.start_time) == ("Pending", (), None)
        assert status.nominated_node_name == ""

    def test_daemon_and_static_pods_stay(self) -> None:
        changed = world(node("n1"), AGENT, STATIC)
        assert Drain("n1").apply(changed) == "drained n1: 0 pods to place again"
        assert nodes_of(changed) == {"agent": "n1", "static": "n1"}

    def test_pods_that_are_ending_go(self) -> None:
        changed = world(node("n1"), WEB.terminating())
        Drain("n1").apply(changed)
        assert nodes_of(changed) == {}

    def test_pods_that_have_ended_stay_as_they_are(self) -> None:
        changed = world(node("n1"), WEB.set("status.phase", "Succeeded"))
        Drain("n1").apply(changed)
        assert nodes_of(changed) == {"web": "n1"}


class TestWithoutNode:
    def test_daemon_and_static_pods_go_with_it_and_others_are_placed_again(self) -> None:
        changed = world(node("n1"), node("n2"), WEB, AGENT, STATIC)
        assert WithoutNode("n1").apply(changed) == "without n1: 1 pod to place again"
        assert nodes_of(changed) == {"web": ""}
        assert [name for _, name in changed.nodes] == ["n2"]

    def test_what_hangs_on_it_is_gone(self) -> None:
        attachment = VolumeAttachment(metadata=ObjectMeta(name="a"), spec=VolumeAttachmentSpec(node_name="n1"))
        changed = world(node("n1"), CSINode(metadata=ObjectMeta(name="n1")), attachment)
        WithoutNode("n1").apply(changed)
        assert not changed.of(CSINode)
        assert not changed.of(VolumeAttachment)

    def test_pods_of_several_nodes_keep_their_order(self) -> None:
        changed = world(node("n1"), node("n2"), pod("a").on("n2"), pod("b").on("n1"), pod("c").on("n2"))
        WithoutNode("n*").apply(changed)
        assert list(nodes_of(changed)) == ["a", "b", "c"]

    def test_a_node_that_is_not_there(self) -> None:
        with pytest.raises(ChangeError, match=r"no node's name matches 'spot-\*'; there is n1$"):
            WithoutNode("spot-*").apply(world(node("n1")))


class TestRemoveTaint:
    NODES = (
        node("n1").label(pool="a").taint("dedicated", "gpu").taint("dedicated", effect="NoExecute"),
        node("n2").label(pool="b").taint("dedicated", "gpu"),
        node("n3").label(pool="a"),
    )

    def taints(self, change: RemoveTaint) -> dict[str, list[str]]:
        changed = world(*self.NODES)
        change.apply(changed)
        return {name: [taint.effect for taint in n.spec.taints] for (_, name), n in changed.nodes.items()}

    def test_by_key(self) -> None:
        assert self.taints(RemoveTaint("*", "dedicated")) == {"n1": [], "n2": [], "n3": []}

    def test_by_key_and_effect(self) -> None:
        assert self.taints(RemoveTaint("*", "dedicated", "NoExecute"))["n1"] == ["NoSchedule"]

    def test_nodes_by_label_selector(self) -> None:
        assert self.taints(RemoveTaint("pool=a", "dedicated")) == {"n1": [], "n2": ["NoSchedule"], "n3": []}

    def test_only_the_nodes_that_had_it_are_named(self) -> None:
        assert RemoveTaint("pool=a", "dedicated").apply(world(*self.NODES)) == "removed the taint dedicated from n1"

    def test_a_taint_that_no_node_has(self) -> None:
        with pytest.raises(ChangeError, match=r"none of the 3 nodes '\*' has a taint gpu; their taints are dedicated"):
            RemoveTaint("*", "gpu").apply(world(*self.NODES))


class TestReschedule:
    def test_all_but_daemon_and_static_pods(self) -> None:
        changed = world(node("n1"), WEB, AGENT, STATIC)
        assert Reschedule().apply(changed) == "1 running pod to place anew"
        assert nodes_of(changed) == {"agent": "n1", "static": "n1", "web": ""}

    @pytest.mark.parametrize(
        ("pattern", "placed"),
        [("shop", ["a", "b"]), ("shop/a", ["a"]), ("*/c", ["c"]), ("shop/*", ["a", "b"])],
    )
    def test_by_namespace_and_name(self, pattern: str, placed: list[str]) -> None:
        pods = [pod(name).on("n1").namespace(space) for name, space in (("a", "shop"), ("b", "shop"), ("c", "bank"))]
        changed = world(node("n1"), *pods)
        Reschedule(pattern).apply(changed)
        assert [name for name, where in nodes_of(changed).items() if not where] == placed

    def test_nothing_that_matches(self) -> None:
        with pytest.raises(ChangeError, match="no running pod matches 'shop/\\*'"):
            Reschedule("shop").apply(world(node("n1"), WEB))
