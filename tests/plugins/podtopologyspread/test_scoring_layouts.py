"""ScheduleAnyway constraints on small clusters: what nodes score where some of them are feasible."""

from __future__ import annotations

import math

import msgspec
import pytest

from scheduler.api.objects import ReplicaSet, Service, TopologySpreadConstraint
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from tests.builders import expression, pod, state, term
from tests.plugins.clusters import HOST, ZONE, cycle_for, handle, node_scores
from tests.plugins.podtopologyspread.layouts import DATA, FOUR, IS_DATA, IS_WEB, SLOT, WEB, cluster_of, pods_of

SSD = {"disk": "ssd"}
PLAIN, BOTH = pod("p").label(IS_WEB), pod("p").label(IS_WEB).label(IS_DATA)
HONOR_TAINTS, IGNORE_AFFINITY = {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"}


def soft(built, key, max_skew=1, selector=WEB, **fields):
    return built.spreads(key, max_skew, soft=True, labelSelector=selector, **fields)


BY_HOST, BY_ZONE = soft(PLAIN, HOST), soft(PLAIN, ZONE)
WEB_BY_ZONE_DATA_BY_HOST = soft(soft(BOTH, ZONE), HOST, selector=DATA)


def outcome(nodes: str, pods, incoming, feasible="", objects=(), args=None) -> dict[str, tuple[int, int]] | None:
    """Raw and final score of each feasible node; all nodes are feasible unless their letters are given."""
    cluster = cluster_of(nodes, pods, state())
    for each in objects:
        cluster.state.set_object(type(each).__name__, each)
    plugin = PodTopologySpread(args or PodTopologySpreadArgs(), handle(cluster.state))
    return node_scores(plugin, cluster, cycle_for(cluster, incoming.build()), list(feasible or cluster.nodes))


def finals(*about, **more) -> tuple[int, ...]:
    return tuple(final for _, final in outcome(*about, **more).values())


def raws(*about, **more) -> tuple[int, ...]:
    return tuple(raw for raw, _ in outcome(*about, **more).values())


@pytest.mark.parametrize(
    ("what", "nodes", "pods", "incoming", "feasible", "expected"),
    [
        ("by host: no pods", "a b", [], BY_HOST, "", (100, 100)),
        ("by host: one feasible node", "a b", pods_of("aab"), BY_HOST, "a", (100,)),
        ("by host: as many on each", "a b", pods_of("ab"), BY_HOST, "", (100, 100)),
        ("by host: 2, 1, 0 and 3", "a b c d", pods_of("aabddd"), BY_HOST, "", (20, 60, 100, 0)),
        ("by host: no selector", "a b c d", pods_of("aabddd"), PLAIN.spreads(HOST, soft=True), "", (100,) * 4),
        (
            "by host: 2, 1, 0 and 3 with a skew of 2",
            "a b c d",
            pods_of("aabddd"),
            soft(PLAIN, HOST, 2),
            "",
            (33, 66, 100, 16),
        ),
        (
            "by host: 4, 3, 2 and 1 with a skew of 3",
            "a b c d",
            pods_of("aaaabbbccd"),
            soft(PLAIN, HOST, 3),
            "",
            (44, 66, 77, 100),
        ),
        (
            "by host: 4, 2, 1 where the node of 3 is not feasible",
            "a b x y",
            pods_of("aaaabbxyyy"),
            BY_HOST,
            "abx",
            (33, 83, 100),
        ),
        ("by host: one of them without hostname", "a b- x y", pods_of("aaaabbxyyy"), BY_HOST, "abx", (16, 0, 100)),
        ("by zone: 6 and 4", FOUR, pods_of("aaaabbxyyy"), BY_ZONE, "abx", (75, 75, 100)),
        ("by zone 3 and 6, by host 2 and 2", FOUR, pods_of("aabxxyyyy"), soft(BY_ZONE, HOST), "ax", (100, 63)),
        (
            "by zone twice: web 3 and 3, data 2 and 1",
            FOUR,
            pods_of("ayy", "", "aby"),
            soft(soft(BOTH, ZONE), ZONE, selector=DATA),
            "ax",
            (85, 100),
        ),
        ("web by zone, data by host", FOUR, pods_of("ay", "y", "b"), WEB_BY_ZONE_DATA_BY_HOST, "", (60, 20, 100, 60)),
        ("the same with empty domains", FOUR, pods_of("x", "b", "y"), WEB_BY_ZONE_DATA_BY_HOST, "", (100, 60, 40, 0)),
        (
            "the same with three feasible nodes",
            FOUR,
            pods_of("ay", "y", "b"),
            WEB_BY_ZONE_DATA_BY_HOST,
            "abx",
            (50, 25, 100),
        ),
        (
            "pods of other namespaces do not count",
            "a b",
            [*pods_of("abb"), pod("r").label(IS_WEB).namespace("n").on("a")],
            BY_HOST,
            "",
            (100, 33),
        ),
        (
            "nor do terminating ones",
            "a b",
            [*pods_of("b"), pod("r").label(IS_WEB).on("a").terminating()],
            BY_HOST,
            "",
            (100, 0),
        ),
        (
            "minDomains makes no difference",
            "a b c",
            pods_of("aabbc"),
            soft(PLAIN, SLOT, 2, minDomains=10),
            "",
            (75, 75, 100),
        ),
    ],
)
def test_fuller_domains_score_less(what, nodes, pods, incoming, feasible, expected):
    assert finals(nodes, pods, incoming, feasible) == expected


@pytest.mark.parametrize(
    "asking",
    [PLAIN.node_selector(SSD), PLAIN.requires_node(term(expression("disk", "In", "ssd")))],
    ids=["node selector", "node affinity"],
)
def test_pods_on_nodes_that_the_pod_does_not_ask_for_count_only_if_affinity_is_ignored(asking):
    nodes, pods = "a* b* c", pods_of("aabc")
    assert finals(nodes, pods, soft(asking, SLOT)) == (0, 33, 100)
    assert finals(nodes, pods, soft(asking, SLOT, **IGNORE_AFFINITY)) == (66, 100, 100)


def test_pods_on_tainted_nodes_count_unless_taints_are_honoured():
    nodes, pods = "a b c!", pods_of("aabc")
    assert finals(nodes, pods, soft(PLAIN, SLOT, **HONOR_TAINTS)) == (0, 33, 100)
    assert finals(nodes, pods, soft(PLAIN, SLOT)) == (66, 100, 100)


@pytest.mark.parametrize(
    ("what", "pods", "incoming"),
    [
        (
            "are all of an empty selector",
            pods_of("ac", "c", "b"),
            soft(soft(BOTH, ZONE, selector={}, matchLabelKeys=["app"]), HOST, selector={}, matchLabelKeys=["role"]),
        ),
        (
            "narrow another",
            [
                *pods_of("ac", "c"),
                *(
                    pod(f"r{on}").label(IS_DATA).label(size="s", **more).on(on)
                    for on, more in (("b", IS_WEB), ("c", {}))
                ),
            ],
            soft(soft(BOTH.label(size="s"), ZONE), HOST, selector=DATA, matchLabelKeys=["size"]),
        ),
    ],
)
def test_match_label_keys(what, pods, incoming):
    assert finals("a/z1 b/z1 c/z2 d/z2", pods, incoming) == (60, 20, 60, 100)


class TestWeight:
    """The raw score of one pod in a domain tells how many domains the weight is made of."""

    @staticmethod
    def of(domains: int, count: int = 10) -> int:
        return round(count * math.log(domains + 2))

    def test_is_of_the_number_of_zones_and_of_nodes(self):
        pods = pods_of("a" * 10)
        assert raws("a/z1 b/z1 x/z2", pods, BY_ZONE) == (self.of(2), self.of(2), 0)
        assert raws("a/z1 b/z1 x/z2", pods, BY_HOST) == (self.of(3), 0, 0)

    def test_is_of_no_pods_without_a_selector(self):
        assert raws("a/z1 b/z1 x/z2", pods_of("a" * 10), PLAIN.spreads(ZONE, soft=True)) == (0, 0, 0)

    def test_nodes_that_lack_a_label_do_not_add_to_it(self):
        nodes, pods = "a/z1 b/z1 x", pods_of("", "a" * 10)
        assert raws(nodes, pods, soft(BY_ZONE, HOST, selector=DATA)) == (self.of(2), 0, 0)
        assert raws(nodes, pods_of("a" * 10), soft(BY_ZONE, HOST, selector=DATA)) == (self.of(1), self.of(1), 0)

    @pytest.mark.parametrize(
        "incoming",
        [
            soft(PLAIN.node_selector(SSD), ZONE),
            soft(PLAIN.node_selector(SSD), ZONE, **IGNORE_AFFINITY),
            soft(PLAIN.requires_node(term(expression("disk", "Exists"))), ZONE),
            soft(PLAIN.requires_node(term(expression("disk", "Exists"))), ZONE, **IGNORE_AFFINITY),
            soft(PLAIN, ZONE, **HONOR_TAINTS),
            soft(PLAIN, ZONE),
        ],
        ids=["selector", "selector ignored", "affinity", "affinity ignored", "taints", "taints ignored"],
    )
    def test_nodes_that_do_not_count_add_to_it(self, incoming):
        assert raws("a*/z1 b*/z1 x!/z2", pods_of("a" * 10), incoming) == (self.of(2), self.of(2), 0)


def replica_set(selector: dict) -> ReplicaSet:
    document = {"metadata": {"name": "r", "namespace": "default"}, "spec": {"selector": selector}}
    return msgspec.convert(document, ReplicaSet)


def service(selector: dict[str, str]) -> Service:
    return msgspec.convert({"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": selector}}, Service)


def listed(*constraints: tuple[str, int, str]) -> PodTopologySpreadArgs:
    documents = [{"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": what} for key, skew, what in constraints]
    found = msgspec.convert(documents, tuple[TopologySpreadConstraint, ...])
    return PodTopologySpreadArgs(defaulting_type="List", default_constraints=found)


class TestDefaults:
    OWNED = PLAIN.owned_by("ReplicaSet", "r")

    def test_of_the_system_weigh_nodes_without_zones_too(self):
        pods = pods_of("aaaabbbccd")
        assert finals("a b c d", pods, PLAIN, objects=[service(IS_WEB)]) == (44, 66, 77, 100)

    def test_of_the_system_take_no_zone_for_a_zone(self):
        hosts, zones = math.log(4 + 2), math.log(2 + 2)
        found = raws("a/mars b/mars c d", pods_of("aaac"), self.OWNED, objects=[replica_set(WEB)])
        assert found == (
            round(3 * hosts + 2 + 3 * zones + 4),
            round(2 + 3 * zones + 4),
            round(1 * hosts + 2),
            2,
        )

    def test_of_a_list_apply_if_they_are_soft(self):
        args = listed((HOST, 1, "ScheduleAnyway"), ("rack", 2, "DoNotSchedule"), (SLOT, 2, "ScheduleAnyway"))
        found = raws("a b", pods_of("aaa"), self.OWNED, objects=[replica_set(WEB)], args=args)
        assert found == (round(2 * 3 * math.log(4) + 1), 1)

    @pytest.mark.parametrize(
        ("incoming", "objects", "args"),
        [
            (PLAIN, [], listed()),
            (OWNED, [replica_set({"matchLabels": {"tier": "x"}})], listed((SLOT, 2, "DoNotSchedule"))),
            (PLAIN.owned_by("ReplicaSet", "gone"), [replica_set(WEB)], listed((SLOT, 2, "ScheduleAnyway"))),
            (OWNED.spreads(ZONE, labelSelector=DATA), [replica_set(WEB)], listed((SLOT, 2, "ScheduleAnyway"))),
        ],
        ids=["none", "hard ones only", "a controller that is not there", "the pod has hard ones of its own"],
    )
    def test_skipped_without_soft_constraints(self, incoming, objects, args):
        assert outcome("a b", pods_of("a"), incoming, objects=objects, args=args) is None

    def test_do_not_add_to_the_pods_own(self):
        incoming = soft(self.OWNED.spreads(ZONE, labelSelector=DATA), SLOT, 2, selector=DATA)
        args = listed(("galaxy", 2, "ScheduleAnyway"))
        found = raws("a b", pods_of("", "aaa"), incoming, objects=[replica_set(WEB)], args=args)
        assert found == (round(3 * math.log(4) + 1), 1)
