"""Whether preemption would help now: by the code that preempts, with nothing left behind."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.explain.evaluate import Evaluator
from scheduler.explain.preemption import SHOWN, preemption
from scheduler.explain.views import Preemption, Victim
from scheduler.explain.whynot.bench import Bench
from scheduler.framework.cycle import Cycle
from scheduler.framework.post_filter import run_post_filters
from scheduler.framework.status import Code
from tests.builders import info, node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.explain.whynot.cluster import Cluster
from tests.explain.whynot.drawn import clusters, everything
from tests.plugins.defaultpreemption.attempts import budget, small, there, wanting

START = "2026-01-01T00:00:{:02d}.000000Z"


def asked(cluster: Cluster, waits: Any) -> tuple[Cycle | None, Preemption | None]:
    """An attempt that ends without a node, and what preemption would come to; (None, None) if a node fits."""
    cycle = Cycle(cluster.info(waits), cluster.state, cluster.profile.name)
    try:
        Algorithm(cluster.state, all_nodes=True).decide(cluster.profile, cycle.pod, cycle=cycle)
    except FitError:
        return cycle, preemption(cluster.profile, cycle)
    return None, None


def told(cluster: Cluster, waits: Any) -> Preemption:
    """What preemption would come to for a pod that fits nowhere."""
    found = asked(cluster, waits)[1]
    assert found is not None
    return found


class TestByTheCodeThatPreempts:
    @given(clusters())
    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    def test_it_comes_to_what_an_attempt_comes_to(self, drawn: tuple[list[Any], list[Any], list[Any], Any]) -> None:
        *parts, waits = drawn
        cluster = Cluster(*parts)
        cycle, found = asked(cluster, waits)
        if cycle is None or found is None:
            return
        made = run_post_filters([_Mute(plugin) for plugin in cluster.profile.post_filter], cycle)  # type: ignore[misc]
        assert found.helps == (made.code is Code.SUCCESS)
        if not found.helps:
            assert found.message == made.message
            return
        assert made.result is not None
        assert made.nominated_node in (found.ties or (found.node,))
        assert {one.node for one in found.candidates} == {one.node for one in made.result.candidates}
        chosen = next(one for one in found.candidates if one.node == made.nominated_node)
        assert [victim.pod for victim in chosen.victims] == [pod.key for pod in made.result.victims]
        assert chosen.worse_by == ""

    @given(clusters())
    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    def test_the_state_is_as_before(self, drawn: tuple[list[Any], list[Any], list[Any], Any]) -> None:
        *parts, waits = drawn
        cluster = Cluster(*parts)
        state = cluster.state
        Bench(state, cluster.profile, cluster.info(waits)).survey()  # counters are made when they are first asked for
        kinds = list(state.objects.kinds())
        before, versions = everything(cluster), [state.nodes.version, *map(state.objects.version, kinds)]
        asked(cluster, waits)
        after = everything(cluster)
        assert {key: after["counted"].get(key) for key in before["counted"]} == before["counted"]
        assert {**after, "counted": {}} == {**before, "counted": {}}
        assert [state.nodes.version, *map(state.objects.version, kinds)] == versions
        assert not list(state.nominations.nodes())

    async def test_nothing_is_begun_drawn_counted_or_nominated(self) -> None:
        rig = Rig()
        rig.put(small("a"), small("b"), there("p", "a", cpu="2"), there("q", "b", cpu="2", started=9))
        waits = info(wanting().scheduler(PROFILE), rig.state)
        drawn, scheduler = random.getstate(), rig.scheduler
        source = scheduler._random.getstate()
        evaluation = Evaluator(scheduler).evaluate(waits)
        assert evaluation.preemption is not None
        assert evaluation.preemption.helps
        assert (random.getstate(), scheduler._random.getstate()) == (drawn, source)
        assert (scheduler.evicting, scheduler.binding) == (0, 0)
        assert not list(rig.state.nominations.nodes())
        assert rig.metrics.preemption_attempts.labels().value == 0
        assert sorted(pod.name for pod in rig.state.pods) == ["p", "q"]
        # An attempt by the scheduler itself finds it free to preempt.
        rig.put(wanting())
        await rig.run()
        assert [pod.name for pod in rig.state.pods] == ["p", "urgent"]


class _Mute:
    """A PostFilter plugin whose evictions are not carried out."""

    def __init__(self, plugin: Any) -> None:
        self.name = plugin.name
        self._plugin = plugin
        if hasattr(plugin, "_executor"):
            plugin._executor.start = lambda preemptor, eviction: None

    def post_filter(self, cycle: Cycle) -> Any:
        """What the plugin says."""
        return self._plugin.post_filter(cycle)


class TestWhere:
    """The order of kube-scheduler's pickOneNodeForPreemption, told for each node that is not the one."""

    def cluster(self) -> Cluster:
        pods = [
            there("young", "n0", cpu="2", started=30),
            there("old", "n1", cpu="2", started=10),
            there("one", "n2", started=30),
            there("two", "n2", started=30),
            there("more", "n3", started=30, priority=1),
            there("most", "n4", cpu="2", priority=9),
            there("kept", "n5", cpu="2").label(app="kept"),
            there("above", "n6", cpu="2", priority=100),
        ]
        nodes = [*(small(f"n{number}") for number in range(7)), small("t").taint("x")]
        return Cluster(nodes, pods, [budget("pdb", {"matchLabels": {"app": "kept"}})])

    def test_each_is_compared_with_the_best(self) -> None:
        found = told(self.cluster(), wanting())
        assert found.helps
        assert (found.node, found.ties) == ("n0", ())
        assert [(one.node, one.worse_by, one.words) for one in found.candidates] == [
            ("n0", "", ""),
            ("n1", "startTime", "its most important victim has been running longer"),
            ("n2", "prioritySum", "2 victims instead of 1"),
            ("n3", "highestPriority", "a victim of priority 1 instead of 0"),
            ("n4", "highestPriority", "a victim of priority 9 instead of 0"),
            ("n5", "pdbViolations", "1 victim against a PodDisruptionBudget instead of 0"),
        ]
        assert found.sentence == "Preemption would help now: it would evict default/young (priority 0) from n0"
        assert found.message == "preemption: found a potential placement for pod on node n0, preempting 1 victims"

    def test_the_cost_is_told_in_numbers(self) -> None:
        first, *_, last = told(self.cluster(), wanting()).candidates
        victim = Victim(pod="default/young", priority=0, started=START.format(30))
        assert first == replace(first, victims=(victim,), pdb_violations=0, highest_priority=0, priority_sum=0)
        assert first.started == START.format(30)
        assert (last.pdb_violations, last.victims[0].pod) == (1, "default/kept")

    def test_where_it_does_not_help_is_told_as_well(self) -> None:
        found = told(self.cluster(), wanting())
        assert [(one.nodes, one.words) for one in found.refused] == [
            (1, "1 node has no pod of a priority below 100"),
            (1, "1 node turns it down for what no eviction changes"),
        ]
        assert (found.tried, found.might_help, found.candidate_count) == (7, 7, 6)

    def test_priorities_are_summed_up(self) -> None:
        pods = [
            there(name, name[0], priority=priority) for name, priority in (("a1", 5), ("a2", 4), ("b1", 5), ("b2", 1))
        ]
        found = told(Cluster([small("a"), small("b")], pods), wanting())
        assert found.node == "b"
        assert found.candidates[1].words == "priorities that are higher by 3 in sum"
        assert found.sentence.endswith("it would evict default/b1 and default/b2 (priorities up to 5) from b")

    def test_chance_would_choose_among_nodes_that_are_as_good(self) -> None:
        found = told(Cluster([small("a"), small("b")], [there("p", "a", cpu="2"), there("q", "b", cpu="2")]), wanting())
        assert (found.node, found.ties) == ("", ("a", "b"))
        assert found.sentence.endswith("from a, or make room on b at the same cost, as chance decides")

    def test_not_all_candidates_are_listed(self) -> None:
        nodes = [small(f"n{number:02}") for number in range(30)]
        found = told(Cluster(nodes, [there(f"p{one}", f"n{one:02}", cpu="2") for one in range(30)]), wanting())
        assert (len(found.candidates), found.candidate_count) == (SHOWN, 30)

    def test_a_victim_against_a_budget_is_said_of_the_best_as_well(self) -> None:
        cluster = Cluster(
            [small("a")], [there("p", "a", cpu="2").label(app="p")], [budget("b", {"matchLabels": {"app": "p"}})]
        )
        assert told(cluster, wanting()).sentence.endswith("from a, 1 victim against a PodDisruptionBudget")

    def test_victims_that_are_leaving_need_not_be_evicted(self) -> None:
        found = told(Cluster([small("a")], [there("p", "a", cpu="2").terminating()]), wanting())
        assert found.sentence == "Preemption would help now: it would wait for default/p to leave a"
        assert found.candidates[0].victims[0].leaving

    def test_lesser_pods_would_lose_their_nomination(self) -> None:
        cluster = Cluster([small("a")], [there("p", "a", cpu="2")])
        cluster.state.nominations.add(info(pod("less").priority(1).nominated("a"), cluster.state), "a")
        assert told(cluster, wanting()).candidates[0].cleared_nominations == ("default/less",)


class TestWhyNot:
    @pytest.mark.parametrize(
        ("waits", "sentence"),
        [
            (
                wanting().set("spec.preemptionPolicy", "Never"),
                "Preemption is not for this pod: its preemptionPolicy is Never",
            ),
            (
                wanting(priority=0),
                "Preemption would not help: 1 node has no pod of a priority below 0; "
                "1 node turns it down for what no eviction changes",
            ),
            (wanting("9"), "Preemption would not help: 2 nodes turn it down for what no eviction changes"),
            (
                wanting().host_port(80),
                "Preemption would not help: 1 node would turn it down without such pods, too: "
                "node(s) didn't have free ports for the requested pod ports; "
                "1 node turns it down for what no eviction changes",
            ),
        ],
    )
    def test_the_reason_is_given(self, waits: Any, sentence: str) -> None:
        pods = [there("low", "a", cpu="1"), there("high", "a", cpu="100m", priority=500).host_port(80)]
        found = told(Cluster([small("a"), node("t").capacity(cpu="4").taint("x")], pods), waits)
        assert (found.helps, found.sentence, found.candidates) == (False, sentence, ())

    def test_it_is_not_reached_where_a_plugin_before_it_fails(self) -> None:
        """As kube-scheduler's does for devices where PreFilter turned the pod down before it was asked."""
        waits = wanting().volume("data", persistentVolumeClaim={"claimName": "gone"})
        found = told(Cluster([small("a")], [there("p", "a", cpu="2")]), waits)
        assert found.sentence == (
            "Preemption is not tried: DynamicResources, which is asked before it, fails (not found)"
        )
        assert (found.helps, found.message) == (False, "not found")

    def test_it_waits_for_victims_that_are_leaving(self) -> None:
        leaving = there("p", "a", cpu="2").terminating().condition("DisruptionTarget", "True", "PreemptionByScheduler")
        found = told(Cluster([small("a")], [leaving]), wanting().nominated("a"))
        assert found.sentence == "Preemption waits: a pod that was preempted for it is still leaving a"

    def test_nothing_is_said_for_a_pod_that_fits_is_placed_or_gated(self) -> None:
        rig = Rig()
        rig.put(small("a"), there("p", "a"))
        evaluator = Evaluator(rig.scheduler)
        assert evaluator.evaluate(info(wanting("1").scheduler(PROFILE), rig.state)).preemption is None
        assert evaluator.evaluate(rig.state.pods.on_node("a")[0]).preemption is None
        assert evaluator.evaluate(info(wanting().gate("g").scheduler(PROFILE), rig.state)).preemption is None

    def test_a_profile_without_the_plugin_says_nothing(self) -> None:
        cluster = Cluster([small("a")], [there("p", "a", cpu="2")])
        cluster.profile.post_filter.clear()  # type: ignore[attr-defined]
        assert asked(cluster, wanting())[1] is None
