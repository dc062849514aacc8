"""DoNotSchedule constraints on small clusters: where pods that run already leave room.

Verdicts are signs, one a node: + fits, - would be too skewed, ? lacks a label.
"""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import Service, TopologySpreadConstraint
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.framework.status import SKIP
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from tests.builders import expression, pod, state, term
from tests.plugins.clusters import HOST, ZONE, cycle_for, filter_codes, handle
from tests.plugins.podtopologyspread.layouts import DATA, FOUR, IS_DATA, IS_WEB, WEB, cluster_of, pods_of

SSD = {"disk": "ssd"}
BARE, BOTH = pod("p"), pod("p").label(IS_WEB).label(IS_DATA)
PLAIN = pod("p").label(IS_WEB)
BY_ZONE = PLAIN.spreads(ZONE, labelSelector=WEB)
BY_HOST = PLAIN.spreads(HOST, labelSelector=WEB)
BY_BOTH = BY_ZONE.spreads(HOST, labelSelector=WEB)
HONOR_TAINTS = {"labelSelector": WEB, "nodeTaintsPolicy": "Honor"}
IGNORE_AFFINITY = {"labelSelector": WEB, "nodeAffinityPolicy": "Ignore"}


def signs(nodes: str, pods, incoming) -> str:
    cluster = cluster_of(nodes, pods, state())
    plugin = PodTopologySpread(PodTopologySpreadArgs(defaulting_type="List"), handle(cluster.state))
    codes = filter_codes(plugin, cluster, cycle_for(cluster, incoming.build()))
    assert codes is not None
    return "".join("+-?"[code] for code in codes.values())


class TestOneConstraint:
    @pytest.mark.parametrize(
        ("what", "nodes", "pods", "incoming", "expected"),
        [
            ("an empty cluster", FOUR, [], BY_ZONE, "++++"),
            ("an empty cluster, the pod does not count", FOUR, [], PLAIN.spreads(ZONE, labelSelector=DATA), "++++"),
            (
                "pods of other namespaces",
                FOUR,
                [*(each.namespace("other") for each in pods_of("aa")), pod("r").label(IS_WEB).on("x")],
                BY_ZONE,
                "++--",
            ),
            ("no selector", FOUR, pods_of("xy"), PLAIN.spreads(ZONE), "++++"),
            ("zones have 3 and 3", FOUR, pods_of("aabyyy"), BY_ZONE, "++++"),
            ("b has no zone, so zones have 1 and 2", "a/z1 b x/z2 y/z2", pods_of("abxy"), BY_ZONE, "+?--"),
            ("no node has the label", "a/z1 x/z2", [], PLAIN.spreads("rack", labelSelector=WEB), "??"),
            ("nodes have 2, 1, 0 and 3", FOUR, pods_of("aabyyy"), BY_HOST, "--+-"),
            ("the same with a skew of 2", FOUR, pods_of("aabyyy"), PLAIN.spreads(HOST, 2, labelSelector=WEB), "-++-"),
            (
                "the same, the pod does not count",
                FOUR,
                pods_of("aabyyy"),
                BARE.spreads(HOST, labelSelector=WEB),
                "-++-",
            ),
            (
                "affinity leaves 2 and 3",
                FOUR,
                pods_of("aabyyy"),
                BY_HOST.requires_node(term(expression(HOST, "In", "a", "y"))),
                "+++-",
            ),
            (
                "terminating pods do not count",
                "a b",
                [*pods_of("b"), pod("r").label(IS_WEB).on("a").terminating()],
                BY_HOST,
                "+-",
            ),
            (
                "affinity leaves out the node of two pods",
                FOUR,
                pods_of("bby"),
                BY_ZONE.requires_node(term(expression(HOST, "NotIn", "b"))),
                "++--",
            ),
            (
                "fewer nodes than minDomains",
                "a b c",
                pods_of("aabbc"),
                PLAIN.spreads(HOST, 2, labelSelector=WEB, minDomains=4),
                "--+",
            ),
            (
                "more nodes than minDomains",
                "a b c",
                pods_of("aabbc"),
                PLAIN.spreads(HOST, 2, labelSelector=WEB, minDomains=2),
                "+++",
            ),
            (
                "fewer zones than minDomains",
                FOUR,
                pods_of("aby"),
                PLAIN.spreads(ZONE, 2, labelSelector=WEB, minDomains=3),
                "--++",
            ),
            (
                "more zones than minDomains",
                FOUR,
                pods_of("aby"),
                PLAIN.spreads(ZONE, 2, labelSelector=WEB, minDomains=1),
                "++++",
            ),
        ],
    )
    def test_bounds_the_skew(self, what, nodes, pods, incoming, expected):
        assert signs(nodes, pods, incoming) == expected

    @pytest.mark.parametrize(
        "asking",
        [PLAIN.node_selector(SSD), PLAIN.requires_node(term(expression("disk", "In", "ssd")))],
        ids=["by a node selector", "by node affinity"],
    )
    @pytest.mark.parametrize(("policy", "expected"), [("Honor", "--++"), ("Ignore", "--+-")])
    def test_nodes_that_the_pod_does_not_ask_for_count_as_the_policy_says(self, asking, policy, expected):
        incoming = asking.spreads(HOST, labelSelector=WEB, nodeAffinityPolicy=policy)
        assert signs("a* b* x* y", pods_of("aby"), incoming) == expected

    @pytest.mark.parametrize(("policy", "expected"), [("Honor", "--++"), ("Ignore", "--+-")])
    def test_so_do_tainted_nodes(self, policy, expected):
        incoming = PLAIN.spreads(HOST, labelSelector=WEB, nodeTaintsPolicy=policy)
        assert signs("a b x y!", pods_of("aby"), incoming) == expected
        assert signs("a b x y!", pods_of("aby"), incoming.tolerates("reserved")) == "--+-"


class TestSeveralConstraints:
    WEB_BY_ZONE = BOTH.spreads(ZONE, labelSelector=WEB)
    EACH = WEB_BY_ZONE.spreads(HOST, labelSelector=DATA)

    @pytest.mark.parametrize(
        ("what", "nodes", "pods", "incoming", "expected"),
        [
            ("zones 3/3, nodes 2/1/0/3", FOUR, pods_of("aabyyy"), BY_BOTH, "--+-"),
            ("zones 3/4, nodes 2/1/0/4", FOUR, pods_of("aabyyyy"), BY_BOTH, "----"),
            ("web by zone 1/0, data by node 0/0/0/1", FOUR, pods_of("a", "y"), EACH, "--+-"),
            ("web by zone 1/0, data by node 0/0/1/1", FOUR, pods_of("a", "xy"), EACH, "----"),
            ("web by zone 2/3, data by node 1/0/0/1", FOUR, pods_of("ayy", "", "ay"), EACH, "-+--"),
            (
                "the pod counts by node only",
                FOUR,
                pods_of("a", "xy"),
                pod("p").label(IS_DATA).spreads(ZONE, labelSelector=WEB).spreads(HOST, labelSelector=DATA),
                "++--",
            ),
            ("a node without hostname counts for neither", "a/z1 b/z1 x-/z2 y/z2", pods_of("ay"), BY_BOTH, "-+?-"),
            (
                "two by zone: data 2/1, web 3/3",
                FOUR,
                pods_of("ayy", "", "aby"),
                BOTH.spreads(ZONE, labelSelector=DATA).spreads(ZONE, labelSelector=WEB),
                "--++",
            ),
            (
                "two by zone: data 2/1, web 3/4",
                FOUR,
                pods_of("ayyy", "", "aby"),
                BOTH.spreads(ZONE, labelSelector=DATA).spreads(ZONE, labelSelector=WEB),
                "----",
            ),
        ],
    )
    def test_a_node_must_keep_all_of_them(self, what, nodes, pods, incoming, expected):
        assert signs(nodes, pods, incoming) == expected

    @pytest.mark.parametrize(
        ("what", "nodes", "incoming", "expected"),
        [
            (
                "affinity counts by zone only",
                "a*/z1 b*/z1 x*/z2 y/z2",
                BY_ZONE.node_selector(SSD).spreads(HOST, **IGNORE_AFFINITY),
                "--+-",
            ),
            (
                "taints count by zone only",
                "a*/z1 b*/z1 x*/z2 y!/z2",
                PLAIN.spreads(ZONE, **HONOR_TAINTS).spreads(HOST, labelSelector=WEB),
                "--+-",
            ),
            ("affinity counts for both", "a*/z1 b/z1 x*/z2 y*!/z2", BY_BOTH.node_selector(SSD), "-++-"),
            (
                "both count by zone, neither by node",
                "a*/z1 b/z1 x*/z2 y*!/z2",
                PLAIN.node_selector(SSD).spreads(ZONE, **HONOR_TAINTS).spreads(HOST, **IGNORE_AFFINITY),
                "--+-",
            ),
        ],
    )
    def test_inclusion_policies_are_each_constraints_own(self, what, nodes, incoming, expected):
        assert signs(nodes, pods_of("aby"), incoming) == expected


class TestDefaults:
    @staticmethod
    def listed(*constraints):
        return PodTopologySpreadArgs(defaulting_type="List", default_constraints=constraints)

    @pytest.mark.parametrize(
        ("services", "defaults", "incoming", "expected"),
        [
            (
                IS_WEB,
                [(ZONE, "DoNotSchedule"), (HOST, "ScheduleAnyway"), ("rack", "DoNotSchedule")],
                PLAIN,
                [ZONE, "rack"],
            ),
            ({"app": "other"}, [(ZONE, "DoNotSchedule")], PLAIN, None),
            (IS_WEB, [(HOST, "DoNotSchedule")], BY_ZONE.spreads("planet", 2, soft=True, labelSelector=DATA), [ZONE]),
            (IS_WEB, [(HOST, "ScheduleAnyway")], PLAIN, None),
            (IS_WEB, [], PLAIN, None),
        ],
        ids=["a service", "a service of others", "constraints of its own", "soft ones only", "none"],
    )
    def test_apply_to_pods_of_a_service_without_constraints(self, services, defaults, incoming, expected):
        constraints = msgspec.convert(
            [{"topologyKey": key, "maxSkew": 3, "whenUnsatisfiable": what} for key, what in defaults],
            tuple[TopologySpreadConstraint, ...],
        )
        cluster = cluster_of(FOUR, [], state())
        document = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": services}}
        cluster.state.set_object("Service", msgspec.convert(document, Service))
        plugin = PodTopologySpread(self.listed(*constraints), handle(cluster.state))
        cycle = cycle_for(cluster, incoming.build())
        answer = plugin.pre_filter(cycle)
        if expected is None:
            assert answer is SKIP
        else:
            (counts,) = cycle.data.values()
            assert [constraint.topology_key for constraint in counts.constraints] == expected
