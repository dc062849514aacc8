"""Host ports that the pod wants: where they are taken, and by whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.cache.ports import HostPort
from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.ports import facts, holders, port_text, taken
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster


def survey(waits: PodBuilder, nodes: str, *pods: PodBuilder, cordoned: str = "") -> Any:
    made = [node(name).unschedulable() if name in cordoned else node(name) for name in nodes]
    cluster = Cluster(made, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def holding(name: str, on: str, *ports: int, **more: str) -> PodBuilder:
    made = pod(name).uid(name).on(on)
    for port in ports:
        made = made.host_port(port, **more)
    return made


@pytest.mark.parametrize(
    ("port", "text"),
    [
        (HostPort("TCP", 80, "0.0.0.0"), "80/TCP"),
        (HostPort("UDP", 53, "0.0.0.0"), "53/UDP"),
        (HostPort("TCP", 80, "10.0.0.1"), "10.0.0.1:80/TCP"),
    ],
)
def test_a_port_in_words(port: HostPort, text: str) -> None:
    assert port_text(port) == text


def test_nodes_by_which_of_the_ports_are_taken() -> None:
    looked = survey(
        holding("new", "", 80, 443), "abc", holding("x", "a", 80), holding("y", "b", 80, 443), holding("z", "c", 80)
    )
    assert {text: rows.tolist() for text, rows in taken(looked, np.arange(3))} == {
        "80/TCP": [0, 2],
        "80/TCP and 443/TCP": [1],
    }


def test_who_holds_them_is_told_apart_from_who_has_others() -> None:
    looked = survey(
        holding("new", "", 80),
        "a",
        holding("web", "a", 80),
        holding("other", "a", 81),
        holding("dns", "a", 80, protocol="UDP"),
    )
    assert [each.name for each in holders(looked, 0)] == ["web"]


class TestFacts:
    def test_who_holds_the_port_where(self) -> None:
        looked = survey(holding("new", "", 80), "ab", holding("x", "a", 80), holding("y", "b", 80))
        assert facts(looked) == ["host port 80/TCP is held by default/x on a and default/y on b"]

    def test_only_nodes_count_that_nothing_else_keeps_the_pod_off(self) -> None:
        pods = holding("x", "a", 80), holding("y", "b", 80)
        assert facts(survey(holding("new", "", 80), "ab", *pods, cordoned="b")) == [
            "host port 80/TCP is held by default/x on a"
        ]

    def test_if_there_is_no_such_node_all_do(self) -> None:
        looked = survey(holding("new", "", 80), "a", holding("x", "a", 80), cordoned="a")
        assert facts(looked) == ["host port 80/TCP is held by default/x on a"]

    def test_there_are_none_where_ports_do_not_matter(self) -> None:
        assert facts(survey(pod("new"), "a", holding("x", "a", 80), cordoned="a")) == []
        assert facts(survey(holding("new", "", 81), "a", holding("x", "a", 80), cordoned="a")) == []
