"""A profile that decides besides the one that runs."""

from __future__ import annotations

from typing import Any

from scheduler.app.shadowing import BURST, Shadow
from scheduler.explain.agreement import Verdict
from scheduler.framework.status import PluginError, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Clock, Rig, profile_of
from tests.framework.stubs import Filter, Reserve, Score, StubExtender, passing

NO = unschedulable("no")


def cast(rig: Rig, *plugins: Any, extenders: Any = (), **options: Any) -> Shadow:
    """Give the profile a shadow of these plugins."""
    profile = profile_of(*plugins, weights=options.pop("weights", None), extenders=extenders)
    shadow = Shadow(profile, draw=options.pop("draw", lambda: 0.0), clock=options.pop("clock", Clock()), **options)
    rig.scheduler.shadows[PROFILE] = shadow
    return shadow


class TestComparison:
    async def test_the_same_plugins_agree_on_every_pod(self) -> None:
        rig = Rig(Filter("A"), Score("S", {"a": 5}))
        shadow = cast(rig, Filter("A"), Score("S", {"a": 5}), series=rig.metrics.shadow_decisions)
        rig.put(node("a"), node("b"), *(pod(f"p{i}") for i in range(3)))
        await rig.run()
        assert (shadow.tally.observed, shadow.tally.compared, shadow.tally.different) == (3, 3, 0)
        assert rig.metrics.shadow_decisions.labels(PROFILE, "Same").value == 3

    async def test_the_running_profiles_node_is_taken_and_the_difference_noted(self) -> None:
        rig = Rig(Score("S", {"a": 5}), Score("T"))
        shadow = cast(rig, Score("S", {"a": 5}), Score("T", {"b": 9}), now=lambda: 1000.0)
        rig.put(node("a"), node("b"), pod("p"))
        await rig.run()
        assert rig.node_of("p") == "a"
        (example,) = shadow.tally.examples
        assert (example.pod, example.time) == ("default/p", 1000.0)
        assert str(example.agreement) == "b instead of a, by 4 points: T +9, S -5"
        assert shadow.tally.behind == {"T": 1}

    async def test_it_decides_on_the_state_before_the_choice_takes_effect(self) -> None:
        """With one place left a shadow that decided later would find none."""
        rig = Rig()
        rig.put(node("a").capacity(cpu="1", pods="1"), pod("p").cpu("1"))
        fresh = rig.scheduler.profiles[PROFILE].on(rig.state)
        shadow = Shadow(fresh, draw=lambda: 0.0, clock=Clock(), percentage_of_nodes_to_score=100)
        rig.scheduler.shadows[PROFILE] = shadow
        await rig.run()
        assert rig.node_of("p") == "a"
        assert shadow.tally.verdicts == {Verdict.SAME: 1}

    async def test_a_pod_that_fits_only_here_names_who_turned_it_down(self) -> None:
        rig = Rig(Filter("A", {"n": NO}))
        shadow = cast(rig, Filter("B"))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.where("p") == "unschedulable"
        assert shadow.tally.verdicts == {Verdict.PLACED: 1}
        assert shadow.tally.behind == {"A": 1}

    async def test_a_pod_that_fits_nowhere_here(self) -> None:
        rig = Rig(Filter("A"))
        shadow = cast(rig, Filter("B", {"n": NO}))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.node_of("p") == "n"
        assert shadow.tally.verdicts == {Verdict.UNPLACED: 1}

    async def test_nothing_is_reserved_in_shadow(self) -> None:
        diary: list[str] = []
        rig = Rig(Filter("A"))
        cast(rig, Filter("A"), Reserve("R", None, diary))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert diary == []

    async def test_the_search_begins_where_the_running_profile_began(self) -> None:
        rig = Rig(Filter("A"), Score("S"), percentage=5)
        shadow = cast(rig, Filter("A"), Score("S"), percentage_of_nodes_to_score=5)
        rig.put(*(node(f"n{i:03}") for i in range(300)), *(pod(f"p{i}") for i in range(5)))
        await rig.run()
        assert shadow.tally.verdicts == {Verdict.SAME: 5}

    async def test_attempts_that_failed_are_no_decisions(self) -> None:
        rig = Rig(Filter("A", PluginError("boom")))
        shadow = cast(rig, Filter("A"))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert shadow.tally.observed == 0


class TestExtenders:
    async def test_their_answers_are_used_again(self) -> None:
        diary: list[str] = []
        extender = StubExtender(diary=diary, filter=passing("a"))
        rig = Rig(Filter("A"), extenders=[extender])
        shadow = cast(rig, Filter("A"), extenders=[extender])
        rig.put(node("a"), node("b"), pod("p"))
        await rig.step()
        assert diary.count("http://extender filter a b") == 1
        assert shadow.tally.verdicts == {Verdict.SAME: 1}

    async def test_where_they_were_asked_about_other_nodes_there_is_no_comparison(self) -> None:
        extender = StubExtender(filter=passing("a"))
        rig = Rig(Filter("A"), extenders=[extender])
        shadow = cast(rig, Filter("A", {"b": NO}), extenders=[extender])
        rig.put(node("a"), node("b"), pod("p"))
        await rig.step()
        assert (shadow.tally.compared, shadow.tally.failed) == (0, 1)
        assert "was not asked about these nodes" in shadow.tally.last_failure

    async def test_one_that_only_scores_was_asked_about_other_nodes_too(self) -> None:
        extender = StubExtender(prioritize=[])
        rig = Rig(Filter("A"), extenders=[extender])
        shadow = cast(rig, Filter("A", {"b": NO}), extenders=[extender])
        rig.put(node("a"), node("b"), node("c"), pod("p"))
        await rig.step()
        assert (shadow.tally.compared, shadow.tally.failed) == (0, 1)


class TestCost:
    async def test_a_share_of_the_decisions_is_looked_at(self) -> None:
        draws = iter([0.1, 0.3, 0.24, 0.9])
        rig = Rig(Filter("A"))
        shadow = cast(rig, Filter("A"), percentage=25, draw=lambda: next(draws))
        rig.put(node("n"), *(pod(f"p{i}") for i in range(4)))
        await rig.run()
        assert (shadow.tally.observed, shadow.tally.compared) == (4, 2)

    async def test_it_takes_no_more_than_its_share_of_the_time(self) -> None:
        clock = Clock(0.0)

        class Slow(Filter):
            def filter(self, cycle: Any, nodes: Any) -> Any:
                clock.advance(2 * BURST)
                return super().filter(cycle, nodes)

        rig = Rig(Filter("A"))
        shadow = cast(rig, Slow("A"), clock=clock)
        rig.put(node("n"), *(pod(f"p{i}") for i in range(3)))
        await rig.step()
        await rig.step()
        assert (shadow.tally.observed, shadow.tally.compared) == (2, 1)
        clock.advance(10 * BURST + 0.1)
        await rig.step()
        assert shadow.tally.compared == 2

    async def test_a_plugin_that_fails_in_shadow_fails_nothing_else(self) -> None:
        rig = Rig(Filter("A"))
        shadow = cast(rig, Filter("A", KeyError("boom")))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.node_of("p") == "n"
        assert (shadow.tally.failed, shadow.tally.last_failure) == (1, "default/p: 'boom'")
