"""How many pods each domain is found to have, on small clusters, and in a trial of changes to them."""

from __future__ import annotations

import pytest

from scheduler.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, compile_constraints
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from tests.builders import expression, info, pod, state, term
from tests.plugins.clusters import HOST, ZONE
from tests.plugins.podtopologyspread.layouts import DATA, FOUR, IS_DATA, IS_WEB, WEB, nodes_of, pods_of

SSD = {"disk": "ssd"}
PLAIN = pod("p").label(IS_WEB)
BY_ZONE, BY_HOST = PLAIN.spreads(ZONE, labelSelector=WEB), PLAIN.spreads(HOST, labelSelector=WEB)
BY_BOTH = BY_ZONE.spreads(HOST, labelSelector=WEB)
WEB_BY_ZONE_DATA_BY_HOST = BY_ZONE.spreads(HOST, labelSelector=DATA)
HONOR, IGNORE = {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"}


def prepared(nodes: str, pods, incoming):
    cluster = state(nodes_of(nodes), pods)
    shape = info(incoming, cluster).shape
    constraints = compile_constraints(shape.pod.spec.topology_spread_constraints, shape.labels, DO_NOT_SCHEDULE)
    counts = SpreadCounts(cluster, shape, constraints, require_all=True)
    counts.refresh(cluster.nodes)
    return cluster, counts


def by_domain(cluster, counts, trial=None) -> list[dict[str, int]]:
    """For each constraint, the domains with a node that counts, and their pods."""
    found = []
    for item in counts.items:
        sums = item.sums(cluster.nodes.size)
        if trial is not None:
            sums = sums + item.uncounted(trial, cluster.nodes, len(sums))
        found.append({item.column.values[domain]: int(sums[domain]) for domain in item.domains()})
    return found


def counted(nodes: str, pods, incoming) -> list[dict[str, int]]:
    return by_domain(*prepared(nodes, pods, incoming))


AT_HOME = pods_of("aabyy")


@pytest.mark.parametrize(
    ("what", "nodes", "pods", "incoming", "expected"),
    [
        ("an empty cluster", FOUR, [], PLAIN.spreads(ZONE, 5, labelSelector=DATA), [{"z1": 0, "z2": 0}]),
        ("one constraint", FOUR, AT_HOME, BY_ZONE, [{"z1": 3, "z2": 2}]),
        ("no selector", FOUR, AT_HOME, PLAIN.spreads(ZONE), [{"z1": 0, "z2": 0}]),
        ("a zone without pods", f"{FOUR} o/z3 p/z3", AT_HOME, BY_ZONE, [{"z1": 3, "z2": 2, "z3": 0}]),
        (
            "pods of other namespaces",
            FOUR,
            [
                *pods_of("aby"),
                pod("r").label(IS_WEB).namespace("n").on("a"),
                pod("s").label(IS_WEB).namespace("m").on("y"),
            ],
            BY_ZONE,
            [{"z1": 2, "z2": 1}],
        ),
        (
            "two constraints",
            FOUR,
            pods_of("aabyyyy"),
            BY_BOTH,
            [{"z1": 3, "z2": 4}, {"a": 2, "b": 1, "x": 0, "y": 4}],
        ),
        (
            "soft constraints among them are left out",
            "a/z1 b/z1 y/z2",
            pods_of("aabyyyy"),
            PLAIN.spreads(ZONE, soft=True, labelSelector=WEB)
            .spreads(ZONE, labelSelector=WEB)
            .spreads(HOST, soft=True, labelSelector=WEB)
            .spreads(HOST, labelSelector=WEB),
            [{"z1": 3, "z2": 4}, {"a": 2, "b": 1, "y": 4}],
        ),
        (
            "selectors of their own",
            "a/z1 b/z1 y/z2",
            pods_of("a", "b"),
            WEB_BY_ZONE_DATA_BY_HOST,
            [{"z1": 1, "z2": 0}, {"a": 0, "b": 1, "y": 0}],
        ),
        (
            "selectors that pods match both of",
            "a/z1 b/z1 y/z2",
            pods_of("abyy", "", "ayy"),
            WEB_BY_ZONE_DATA_BY_HOST,
            [{"z1": 3, "z2": 4}, {"a": 1, "b": 0, "y": 2}],
        ),
        (
            "a node without one of the keys counts for neither",
            "a/z1 b- x/z2",
            pods_of("abx"),
            BY_BOTH,
            [{"z1": 1, "z2": 1}, {"a": 1, "x": 1}],
        ),
        (
            "two constraints of one key",
            FOUR,
            pods_of("b", "xy", "ay"),
            BY_ZONE.spreads(ZONE, labelSelector=DATA),
            [{"z1": 2, "z2": 1}, {"z1": 1, "z2": 3}],
        ),
    ],
)
def test_matching_pods_are_counted_by_domain(what, nodes, pods, incoming, expected):
    assert counted(nodes, pods, incoming) == expected


@pytest.mark.parametrize(
    "asking",
    [PLAIN.node_selector(SSD), PLAIN.requires_node(term(expression("disk", "In", "ssd")))],
    ids=["node selector", "node affinity"],
)
def test_affinity_counts_unless_it_is_to_be_ignored(asking):
    nodes, pods = "a* b* c", [*pods_of("abb"), pod("r").on("c")]
    assert counted(nodes, pods, asking.spreads(HOST, labelSelector=WEB)) == [{"a": 1, "b": 2}]
    assert counted(nodes, pods, asking.spreads(HOST, labelSelector=WEB, **IGNORE)) == [{"a": 1, "b": 2, "c": 0}]


def test_taints_count_only_if_they_are_to_be_honoured_and_are_not_tolerated():
    nodes, pods = "a b c!", [*pods_of("abb"), pod("r").on("c")]
    honouring = PLAIN.spreads(HOST, labelSelector=WEB, **HONOR)
    assert counted(nodes, pods, BY_HOST) == [{"a": 1, "b": 2, "c": 0}]
    assert counted(nodes, pods, honouring) == [{"a": 1, "b": 2}]
    assert counted(nodes, pods, honouring.tolerates("reserved")) == [{"a": 1, "b": 2, "c": 0}]


@pytest.mark.parametrize(
    ("what", "nodes", "web", "incoming", "expected"),
    [
        (
            "affinity by zone only",
            "a*/z1 b/z1 x*/z2",
            "bbx",
            BY_ZONE.node_selector(SSD).spreads(HOST, labelSelector=WEB, **IGNORE),
            [{"z1": 0, "z2": 1}, {"a": 0, "b": 2, "x": 1}],
        ),
        (
            "taints by zone only",
            "a*/z1 b!/z1 x*/z2",
            "bbx",
            PLAIN.spreads(ZONE, labelSelector=WEB, **HONOR).spreads(HOST, labelSelector=WEB),
            [{"z1": 0, "z2": 1}, {"a": 0, "b": 2, "x": 1}],
        ),
        (
            "affinity by both",
            "a/z1 b*!/z1 x*/z2 y/z2",
            "aaxy",
            BY_BOTH.node_selector(SSD),
            [{"z1": 0, "z2": 1}, {"b": 0, "x": 1}],
        ),
        (
            "neither by zone, both by node",
            "a/z1 b*!/z1 x*/z2 y*/z2",
            "aaxxy",
            PLAIN.node_selector(SSD)
            .spreads(ZONE, labelSelector=WEB, **IGNORE)
            .spreads(HOST, labelSelector=WEB, **HONOR),
            [{"z1": 2, "z2": 3}, {"x": 2, "y": 1}],
        ),
    ],
)
def test_policies_are_each_constraints_own(what, nodes, web, incoming, expected):
    assert counted(nodes, pods_of(web), incoming) == expected


BLUE = pod("p").label(app="web", color="blue")


@pytest.mark.parametrize(
    ("what", "incoming", "labels", "expected"),
    [
        (
            "narrow a selector",
            BLUE.spreads(ZONE, labelSelector=WEB, matchLabelKeys=["color"]),
            [
                ("a", {}),
                ("a", {"color": "blue"}),
                ("b", {}),
                ("y", {"color": "blue"}),
                ("y", {"app": "x", "color": "red"}),
            ],
            {"z1": 1, "z2": 1},
        ),
        (
            "stand alone beside an empty selector",
            BLUE.spreads(ZONE, labelSelector={}, matchLabelKeys=["app"]),
            [(where, {}) for where in "aabyy"],
            {"z1": 3, "z2": 2},
        ),
        (
            "are nothing without a selector",
            BLUE.spreads(ZONE, matchLabelKeys=["color"]),
            [(where, {"color": "blue"}) for where in "aabyy"],
            {"z1": 0, "z2": 0},
        ),
        (
            "are nothing if the pod lacks the label",
            BLUE.spreads(ZONE, labelSelector=WEB, matchLabelKeys=["size"]),
            [(where, {}) for where in "aabyy"],
            {"z1": 3, "z2": 2},
        ),
    ],
)
def test_match_label_keys(what, incoming, labels, expected):
    pods = [pod(f"q{n}").label(app="web").label(more).on(where) for n, (where, more) in enumerate(labels)]
    assert counted(FOUR, pods, incoming) == [expected]


def after(nodes, there, incoming, *, come=(), go=()) -> list[dict[str, int]]:
    """The counts in a trial in which pods come, and those of `there` with these numbers go."""
    cluster, counts = prepared(nodes, there, incoming)
    with cluster.what_if() as trial:
        by_name = {each.name: each for each in cluster.pods}
        for number in go:
            trial.remove(by_name[f"q{number}"])
        for number, (built, where) in enumerate(come):
            trial.add(info(built.set("metadata.name", f"new{number}").uid(f"new{number}"), cluster), where)
        return by_domain(cluster, counts, trial)


THREE = "a/z1 b/z1 x/z2"
COMER, DATA_COMER = pod("q").label(IS_WEB), pod("q").label(IS_WEB).label(IS_DATA)
NOT_SSD = PLAIN.requires_node(term(expression("disk", "NotIn", "ssd"))).spreads(ZONE, labelSelector=WEB)


class TestTrials:
    @pytest.mark.parametrize(
        ("what", "nodes", "there", "incoming", "comer", "where", "expected"),
        [
            ("to an empty cluster", "a/z1 b/z1", [], BY_HOST, COMER, "a", [{"a": 1, "b": 0}]),
            ("to the emptier node", "a/z1 b/z1", pods_of("b"), BY_HOST, COMER, "a", [{"a": 1, "b": 1}]),
            ("of another namespace", "a/z1 b/z1", pods_of("b"), BY_HOST, COMER.namespace("n"), "a", [{"a": 0, "b": 1}]),
            ("to the fuller node", "a/z1 b/z1", pods_of("b"), BY_HOST, COMER, "b", [{"a": 0, "b": 2}]),
            ("for two constraints", "a/z1 x/z2", [], BY_BOTH, COMER, "a", [{"z1": 1, "z2": 0}, {"a": 1, "x": 0}]),
            (
                "to the emptier of both",
                "a/z1 x/z2",
                pods_of("x"),
                BY_BOTH,
                COMER,
                "a",
                [{"z1": 1, "z2": 1}, {"a": 1, "x": 1}],
            ),
            (
                "to the emptier node of the fuller zone",
                THREE,
                pods_of("bbx"),
                BY_BOTH,
                COMER,
                "a",
                [{"z1": 3, "z2": 1}, {"a": 1, "b": 2, "x": 1}],
            ),
            (
                "that one constraint selects",
                THREE,
                pods_of("", "x", "bx"),
                WEB_BY_ZONE_DATA_BY_HOST,
                COMER,
                "a",
                [{"z1": 2, "z2": 1}, {"a": 0, "b": 1, "x": 2}],
            ),
            (
                "that both select",
                THREE,
                pods_of("", "bx", "x"),
                WEB_BY_ZONE_DATA_BY_HOST,
                DATA_COMER,
                "a",
                [{"z1": 1, "z2": 1}, {"a": 1, "b": 1, "x": 2}],
            ),
            ("to a node that does not count", "a*/z1 b/z2", pods_of("ab"), NOT_SSD, COMER, "a", [{"z2": 1}]),
            ("to a node that counts", "a*/z1 b/z2", pods_of("ab"), BY_ZONE, COMER, "b", [{"z1": 1, "z2": 2}]),
            ("that is not selected", "a*/z1 b/z2", pods_of("ab"), BY_ZONE, pod("q"), "b", [{"z1": 1, "z2": 1}]),
            ("beside a tainted node", "a!/z1 b/z2", pods_of("ab"), BY_ZONE, COMER, "b", [{"z1": 1, "z2": 2}]),
            (
                "beside a tolerated one",
                "a!/z1 b/z2",
                pods_of("ab"),
                BY_ZONE.tolerates("reserved"),
                COMER,
                "b",
                [{"z1": 1, "z2": 2}],
            ),
        ],
    )
    def test_a_pod_that_comes_counts_in_its_domains(self, what, nodes, there, incoming, comer, where, expected):
        assert after(nodes, there, incoming, come=[(comer, where)]) == expected

    @pytest.mark.parametrize(
        ("what", "nodes", "there", "incoming", "number", "expected"),
        [
            ("from the fuller zone", THREE, pods_of("abx"), BY_ZONE, 0, [{"z1": 1, "z2": 1}]),
            ("from one of equal zones", FOUR, pods_of("abxy"), BY_ZONE, 0, [{"z1": 1, "z2": 2}]),
            ("that is not selected", FOUR, pods_of("abxy", "a"), BY_ZONE, 4, [{"z1": 2, "z2": 2}]),
            (
                "for two constraints",
                THREE,
                pods_of("aabxx"),
                BY_BOTH,
                3,
                [{"z1": 3, "z2": 1}, {"a": 2, "b": 1, "x": 1}],
            ),
            ("from a node that does not count", "a*/z1 b/z2", pods_of("aab"), NOT_SSD, 0, [{"z2": 1}]),
            ("the last of its zone", "a*/z1 b/z2", pods_of("ab"), BY_ZONE, 1, [{"z1": 1, "z2": 0}]),
        ],
    )
    def test_a_pod_that_goes_counts_no_longer(self, what, nodes, there, incoming, number, expected):
        assert after(nodes, there, incoming, go=[number]) == expected
