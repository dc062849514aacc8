"""InterPodAffinity agrees with a plain reading of its formulas, and words its refusals as kube-scheduler does."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.objects import Namespace
from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.framework.status import SKIP, Code, PluginError, error
from scheduler.plugins.interpodaffinity.plugin import InterPodAffinity
from tests.builders import node, pod, pod_term, state
from tests.plugins import harness
from tests.plugins.clusters import (
    HOST,
    NAMESPACES,
    ZONE,
    Cluster,
    affine_pods,
    affinity_args,
    assigned_pods,
    cycle_for,
    events,
    filter_codes,
    handle,
    node_scores,
)
from tests.plugins.interpodaffinity import twin

WEB = {"app": "web"}
BAD = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}}


def cluster_of(*nodes, pods=()) -> Cluster:
    cluster = Cluster(state(namespaces=NAMESPACES))
    cluster.apply([n.build() for n in nodes])
    cluster.apply([p.build() for p in pods])
    return cluster


def plugin_for(cluster: Cluster, args: InterPodAffinityArgs | None = None) -> InterPodAffinity:
    return InterPodAffinity(args or InterPodAffinityArgs(), handle(cluster.state))


def verdicts(cluster: Cluster, built) -> dict[str, int] | None:
    return filter_codes(plugin_for(cluster), cluster, cycle_for(cluster, built.build()))


def expected_codes(incoming, cluster: Cluster, namespaces) -> dict[str, int] | None:
    if not twin.has_rules(incoming, cluster, namespaces):
        return None
    return {name: twin.filter_code(incoming, cluster, there, namespaces) for name, there in cluster.nodes.items()}


class TestFilter:
    @given(first=events(with_affinity=True), then=events(with_affinity=True), incoming=affine_pods())
    @settings(max_examples=100, deadline=None)
    def test_agrees_with_the_formulas_as_the_cluster_changes(self, first, then, incoming):
        cluster = Cluster(state(namespaces=NAMESPACES))
        plugin = plugin_for(cluster)
        for happening in (first, then):
            cluster.apply(happening)
            expected = expected_codes(incoming, cluster, NAMESPACES)
            assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == expected

    @given(
        happening=events(with_affinity=True),
        incoming=affine_pods(),
        labels=st.sampled_from([None, {}, {"team": "blue"}]),
        name=st.sampled_from(["default", "other", "ghost"]),
    )
    @settings(max_examples=100, deadline=None)
    def test_follows_the_labels_of_namespaces(self, happening, incoming, labels, name):
        cluster = Cluster(state(namespaces=NAMESPACES))
        plugin = plugin_for(cluster)
        cluster.apply(happening)
        filter_codes(plugin, cluster, cycle_for(cluster, incoming))
        namespaces = {**NAMESPACES, name: labels}
        if labels is None:
            del namespaces[name]
            cluster.state.remove_namespace(name)
        else:
            document = {"metadata": {"name": name, "labels": labels}}
            cluster.state.set_namespace(msgspec.convert(document, Namespace))
        expected = expected_codes(incoming, cluster, namespaces)
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == expected

    @given(
        happening=events(with_affinity=True),
        incoming=affine_pods(),
        added=st.lists(assigned_pods(with_affinity=True), max_size=3),
    )
    @settings(max_examples=100, deadline=None)
    def test_sees_a_what_if_while_it_lasts(self, happening, incoming, added):
        cluster = Cluster(state(namespaces=NAMESPACES))
        cluster.apply(happening)
        plugin = plugin_for(cluster)
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
            expected = expected_codes(incoming, tried, NAMESPACES)
        assert within == expected
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == before

    def test_a_namespace_selector_is_resolved_anew_when_namespaces_change(self):
        cluster = cluster_of(node("a"), pods=[pod("q").namespace("third").label(WEB).on("a")])
        plugin = plugin_for(cluster)
        selector = {"matchLabels": {"team": "green"}}
        incoming = pod("p").requires_pods(pod_term(HOST, WEB, namespaceSelector=selector), anti=True).build()
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == {"a": 0}
        document = {"metadata": {"name": "third", "labels": {"team": "green"}}}
        cluster.state.set_namespace(msgspec.convert(document, Namespace))
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == {"a": 2}

    def test_the_first_of_a_group_may_go_where_the_node_has_all_labels(self):
        cluster = cluster_of(node("a").zone("z1"), node("b"))
        group = pod("p").label(WEB).requires_pods(pod_term(ZONE, WEB), pod_term(HOST, WEB))
        assert verdicts(cluster, group) == {"a": 0, "b": 1}

    def test_a_pod_of_the_group_in_the_domain_of_one_term_leaves_no_first_one_for_the_others(self):
        nodes = [node("a").label(rack="r").zone("z1"), node("b").label(rack="r")]
        cluster = cluster_of(*nodes, pods=[pod("q").label(WEB).on("b")])
        group = pod("p").label(WEB).requires_pods(pod_term("rack", WEB), pod_term(ZONE, WEB))
        assert verdicts(cluster, group) == {"a": 1, "b": 1}

    def test_the_first_of_a_group_must_match_all_its_own_terms(self):
        cluster = cluster_of(node("a").zone("z1"))
        assert verdicts(
            cluster, pod("p").label(WEB).requires_pods(pod_term(ZONE, WEB), pod_term(HOST, {"x": "y"}))
        ) == {"a": 1}

    def test_terms_may_be_met_by_different_pods_that_each_match_all(self):
        cluster = cluster_of(
            node("a").zone("z1").label(rack="r1"),
            node("b").zone("z1").label(rack="r2"),
            node("c").zone("z2").label(rack="r2"),
            pods=[pod("q").label(WEB).on("a"), pod("r").label(WEB).on("c")],
        )
        near = pod("p").requires_pods(pod_term(ZONE, WEB), pod_term("rack", WEB))
        assert verdicts(cluster, near) == {"a": 0, "b": 0, "c": 0}

    def test_anti_affinity_works_both_ways(self):
        cluster = cluster_of(
            node("a").zone("z1"),
            node("b").zone("z1"),
            node("c"),
            pods=[pod("q").label(WEB).requires_pods(pod_term(ZONE, {"app": "db"}), anti=True).on("a")],
        )
        assert verdicts(cluster, pod("p").label(app="db")) == {"a": 3, "b": 3, "c": 0}
        assert verdicts(cluster, pod("p").requires_pods(pod_term(ZONE, WEB), anti=True)) == {"a": 2, "b": 2, "c": 0}

    def test_a_pod_that_nobody_minds_is_left_alone(self):
        cluster = cluster_of(node("a"), pods=[pod("q").requires_pods(pod_term(HOST, {"app": "db"}), anti=True).on("a")])
        assert verdicts(cluster, pod("p").label(WEB)) is None

    @pytest.mark.parametrize(
        ("built", "code", "reason"),
        [
            (
                pod("p").requires_pods(pod_term(ZONE, {"app": "none"})),
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                "node(s) didn't match pod affinity rules",
            ),
            (
                pod("p").requires_pods(pod_term(ZONE, WEB), anti=True),
                Code.UNSCHEDULABLE,
                "node(s) didn't match pod anti-affinity rules",
            ),
            (
                pod("p").label(app="db"),
                Code.UNSCHEDULABLE,
                "node(s) didn't satisfy existing pods anti-affinity rules",
            ),
        ],
    )
    def test_words_refusals_as_kube_scheduler_does(self, built, code, reason):
        cluster = cluster_of(
            node("a").zone("z1"),
            pods=[pod("q").label(WEB).requires_pods(pod_term(ZONE, {"app": "db"}), anti=True).on("a")],
        )
        plugin, cycle = plugin_for(cluster), cycle_for(cluster, built.build())
        status = plugin.status(cycle, filter_codes(plugin, cluster, cycle)["a"])
        assert (status.code, status.reasons) == (code, (reason,))

    def test_terms_that_do_not_parse_are_beyond_help(self):
        cluster = cluster_of(node("a"))
        status = plugin_for(cluster).pre_filter(cycle_for(cluster, pod("p").requires_pods(BAD).build()))
        assert (status.code, status.message) == (
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            'parsing pod: requiredAffinityTerms: "Near" is not a valid label selector operator',
        )


class TestFastPath:
    """The gate InterPodAffinityHostnameFastPath, under which terms by hostname are looked at in Filter."""

    @pytest.mark.parametrize(
        ("key", "gate", "skips"),
        [(HOST, False, True), (HOST, True, False), (ZONE, True, True)],
        ids=["gate off", "by hostname", "by zone"],
    )
    def test_pods_that_keep_others_away_by_hostname_let_no_pod_be_skipped(self, key, gate, skips):
        away = pod("away").requires_pods(pod_term(key, {"app": "else"}), anti=True).on("a")
        cluster = cluster_of(node("a").zone("z"), pods=[away])
        gates = {"InterPodAffinityHostnameFastPath": gate}
        plugin = InterPodAffinity(InterPodAffinityArgs(), harness.handle(cluster.state, gates=gates))
        status = plugin.pre_filter(cycle_for(cluster, pod("p").build()))
        assert (status is SKIP) is skips


class TestScore:
    @given(
        data=st.data(),
        first=events(with_affinity=True),
        then=events(with_affinity=True),
        incoming=affine_pods(),
        args=affinity_args(),
    )
    @settings(max_examples=100, deadline=None)
    def test_agrees_with_the_formulas_as_the_cluster_changes(self, data, first, then, incoming, args):
        cluster = Cluster(state(namespaces=NAMESPACES))
        plugin = plugin_for(cluster, args)
        indifferent = args.ignore_preferred_terms_of_existing_pods and not list(twin.preferences(incoming))
        for happening in (first, then):
            cluster.apply(happening)
            if not cluster.nodes:
                continue
            feasible = data.draw(st.lists(st.sampled_from(sorted(cluster.nodes)), min_size=1, unique=True))
            expected = twin.scores(incoming, cluster, feasible, NAMESPACES, args.hard_pod_affinity_weight)
            found = node_scores(plugin, cluster, cycle_for(cluster, incoming), feasible)
            assert found == (None if indifferent else expected)

    def test_dividing_first_loses_a_point(self):
        names = ["a", "b", "c"]
        weights = {"a": 100, "b": 29}
        cluster = cluster_of(
            *(node(name) for name in names),
            pods=[pod(name).prefers_pods(weight, pod_term(HOST, WEB)).on(name) for name, weight in weights.items()],
        )
        scores = node_scores(plugin_for(cluster), cluster, cycle_for(cluster, pod("p").label(WEB).build()), names)
        assert scores == {"a": (100, 100), "b": (29, 28), "c": (0, 0)}

    def test_preferences_that_cancel_out_are_not_skipped(self):
        cluster = cluster_of(node("a"), pods=[pod("q").label(WEB).on("a")])
        torn = pod("p").prefers_pods(5, pod_term(HOST, WEB)).prefers_pods(5, pod_term(HOST, WEB), anti=True)
        assert node_scores(plugin_for(cluster), cluster, cycle_for(cluster, torn.build()), ["a"]) == {"a": (0, 0)}

    def test_terms_that_do_not_parse_fail_the_attempt(self):
        cluster = cluster_of(node("a"))
        cycle = cycle_for(cluster, pod("p").prefers_pods(1, BAD).build())
        status = plugin_for(cluster).pre_score(cycle, cycle.nodes)
        assert (status.code, status.message) == (
            Code.ERROR,
            'failed to parse pod: preferredAffinityTerms: "Near" is not a valid label selector operator',
        )


class TestDisabledPoints:
    def test_every_node_that_is_looked_at_fails_where_pre_filter_is_disabled(self):
        cluster = state([node("n1"), node("n2")])
        cycle = harness.cycle_of(cluster, pod("p"))
        plugin = InterPodAffinity(InterPodAffinityArgs(), harness.handle(cluster))
        assert plugin.can_fail(cycle)
        text = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
        assert set(harness.filtered(plugin, cycle).values()) == {error(text)}

    def test_scoring_fails_where_pre_score_is_disabled(self):
        cluster = state([node("n1"), node("n2")])
        cycle = harness.cycle_of(cluster, pod("p"))
        plugin = InterPodAffinity(InterPodAffinityArgs(), harness.handle(cluster))
        with pytest.raises(PluginError, match='failed to read "PreScoreInterPodAffinity" from cycleState: not found'):
            plugin.score(cycle, cycle.nodes)


def test_of_pods_that_differ_in_labels_only_the_one_that_its_own_term_is_about_may_be_the_first_of_its_kind():
    """Both have one body, in which the term is; whether it is about the pod itself is told by the labels."""
    cluster = cluster_of(node("n1").label(zone="a"))
    wanted = pod("p").requires_pods(pod_term("zone", {"role": "db"}))
    for role, fits in (("db", True), ("web", False), ("db", True)):
        assert (verdicts(cluster, wanted.label(role=role)) == {"n1": 0}) is fits
