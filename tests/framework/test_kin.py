"""Shapes whose verdicts and scores by row are the very same go on where a pod of any of them has left off."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework.course import Course
from scheduler.framework.status import unschedulable
from tests.builders import info, pod
from tests.framework.stubs import Filter, Score
from tests.framework.test_course import MANY, NO, Bench, Told


def by_room(cycle):
    return cycle.shape.labels.get("room")


class Town(Bench):
    """The nodes that pods of several templates come to, which differ in their label app, or room as well.

    With `alone` the plugins cannot tell what they depend on, so that each shape has its own.
    """

    def __init__(self, *plugins, alone=False, **how):
        super().__init__(*plugins, **how)
        if not alone:
            self.room.filter_key = self.fewest.score_key = by_room

    def kin(self, **labels):
        shape = info(pod("p").label({"room": "1", **labels}), self.cluster).shape
        course = self.profile.caches.of(shape).memo.get(Course)
        return None if course is None else course._kin

    def look(self, app, room="1", **how):
        """Decide on a pod."""
        return self.decide(wanted=pod("p").label({"room": room, "app": app}), **how)

    def come(self, app, room="1", **how):
        """Place a pod on the first of the best nodes; its name."""
        decision = self.look(app, room, **how)
        self.number += 1
        name = self.cluster.nodes.name(decision.leaders[0])
        self.cluster.assume(info(pod(f"p{self.number}"), self.cluster), name)
        return name

    def warm(self, *apps, room="1"):
        for _ in range(3):
            for app in apps:
                self.look(app, room)
        self.asked.clear()


class TestWhoAreKin:
    def test_shapes_that_differ_in_what_no_plugin_looks_at_by_row(self):
        town = Town()
        town.warm("a", "b")
        assert town.kin(app="a") is town.kin(app="b") is not None

    def test_not_those_that_differ_in_what_one_of_them_does_look_at(self):
        town = Town()
        town.warm("a")
        town.warm("a", room="2")
        assert town.kin(app="a") is not town.kin(app="a", room="2")

    def test_not_those_of_which_a_plugin_can_not_tell(self):
        town = Town(alone=True)
        town.warm("a", "b")
        assert town.kin(app="a") is not town.kin(app="b")


class TestWhatIsAsked:
    def test_only_the_row_that_the_pod_of_another_one_took(self):
        town = Town()
        town.warm("a", "b")
        for app in "abba":
            town.come(app)
        assert town.asked == [("Room", 0), ("Fewest", 0), ("Room", 1), ("Fewest", 1), ("Room", 2), ("Fewest", 2)]

    def test_nothing_for_a_shape_that_is_new(self):
        town = Town()
        town.warm("a")
        town.look("b")
        assert town.asked == []

    def test_all_that_has_changed_meanwhile_where_each_has_its_own(self):
        town = Town(alone=True)
        town.warm("a", "b")
        for app in "aab":
            town.come(app)
        assert town.asked == [("Room", 0), ("Fewest", 0), ("Room", [0, 1]), ("Fewest", [0, 1])]


class TestWhatItComesTo:
    """Each decision is compared with one from scratch."""

    @pytest.mark.parametrize("plugins", [(), (Score("S", {"c": 50}),), (Told("A", {"b": NO}),)])
    @pytest.mark.parametrize("how", [{}, {"details": True}, {"sampled": True}])
    def test_pods_of_several_in_turn_fill_the_nodes_up(self, plugins, how):
        shared, alone = Town(*plugins), Town(*plugins, alone=True)
        for number in range(15):
            app, room = "abc"[number % 3], "12"[number % 2]
            now = how if number % 4 == 3 else {}
            assert shared.come(app, room, **now) == alone.come(app, room, **now)
        assert shared.evaluations() == alone.evaluations()

    def test_samples_of_the_nodes(self):
        towns = Town(nodes=MANY), Town(nodes=MANY, alone=True)
        for town in towns:
            town.algorithm.percentage_of_nodes_to_score = 10
        for number in range(12):
            came = [town.come("abc"[number % 3]) for town in towns]
            assert came[0] == came[1]

    def test_a_node_that_is_full_is_full_for_all(self):
        town = Town()
        town.warm("a", "b")
        for _ in range(3):
            for name in "abcde":
                town.number += 1
                town.cluster.set_pod(info(pod(f"p{town.number}").on(name), town.cluster))
        assert town.look("a").feasible.tolist() == town.look("b").feasible.tolist() == [5]

    def test_the_scores_of_an_earlier_decision_can_not_be_asked_for_any_more(self):
        town = Town()
        town.warm("a", "b")
        before = town.algorithm.decide(town.profile, info(pod("p").label({"room": "1", "app": "a"}), town.cluster))
        town.come("b")
        town.look("b")
        with pytest.raises(RuntimeError, match="another decision has been taken since"):
            np.asarray(before.totals)


class Turns(Filter):
    """Asked in each cycle; turns down the nodes that are named in `down`, by one and the same array each time.

    With `again` it writes the verdicts of each cycle into the array of the one before.
    """

    may_fail = False

    def __init__(self, *, again=False):
        super().__init__("Turns")
        self.down = ""
        self._again = again
        self._known = {}

    def filter(self, cycle, nodes):
        kind = id(nodes.table), "" if self._again else self.down
        codes = self._known.get(kind)
        if codes is None or self._again:
            codes = self._known.setdefault(kind, np.zeros(len(nodes), np.uint8))
            codes[:] = [nodes.table.name(row) in self.down for row in range(len(nodes))]
            codes.flags.writeable = self._again
        return codes

    def status(self, cycle, code):
        return unschedulable("not its turn")


class TestFiltersThatAreAskedInEachCycle:
    """Each decision is compared with one from scratch."""

    def test_the_same_nodes_fit_where_they_give_the_same_array(self):
        turns = Turns()
        bench = Bench(turns)
        bench.warm()
        found = {}
        for down in ("", "ab", "c", "ab", "", "c"):
            turns.down = down
            feasible = bench.decide().feasible
            assert [bench.cluster.nodes.name(row) for row in feasible] == [
                name for name in "abcdef" if name not in down
            ]
            assert found.setdefault(down, feasible) is feasible

    def test_not_where_a_node_has_become_full_meanwhile(self):
        turns = Turns()
        turns.down = "b"
        bench = Bench(turns)
        bench.warm()
        before = bench.decide().feasible
        while bench.place("c"):
            feasible = bench.decide().feasible
            if len(feasible) < len(before):
                break
        assert [bench.cluster.nodes.name(row) for row in feasible] == list("adef")

    def test_not_where_they_can_have_written_to_it(self):
        turns = Turns(again=True)
        bench = Bench(turns)
        bench.warm()
        for down in ("", "ab", "c", "ab", ""):
            turns.down = down
            feasible = bench.decide().feasible
            assert [bench.cluster.nodes.name(row) for row in feasible] == [
                name for name in "abcdef" if name not in down
            ]

    @pytest.mark.parametrize("how", [{}, {"details": True}, {"sampled": True}])
    def test_the_best_of_them_is_found_as_from_scratch(self, how):
        turns = Turns()
        bench = Bench(turns, Score("S", {"c": 50}))
        bench.warm()
        for number in range(20):
            turns.down = ("", "ab", "c", "bcd", "f")[number % 5]
            bench.place(**(how if number % 4 == 3 else {}))
