"""What is told of pods that fit nowhere: a sentence each for what keeps them, and the changes that help."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import expression, node, pod, pod_term, term
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import affinity, claim, csi_node, storage_class, volume

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
NOT_READY = "node.kubernetes.io/not-ready"


def small(name: str, cpu: str = "2") -> Any:
    return node(name).capacity(cpu=cpu, memory="8Gi")


def web(name: str = "web-7") -> Any:
    return pod(name).label(app="web").cpu("100m")


def using(name: str, made: Any) -> Any:
    """A pod with a claim."""
    return made.volume("data", persistentVolumeClaim={"claimName": name})


def helps(cluster: Cluster, waiting: Any) -> list[str]:
    return [help_.sentence for help_ in cluster.why_not(waiting).helps]


class TestSentence:
    @pytest.mark.parametrize(
        ("nodes", "waiting", "sentence"),
        [
            ([], pod("a"), "a fits nowhere: there is no node"),
            ([small("n1")], pod("a").cpu("3"), "a does not fit on the only node: n1 is too small for the pod's CPU"),
            (
                [small("n1").unschedulable(), small("n2").taint("x", "y")],
                pod("a"),
                "a fits on none of 2 nodes: 1 is cordoned, 1 is tainted x=y:NoSchedule",
            ),
            (
                [small("n1"), small("n2"), small("n3")],
                pod("a").requests({"nvidia.com/gpu": "1"}),
                "a fits on none of 3 nodes: all have no nvidia.com/gpu",
            ),
            (
                [small("n1"), small("n2")],
                pod("a").node_selector(disk="ssd"),
                "a fits on none of 2 nodes: both do not match nodeSelector disk=ssd",
            ),
            (
                [small("n1"), small("n2")],
                pod("a").requires_node(term(expression("disk", "In", "ssd"))),
                "a fits on none of 2 nodes: both do not match the pod's node affinity",
            ),
            (
                [small("n1"), small("n2").taint("x")],
                pod("a").requires_node(term(fields=[expression("metadata.name", "In", "n2")])),
                "a fits on none of 2 nodes: 1 is not the node n2, which the pod names, 1 is tainted x:NoSchedule",
            ),
            (
                [small("n1"), small("n2")],
                web("a").requires_pods(pod_term(ZONE, {"app": "db"})),
                "a fits on none of 2 nodes: both have no pod with app=db in the same zone",
            ),
            (
                [small("n1"), small("n2")],
                web("a").spreads(ZONE, **WEB),
                "a fits on none of 2 nodes: both lack the label topology.kubernetes.io/zone",
            ),
        ],
    )
    def test_groups_the_nodes_by_reason(self, nodes: list[Any], waiting: Any, sentence: str) -> None:
        assert Cluster(nodes).why_not(waiting).sentence == sentence

    def test_a_pod_that_is_refused_before_any_node_is_looked_at(self) -> None:
        answer = Cluster([small("n1")]).why_not(using("data", pod("a")))
        assert answer.sentence == 'a can\'t be placed on any node: persistentvolumeclaim "data" not found'
        assert answer.facts == ("claim data does not exist in namespace default",)
        assert answer.nearest is None
        assert [(group.plugin, group.nodes) for group in answer.rejected] == [("VolumeRestrictions", ("n1",))]

    def test_pods_that_other_pods_keep_away(self) -> None:
        holder = pod("holder").cpu("100m").requires_pods(pod_term(HOST, {"app": "web"}), anti=True).on("n1")
        answer = Cluster([small("n1")], [holder]).why_not(web("a"))
        assert answer.sentence == "a does not fit on the only node: n1 has a pod that keeps away from app=web"
        assert [term_.kind for term_ in answer.affinity] == ["existingAntiAffinity"]
        assert answer.affinity[0].pods == ("default/holder",)
        assert answer.affinity[0].sentence == (
            "default/holder on n1 keeps away from app=web by hostname, and this pod is one"
        )


class TestNearest:
    def test_lacks_the_fewest_things_and_of_them_the_least(self) -> None:
        there = [pod("p1").cpu("1500m").on("n1"), pod("p2").cpu("1200m").on("n2"), pod("p3").cpu("100m").on("n3")]
        cluster = Cluster([small("n1"), small("n2"), small("n3").taint("x").unschedulable()], there)
        nearest = cluster.why_not(pod("a").cpu("1").memory("1Gi")).nearest
        assert nearest is not None
        assert nearest.node == "n2"
        assert [(lack.resource, lack.wanted, lack.free, lack.short) for lack in nearest.lacks] == [
            ("cpu", "1", "800m", "200m")
        ]

    def test_all_that_is_in_the_way_counts_not_only_what_came_first(self) -> None:
        cluster = Cluster([small("n1").taint("x"), small("n2", "1")], [])
        nearest = cluster.why_not(pod("a").cpu("3").node_selector(disk="ssd")).nearest
        assert nearest is not None
        assert nearest.sentence == (
            "n2 comes nearest: it does not match nodeSelector disk=ssd and lacks 2 CPU (wants 3, has 1 free)"
        )

    def test_no_node_stands_out(self) -> None:
        assert Cluster([small(f"n{i}").taint("x") for i in range(5)]).why_not(pod("a")).nearest is None

    def test_room_for_pods(self) -> None:
        full = node("n1").capacity(cpu="4", memory="8Gi", pods="1")
        cluster = Cluster([full, small("n2").taint("x").unschedulable()], [pod("p").on("n1")])
        nearest = cluster.why_not(pod("a").cpu("1")).nearest
        assert nearest is not None
        assert nearest.sentence == "n1 comes nearest: it lacks room for one more pod"


class TestSpread:
    def test_an_empty_domain_that_nobody_may_use(self) -> None:
        nodes = [small("cp").taint("control-plane"), small("w1"), small("w2")]
        cluster = Cluster(nodes, [web(f"web-{i}").on(f"w{i}") for i in (1, 2)])
        answer = cluster.why_not(web().spreads(HOST, **WEB))
        (item,) = answer.spread
        assert (item.minimum, item.self_match, item.max_skew, item.min_domains) == (0, 1, 1, 0)
        assert [(d.name, d.count, d.nodes, d.fits, d.usable) for d in item.domains] == [
            ("cp", 0, 1, True, 0),
            ("w1", 1, 1, False, 1),
            ("w2", 1, 1, False, 1),
        ]
        assert item.sentence == (
            "hostname spread of app=web: w1 and w2 have 1 each, cp has 0; the minimum is 0, and 1 + 1 - 0 = 2 is more "
            "than maxSkew 1; cp holds the minimum down but can't take the pod (its node is tainted "
            "control-plane:NoSchedule)"
        )
        assert answer.helps[0].sentence == (
            "nodeTaintsPolicy: Honor on the hostname spread removes the empty domain cp and opens w1 and w2"
        )
        assert answer.helps[0].change == {"topologyKey": HOST, "nodeTaintsPolicy": "Honor", "constraint": "0"}

    def test_fewer_domains_than_min_domains(self) -> None:
        nodes = [small("a1").zone("zone-a"), small("b1").zone("zone-b")]
        cluster = Cluster(nodes, [web("web-1").on("a1"), web("web-2").on("b1")])
        answer = cluster.why_not(web().spreads(ZONE, minDomains=3, **WEB))
        assert answer.spread[0].min_domains == 3
        assert answer.spread[0].sentence == (
            "zone spread of app=web: zone-a and zone-b have 1 each; that is 2 domains of the 3 that minDomains asks "
            "for, so the minimum counts as 0, and 1 + 1 - 0 = 2 is more than maxSkew 1"
        )
        told = [help_.sentence for help_ in answer.helps]
        assert told[0] == "minDomains: 2 instead of 3 on the zone spread opens a1 and b1"
        assert "one more node like a1 but in another zone" in told

    def test_pods_of_an_older_revision(self) -> None:
        nodes = [small("n1"), small("n2").taint("x").unschedulable()]
        old = [web(f"old-{i}").label({"pod-template-hash": "1"}).on("n1") for i in (1, 2)]
        new = web().label({"pod-template-hash": "2"}).spreads(HOST, **WEB)
        assert (
            "matchLabelKeys: [pod-template-hash] on the hostname spread counts this revision's pods only and opens n1"
        ) in helps(Cluster(nodes, old), new)

    def test_a_policy_that_counts_nodes_out_of_the_question(self) -> None:
        nodes = [small("n1").label(pool="a"), small("n2").label(pool="b")]
        cluster = Cluster(nodes, [web("web-1").on("n1")])
        waiting = web().node_selector(pool="a").spreads(HOST, nodeAffinityPolicy="Ignore", **WEB)
        assert helps(cluster, waiting)[0] == (
            "nodeAffinityPolicy: Honor on the hostname spread removes the empty domain n2 and opens n1"
        )


class TestHelps:
    def test_uncordoning_any_of_some_nodes(self) -> None:
        nodes = [small(f"n{i}").unschedulable().taint("node.kubernetes.io/unschedulable") for i in (1, 2)]
        told = Cluster(nodes).why_not(pod("a"))
        assert told.helps[0].sentence == "uncordoning n1 or n2"
        assert (told.helps[0].kind, told.helps[0].opens, told.helps[0].nodes) == ("uncordon", 2, ("n1", "n2"))

    def test_a_node_that_is_not_well(self) -> None:
        cluster = Cluster([small("n1").taint(NOT_READY, effect="NoExecute")])
        assert helps(cluster, pod("a"))[0] == (f"n1 becoming well again (no longer tainted {NOT_READY}:NoExecute)")

    def test_the_label_that_a_node_lacks_and_the_requirement_dropped(self) -> None:
        cluster = Cluster([small("n1").label(disk="hdd")])
        assert helps(cluster, pod("a").node_selector(disk="ssd")) == [
            "the label disk=ssd on n1",
            "dropping nodeSelector disk=ssd opens n1",
            "one more node like n1 but labelled disk=ssd",
        ]

    def test_labels_that_clouds_set_are_left_alone(self) -> None:
        told = helps(Cluster([small("n1").zone("zone-a")]), pod("a").node_selector({ZONE: "zone-b"}))
        assert not any(sentence.startswith("the label") for sentence in told)

    def test_one_requirement_of_node_affinity_dropped(self) -> None:
        waiting = pod("a").requires_node(term(expression("disk", "In", "ssd"), expression("pool", "Exists")))
        told = helps(Cluster([small("n1").label(pool="x")]), waiting)
        assert "dropping the node affinity requirement disk in (ssd) opens n1" in told

    def test_a_host_port(self) -> None:
        answer = Cluster([small("n1")], [pod("proxy").host_port(80).on("n1")]).why_not(pod("a").host_port(80))
        assert answer.facts == ("host port 80/TCP is held by default/proxy on n1",)
        assert answer.helps[0].sentence == "giving up host port 80/TCP (for a Service, say) opens n1"

    def test_anti_affinity_by_zone(self) -> None:
        nodes = [small("a1").zone("zone-a"), small("a2").zone("zone-a")]
        waiting = web().requires_pods(pod_term(ZONE, {"app": "db"}), anti=True)
        told = helps(Cluster(nodes, [pod("db").label(app="db").on("a1")]), waiting)
        assert told[:2] == [
            "anti-affinity to app=db by hostname instead of by zone opens a2",
            "anti-affinity to app=db by zone preferred instead of required opens a1 and a2",
        ]
        assert "default/db gone from a1 (1 pod of priority 0) opens a1 and a2" in told

    def test_a_pod_to_be_near_to(self) -> None:
        cluster = Cluster([small("a1").zone("zone-a")])
        answer = cluster.why_not(web().requires_pods(pod_term(ZONE, {"app": "db"})))
        assert answer.affinity[0].sentence == "it must be near app=db by zone, and there is no such pod"
        assert [help_.sentence for help_ in answer.helps] == [
            "a pod with app=db started first, near enough, opens a1",
            "affinity to app=db by zone preferred instead of required opens a1",
        ]

    def test_a_pod_that_matches_all_terms_at_once(self) -> None:
        """It does not help that there is one for each."""
        nodes = [small("a1").zone("zone-a"), small("b1").zone("zone-b")]
        pods = [pod("db").label(app="db").on("a1"), pod("fast").label(tier="fast").on("b1")]
        waiting = web().requires_pods(pod_term(ZONE, {"app": "db"}), pod_term(ZONE, {"tier": "fast"}))
        answer = Cluster(nodes, pods).why_not(waiting)
        assert answer.sentence.endswith("both have no pod with app=db and tier=fast in the same zone")
        assert answer.affinity[0].selector == "app=db and tier=fast"
        assert answer.affinity[0].sentence == ("it must be near app=db and tier=fast by zone, and there is no such pod")
        assert [help_.sentence for help_ in answer.helps] == [
            "a pod with app=db,tier=fast started first, near enough, opens a1 and b1",
            "affinity to app=db by zone preferred instead of required opens b1",
            "affinity to tier=fast by zone preferred instead of required opens a1",
        ]

    def test_nothing_could_match_terms_that_exclude_each_other(self) -> None:
        waiting = web().requires_pods(pod_term(ZONE, {"app": "db"}), pod_term(ZONE, {"app": "cache"}))
        told = helps(Cluster([small("a1").zone("zone-a")], [pod("db").label(app="db").on("a1")]), waiting)
        assert not any("started first" in help_ for help_ in told)

    def test_a_claim_that_one_pod_has_for_itself(self) -> None:
        objects = [volume("pv", reserved="data"), claim("data", volume="pv", accessModes=["ReadWriteOncePod"])]
        holder = using("data", pod("writer")).priority(5).on("n1")
        answer = Cluster([small("n1"), small("n2")], [holder], objects).why_not(using("data", pod("a")))
        assert answer.sentence == (
            "a fits on none of 2 nodes: both can't take claim data, which another pod has for itself"
        )
        assert "claim data is ReadWriteOncePod, and default/writer on n1 has it" in answer.facts
        assert "default/writer gone from n1 (1 pod of priority 5) opens n1 and n2" in [h.sentence for h in answer.helps]

    def test_a_class_that_waits_for_the_pod(self) -> None:
        objects = [claim("data", "fast"), storage_class("fast", mode="Immediate")]
        answer = Cluster([small("n1")], [], objects).why_not(using("data", pod("a")))
        assert answer.facts == ("claim data is not bound; its StorageClass fast binds Immediate",)
        assert ("waitForFirstConsumer", "fast") in [(one.kind, one.change.get("storageClass")) for one in answer.helps]

    def test_a_node_in_the_zone_of_the_volume(self) -> None:
        objects = [volume("pv", reserved="data", nodeAffinity=affinity(ZONE, "zone-c")), claim("data", volume="pv")]
        answer = Cluster([small("a1").zone("zone-a")], [], objects).why_not(using("data", pod("a")))
        assert answer.facts == (
            "claim data is bound to volume pv, which is in zone-c; no node is there (nodes are in zone-a)",
        )
        assert [help_.sentence for help_ in answer.helps] == ["one more node like a1 but in zone-c"]

    def test_volumes_that_a_node_takes_no_more_of(self) -> None:
        csi = {"csi": {"driver": "csi.example.com", "volumeHandle": "x"}}
        objects = [csi_node("n1", {"csi.example.com": 1})]
        for name in ("old", "data"):
            handle = {"csi": {**csi["csi"], "volumeHandle": name}}
            objects += [volume(f"pv-{name}", reserved=name, **handle), claim(name, volume=f"pv-{name}")]
        cluster = Cluster([small("n1")], [using("old", pod("old")).on("n1")], objects)
        answer = cluster.why_not(using("data", pod("a")))
        assert answer.sentence == "a does not fit on the only node: n1 takes no more volumes"
        assert "one more node like n1" in [help_.sentence for help_ in answer.helps]

    def test_a_larger_node_than_there_is(self) -> None:
        assert "one more node like n1 but with 6 CPU" in helps(Cluster([small("n1")]), pod("a").cpu("6"))

    def test_a_node_has_no_room_for_what_every_node_runs_and_the_pod(self) -> None:
        agent = pod("agent").cpu("500m").owned_by("DaemonSet", "agent").on("n1")
        assert "one more node like n1" not in helps(Cluster([small("n1")], [agent]), pod("a").cpu("1800m"))
        assert "one more node like n1 but with 2300m CPU" in helps(
            Cluster([small("n1")], [agent]), pod("a").cpu("1800m")
        )

    def test_pods_of_daemon_sets_are_not_told_to_go(self) -> None:
        agent = pod("agent").cpu("1500m").owned_by("DaemonSet", "agent").on("n1")
        kinds = [help_.kind for help_ in Cluster([small("n1")], [agent]).why_not(pod("a").cpu("1")).helps]
        assert "removePods" not in kinds

    def test_a_pod_that_may_not_preempt(self) -> None:
        cluster = Cluster([small("n1")], [pod("p").cpu("1500m").on("n1")])
        waiting = pod("a").cpu("1").priority(10).set("spec.preemptionPolicy", "Never")
        assert helps(cluster, waiting)[0] == (
            "preemptionPolicy: PreemptLowerPriority, which would let it preempt default/p on n1, opens n1"
        )

    def test_zones_of_one_pool_are_told_together(self) -> None:
        nodes = [small(f"{z}1").zone(f"zone-{z}").label(pool="x") for z in "abc"]
        cluster = Cluster(nodes, [pod(f"p-{z}").cpu("1900m").on(f"{z}1") for z in "abc"])
        assert "one more node like x (such as a1) in zone-a, zone-b or zone-c" in helps(cluster, pod("a").cpu("2"))


class TestNomination:
    def test_room_is_being_made_for_the_pod(self) -> None:
        cluster = Cluster([small("n1")], [pod("p").cpu("1500m").on("n1").terminating()])
        answer = cluster.why_not(pod("a").cpu("1").priority(10).nominated("n1"))
        assert answer.facts[0] == "it is nominated to n1, where default/p is leaving"


class TestGates:
    def test_only_the_gates_are_in_the_way(self) -> None:
        answer = Cluster([small("n1")]).why_not(pod("a").gate("example.com/quota"))
        assert answer.sentence == (
            "a waits for its scheduling gate example.com/quota; without the gate it fits on 1 of 1 node"
        )
        assert [help_.kind for help_ in answer.helps] == ["removeGates"]

    def test_other_things_are_in_the_way_as_well(self) -> None:
        answer = Cluster([small("n1").taint("x")]).why_not(pod("a").gate("g1", "g2"))
        assert answer.sentence == (
            "a waits for its scheduling gates g1 and g2; without the gates it does not fit on the only node: "
            "n1 is tainted x:NoSchedule"
        )
        assert answer.helps[0].sentence == (
            "removing the scheduling gates g1 and g2 and a toleration for x:NoSchedule together open n1"
        )
