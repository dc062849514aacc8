"""How the spread constraints of a pod come out, domain by domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.explain.views import SpreadDomain
from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.spread import Outcome, arithmetic, deciding, outcomes
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster

if TYPE_CHECKING:
    from scheduler.explain.views import SpreadArithmetic

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"matchLabels": {"app": "web"}}


def small(name: str, zone: str = "") -> Any:
    made = node(name).capacity(cpu="2", memory="8Gi", pods="10")
    return made.zone(zone) if zone else made


def web(number: int, on: str) -> PodBuilder:
    return pod(f"web-{number}").uid(f"web-{number}").on(on).label(app="web")


def waiting(**fields: Any) -> PodBuilder:
    return pod("new").label(app="web").spreads(ZONE, 1, labelSelector=WEB, **fields)


def survey(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder) -> Any:
    cluster = Cluster(nodes, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def one(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder) -> Outcome:
    (found,) = outcomes(survey(waits, nodes, *pods))
    return found


def told(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder, why: str = "") -> SpreadArithmetic:
    (found,) = arithmetic(survey(waits, nodes, *pods), lambda _: why)
    return found


def names(outcome: Outcome, domains: list[int]) -> list[str]:
    return sorted(map(outcome.name, domains))


class TestOutcomes:
    def test_domains_are_those_of_the_nodes_with_their_pods_counted(self) -> None:
        found = one(waiting(), [small("a", "z1"), small("b", "z1"), small("c", "z2")], web(0, "a"), web(1, "b"))
        assert {found.name(domain): int(found.sums[domain]) for domain in found.domains} == {"z1": 2, "z2": 0}
        assert {found.name(domain): int(found.nodes[domain]) for domain in found.domains} == {"z1": 2, "z2": 1}
        assert found.minimum == 0

    def test_the_lowest_are_those_with_the_fewest_pods(self) -> None:
        found = one(waiting(), [small("a", "z1"), small("b", "z2"), small("c", "z3")], web(0, "a"))
        assert names(found, found.lowest) == ["z2", "z3"]

    def test_with_fewer_domains_than_wanted_the_minimum_is_nothing_and_nobody_holds_it(self) -> None:
        found = one(waiting(minDomains=3), [small("a", "z1"), small("b", "z2")], web(0, "a"), web(1, "b"))
        assert (found.too_few, found.minimum, found.lowest) == (True, 0, [])

    def test_a_domain_is_stuck_if_it_is_lowest_and_none_of_its_nodes_can_be_used(self) -> None:
        nodes = [small("a", "z1"), small("b", "z2").unschedulable()]
        found = one(waiting(), nodes, web(0, "a"))
        assert names(found, found.stuck) == ["z2"]
        found = one(waiting(), [*nodes, small("c", "z2")], web(0, "a"))
        assert found.stuck == []

    def test_constraints_keep_their_place_in_the_pods_list(self) -> None:
        waits = (
            pod("new")
            .label(app="web")
            .spreads(HOST, 1, soft=True, labelSelector=WEB)
            .spreads(ZONE, 1, labelSelector=WEB)
        )
        assert one(waits, [small("a", "z1")]).place == 1

    def test_a_pod_without_any_has_none(self) -> None:
        assert outcomes(survey(pod("new"), [small("a", "z1")])) == []


class TestDeciding:
    def test_only_those_that_turn_a_node_down(self) -> None:
        both = waiting().spreads(HOST, 5, labelSelector=WEB)
        nodes = [small("a", "z1"), small("b", "z2").unschedulable()]
        assert [outcome.key for outcome in deciding(survey(both, nodes, web(0, "a")))] == [ZONE]

    def test_none_where_the_pod_fits(self) -> None:
        assert deciding(survey(waiting(), [small("a", "z1"), small("b", "z2")])) == []


class TestArithmetic:
    NODES = (small("a", "z1"), small("b", "z2").unschedulable())

    def test_the_numbers_are_those_of_the_rule(self) -> None:
        found = told(waiting(), [*self.NODES], web(0, "a"))
        assert (found.topology_key, found.max_skew, found.min_domains, found.selector) == (ZONE, 1, 0, "app=web")
        assert (found.minimum, found.self_match) == (0, 1)
        assert found.domains == (
            SpreadDomain(name="z2", count=0, nodes=1, fits=True, usable=0),
            SpreadDomain(name="z1", count=1, nodes=1, fits=False, usable=1),
        )

    def test_a_pod_that_does_not_count_for_its_own_constraint(self) -> None:
        found = told(pod("new").spreads(ZONE, 1, labelSelector=WEB), [*self.NODES], web(0, "a"), web(1, "a"))
        assert found.self_match == 0
        assert "2 - 0 = 2 is more than maxSkew 1" in found.sentence

    def test_the_sentence_does_the_sum_and_names_who_holds_the_minimum_down(self) -> None:
        assert told(waiting(), [*self.NODES], web(0, "a"), why="is cordoned").sentence == (
            "zone spread of app=web: z1 has 1, z2 has 0; the minimum is 0, and 1 + 1 - 0 = 2 is more than maxSkew 1; "
            "z2 holds the minimum down but can't take the pod (its node is cordoned)"
        )

    def test_too_few_domains(self) -> None:
        nodes = [small("a", "z1"), small("b", "z2")]
        assert told(waiting(minDomains=3), nodes, web(0, "a"), web(1, "b")).sentence == (
            "zone spread of app=web: z1 and z2 have 1 each; that is 2 domains of the 3 that minDomains asks for, "
            "so the minimum counts as 0, and 1 + 1 - 0 = 2 is more than maxSkew 1"
        )

    def test_where_nothing_but_this_could_be_used_it_says_what_would_be_allowed(self) -> None:
        nodes = [small("a", "z1").unschedulable(), small("b", "z2").unschedulable()]
        assert "so that only domains with at most 0 may take it" in told(waiting(), nodes, web(0, "a")).sentence

    def test_nodes_without_the_label(self) -> None:
        nodes = [small("a"), small("b")]
        assert told(waiting(), nodes).sentence == f"zone spread of app=web: 2 nodes lack the label {ZONE}"

    def test_of_many_domains_those_with_the_fewest_pods_are_listed(self) -> None:
        nodes = [*(small(f"n{number}", f"z{number:03}") for number in range(60)), small("x", "y").unschedulable()]
        found = told(waiting(), nodes, *(web(number, f"n{number}") for number in range(60)))
        assert len(found.domains) == 50
        assert found.domains[0].name == "y"
