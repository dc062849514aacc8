"""Where a pod is after each event about it: in the queue, on a node, or nowhere."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.status import Code, Status, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Filter, Permit

OURS, THEIRS = pod("p"), pod("p").scheduler("somebody-else")


def rig_with_nodes(*plugins):
    rig = Rig(Filter("A"), *plugins)
    rig.put(node("n"), node("m"))
    return rig


def whereabouts(rig):
    """The queue that the pod is in and the node that it counts on, "" for none."""
    placed = next((each for each in rig.state.pods if each.name == "p"), None)
    return rig.where("p"), "" if placed is None else placed.node_name


def labelled(made):
    return made.label(x="y")


@pytest.mark.parametrize(
    ("made", "expected"),
    [(OURS, ("active", "")), (THEIRS, ("", "")), (OURS.on("n"), ("", "n")), (THEIRS.on("n"), ("", "n"))],
    ids=["pending", "pending, of another scheduler", "on a node", "on a node, of another scheduler"],
)
class TestPodsThatComeChangeAndGo:
    def test_comes(self, made, expected):
        rig = rig_with_nodes()
        rig.put(made)
        assert whereabouts(rig) == expected

    def test_changes(self, made, expected):
        rig = rig_with_nodes()
        rig.put(made, labelled(made))
        assert whereabouts(rig) == expected
        held = rig.queue.get("default", "p") if expected[0] else None
        shown = held.pod if held else next(iter(rig.state.pods), None)
        assert shown is None or shown.shape.labels == {"x": "y"}

    def test_goes(self, made, expected):
        del expected
        rig = rig_with_nodes()
        rig.put(made)
        rig.delete(made)
        assert whereabouts(rig) == ("", "")

    def test_goes_while_nobody_looked(self, made, expected):
        """All that is known of it then may be its name and uid."""
        del expected
        rig = rig_with_nodes()
        rig.put(made)
        rig.handlers.pod(pod("p").build(), None)
        assert whereabouts(rig) == ("", "")


@pytest.mark.parametrize("made", [OURS, THEIRS], ids=["ours", "of another scheduler"])
def test_a_pending_pod_that_is_bound_counts_on_its_node(made):
    rig = rig_with_nodes()
    rig.put(made, made.on("n"))
    assert whereabouts(rig) == ("", "n")


def test_another_pod_of_the_same_name_takes_the_place_of_the_first():
    rig = rig_with_nodes()
    rig.put(OURS.on("n").host_port(80))
    rig.put(OURS.uid("another").on("n").host_port(8080))
    assert [each.uid for each in rig.state.pods] == ["another"]
    assert rig.state.nodes.pod_count.sum() == 1


class TestAssumedPods:
    def waiting(self):
        """A pod that has a node and waits for permission."""
        rig = rig_with_nodes(Permit("P", (Status(Code.WAIT), 600.0)))
        rig.put(OURS)
        assert rig.scheduler.schedule_next()
        (placed,) = rig.state.pods
        self.node, self.other = placed.node_name, "m" if placed.node_name == "n" else "n"
        return rig

    def beyond_waiting(self):
        rig = self.waiting()
        rig.scheduler.waiting.get(rig.pod("p").metadata.uid).allow("P")
        return rig

    async def test_one_that_changes_stays_as_it_was_assumed(self):
        rig = self.waiting()
        rig.put(labelled(OURS))
        assert whereabouts(rig) == ("in flight", self.node)
        (placed,) = rig.state.pods
        assert placed.shape.labels == {}
        rig.delete(OURS)
        await rig.scheduler.settle()

    @pytest.mark.parametrize("there", [True, False], ids=["to its node", "to another node"])
    async def test_one_that_is_bound_counts_where_it_was_bound(self, there):
        rig = self.waiting()
        where = self.node if there else self.other
        rig.cluster.bind("default", "p", rig.pod("p").metadata.uid, where)
        assert whereabouts(rig)[1] == where
        assert rig.state.nodes.pod_count.sum() == 1
        rig.scheduler.waiting.reject(rig.pod("p").metadata.uid)
        await rig.scheduler.settle()
        assert whereabouts(rig)[1] == where

    async def test_one_that_is_terminating_while_it_waits_is_turned_down_first(self):
        rig = self.waiting()
        rig.put(OURS.terminating())
        assert whereabouts(rig)[1] == self.node
        await rig.scheduler.settle()
        assert whereabouts(rig)[1] == ""

    @pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "terminating"])
    async def test_one_that_goes_beyond_waiting_is_forgotten_at_once(self, deleted):
        rig = self.beyond_waiting()
        if deleted:
            rig.delete(OURS)
        else:
            rig.put(OURS.terminating())
        assert whereabouts(rig)[1] == ""
        await rig.scheduler.settle()


class TestNominations:
    """Pods high, as-much, held and low; held is nominated to node n, and all were turned down a minute ago."""

    async def awakened(self, change):
        """The pods that a change lets try again: a plugin asks to hear of nothing but deletions from nodes."""
        plugin = Filter("A", {"n": unschedulable("no"), "m": unschedulable("no")})
        plugin.hints = [EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE)]
        rig = Rig(plugin)
        rig.put(node("n"), node("m"))
        high, held = pod("high").priority(1000), pod("held").priority(100).nominated("n")
        rig.put(high, held, pod("as-much").priority(100), pod("low").priority(0))
        await rig.run()
        assert len(rig.queue.pending()["unschedulable"]) == 4
        rig.clock.advance(60.0)
        rig.put(held)
        await rig.run()
        rig.clock.advance(60.0)
        change(rig, high, held)
        entries = rig.queue.pending()
        return {entry.pod.name for place in ("active", "backoff") for entry in entries[place]}

    @pytest.mark.parametrize("nominated", ["m", ""], ids=["another node", "no node"])
    async def test_one_that_changes_lets_lesser_pods_and_itself_try(self, nominated):
        def change(rig, _, held):
            rig.put(held.nominated(nominated))

        assert await self.awakened(change) == {"held", "as-much", "low"}

    async def test_one_of_a_pod_that_goes_lets_lesser_pods_try(self):
        assert await self.awakened(lambda rig, _, held: rig.delete(held)) == {"as-much", "low"}

    async def test_a_first_one_lets_nobody_try(self):
        assert await self.awakened(lambda rig, high, _: rig.put(high.nominated("m"))) == set()
