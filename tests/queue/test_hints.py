"""Which events may help which pods."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, ClusterEvent, EventHint, EventResource, OfProfile, QueueingHint
from scheduler.queue.hints import (
    QUEUE_AFTER_BACKOFF,
    QUEUE_IMMEDIATELY,
    SKIP,
    HintMap,
    events_of,
    is_wildcard,
    matches,
)
from tests.builders import expression, info, pod, term
from tests.cycle.rig import profile_of
from tests.framework.stubs import Bind, Filter, PostFilter, PreFilter, StubExtender
from tests.queue.entries import entry, on_node_add, queue_always, queue_never

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_UPDATE = ClusterEvent(EventResource.NODE, ActionType.UPDATE)
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
LABEL_AND_TAINT = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT)
EVERYTHING = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)


class TestMatching:
    @pytest.mark.parametrize(
        ("resource", "actions", "event", "expected"),
        [
            (EventResource.NODE, ActionType.ADD, NODE_ADD, True),
            (EventResource.NODE, ActionType.DELETE, NODE_ADD, False),
            (EventResource.CSI_NODE, ActionType.ADD, NODE_ADD, False),
            (EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, NODE_LABEL, True),
            (EventResource.NODE, ActionType.UPDATE_NODE_LABEL, NODE_UPDATE, False),
            (EventResource.NODE, ActionType.UPDATE, NODE_UPDATE, True),
            (EventResource.POD, ActionType.DELETE, ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), True),
            (EventResource.POD, ActionType.ADD, ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD), True),
            (EventResource.ASSIGNED_POD, ActionType.ADD, ClusterEvent(EventResource.TARGET_POD, ActionType.ADD), False),
            (EventResource.WILDCARD, ActionType.ALL, NODE_ADD, True),
            (EventResource.WILDCARD, ActionType.DELETE, NODE_ADD, False),
            (EventResource.NODE, ActionType.ALL, EVERYTHING, False),
            (EventResource.NODE, ActionType.UPDATE, NODE_LABEL, True),
            (EventResource.WILDCARD, ActionType.ADD, NODE_ADD, True),
            (EventResource.WILDCARD, ActionType.ALL, LABEL_AND_TAINT, True),
            (EventResource.NODE, ActionType.ADD, NODE_LABEL, False),
        ],
    )
    def test_a_plugin_hears_of_what_it_asked_for(self, resource, actions, event, expected):
        assert matches(EventHint(resource, actions), event) is expected

    def test_the_wildcard_is_everything_about_everything(self):
        assert is_wildcard(EVERYTHING)
        assert not is_wildcard(ClusterEvent(EventResource.WILDCARD, ActionType.ADD))
        assert not is_wildcard(ClusterEvent(EventResource.NODE, ActionType.ALL))


class TestEventsOfPlugins:
    def test_those_that_a_plugin_names(self):
        plugin = Filter("A")
        plugin.hints = [on_node_add()]
        assert events_of(plugin) == (on_node_add(),)

    def test_a_plugin_that_names_none_is_helped_by_none(self):
        assert events_of(Filter("A")) == ()

    def test_a_plugin_that_does_not_say_may_be_helped_by_anything(self):
        assert any(matches(hint, NODE_LABEL) for hint in events_of(PreFilter("A")))

    @pytest.mark.parametrize("plugin", [Bind("A"), PostFilter("A")])
    def test_plugins_that_turn_no_pod_down_are_not_asked(self, plugin):
        assert events_of(plugin) == ()


def map_of(*hints, name="A", observed=None):
    plugin = Filter(name)
    plugin.hints = list(hints)
    observed = [] if observed is None else observed
    return HintMap([profile_of(plugin)], lambda *told: observed.append(told[:3]))


class TestStrategy:
    def strategy(self, hints, event=NODE_ADD, new=None, **waiting):
        waiting.setdefault("plugins", ["A"])
        return hints.strategy(entry("a", **waiting), event, None, new)

    def test_a_plugin_that_says_queue_helps(self):
        assert self.strategy(map_of(on_node_add(queue_always))) == QUEUE_AFTER_BACKOFF

    def test_a_plugin_that_says_skip_does_not(self):
        assert self.strategy(map_of(on_node_add(queue_never))) == SKIP

    def test_without_a_hint_function_any_such_event_helps(self):
        assert self.strategy(map_of(on_node_add())) == QUEUE_AFTER_BACKOFF

    def test_other_events_do_not_help(self):
        assert self.strategy(map_of(on_node_add()), NODE_LABEL) == SKIP

    def test_plugins_that_did_not_turn_the_pod_down_are_not_heard(self):
        assert self.strategy(map_of(on_node_add()), plugins=["B"]) == SKIP

    def test_one_of_several_hints_is_enough(self):
        assert self.strategy(map_of(on_node_add(queue_never), on_node_add(queue_always))) == QUEUE_AFTER_BACKOFF

    def test_a_pending_plugin_that_says_queue_lets_the_pod_go_at_once(self):
        pending = {"plugins": [], "pending_plugins": frozenset({"A"})}
        assert self.strategy(map_of(on_node_add(queue_always)), **pending) == QUEUE_IMMEDIATELY

    def test_pending_plugins_are_heard_even_after_another_said_queue(self):
        first, second = Filter("A"), Filter("B")
        first.hints = second.hints = [on_node_add()]
        hints = HintMap([profile_of(first, second)], lambda *told: None)
        both = {"plugins": ["A"], "pending_plugins": frozenset({"B"})}
        assert self.strategy(hints, **both) == QUEUE_IMMEDIATELY

    @pytest.mark.parametrize(
        ("turned_down", "pending", "answers", "strategy", "asked"),
        [
            ("AC", "B", {"A": "queue", "B": "queue", "C": "queue", "D": "fail"}, QUEUE_IMMEDIATELY, 2),
            ("AB", "", {"A": "skip", "B": "queue"}, QUEUE_AFTER_BACKOFF, 2),
            ("AB", "", {"A": "skip", "B": "skip", "C": "queue"}, SKIP, 2),
            ("AB", "", {"A": "queue", "B": "queue"}, QUEUE_AFTER_BACKOFF, 1),
            ("A", "", {"A": "fail"}, QUEUE_AFTER_BACKOFF, 1),
        ],
        ids=["pending", "the second", "neither of two", "the first of two", "fails"],
    )
    def test_no_more_plugins_are_asked_than_it_takes(self, turned_down, pending, answers, strategy, asked):
        observed, plugins = [], []
        for name, answer in answers.items():

            def hint(waiting, old, new, answer=answer):
                if answer == "fail":
                    raise ValueError
                return QueueingHint.QUEUE if answer == "queue" else QueueingHint.SKIP

            plugins.append(Filter(name))
            plugins[-1].hints = [on_node_add(hint)]
        hints = HintMap([profile_of(*plugins)], lambda *told: observed.append(told))
        waiting = {"plugins": list(turned_down), "pending_plugins": frozenset(pending)}
        assert self.strategy(hints, **waiting) == strategy
        assert len(observed) == asked

    def test_a_pod_that_nobody_turned_down_is_helped_by_anything(self):
        assert self.strategy(map_of(), plugins=[]) == QUEUE_AFTER_BACKOFF

    def test_the_wildcard_helps_every_pod(self):
        assert self.strategy(map_of(), EVERYTHING) == QUEUE_AFTER_BACKOFF

    def test_a_wildcard_with_a_pod_helps_only_that_one(self):
        assert self.strategy(map_of(), EVERYTHING, new=info(pod("a"))) == QUEUE_AFTER_BACKOFF
        assert self.strategy(map_of(), EVERYTHING, new=info(pod("b"))) == SKIP

    def test_a_hint_that_fails_must_not_leave_the_pod_stuck(self):
        def fail(waiting, old, new):
            raise ValueError

        observed = []
        assert self.strategy(map_of(on_node_add(fail), observed=observed)) == QUEUE_AFTER_BACKOFF
        assert observed == [("A", "NodeAdd", "Error")]

    def test_hints_see_the_objects_and_are_timed(self):
        observed, seen = [], []

        def hint(waiting, old, new):
            seen.append((waiting.name, old, new))
            return QueueingHint.SKIP

        hints = map_of(on_node_add(hint), observed=observed)
        hints.strategy(entry("a", plugins=["A"]), NODE_ADD, "before", "after")
        assert seen == [("a", "before", "after")]
        assert observed == [("A", "NodeAdd", "QueueSkip")]


def test_a_pod_that_extenders_turned_down_is_helped_by_anything():
    quiet = profile_of(Filter("A"))
    hints = HintMap([quiet], lambda *told: None)
    assert hints.strategy(entry("a", plugins=["Extender"]), NODE_ADD, None, None) == SKIP
    asking = profile_of(Filter("A"), extenders=[StubExtender()])
    hints = HintMap([asking], lambda *told: None)
    assert hints.strategy(entry("a", plugins=["Extender"]), NODE_ADD, None, None) == QUEUE_AFTER_BACKOFF


def test_events_that_nobody_hears_of_have_no_hints():
    assert map_of(on_node_add()).hints(NODE_LABEL) == {}
    assert [name for name, _ in map_of(on_node_add()).hints(NODE_ADD)["default-scheduler"]] == ["A"]


def test_an_event_about_a_profile_is_for_its_pods_alone():
    profile = profile_of(Filter("A"))
    hints = HintMap([profile], lambda *_: None)
    event = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ProfileUpdate")
    waiting = entry("p", plugins={"A"})
    assert hints.strategy(waiting, event, None, OfProfile(profile.name)) == QUEUE_AFTER_BACKOFF
    assert hints.strategy(waiting, event, None, OfProfile("other")) == SKIP


class TestKind:
    """What pods must have in common for an event to be weighed once for all of them."""

    def kinds(self, *rejectors, pods=None):
        looking, blind = Filter("Looking"), Filter("Blind")
        blind.hints_see_labels = False
        hints = HintMap([profile_of(looking, blind, Bind("B"))], lambda *_: None)
        one, other = pods or (pod("a").label(index="1"), pod("b").label(index="2"))
        return [hints.kind_of(entry("p", plugins=rejectors, pod=made)) for made in (one, other)]

    def test_all_but_labels_where_nobody_looks_at_these(self):
        one, other = self.kinds("Blind")
        assert one is other

    @pytest.mark.parametrize("rejectors", [("Looking",), ("Blind", "Looking")])
    def test_everything_where_somebody_does(self, rejectors):
        one, other = self.kinds(*rejectors)
        assert one is not other

    def test_where_they_are_pinned_to_as_well(self):
        def pinned(name):
            return pod(name).requires_node(term(fields=[expression("metadata.name", "In", name)]))

        one, other = self.kinds("Blind", pods=(pinned("n1"), pinned("n2")))
        assert one is not other
