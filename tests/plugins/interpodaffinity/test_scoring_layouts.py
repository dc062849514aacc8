"""Preferred terms, and required ones of others, on small clusters: what nodes score."""

from __future__ import annotations

import pytest

from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.framework.status import SKIP, Code
from scheduler.plugins.interpodaffinity.plugin import InterPodAffinity
from tests.builders import expression, node, pod, state
from tests.plugins.clusters import Cluster, cycle_for, handle, node_scores

REGION, AZ = "region", "az"
NAMESPACES = {
    "default": {},
    "blue-1": {"team": "blue"},
    "blue-2": {"team": "blue"},
    "red-1": {"team": "red"},
    "red-2": {"team": "red"},
}


def about(key, *expressions, **fields) -> dict:
    """A term about pods for which all these hold."""
    return {"topologyKey": key, "labelSelector": {"matchExpressions": list(expressions)}, **fields}


def by_role(key, *roles, **fields) -> dict:
    return about(key, expression("role", "In", *roles), **fields)


def nodes(text: str) -> list:
    """Nodes a, b, c, ... with labels such as "region=x,az=1", separated by blanks; "-" is none."""
    built = []
    for letter, word in zip("abcde", text.split(), strict=False):
        pairs = [] if word == "-" else [pair.split("=") for pair in word.split(",")]
        built.append(node(letter).set("metadata.labels", dict(pairs)))
    return built


def at(letter, role="", *, built=None, number=0):
    """A pod on a node, with a role."""
    each = (built or pod("q")).set("metadata.name", f"{letter}{number}").uid(f"{letter}{number}").on(letter)
    return each.label(role=role) if role else each


def cluster_of(text, pods) -> Cluster:
    cluster = Cluster(state(namespaces=NAMESPACES))
    cluster.apply([each.build() for each in (*nodes(text), *pods)])
    return cluster


def finals(text, pods, incoming, **arguments) -> tuple[int, ...] | None:
    """The final scores in the order of the nodes, None if the pod is skipped."""
    cluster = cluster_of(text, pods)
    plugin = InterPodAffinity(InterPodAffinityArgs(**arguments), handle(cluster.state))
    found = node_scores(plugin, cluster, cycle_for(cluster, incoming.build()), list(cluster.nodes))
    return None if found is None else tuple(final for _, final in found.values())


PLAIN, WEB, DATA = pod("p"), pod("p").label(role="web"), pod("p").label(role="data")
NEAR_WEB, NEAR_DATA = by_role(REGION, "web"), by_role(REGION, "data")
LIKES_WEB, LIKES_DATA = PLAIN.prefers_pods(5, NEAR_WEB), PLAIN.prefers_pods(6, NEAR_DATA)
SHUNS_WEB = PLAIN.prefers_pods(5, by_role(AZ, "web"), anti=True)
SHUNS_DATA = PLAIN.prefers_pods(5, by_role(AZ, "data"), anti=True)
TORN = PLAIN.prefers_pods(8, NEAR_WEB).prefers_pods(5, by_role(AZ, "data"), anti=True)
HAS_ROLE, NO_OLD = expression("role", "Exists"), expression("old", "DoesNotExist")
THREE = "region=x region=y az=1"


@pytest.mark.parametrize(
    ("what", "text", "pods", "incoming", "expected"),
    [
        ("no preferences at all", THREE, [], WEB, None),
        ("no nodes", "", [], DATA, None),
        (
            "liked: one region of three places",
            THREE,
            [at("a", "web"), at("b", "data"), at("c", "web")],
            LIKES_WEB.label(role="web"),
            (100, 0, 0),
        ),
        (
            "liked: all nodes of the region",
            "region=x region=x,az=1 region=y",
            [at("a", "web")],
            LIKES_WEB,
            (100, 100, 0),
        ),
        (
            "liked: the region with more of them",
            "region=x region=y region=x region=x region=y",
            [at("a", "data"), at("a", "data", number=1), *(at(letter, "data") for letter in "bcde")],
            LIKES_DATA.label(role="web"),
            (100, 0, 100, 100, 0),
        ),
        (
            "liked: by several rules",
            THREE,
            [at("a", "web"), at("b", "data"), at("c", "web")],
            WEB.prefers_pods(
                8, about(REGION, expression("role", "NotIn", "web"), expression("role", "In", "data"))
            ).prefers_pods(2, about(REGION, HAS_ROLE, NO_OLD)),
            (20, 100, 0),
        ),
        (
            "liking others",
            THREE,
            [at("a", "web", built=LIKES_WEB), at("b", "data", built=LIKES_DATA)],
            DATA,
            (0, 100, 0),
        ),
        (
            "required by others",
            THREE,
            [
                at(
                    letter,
                    role,
                    built=PLAIN.requires_pods(by_role(REGION, "web", "site"), about(REGION, HAS_ROLE, NO_OLD)),
                )
                for letter, role in (("a", "web"), ("b", "data"))
            ],
            WEB,
            (100, 100, 0),
        ),
        (
            "disliked: not by the others",
            "az=1 region=x",
            [at("a", "web"), at("b", "data")],
            SHUNS_WEB.label(role="web"),
            (0, 100),
        ),
        (
            "disliked: not where the key is missing",
            "az=1 region=x",
            [at("a", "web"), at("b", "web")],
            SHUNS_WEB.label(role="web"),
            (0, 100),
        ),
        (
            "disliked: where there are more",
            "az=1 region=y",
            [at("a", "web"), at("a", "web", number=1), at("b", "data")],
            SHUNS_WEB.label(role="web"),
            (0, 100),
        ),
        (
            "disliked by others",
            "az=1 az=2",
            [at("a", "web", built=SHUNS_DATA), at("b", "data", built=SHUNS_WEB)],
            DATA,
            (0, 100),
        ),
        (
            "liked by region, disliked by zone",
            "region=x az=1",
            [at("a", "web"), at("b", "web")],
            TORN.label(role="web"),
            (100, 0),
        ),
        (
            "the same among many",
            "region=x,az=1 region=y region=x region=x region=y",
            [
                at("a", "web"),
                at("a", "web", number=1),
                at("b", "web"),
                at("c", "web"),
                at("c", "web", number=1),
                at("d", "web"),
                at("e", "web"),
            ],
            TORN.label(role="web"),
            (100, 0, 100, 100, 0),
        ),
        (
            "liked and disliked, both ways",
            "region=x az=1 region=y az=2",
            [at("a", "web"), at("b", "data"), at("c", built=TORN), at("d", built=SHUNS_WEB)],
            TORN.label(role="web"),
            (100, 0, 100, 0),
        ),
        (
            "all nodes in the region of one that likes it",
            "region=x region=x",
            [at("a", "web"), at("b", built=TORN)],
            WEB,
            (0, 0),
        ),
    ],
)
def test_company_that_is_liked_or_not(what, text, pods, incoming, expected):
    assert finals(text, pods, incoming) == expected


BLUE = {"namespaceSelector": {"matchExpressions": [expression("team", "In", "blue")]}, "namespaces": ["red-2"]}
NOT_BLUE = {"namespaceSelector": {"matchExpressions": [expression("team", "NotIn", "blue")]}}


class TestNamespaces:
    @pytest.mark.parametrize(("anti", "expected"), [(False, (100, 0, 0)), (True, (0, 100, 100))])
    def test_of_terms_of_others_are_looked_up_for_the_pod(self, anti, expected):
        picky = PLAIN.prefers_pods(5, by_role(REGION, "web", **BLUE), anti=anti)
        pods = [at("a", "web", built=picky), at("b", "data", built=LIKES_DATA)]
        assert finals(THREE, pods, WEB.namespace("blue-1")) == expected

    @pytest.mark.parametrize("third", ["red-1", "red-2"], ids=["not selected", "by name"])
    @pytest.mark.parametrize(("anti", "expected"), [(False, (100, 0)), (True, (0, 100))])
    def test_of_its_own_terms(self, third, anti, expected):
        picky = WEB.namespace("blue-1").prefers_pods(5, by_role(REGION, "web", **BLUE), anti=anti)
        homes = [("a", "blue-1"), ("a", "blue-1"), ("a", third), ("b", "blue-2")]
        pods = [at(where, "web", number=n).namespace(home) for n, (where, home) in enumerate(homes)]
        assert finals("region=x region=y", pods, picky) == expected

    @pytest.mark.parametrize(("anti", "expected"), [(False, (0, 100)), (True, (100, 0))])
    def test_may_be_left_out_by_a_selector(self, anti, expected):
        picky = WEB.namespace("blue-1").prefers_pods(5, by_role(REGION, "web", **NOT_BLUE), anti=anti)
        homes = [("a", "blue-1"), ("a", "blue-1"), ("b", "red-1")]
        pods = [at(where, "web", number=n).namespace(home) for n, (where, home) in enumerate(homes)]
        assert finals("region=x region=y", pods, picky) == expected


class TestArguments:
    EXISTING = (at("a", "web", built=TORN), at("b", "data", built=LIKES_DATA))

    @pytest.mark.parametrize(("ignored", "expected"), [(True, None), (False, (0, 100))])
    def test_preferences_of_others_can_be_ignored(self, ignored, expected):
        found = finals("region=x region=y", self.EXISTING, DATA, ignore_preferred_terms_of_existing_pods=ignored)
        assert found == expected

    @pytest.mark.parametrize(
        ("namespace", "weight", "expected"),
        [
            ("default", 1, (100, 100, 0)),
            ("default", 0, None),
            ("red-1", 1, None),
            ("blue-1", 1, (100, 100, 0)),
            ("red-2", 1, (100, 100, 0)),
        ],
        ids=["of the namespace", "with weight 0", "of no namespace of the term", "by a selector", "by name"],
    )
    def test_what_others_require_weighs_as_much_as_is_said(self, namespace, weight, expected):
        selector = {"matchExpressions": [expression("team", "In", "blue")]}
        wanting = PLAIN.requires_pods(
            by_role(REGION, "web", namespaces=["default", "red-2"], namespaceSelector=selector)
        )
        pods = [at("a", built=wanting), at("b", built=wanting)]
        assert finals(THREE, pods, WEB.namespace(namespace), hard_pod_affinity_weight=weight) == expected


@pytest.mark.parametrize("anti", [False, True])
def test_a_value_that_is_none_fails_the_attempt(anti):
    cluster = cluster_of("region=x region=y", [])
    cycle = cycle_for(cluster, pod("p").prefers_pods(5, by_role(REGION, "{bad}"), anti=anti).build())
    answer = InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state)).pre_score(cycle, cycle.nodes)
    assert answer is not None
    assert answer.code is Code.ERROR
    assert 'Invalid value: "{bad}"' in answer.message


def test_nothing_to_count_is_skipped():
    cluster = cluster_of("region=x", [at("a", "web")])
    cycle = cycle_for(cluster, LIKES_DATA.build())
    assert InterPodAffinity(InterPodAffinityArgs(), handle(cluster.state)).pre_score(cycle, cycle.nodes) is SKIP
