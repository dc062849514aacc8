"""Required terms on small clusters: which nodes are near enough to wanted pods and far enough from unwanted ones.

Verdicts are letters, one a node: + fits, a lacks company, o has company that the pod does not want, e has company that
does not want the pod.
"""

from __future__ import annotations

import pytest

from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.framework.status import SKIP, unresolvable
from scheduler.plugins.interpodaffinity.plugin import InterPodAffinity
from tests.builders import expression, info, node, pod, state
from tests.plugins.clusters import HOST, ZONE, Cluster, cycle_for, filter_codes, handle

REGION = "region"
NAMESPACES = {
    "default": {},
    "other": {},
    "blue-1": {"team": "blue"},
    "blue-2": {"team": "blue"},
    "red-1": {"team": "red"},
}


def near(key, *expressions, **fields) -> dict:
    """A term about pods for which all these hold."""
    return {"topologyKey": key, "labelSelector": {"matchExpressions": list(expressions)}, **fields}


def has(key):
    return expression(key, "Exists")


def is_in(key, *values):
    return expression(key, "In", *values)


def cluster_of(nodes, pods) -> Cluster:
    cluster = Cluster(state(namespaces=NAMESPACES))
    cluster.apply([each.build() for each in (*nodes, *pods)])
    return cluster


def signs(nodes, pods, incoming) -> str | None:
    """The verdicts, None if the pod is skipped."""
    cluster = cluster_of(nodes, pods)
    codes = filter_codes(
        InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state)),
        cluster,
        cycle_for(cluster, incoming.build()),
    )
    return None if codes is None else "".join("+aoe"[code] for code in codes.values())


def at(name, **labels):
    return node(name).label(labels)


ONE = [at("n", region="r1").zone("z1")]
WEB, DATA = pod("p").label(app="web"), pod("p").label(tier="data")
ANY_WEB = is_in("app", "web", "site")
A_WEB = pod("q").label(app="web").on("n")
A_DATA = pod("q").label(tier="data").on("n")
BY_TEAM = {"namespaceSelector": {"matchExpressions": [is_in("team", "blue")]}}


class TestOneNode:
    @pytest.mark.parametrize(
        ("what", "incoming", "there", "expected"),
        [
            ("no rules", pod("p"), [], None),
            ("near pods of a label", DATA.requires_pods(near(REGION, ANY_WEB)), [A_WEB], "+"),
            (
                "near pods without a label",
                DATA.requires_pods(near(REGION, expression("app", "NotIn", "db"))),
                [A_WEB],
                "+",
            ),
            (
                "near pods of another namespace than this one",
                DATA.requires_pods(near(REGION, ANY_WEB, namespaces=["other"])),
                [A_WEB.namespace("red-1")],
                "a",
            ),
            ("near pods that are not there", WEB.requires_pods(near(REGION, is_in("app", "db"))), [A_WEB], "a"),
            (
                "near pods that keep several rules",
                DATA.requires_pods(
                    near(REGION, has("app"), expression("old", "DoesNotExist")),
                    near(REGION, is_in("app", "web"), expression("app", "NotIn", "site")),
                ),
                [A_WEB],
                "+",
            ),
            (
                "near pods of which one rule is not kept",
                DATA.requires_pods(
                    near(REGION, has("app"), expression("old", "DoesNotExist")),
                    near(REGION, is_in("app", "site"), expression("app", "NotIn", "db")),
                ),
                [A_WEB],
                "a",
            ),
            (
                "near some and away from others",
                DATA.requires_pods(near(REGION, ANY_WEB)).requires_pods(near(HOST, is_in("app", "db")), anti=True),
                [A_WEB],
                "+",
            ),
            (
                "the same, and these have rules that do not concern the pod",
                DATA.requires_pods(near(REGION, ANY_WEB)).requires_pods(near(HOST, is_in("app", "db")), anti=True),
                [A_WEB.requires_pods(near(HOST, is_in("app", "db")), anti=True)],
                "+",
            ),
            (
                "near and away from the same",
                DATA.requires_pods(near(REGION, ANY_WEB)).requires_pods(near(ZONE, ANY_WEB), anti=True),
                [A_WEB],
                "o",
            ),
            (
                "near pods that want to be away",
                WEB.requires_pods(near(REGION, ANY_WEB)).requires_pods(near(HOST, is_in("app", "db")), anti=True),
                [A_WEB.requires_pods(near(ZONE, ANY_WEB), anti=True)],
                "e",
            ),
            (
                "away from its like, near others, of which one is on a node that is not there",
                WEB.requires_pods(near(REGION, expression("app", "NotIn", "web", "site"))),
                [A_WEB.on("gone")],
                "a",
            ),
            ("no rules, but others have", WEB, [A_WEB.requires_pods(near(ZONE, ANY_WEB), anti=True)], "e"),
            (
                "no rules, and those of others do not concern it",
                WEB,
                [A_WEB.requires_pods(near(ZONE, expression("app", "NotIn", "web", "site")), anti=True)],
                None,
            ),
            (
                "away from pods that want to be away from others",
                WEB.requires_pods(near(REGION, has("app")), near(REGION, has("tier")), anti=True),
                [A_DATA.requires_pods(near(ZONE, has("tier")), anti=True)],
                "o",
            ),
            (
                "the second of its rules is about one that is there",
                WEB.requires_pods(near(ZONE, has("app")), near(ZONE, has("tier")), anti=True),
                [A_DATA.requires_pods(near(ZONE, has("tier")), anti=True)],
                "o",
            ),
            (
                "the second rule of one that is there is about it",
                DATA.requires_pods(near(ZONE, has("tier")), anti=True),
                [A_WEB.requires_pods(near(ZONE, has("app")), near(ZONE, has("tier")), anti=True)],
                "e",
            ),
            (
                "each is what the other keeps away from, by the second rule",
                pod("p").label(x="", z="").requires_pods(near(ZONE, has("x")), near(ZONE, has("y")), anti=True),
                [
                    pod("q")
                    .label(y="", z="")
                    .on("n")
                    .requires_pods(near(ZONE, has("x")), near(ZONE, has("y")), anti=True)
                ],
                "o",
            ),
            (
                "each is what the other keeps away from, by the first rule",
                pod("p").label(y="", z="").requires_pods(near(ZONE, has("x")), near(ZONE, has("y")), anti=True),
                [
                    pod("q")
                    .label(x="", z="")
                    .on("n")
                    .requires_pods(near(ZONE, has("x")), near(ZONE, has("y")), anti=True)
                ],
                "o",
            ),
            (
                "near pods of a team",
                DATA.requires_pods(near(REGION, ANY_WEB, **BY_TEAM)),
                [A_WEB.namespace("blue-1")],
                "+",
            ),
            ("not of that team", DATA.requires_pods(near(REGION, ANY_WEB, **BY_TEAM)), [A_WEB.namespace("red-1")], "a"),
            (
                "away from pods of a team",
                DATA.namespace("blue-1").requires_pods(near(ZONE, ANY_WEB, **BY_TEAM), anti=True),
                [A_WEB.namespace("blue-2")],
                "o",
            ),
            (
                "away from pods of a team or a namespace",
                DATA.namespace("blue-1").requires_pods(near(ZONE, ANY_WEB, namespaces=["red-1"], **BY_TEAM), anti=True),
                [A_WEB.namespace("blue-2")],
                "o",
            ),
            (
                "away, but not of that team",
                DATA.namespace("blue-1").requires_pods(near(ZONE, ANY_WEB, **BY_TEAM), anti=True),
                [A_WEB.namespace("red-1")],
                "+",
            ),
        ],
    )
    def test_rules(self, what, incoming, there, expected):
        assert signs(ONE, there, incoming) == expected

    @pytest.mark.parametrize(("anti", "which"), [(False, "requiredAffinityTerms"), (True, "requiredAntiAffinityTerms")])
    def test_a_value_that_is_none_is_told_in_kube_schedulers_words(self, anti, which):
        wanted = pod("p").requires_pods(near(REGION, is_in("app", "web")), near(HOST, is_in("app", "{bad}")), anti=anti)
        cluster = cluster_of(ONE, [])
        plugin = InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state))
        assert plugin.pre_filter(cycle_for(cluster, wanted.build())) == unresolvable(
            f'parsing pod: {which}: values[0][app]: Invalid value: "{{bad}}": a valid label must be an empty string or '
            "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )


COAST = [at("a", region="coast"), at("b", region="coast", az="1"), at("c", region="inland")]
ONE_ZONE = [at("a", region="r1", zone="z1"), at("b", region="r1", zone="z1")]
TWO_ZONES = [at("a", region="r1", zone="z1"), at("b", region="r1", zone="z2")]
THREE_ZONES = [*TWO_ZONES, at("c", region="r1", zone="z3")]
HOSTS = [node("a"), node("b")]
XY = pod("p").label(x="", y="")
HAS_X, HAS_Y = pod("qx").label(x=""), pod("qy").label(y="")
HAS_XY = pod("q").label(x="", y="")
GROUP = (
    pod("p")
    .label(app="web", tier="data")
    .requires_pods(near("zone", is_in("app", "web")), near("zone", is_in("tier", "data")))
)


def away(built, *terms):
    return built.requires_pods(*terms, anti=True)


class TestSeveralNodes:
    @pytest.mark.parametrize(
        ("what", "nodes", "there", "incoming", "expected"),
        [
            (
                "near: all nodes of the region",
                COAST,
                [A_WEB.on("a")],
                pod("p").requires_pods(near(REGION, ANY_WEB)),
                "++a",
            ),
            (
                "the first of its group goes anywhere",
                [at("a", zone="z1"), at("b", zone="z2")],
                [A_WEB.on("a")],
                GROUP,
                "++",
            ),
            ("but to nodes with the label", [at("a", az="z1"), at("b", az="z2")], [A_WEB.on("a")], GROUP, "aa"),
            ("away: both nodes of the region", TWO_ZONES, [A_WEB.on("a")], away(pod("p"), near(REGION, ANY_WEB)), "oo"),
            (
                "away: any of two rules",
                TWO_ZONES,
                [pod("q").label(app="web", tier="data").on("a")],
                away(pod("p"), near(REGION, ANY_WEB), near("zone", is_in("tier", "data"))),
                "oo",
            ),
            ("away: another region is free", COAST, [A_WEB.on("a")], away(pod("p"), near(REGION, ANY_WEB)), "oo+"),
            (
                "away: rules of another namespace do not count",
                COAST,
                [
                    A_WEB.namespace("red-1").on("a"),
                    away(pod("r").namespace("blue-1").on("c"), near(REGION, is_in("app", "new"))),
                ],
                away(pod("p").namespace("red-1").label(app="new"), near(REGION, ANY_WEB)),
                "oo+",
            ),
            (
                "rules of others about a label of no node",
                ONE_ZONE,
                [away(pod("q").on("a"), near("no", has("x")))],
                HAS_X,
                None,
            ),
            (
                "its own rules about a label of no node",
                ONE_ZONE,
                [HAS_X.on("a")],
                away(pod("p"), near("no", has("x"))),
                "++",
            ),
            (
                "two pods that keep away from it",
                TWO_ZONES,
                [away(pod("q").on("a"), near("zone", has("x"))), away(pod("r").on("a"), near(REGION, has("y")))],
                XY,
                "ee",
            ),
            (
                "two pods that it keeps away from",
                TWO_ZONES,
                [HAS_X.on("a"), HAS_Y.on("b")],
                away(pod("p"), near("zone", has("x")), near(REGION, has("y"))),
                "oo",
            ),
            (
                "one rule of another about a label of no node",
                TWO_ZONES,
                [away(pod("q").on("a"), near("no", has("x")), near("zone", has("y")))],
                XY,
                "e+",
            ),
            (
                "one of its own",
                TWO_ZONES,
                [HAS_XY.on("a")],
                away(pod("p"), near("no", has("x")), near("zone", has("y"))),
                "o+",
            ),
            (
                "two rules of another",
                TWO_ZONES,
                [away(pod("q").on("a"), near(REGION, has("x")), near("zone", has("y")))],
                XY,
                "ee",
            ),
            (
                "two of its own",
                TWO_ZONES,
                [HAS_XY.on("a")],
                away(pod("p"), near(REGION, has("x")), near("zone", has("y"))),
                "oo",
            ),
            (
                "a rule each of two others",
                THREE_ZONES,
                [
                    away(pod("q").on("a"), near("zone", has("x")), near("zone", has("u"))),
                    away(pod("r").on("b"), near("zone", has("y")), near("zone", has("v"))),
                ],
                XY,
                "ee+",
            ),
            (
                "near one that meets both rules",
                ONE_ZONE,
                [HAS_XY.on("a")],
                pod("p").requires_pods(near(REGION, has("x")), near("zone", has("y"))),
                "++",
            ),
            (
                "two that meet a rule each are not company",
                TWO_ZONES,
                [HAS_X.on("a"), HAS_Y.on("b")],
                pod("p").requires_pods(near(REGION, has("x")), near("zone", has("y"))),
                "aa",
            ),
            ("near, by host", HOSTS, [HAS_X.on("a")], pod("p").requires_pods(near(HOST, has("x"))), "+a"),
            ("away, by host", HOSTS, [HAS_X.on("a")], away(pod("p"), near(HOST, has("x"))), "o+"),
        ],
    )
    def test_rules(self, what, nodes, there, incoming, expected):
        assert signs(nodes, there, incoming) == expected

    def test_one_pod_must_meet_all_rules_by_host(self):
        both = pod("p").requires_pods(near(HOST, has("x")), near(HOST, has("y")))
        nodes = [*HOSTS, node("c")]
        each = [HAS_X.on("a"), HAS_Y.on("a")]
        assert signs(nodes, [*each, HAS_XY.on("c")], both) == "aa+"
        assert signs(nodes, each, both.label(x="", y="")) == "+++"

    def test_pods_of_a_namespace_by_its_labels(self):
        nodes = [node("a").zone("z1"), node("b").zone("z2")]
        there = [A_WEB.on("a"), pod("r").label(app="db").on("b"), pod("s").label(app="new").namespace("blue-1").on("a")]
        no_team = {"namespaceSelector": {"matchExpressions": [expression("team", "DoesNotExist")]}}
        assert signs(nodes, there, away(WEB, near(ZONE, is_in("app", "web")))) == "o+"
        assert signs(nodes, there, away(pod("p"), near(HOST, is_in("app", "db")))) == "+o"
        assert (
            signs(nodes, there, away(pod("p").namespace("other"), near(ZONE, is_in("app", "new"), **no_team))) == "++"
        )


REGIONS = [at("a", region="r1", zone="z1"), at("b", region="r1", zone="z2"), at("c", region="r2", zone="z3")]
KEEPS_AWAY = near(REGION, is_in("app", "web"))
TWO_RULES = (near(REGION, is_in("app", "web", "site")), near("zone", expression("role", "NotIn", "db", "cache")))


class TestTrials:
    @pytest.mark.parametrize(
        ("what", "incoming", "there", "comer", "where", "before", "with_it"),
        [
            (
                "one more in a region that is out already",
                away(WEB, KEEPS_AWAY),
                [A_WEB.on("a"), away(pod("r").on("c"), KEEPS_AWAY)],
                away(WEB, KEEPS_AWAY),
                "b",
                "ooe",
                "ooe",
            ),
            (
                "one that both rules are about",
                away(WEB, *TWO_RULES),
                [A_WEB.on("a"), away(pod("r").label(role="db").on("c"), KEEPS_AWAY)],
                away(WEB, *TWO_RULES),
                "c",
                "ooe",
                "ooo",
            ),
            (
                "company",
                pod("p").label(role="db").requires_pods(*TWO_RULES),
                [A_WEB.on("a")],
                pod("q2").label(app="web"),
                "c",
                "+aa",
                "+a+",
            ),
            (
                "one that keeps away by region and by host",
                away(pod("p").label(app="web"), near(REGION, is_in("app", "none"))),
                [A_WEB.on("a")],
                away(pod("q2").label(app="x"), KEEPS_AWAY, near(HOST, is_in("app", "web"))),
                "c",
                "+++",
                "++e",
            ),
        ],
    )
    def test_a_pod_that_comes_changes_verdicts_until_it_goes(
        self, what, incoming, there, comer, where, before, with_it
    ):
        cluster = cluster_of(REGIONS, there)
        plugin = InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state))

        def verdicts() -> str:
            codes = filter_codes(plugin, cluster, cycle_for(cluster, incoming.build()))
            return "".join("+aoe"[code] for code in codes.values())

        assert verdicts() == before
        with cluster.state.what_if() as trial:
            new = info(comer.set("metadata.name", "new").uid("new"), cluster.state)
            trial.add(new, where)
            assert verdicts() == with_it
        assert verdicts() == before

    def test_when_the_only_company_goes_the_pod_may_be_the_first_of_its_group(self):
        cluster = cluster_of(HOSTS, [A_WEB.on("a")])
        plugin = InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state))
        incoming = WEB.requires_pods(near(HOST, is_in("app", "web"))).build()
        assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == {"a": 0, "b": 1}
        with cluster.state.what_if() as trial:
            (company,) = cluster.state.pods
            trial.remove(company)
            assert filter_codes(plugin, cluster, cycle_for(cluster, incoming)) == {"a": 0, "b": 0}


def test_a_pod_without_rules_is_skipped_where_no_one_keeps_away_from_it():
    cluster = cluster_of(HOSTS, [A_WEB.on("a")])
    plugin = InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state))
    assert plugin.pre_filter(cycle_for(cluster, WEB.build())) is SKIP


@pytest.mark.parametrize(
    ("what", "there", "wants", "shuns", "expected"),
    [
        ("nothing there", "", "x", "x", "a"),
        ("neither wanted nor shunned", "y", "x", "x", "a"),
        ("wanted and shunned", "x", "x", "x", "o"),
        ("wanted by two rules and shunned by one", "xy", "xy", "x", "o"),
        ("not wanted, for one rule of two is not met, but shunned", "x", "xy", "xy", "a"),
        ("wanted by one rule of two", "xy", "xz", "xz", "a"),
        ("the other rule of two", "y", "xy", "xy", "a"),
    ],
)
def test_pods_on_one_node_that_are_wanted_and_shunned(what, there, wants, shuns, expected):
    pods = [pod("q").label(dict.fromkeys(there, "")).on("a")] if there else []
    incoming = pod("p").requires_pods(*(near(HOST, has(key)) for key in wants))
    shunning = away(pod("p"), *(near(HOST, has(key)) for key in shuns))
    assert signs([node("a")], pods, away(incoming, *(near(HOST, has(key)) for key in shuns))) == expected
    assert signs([node("a")], pods, shunning) == ("o" if set(there) & set(shuns) else "+")
