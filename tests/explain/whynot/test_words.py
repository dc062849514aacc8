"""What a plugin's refusal means, said of the nodes: with the taints, labels, amounts and ports that decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.words import Words, words_of
from scheduler.framework.status import Code, Status, unschedulable
from tests.builders import PodBuilder, expression, node, pod, pod_term, term
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import DRIVER, claim, csi_node, volume

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}


def small(name: str) -> Any:
    return node(name).capacity(cpu="2", memory="8Gi", pods="3")


def on(name: str, **labels: str) -> PodBuilder:
    return pod(f"on-{name}").uid(f"on-{name}").on(name).cpu("100m").label(**labels)


def surveyed(waits: Any, nodes: list[Any], pods: list[Any], objects: list[Any]) -> Any:
    cluster = Cluster(nodes, pods, objects)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def said(waits: Any, *nodes: Any, pods: list[Any] | None = None, objects: list[Any] | None = None) -> dict[str, str]:
    """What is said of each node, by its name."""
    survey = surveyed(waits, list(nodes), pods or [], objects or [])
    return {
        survey.state.nodes.name(row): words.one
        for status, rows in survey.rejections.groups()
        for words, some in words_of(survey, status, rows)
        for row in some.tolist()
    }


NEW = pod("new").cpu("1")


class TestTaints:
    def test_each_by_the_first_that_is_not_tolerated(self) -> None:
        nodes = small("a").taint("gpu"), small("b").taint("team", "x", "NoExecute"), small("c").taint("gpu").taint("x")
        assert said(NEW.tolerates("x", operator="Exists"), *nodes) == {
            "a": "is tainted gpu:NoSchedule",
            "b": "is tainted team=x:NoExecute",
            "c": "is tainted gpu:NoSchedule",
        }

    def test_nodes_with_different_taints_of_which_the_same_decides_are_said_together(self) -> None:
        survey = surveyed(NEW, [small("a").taint("gpu"), small("b").taint("gpu").taint("y")], [], [])
        ((status, rows),) = survey.rejections.groups()
        ((words, some),) = words_of(survey, status, rows)
        assert (words.many, len(some)) == ("are tainted gpu:NoSchedule", 2)


class TestResources:
    @pytest.mark.parametrize(
        ("waits", "pods", "words"),
        [
            (NEW.cpu("2"), [on("a")], "lacks CPU"),
            (NEW.cpu("2").memory("8Gi"), [on("a").memory("1Gi")], "lacks CPU and memory"),
            (NEW.cpu("3"), [], "is too small for the pod's CPU"),
            (NEW.requests({"example.com/gpu": "1"}), [], "has no example.com/gpu"),
        ],
    )
    def test_what_is_missing_and_whether_it_could_ever_be_there(self, waits: Any, pods: list[Any], words: str) -> None:
        assert said(waits, small("a"), pods=pods) == {"a": words}

    def test_a_node_that_takes_no_more_pods(self) -> None:
        full = [on("a").set("metadata.name", f"p{number}").uid(f"p{number}") for number in range(3)]
        assert said(NEW, small("a"), pods=full) == {"a": "takes no more pods"}
        assert said(NEW.cpu("2"), small("a"), pods=full) == {"a": "takes no more pods and lacks CPU"}

    def test_a_resource_keeps_its_name_whatever_is_in_it(self) -> None:
        resource = {"example.com/slack": "1"}
        full = [on("a").set("metadata.name", f"p{number}").uid(f"p{number}") for number in range(3)]
        full[0] = full[0].requests(resource)
        nodes = small("a").capacity(cpu="2", memory="8Gi", pods="3", **resource)
        assert said(NEW.requests(resource), nodes, pods=full) == {"a": "takes no more pods and lacks example.com/slack"}


class TestNodeAffinity:
    def test_the_selector_is_named(self) -> None:
        assert said(NEW.node_selector(disk="ssd", zone="a"), small("a")) == {
            "a": "does not match nodeSelector disk=ssd,zone=a"
        }

    def test_the_affinity_too(self) -> None:
        affine = NEW.requires_node(term(expression("disk", "In", "ssd")))
        assert said(affine, small("a")) == {"a": "does not match the pod's node affinity"}
        assert said(affine.node_selector(x="y"), small("a")) == {
            "a": "does not match nodeSelector x=y and node affinity"
        }


class TestTopology:
    def test_spread_by_what_breaks_it_or_is_missing(self) -> None:
        waits = NEW.label(app="web").spreads(ZONE, 1, labelSelector=WEB)
        nodes = small("a").zone("z1"), small("b").zone("z2").unschedulable(), small("c")
        assert said(waits, *nodes, pods=[on("a", app="web")]) == {
            "a": "would break the zone spread",
            "b": "is cordoned",
            "c": f"lacks the label {ZONE}",
        }

    def test_affinity(self) -> None:
        waits = NEW.requires_pods(pod_term(ZONE, {"app": "db"}))
        assert said(waits, small("a").zone("z1")) == {"a": "has no pod with app=db in the same zone"}

    def test_anti_affinity_of_either_side(self) -> None:
        away = pod_term(HOST, {"app": "web"})
        assert said(NEW.requires_pods(away, anti=True), small("a"), pods=[on("a", app="web")]) == {
            "a": "has a pod with app=web, which it keeps away from"
        }
        there = on("a").requires_pods(away, anti=True)
        assert said(NEW.label(app="web"), small("a"), pods=[there]) == {"a": "has a pod that keeps away from app=web"}


class TestOthers:
    def test_ports(self) -> None:
        waits = NEW.host_port(80).host_port(443)
        nodes = small("a"), small("b")
        pods = [on("a").host_port(80), on("b").host_port(80).host_port(443)]
        assert said(waits, *nodes, pods=pods) == {
            "a": "has host port 80/TCP taken",
            "b": "has host port 80/TCP and 443/TCP taken",
        }

    def test_volumes(self) -> None:
        full = (
            claim("c", volume="v"),
            volume("v", csi={"driver": DRIVER, "volumeHandle": "h"}),
            csi_node("a", {DRIVER: 0}),
        )
        waits = NEW.volume("v", persistentVolumeClaim={"claimName": "c"})
        assert said(waits, small("a"), objects=list(full)) == {"a": "takes no more volumes"}


class TestOfNobodyKnown:
    """Of a plugin that nothing more is known of its own words are passed on."""

    def words(self, status: Status) -> Words:
        survey = surveyed(NEW, [small("a")], [], [])
        ((words, rows),) = words_of(survey, status, np.array([0]))
        assert rows.tolist() == [0]
        return words

    def test_its_reasons(self) -> None:
        status = unschedulable("node(s) are too noisy", "node(s) smell").by("Comfort")
        assert self.words(status).many == "are turned down by Comfort: are too noisy, smell"

    def test_none(self) -> None:
        assert self.words(Status(Code.UNSCHEDULABLE, ()).by("Comfort")).one == "is turned down by Comfort"

    def test_a_failure_of_a_known_one_is_no_refusal(self) -> None:
        assert self.words(Status(Code.ERROR, ("it broke",)).by("TaintToleration")).one == (
            "is turned down by TaintToleration: it broke"
        )
