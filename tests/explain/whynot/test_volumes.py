"""Claims and volumes of the pod: where they are, and who has them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.volumes import claims_of, facts, is_exclusive, place_of, place_text, users, zones_of
from scheduler.explain.whynot.words import words_of
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import affinity, claim, storage_class, uses, volume

ZONE = "topology.kubernetes.io/zone"
BETA = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).uid(name).set("spec.volumes", uses(*claims))


def survey(waits: PodBuilder, nodes: list[Any], *objects: Any, pods: tuple[PodBuilder, ...] = ()) -> Any:
    cluster = Cluster(nodes, pods, objects)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def told(waits: PodBuilder, nodes: list[Any], *objects: Any, why: str = "") -> list[str]:
    return facts(survey(waits, nodes, *objects), lambda _: why)


def said(looked: Any) -> dict[str, str]:
    """What is said of each node, by its name."""
    return {
        looked.state.nodes.name(row): words.one
        for status, rows in looked.rejections.groups()
        for words, some in words_of(looked, status, rows)
        for row in some.tolist()
    }


NEW = using("new", "data")
NODES = [node("a").zone("zone-a"), node("b").zone("zone-b").taint("x")]


class TestClaims:
    def test_each_with_its_volume_as_far_as_they_are_there(self) -> None:
        waits = using("new", "bound", "unbound", "missing")
        objects = claim("bound", volume="v"), volume("v"), claim("unbound")
        found = claims_of(survey(waits, NODES, *objects))
        assert [(each.name, each.claim is not None, each.volume is not None) for each in found] == [
            ("bound", True, True),
            ("unbound", True, False),
            ("missing", False, False),
        ]
        assert [each.text for each in found] == ["volume v of claim bound", "claim unbound", "claim missing"]

    def test_that_of_an_ephemeral_volume_is_named_after_the_pod(self) -> None:
        (found,) = claims_of(survey(pod("new").volume("scratch", ephemeral={}), NODES))
        assert (found.name, found.ephemeral) == ("new-scratch", True)

    def test_who_uses_one_in_the_pods_namespace(self) -> None:
        looked = survey(
            NEW,
            NODES,
            pods=(using("x", "data").on("a"), using("y", "logs").on("a"), using("z", "data").namespace("n2").on("a")),
        )
        assert [each.name for each in users(looked, "data")] == ["x"]

    @pytest.mark.parametrize(
        ("modes", "exclusive"), [(["ReadWriteOnce"], False), (["ReadWriteOncePod"], True), (["ReadWriteMany"], False)]
    )
    def test_which_one_pod_has_for_itself(self, modes: list[str], exclusive: bool) -> None:
        (found,) = claims_of(survey(NEW, NODES, claim("data", accessModes=modes)))
        assert is_exclusive(found) is exclusive


class TestPlaces:
    @pytest.mark.parametrize(
        ("key", "values", "text"),
        [
            (ZONE, ["zone-a"], "zone-a"),
            (ZONE, ["zone-a", "zone-b"], "zone-a or zone-b"),
            (ZONE, ["eu-1b"], "zone eu-1b"),
            (REGION, ["eu"], "region eu"),
            ("kubernetes.io/hostname", ["n1"], "hostname n1"),
            ("rack", ["7"], "rack 7"),
        ],
    )
    def test_a_value_that_says_what_it_is_needs_no_word_for_it(self, key: str, values: list[str], text: str) -> None:
        assert place_text(key, values) == text

    @pytest.mark.parametrize(
        ("made", "place"),
        [
            (volume("v"), ""),
            (volume("v", nodeAffinity=affinity(ZONE, "zone-a")), "zone-a"),
            (volume("v", labels={ZONE: "zone-a__zone-b"}), "zone-a or zone-b"),
            (volume("v", labels={ZONE: "zone-a", REGION: "eu"}), "zone-a and region eu"),
            (volume("v", labels={ZONE: "zone-b"}, nodeAffinity=affinity(ZONE, "zone-a")), "zone-a"),
        ],
        ids=["anywhere", "by affinity", "by label", "by two labels", "the affinity goes first"],
    )
    def test_where_a_volume_is(self, made: Any, place: str) -> None:
        assert place_of(made) == place

    def test_zones_under_either_name_each_once(self) -> None:
        waits = using("new", "a", "b", "c", "d")
        objects = [claim(name, volume=f"v{name}") for name in "abcd"]
        objects += [
            volume("va", nodeAffinity=affinity(ZONE, "z1", "z2")),
            volume("vb", nodeAffinity=affinity(BETA, "z3")),
            volume("vc", labels={ZONE: "z1__z4"}),
            volume("vd", nodeAffinity=affinity("rack", "7")),
        ]
        assert zones_of(survey(waits, NODES, *objects)) == ["z1", "z2", "z3", "z4"]


class TestFacts:
    def test_where_a_bound_claim_is_and_what_keeps_the_pod_off_the_nodes_there(self) -> None:
        bound = claim("data", volume="v"), volume("v", nodeAffinity=affinity(ZONE, "zone-b"))
        assert told(NEW, NODES, *bound, why="is tainted") == [
            "claim data is bound to volume v, which is in zone-b; the node there is tainted"
        ]

    def test_where_there_is_no_node(self) -> None:
        bound = claim("data", volume="v"), volume("v", nodeAffinity=affinity(ZONE, "zone-c"))
        assert told(NEW, NODES, *bound) == [
            "claim data is bound to volume v, which is in zone-c; no node is there (nodes are in zone-a and zone-b)"
        ]

    @pytest.mark.parametrize(
        ("objects", "fact"),
        [
            ([], "claim data does not exist in namespace default"),
            ([claim("data", "gone")], "claim data is not bound, and its StorageClass gone does not exist"),
            (
                [claim("data", "s"), storage_class("s", mode="Immediate")],
                "claim data is not bound; its StorageClass s binds Immediate",
            ),
            ([claim("data", "")], "claim data is not bound; its StorageClass (none) binds Immediate"),
        ],
    )
    def test_why_a_claim_has_no_volume(self, objects: list[Any], fact: str) -> None:
        assert told(NEW, NODES, *objects) == [fact]

    def test_there_are_none_where_volumes_do_not_decide(self) -> None:
        bound = claim("data", volume="v"), volume("v", node="a")
        assert told(NEW, [node("a").taint("x")], *bound) == []


class TestWhatIsSaidOfNodes:
    def test_outside_the_zone_that_a_label_of_the_volume_names(self) -> None:
        bound = claim("data", volume="v"), volume("v", labels={ZONE: "zone-b"})
        assert said(survey(NEW, NODES[:1], *bound)) == {"a": "is outside zone-b, where volume v of claim data is"}

    def test_out_of_reach_by_the_volumes_node_affinity(self) -> None:
        bound = claim("data", volume="v"), volume("v", node="b")
        assert said(survey(NEW, NODES[:1], *bound)) == {"a": "is out of reach of volume v of claim data"}

    def test_each_node_by_the_first_claim_that_keeps_the_pod_off_it(self) -> None:
        waits = using("new", "one", "two")
        objects = [claim(name, volume=f"v-{name}") for name in ("one", "two")]
        objects += [volume("v-one", labels={ZONE: "zone-a__zone-b"}), volume("v-two", labels={ZONE: "zone-a__zone-c"})]
        nodes = [node("b").zone("zone-b"), node("c").zone("zone-c")]
        assert said(survey(waits, nodes, *objects)) == {
            "b": "is outside zone-a or zone-c, where volume v-two of claim two is",
            "c": "is outside zone-a or zone-b, where volume v-one of claim one is",
        }

    def test_no_volume_for_a_claim(self) -> None:
        objects = claim("data"), storage_class(provisioner="kubernetes.io/no-provisioner")
        assert said(survey(NEW, NODES[:1], *objects)) == {"a": "has no volume for claim data"}
