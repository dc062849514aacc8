"""What pods take, as columns."""

from __future__ import annotations

from scheduler.cache.amounts import amounts
from tests.builders import info, node, pod, state


def test_a_column_for_each_with_the_resources_of_the_table_the_scoring_defaults_and_one_pod():
    cluster = state([node("a")])
    named = info(pod("p").requests(cpu="2", memory="1Gi"), cluster)
    nothing = info(pod("q"), cluster)
    found = amounts(cluster.nodes, [named.usage, nothing.usage])
    assert found[:, 0].tolist() == [2000, 2**30, 0, 2000, 2**30, 1]
    assert found[:, 1].tolist() == [0, 0, 0, 100, 200 * 2**20, 1]


def test_a_resource_that_no_node_has_gets_a_place():
    cluster = state([node("a")])
    asking = info(pod("p").requests({"example.com/gpu": "3"}), cluster)
    found = amounts(cluster.nodes, [asking.usage])
    assert found[cluster.nodes.resources["example.com/gpu"], 0] == 3
    assert len(found) == len(cluster.nodes.resources) + 3
