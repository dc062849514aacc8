"""How the terms of pod (anti-)affinity come out: the pod's own, and those of pods that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.explain.views import AffinityDomain
from scheduler.explain.whynot.affinity import AFFINITY, ANTI_AFFINITY, EXISTING, arithmetic, terms_of, turned_down
from scheduler.explain.whynot.bench import Bench
from tests.builders import PodBuilder, node, pod, pod_term
from tests.explain.whynot.cluster import Cluster

if TYPE_CHECKING:
    from scheduler.explain.views import AffinityArithmetic

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def small(name: str, zone: str = "") -> Any:
    made = node(name).capacity(cpu="2", memory="8Gi", pods="10")
    return made.zone(zone) if zone else made


def there(name: str, on: str, **labels: str) -> PodBuilder:
    return pod(name).uid(name).on(on).label(**labels)


NODES = [small("a1", "z1"), small("a2", "z1"), small("b1", "z2")]
NEAR = pod("new").requires_pods(pod_term(ZONE, {"app": "db"}))
AWAY = pod("new").requires_pods(pod_term(ZONE, {"app": "db"}), anti=True)


def survey(waits: PodBuilder, *pods: PodBuilder, nodes: list[Any] | None = None) -> Any:
    cluster = Cluster(NODES if nodes is None else nodes, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def told(waits: PodBuilder, *pods: PodBuilder, nodes: list[Any] | None = None, why: str = "") -> AffinityArithmetic:
    (found,) = arithmetic(survey(waits, *pods, nodes=nodes), lambda _: why)
    return found


def off(looked: Any) -> dict[str, list[str]]:
    """The nodes that each term keeps the pod off, by kind."""
    rows = looked.state.nodes.rows
    return {
        term.kind: [name for name, row in rows.items() if turned_down(looked, term)[row]] for term in terms_of(looked)
    }


class TestTurnedDown:
    def test_affinity_keeps_it_off_all_domains_without_such_a_pod(self) -> None:
        assert off(survey(NEAR, there("db", "a1", app="db"))) == {AFFINITY: ["b1"]}

    def test_the_first_of_its_kind_may_go_anywhere_in_a_domain(self) -> None:
        first = NEAR.label(app="db")
        nodes = [small("a", "z1").unschedulable(), small("no-zone")]
        assert off(survey(first, nodes=nodes)) == {AFFINITY: ["no-zone"]}

    def test_anti_affinity_keeps_it_off_those_with_one(self) -> None:
        assert off(survey(AWAY, there("db", "a1", app="db"))) == {ANTI_AFFINITY: ["a1", "a2"]}

    def test_so_does_that_of_pods_that_are_there(self) -> None:
        shy = there("shy", "b1").requires_pods(pod_term(ZONE, {"app": "web"}), anti=True)
        assert off(survey(pod("new").label(app="web"), shy)) == {EXISTING: ["b1"]}

    def test_terms_have_no_say_where_the_plugin_turned_nobody_down(self) -> None:
        assert terms_of(survey(pod("new"), there("db", "a1", app="db"))) == []


class TestTerms:
    def test_required_affinity_is_about_pods_that_match_all_terms(self) -> None:
        both = NEAR.requires_pods(pod_term(HOST, {"tier": "x"}))
        looked = survey(both, there("db", "a1", app="db"), there("x", "b1", tier="x"))
        terms = terms_of(looked)
        assert [(term.kind, term.selector) for term in terms] == [(AFFINITY, "app=db and tier=x")] * 2
        assert [term.term.topology_key for term in terms] == [ZONE, HOST]
        assert [term.pods(looked) for term in terms] == [[], []]

    def test_its_pods_are_told_by_name_all_or_those_of_a_domain(self) -> None:
        looked = survey(
            AWAY, there("db-2", "b1", app="db"), there("db-1", "a1", app="db"), there("web", "a1", app="web")
        )
        (term,) = terms_of(looked)
        assert [each.name for each in term.pods(looked)] == ["db-1", "db-2"]
        domain = int(term.ids(looked)[looked.state.nodes.rows["b1"]])
        assert [each.name for each in term.pods(looked, domain=domain)] == ["db-2"]


class TestSentences:
    def test_nobody_to_be_near_to(self) -> None:
        assert told(NEAR).sentence == "it must be near app=db by zone, and there is no such pod"

    def test_the_nodes_near_them_and_what_keeps_it_off_those(self) -> None:
        nodes = [small("a1", "z1").unschedulable(), small("b1", "z2")]
        assert told(NEAR, there("db", "a1", app="db"), nodes=nodes, why="is cordoned").sentence == (
            "it must be near app=db by zone: default/db on a1; the 1 node near it is cordoned"
        )

    def test_whom_it_keeps_away_from(self) -> None:
        found = told(AWAY, there("db", "a1", app="db"))
        assert found.sentence == "it keeps away from app=db by zone: default/db on a1"
        assert (found.kind, found.topology_key, found.selector) == ("antiAffinity", ZONE, "app=db")
        assert found.namespaces == ("default",)
        assert found.domains == (AffinityDomain(name="z1", count=1, nodes=2),)
        assert found.pods == ("default/db",)

    @pytest.mark.parametrize(
        ("number", "said"),
        [
            (1, "default/shy-0 on a1 keeps away from app=web by hostname, and this pod is one"),
            (2, "default/shy-0 on a1 and default/shy-1 on a1 keep away from app=web by hostname, and this pod is one"),
        ],
    )
    def test_who_keeps_away_from_it(self, number: int, said: str) -> None:
        shy = pod_term(HOST, {"app": "web"})
        pods = [there(f"shy-{each}", "a1").requires_pods(shy, anti=True) for each in range(number)]
        assert told(pod("new").label(app="web"), *pods).sentence == said

    def test_of_many_pods_a_few_are_named(self) -> None:
        pods = [there(f"db-{number:02}", "a1", app="db") for number in range(30)]
        found = told(AWAY, *pods)
        assert found.sentence == (
            "it keeps away from app=db by zone: "
            "default/db-00 on a1, default/db-01 on a1, default/db-02 on a1 and 27 more"
        )
        assert found.domains[0].count == 30
        assert len(found.pods) == 20

    def test_the_fullest_domains_come_first(self) -> None:
        found = told(AWAY, there("x", "b1", app="db"), *(there(f"y{n}", "a1", app="db") for n in range(2)))
        assert [(domain.name, domain.count) for domain in found.domains] == [("z1", 2), ("z2", 1)]
