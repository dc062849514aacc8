"""PodTopologySpread agrees with a plain reading of its formulas, and words its refusals as kube-scheduler does."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.objects import Service, TopologySpreadConstraint
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.framework.status import Code, PluginError, error
from scheduler.plugins.podtopologyspread.constraints import SYSTEM_DEFAULTS
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from tests.builders import info, node, pod, state
from tests.plugins import harness
from tests.plugins.clusters import (
    HOST,
    NAMESPACES,
    ZONE,
    Cluster,
    assigned_pods,
    cycle_for,
    events,
    filter_codes,
    handle,
    node_scores,
    plain_pods,
    spreading_pods,
)
from tests.plugins.podtopologyspread import twin

APP_A = {"matchLabels": {"app": "a"}}
LIST_DEFAULTS = PodTopologySpreadArgs(
    defaulting_type="List",
    default_constraints=msgspec.convert(
        [
            {"topologyKey": ZONE, "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway"},
            {"topologyKey": HOST, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
        ],
        tuple[TopologySpreadConstraint, ...],
    ),
)


def cluster_of(*nodes, pods=()) -> Cluster:
    cluster = Cluster(state(namespaces=NAMESPACES))
    cluster.apply([n.build() for n in nodes])
    cluster.apply([p.build() for p in pods])
    return cluster


def plugin_for(cluster: Cluster, args: PodTopologySpreadArgs | None = None) -> PodTopologySpread:
    return PodTopologySpread(args or PodTopologySpreadArgs(), handle(cluster.state))


class TestFilter:
    @given(first=events(), then=events(), incoming=spreading_pods(soft=False))
    @settings(max_examples=100, deadline=None)
    def test_agrees_with_the_formulas_as_the_cluster_changes(self, first, then, incoming):
        cluster = Cluster(state(namespaces=NAMESPACES))
        plugin = plugin_for(cluster)
        hard = twin.rules(incoming, incoming.spec.topology_spread_constraints, "DoNotSchedule")
        for happening in (first, then):
            cluster.apply(happening)
            expected = {name: twin.filter_code(hard, cluster, there) for name, there in cluster.nodes.items()}
            assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == (expected if hard else None)

    @given(happening=events(), incoming=spreading_pods(soft=False), added=st.lists(assigned_pods(), max_size=3))
    @settings(max_examples=100, deadline=None)
    def test_sees_a_what_if_while_it_lasts(self, happening, incoming, added):
        cluster = Cluster(state(namespaces=NAMESPACES))
        cluster.apply(happening)
        plugin = plugin_for(cluster)
        hard = twin.rules(incoming, incoming.spec.topology_spread_constraints, "DoNotSchedule")
        before = filter_codes(plugin, cluster, cycle_for(cluster, incoming))
        tried = Cluster(cluster.state)
        tried.nodes = cluster.nodes
        tried.pods = {name: there for name, there in cluster.pods.items() if there.spec.node_name != "n0"}
        with cluster.state.what_if() as trial:
            for there in cluster.state.pods.on_node("n0"):
                trial.remove(there)
            for index, extra in enumerate(added):
                meta = msgspec.structs.replace(extra.metadata, uid=f"extra-{index}")
                trial.add(cluster.state.info(msgspec.structs.replace(extra, metadata=meta)), extra.spec.node_name)
                tried.pods[f"extra-{index}"] = extra
            within = filter_codes(plugin, cluster, cycle_for(cluster, incoming))
            expected = {name: twin.filter_code(hard, tried, there) for name, there in cluster.nodes.items()}
        assert within == (expected if hard else None)
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == before

    @pytest.mark.parametrize(("max_skew", "codes"), [(1, {"a": 1, "b": 0}), (2, {"a": 0, "b": 0})])
    def test_an_empty_selector_counts_the_pod_itself_and_those_that_are_tried(self, max_skew, codes):
        cluster = cluster_of(node("a"), node("b"), pods=[pod("counted by nobody").on("a")])
        cycle = cycle_for(cluster, pod("p").spreads(HOST, max_skew, labelSelector={}).build())
        with cluster.state.what_if() as cycle.trial:
            cycle.trial.add(cluster.state.info(pod("nominated").build()), "a")
            assert filter_codes(plugin_for(cluster), cluster, cycle) == codes

    def test_the_first_failing_constraint_decides(self):
        nodes = [node("a").zone("z1"), node("b").zone("z2")]
        cluster = cluster_of(*nodes, pods=[pod("q").label(app="a").on("a")])
        by_zone = pod("p").label(app="a").spreads(ZONE, labelSelector=APP_A)
        skewed_first = by_zone.spreads("rack", labelSelector=APP_A).build()
        skewed_only = by_zone.spreads(HOST, 9, labelSelector=APP_A).build()
        plugin = plugin_for(cluster)
        assert filter_codes(plugin, cluster, cycle_for(cluster, skewed_first)) == {"a": 2, "b": 2}
        assert filter_codes(plugin, cluster, cycle_for(cluster, skewed_only)) == {"a": 1, "b": 0}

    def test_too_few_domains_make_the_minimum_zero(self):
        cluster = cluster_of(node("a").zone("z1"), pods=[pod("q").label(app="a").on("a")])
        plugin, incoming = plugin_for(cluster), pod("p").label(app="a")
        few = incoming.spreads(ZONE, labelSelector=APP_A, minDomains=2).build()
        enough = incoming.spreads(ZONE, labelSelector=APP_A, minDomains=1).build()
        assert filter_codes(plugin, cluster, cycle_for(cluster, few)) == {"a": 1}
        assert filter_codes(plugin, cluster, cycle_for(cluster, enough)) == {"a": 0}

    def test_a_pod_without_hard_constraints_is_left_alone(self):
        cluster = cluster_of(node("a"))
        cycle = cycle_for(cluster, pod("p").spreads(ZONE, soft=True, labelSelector=APP_A).build())
        assert plugin_for(cluster).pre_filter(cycle).code is Code.SKIP

    def test_words_a_missing_label_and_skew_as_kube_scheduler_does(self):
        cluster = cluster_of(
            node("a").zone("z1"), node("b"), node("c").zone("z2"), pods=[pod("q").label(app="a").on("a")]
        )
        plugin = plugin_for(cluster)
        cycle = cycle_for(cluster, pod("p").label(app="a").spreads(ZONE, labelSelector=APP_A).build())
        codes = filter_codes(plugin, cluster, cycle)
        skewed, missing = plugin.status(cycle, codes["a"]), plugin.status(cycle, codes["b"])
        assert (skewed.code, skewed.reasons) == (
            Code.UNSCHEDULABLE,
            ("node(s) didn't match pod topology spread constraints",),
        )
        assert (missing.code, missing.reasons) == (
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            ("node(s) didn't match pod topology spread constraints (missing required label)",),
        )
        assert codes["c"] == 0

    def test_a_selector_that_does_not_parse_fails_the_attempt(self):
        cluster = cluster_of(node("a"))
        bad = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
        status = plugin_for(cluster).pre_filter(cycle_for(cluster, pod("p").spreads(ZONE, labelSelector=bad).build()))
        assert (status.code, status.message) == (
            Code.ERROR,
            "get constraints from pod: obtaining pod's hard topology spread constraints: "
            '"Near" is not a valid label selector operator',
        )


class TestScore:
    @given(data=st.data(), first=events(), then=events(), incoming=spreading_pods(soft=True))
    @settings(max_examples=100, deadline=None)
    def test_agrees_with_the_formulas_as_the_cluster_changes(self, data, first, then, incoming):
        cluster = Cluster(state(namespaces=NAMESPACES))
        plugin = plugin_for(cluster)
        soft = twin.rules(incoming, incoming.spec.topology_spread_constraints, "ScheduleAnyway")
        for happening in (first, then):
            cluster.apply(happening)
            if not cluster.nodes:
                continue
            feasible = data.draw(st.lists(st.sampled_from(sorted(cluster.nodes)), min_size=1, unique=True))
            expected = twin.scores(soft, cluster, feasible, require_all=True)
            found = node_scores(plugin, cluster, cycle_for(cluster, incoming), feasible)
            assert found == (expected if soft else None)

    @given(first=events(), then=events(), incoming=plain_pods())
    @settings(max_examples=100, deadline=None)
    def test_system_defaults_do_not_ask_for_all_labels(self, first, then, incoming):
        cluster = Cluster(state(namespaces=NAMESPACES))
        cluster.state.set_object("Service", service_for(incoming.metadata.namespace, {"app": "a"}))
        plugin = plugin_for(cluster)
        soft = twin.rules(incoming, with_selector(SYSTEM_DEFAULTS, APP_A), "ScheduleAnyway")
        for happening in (first, then):
            cluster.apply(happening)
            feasible = sorted(cluster.nodes)
            if feasible:
                expected = twin.scores(soft, cluster, feasible, require_all=False)
                assert node_scores(plugin, cluster, cycle_for(cluster, incoming), feasible) == expected

    def test_under_system_defaults_no_zone_and_an_empty_one_are_one_domain(self):
        nodes = [node("a").zone(""), node("b"), node("c").zone("z1")]
        cluster = cluster_of(*nodes, pods=[pod(f"q{i}").label(app="a").on("b") for i in range(4)])
        cluster.state.set_object("Service", service_for("default", {"app": "a"}))
        cycle = cycle_for(cluster, pod("p").label(app="a").build())
        scores = node_scores(plugin_for(cluster), cluster, cycle, ["a", "b", "c"])
        hostname, zone = math.log(3 + 2), math.log(2 + 2)
        assert {name: raw for name, (raw, _) in scores.items()} == {
            "a": round(0 * hostname + 2 + 4 * zone + 4),
            "b": round(4 * hostname + 2),
            "c": round(0 * hostname + 2 + 0 * zone + 4),
        }

    def test_listed_defaults_ask_for_all_labels_and_may_be_hard(self):
        cluster = cluster_of(
            node("a").zone("z1"), node("b").zone("z2"), node("c"), pods=[pod("q").label(app="a").on("a")]
        )
        cluster.state.set_object("Service", service_for("default", {"app": "a"}))
        plugin = plugin_for(cluster, LIST_DEFAULTS)
        incoming = pod("p").label(app="a").build()
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == {"a": 1, "b": 0, "c": 0}
        scores = node_scores(plugin, cluster, cycle_for(cluster, incoming), ["a", "b", "c"])
        assert {name: final for name, (_, final) in scores.items()} == {"a": 50, "b": 100, "c": 0}

    def test_the_defaults_of_one_profile_do_not_leak_into_another(self):
        cluster = cluster_of(node("a").zone("z1"), node("b").zone("z1"), pods=[pod("q").label(app="a").on("a")])
        cluster.state.set_object("Service", service_for("default", {"app": "a"}))
        incoming = pod("p").label(app="a").build()
        listed, system = plugin_for(cluster, LIST_DEFAULTS), plugin_for(cluster)
        assert filter_codes(listed, cluster, cycle_for(cluster, incoming)) == {"a": 1, "b": 0}
        assert filter_codes(system, cluster, cycle_for(cluster, incoming)) is None

    def test_a_new_service_turns_the_defaults_on(self):
        cluster = cluster_of(node("a"))
        plugin, incoming = plugin_for(cluster), pod("p").label(app="a").build()
        assert node_scores(plugin, cluster, cycle_for(cluster, incoming), ["a"]) is None
        cluster.state.set_object("Service", service_for("default", {"app": "a"}))
        assert node_scores(plugin, cluster, cycle_for(cluster, incoming), ["a"]) is not None
        cluster.state.remove_object("Service", "default", "s")
        assert node_scores(plugin, cluster, cycle_for(cluster, incoming), ["a"]) is None

    def test_a_selector_that_does_not_parse_fails_the_attempt(self):
        cluster = cluster_of(node("a"))
        bad = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
        cycle = cycle_for(cluster, pod("p").spreads(ZONE, soft=True, labelSelector=bad).build())
        status = plugin_for(cluster).pre_score(cycle, cycle.nodes)
        assert (status.code, status.message) == (
            Code.ERROR,
            "calculating preScoreState: obtaining pod's soft topology spread constraints: "
            '"Near" is not a valid label selector operator',
        )


def service_for(namespace: str, selector: dict[str, str]) -> Service:
    return msgspec.convert({"metadata": {"name": "s", "namespace": namespace}, "spec": {"selector": selector}}, Service)


def with_selector(constraints, selector):
    fields = [msgspec.to_builtins(constraint) | {"labelSelector": selector} for constraint in constraints]
    return msgspec.convert(fields, tuple[TopologySpreadConstraint, ...])


class TestGates:
    """The gates reach what is compiled for a pod."""

    @pytest.mark.parametrize(("on", "selected"), [(True, "app=a,version=2"), (False, "app=a")])
    def test_match_label_keys(self, on, selected):
        gates = {"MatchLabelKeysInPodTopologySpread": on, "MatchLabelKeysInPodTopologySpreadSelectorMerge": on}
        cluster = state()
        plugin = PodTopologySpread(PodTopologySpreadArgs(), harness.handle(cluster, gates=gates))
        incoming = pod("p").label(version="2").spreads(ZONE, 1, labelSelector=APP_A, matchLabelKeys=["version"])
        (constraint,) = plugin.constraints(info(incoming, cluster).shape, "DoNotSchedule")
        assert str(constraint.selector) == selected

    @pytest.mark.parametrize(("on", "skewed"), [(True, True), (False, False)])
    def test_tolerations_that_compare(self, on, skewed):
        """An empty node counts as a domain only if its taint is tolerated, and makes the full one too full."""
        nodes = [node("full").label(**{HOST: "full"}), node("empty").label(**{HOST: "empty"}).taint("sla", "3")]
        there = pod("there").label(app="a").on("full")
        cluster = state(nodes, [there])
        plugin = PodTopologySpread(
            PodTopologySpreadArgs(), harness.handle(cluster, gates={"TaintTolerationComparisonOperators": on})
        )
        rule = {"labelSelector": APP_A, "nodeTaintsPolicy": "Honor"}
        incoming = pod("p").label(app="a").spreads(HOST, 1, **rule).tolerates("sla", operator="Lt", value="9")
        answer = harness.verdicts(plugin, harness.cycle_of(cluster, incoming))["full"]
        assert (answer is not None) is skewed


class TestDisabledPoints:
    def test_every_node_that_is_looked_at_fails_where_pre_filter_is_disabled(self):
        cluster = state([node("n1"), node("n2")])
        cycle = harness.cycle_of(cluster, pod("p"))
        plugin = PodTopologySpread(PodTopologySpreadArgs(), harness.handle(cluster))
        assert plugin.can_fail(cycle)
        text = 'reading "PreFilterPodTopologySpread" from cycleState: not found'
        assert set(harness.filtered(plugin, cycle).values()) == {error(text)}

    def test_scoring_fails_where_pre_score_is_disabled(self):
        cluster = state([node("n1"), node("n2")])
        cycle = harness.cycle_of(cluster, pod("p"))
        plugin = PodTopologySpread(PodTopologySpreadArgs(), harness.handle(cluster))
        with pytest.raises(PluginError, match='error reading "PreScorePodTopologySpread" from cycleState: not found'):
            plugin.score(cycle, cycle.nodes)
