"""What pods take of their nodes while they are assumed, confirmed, changed and removed, and while nodes come and go."""

from __future__ import annotations

import pytest

from scheduler.cache.nodes import CPU, MEMORY
from tests.builders import info, node, pod, state

FOO = "example.com/foo"
DEFAULTS = (100, 200 << 20)


def asks(name: str, cpu: str = "", memory: str = "", *, port: int = 0, **more: str):
    wanted = {key: value for key, value in {"cpu": cpu, "memory": memory, **more}.items() if value}
    built = pod(name).requests(wanted) if wanted else pod(name)
    return built.set("spec.containers", [_with_port(built, port)]) if port else built


def _with_port(built, port: int) -> dict:
    (container,) = built.get("spec.containers", [])
    return {**container, "ports": [{"hostPort": port, "containerPort": port, "hostIP": "127.0.0.1", "protocol": "TCP"}]}


def taken(cluster, name: str, *extended: str) -> tuple:
    """(milli-CPU, bytes), the same with defaults, ports, and amounts of other resources."""
    table, row = cluster.nodes, cluster.nodes.rows[name]
    amounts = tuple(int(table.requested[index, row]) for index in (CPU, MEMORY))
    nonzero = tuple(int(table.nonzero[index, row]) for index in (CPU, MEMORY))
    ports = sorted(port.port for port, where in table.ports.used() if where == row)
    indices = [table.resource(each) for each in extended]
    others = [int(table.requested[index, row]) for index in indices]
    return amounts, nonzero, ports, *others


NOTHING = ((0, 0), (0, 0), [])
SMALL = asks("a", "100m", "500", port=80)
LARGE = asks("b", "200m", "1Ki", port=8080)


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([SMALL], ((100, 500), (100, 500), [80], 0)),
        ([SMALL, LARGE], ((300, 1524), (300, 1524), [80, 8080], 0)),
        ([asks("c", port=80)], ((0, 0), DEFAULTS, [80], 0)),
        ([SMALL.requests({FOO: "3"})], ((100, 500), (100, 500), [80], 3)),
        ([SMALL.requests({FOO: "3"}), LARGE.requests({FOO: "5"})], ((300, 1524), (300, 1524), [80, 8080], 8)),
        ([SMALL.requests({"not-extended": "100"})], ((100, 500), (100, 500), [80], 0)),
    ],
    ids=["one", "two", "no requests", "extended", "two extended", "a name that is no resource"],
)
class TestUsage:
    def test_of_assumed_pods_counts_until_they_are_forgotten(self, pods, expected):
        cluster = state([node("n")])
        placed = [cluster.assume(info(each, cluster), "n") for each in pods]
        for each in pods:
            with pytest.raises(ValueError, match="is in the cache, so can't be assumed"):
                cluster.assume(info(each, cluster), "n")
        assert taken(cluster, "n", FOO) == expected
        for each in placed:
            assert cluster.pods.get(each.uid) is each
            assert cluster.forget(each.uid) is each
            assert cluster.forget(each.uid) is None
            assert cluster.pods.get(each.uid) is None
        assert taken(cluster, "n") == NOTHING

    def test_of_bound_pods_counts_until_they_are_removed(self, pods, expected):
        cluster = state([node("n")], [each.on("n") for each in pods])
        assert taken(cluster, "n", FOO) == expected
        for each in pods:
            cluster.remove_pod(each.build().metadata.uid)
        assert taken(cluster, "n") == NOTHING


def test_ephemeral_storage_counts_beside_defaults():
    cluster = state([node("n")], [pod("a").requests({"ephemeral-storage": "500"}).on("n")])
    assert taken(cluster, "n", "ephemeral-storage") == ((0, 0), DEFAULTS, [], 500)


def test_of_two_assumed_pods_one_may_be_confirmed_and_the_other_forgotten():
    cluster = state([node("n")])
    first, second = (cluster.assume(info(each, cluster), "n") for each in (SMALL, LARGE))
    cluster.set_pod(info(SMALL.on("n"), cluster))
    assert [cluster.is_assumed(each.uid) for each in (first, second)] == [False, True]
    assert cluster.forget(first.uid) is None
    cluster.forget(second.uid)
    assert taken(cluster, "n") == ((100, 500), (100, 500), [80])


def test_a_pod_that_was_bound_elsewhere_counts_there_and_so_do_its_changes():
    cluster = state([node("assumed"), node("actual")])
    cluster.assume(info(SMALL, cluster), "assumed")
    cluster.set_pod(info(SMALL.on("actual"), cluster))
    cluster.set_pod(info(asks("a", "200m", "500", port=90).on("actual"), cluster))
    assert taken(cluster, "assumed") == NOTHING
    assert taken(cluster, "actual") == ((200, 500), (200, 500), [90])


def test_changes_back_and_forth_leave_nothing_behind():
    cluster = state([node("n")], [SMALL.on("n")])
    cluster.set_pod(info(asks("a", "200m", "1Ki", port=8080).on("n"), cluster))
    assert taken(cluster, "n") == ((200, 1024), (200, 1024), [8080])
    cluster.set_pod(info(SMALL.on("n"), cluster))
    assert taken(cluster, "n") == ((100, 500), (100, 500), [80])


@pytest.mark.parametrize("count", [1, 2])
def test_a_node_that_goes_and_comes_again_has_the_pods_that_stayed(count):
    pods = [asks(name, "500m", "1Mi").on("n") for name in "ab"[:count]]
    cluster = state([node("n"), node("m")], pods)
    usage = (count * 500, count << 20)
    assert taken(cluster, "n")[0] == usage
    cluster.set_node(node("n").capacity(cpu="7").build())
    assert (taken(cluster, "n")[0], int(cluster.nodes.allocatable[CPU, cluster.nodes.rows["n"]])) == (usage, 7000)
    cluster.remove_node("n")
    cluster.remove_node("n")
    assert list(cluster.nodes.rows) == ["m"]
    assert [each.name for each in cluster.pods.on_node("n")] == list("ab"[:count])
    cluster.remove_pod(pods[0].build().metadata.uid)
    cluster.set_node(node("n").build())
    assert taken(cluster, "n")[0] == ((count - 1) * 500, (count - 1) << 20)
