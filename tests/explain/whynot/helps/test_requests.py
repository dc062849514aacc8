"""Requests brought down, wherever in the pod they are."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.requests import incoming_requests
from scheduler.explain.whynot.helps.requests import lowered
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster


def requesting(cpu: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}}


@pytest.mark.parametrize(
    "made",
    [
        pod("one").cpu("2"),
        pod("two").cpu("1500m").container(**requesting("500m")),
        pod("init").cpu("100m").init_container(**requesting("2")),
        pod("both").cpu("2").init_container(**requesting("2")),
        pod("sidecar").cpu("1").init_container(restartPolicy="Always", **requesting("1")),
        pod("whole").cpu("1").set("spec.resources", {"requests": {"cpu": "2"}}),
    ],
)
def test_the_pod_as_a_whole_requests_what_it_should(made: Any) -> None:
    before = made.build()
    assert incoming_requests(before)["cpu"] == 2000
    assert incoming_requests(lowered(before, {"cpu": 1200}))["cpu"] <= 1200


def test_the_largest_container_gives_first() -> None:
    less = lowered(pod("two").cpu("1500m").container(**requesting("500m")).build(), {"cpu": 1200})
    assert [container.resources.requests["cpu"] for container in less.spec.containers] == ["700m", "500m"]


def test_other_requests_stay() -> None:
    less = lowered(pod("one").cpu("2").memory("1Gi").build(), {"cpu": 1000})
    assert less.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}


class TestTheSmallestCut:
    def test_is_that_of_the_node_that_lacks_least_of_one_thing(self) -> None:
        nodes = [node("n1").capacity(cpu="1", memory="8Gi"), node("n2").capacity(cpu="1500m", memory="8Gi")]
        (first, *_) = Cluster(nodes).why_not(pod("a").cpu("2").memory("1Gi")).helps
        assert first.sentence == "500m less CPU (1500m instead of 2) fits on n2"

    def test_is_of_several_resources_only_where_it_has_to_be(self) -> None:
        cluster = Cluster([node("n1").capacity(cpu="1", memory="1Gi")])
        (first, *_) = cluster.why_not(pod("a").cpu("2").memory("3Gi")).helps
        assert first.change == {"cpu": "1", "memory": "1Gi"}

    def test_leaves_something(self) -> None:
        cluster = Cluster([node("n1").capacity(cpu="1", memory="8Gi")], [pod("p").cpu("1").on("n1")])
        assert "lowerRequests" not in [help_.kind for help_ in cluster.why_not(pod("a").cpu("1")).helps]

    def test_bytes_are_rounded_so_that_it_is_enough(self) -> None:
        cluster = Cluster([node("n1").capacity(cpu="1", memory="1073741825")])
        (first, *_) = cluster.why_not(pod("a").cpu("1").memory("2Gi")).helps
        assert first.sentence == "1Gi less memory (1Gi instead of 2Gi) fits on n1"
