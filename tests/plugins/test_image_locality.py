"""ImageLocality."""

from __future__ import annotations

import pytest

from scheduler.plugins.image_locality import ImageLocality, normalized_image_name
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, raw_scores

PLUGIN = ImageLocality()
MIB = 1 << 20


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("app", "app:latest"),
        ("app:1", "app:1"),
        ("host:5000/app", "host:5000/app:latest"),
        ("host:5000/app:1", "host:5000/app:1"),
        ("app@sha256:abc", "app@sha256:abc"),
        ("", ":latest"),
    ],
)
def test_names_without_tag_mean_latest(written, meant):
    assert normalized_image_name(written) == meant


@pytest.mark.parametrize(
    ("size", "score"),
    [(10 * MIB, 0), (23 * MIB, 0), (200 * MIB, 18), (1000 * MIB, 100), (9000 * MIB, 100)],
)
def test_scores_lie_between_23_and_1000_mib(size, score):
    assert raw_scores(PLUGIN, cycle_of(state([node("n").image("app:1", size=size)]), pod("p").image("app:1"))) == {
        "n": score
    }


def test_an_image_on_half_of_the_nodes_counts_half():
    nodes = [node("has").image("app:1", size=200 * MIB), node("lacks")]
    assert raw_scores(PLUGIN, cycle_of(state(nodes), pod("p").image("app:1"))) == {"has": 7, "lacks": 0}


@pytest.mark.parametrize(("size", "score"), [(103085507, 0), (103085508, 1)])
def test_a_share_of_an_image_has_no_fraction_of_a_byte(size, score):
    """34361836 bytes are the fewest that score 1; the smaller size has a third of a byte less on each node of three."""
    nodes = [node("has").image("app:1", size=size), node("lacks"), node("lacks too")]
    assert raw_scores(PLUGIN, cycle_of(state(nodes), pod("p").image("app:1")))["has"] == score


def test_all_images_of_the_pod_count_each_time_that_they_occur():
    image = {"image": "app:1"}
    cluster = state([node("n").image("app:1", size=400 * MIB)])
    several = pod("p").no_containers().container(**image).container(**image).init_container(**image)
    several = several.volume("files", image={"reference": "app:1"}).volume("other", emptyDir={})
    assert raw_scores(PLUGIN, cycle_of(cluster, several)) == {"n": 100 * (4 * 400 - 23) // (4 * 1000 - 23)}


def test_images_that_are_not_there_raise_the_bar():
    cluster = state([node("n").image("app:1", size=500 * MIB)])
    incoming = pod("p").no_containers().container(image="app:1").container(image="missing:1")
    assert raw_scores(PLUGIN, cycle_of(cluster, incoming)) == {"n": 100 * (500 - 23) // (2000 - 23)}


def holding(name, *sizes):
    """A node that has the images "<size in MiB>:latest"."""
    built = node(name)
    for size in sizes:
        built = built.image(f"{size}:latest", size=size * MIB)
    return built


@pytest.mark.parametrize(
    ("wanted", "nodes", "expected"),
    [
        ((40, 250), [(40, 300, 2000), (250, 10)], [0, 5]),
        ((40, 300), [(40, 300, 2000), (250, 10)], [7, 0]),
        ((10, 4000), [(4000, 30), (250, 10)], [100, 0]),
        ((10, 4000), [(4000, 30), (250, 10), ()], [66, 0, 0]),
        ((300, 600, 900), [(600, 40, 900), (300, 600, 900), ()], [32, 36, 0]),
        ((30, 40), [(20, 30, 40), (4000, 30)], [1, 0]),
        ((30, 300), [(300, 600, 900), (4000, 30)], [6, 0]),
    ],
    ids=[
        "the larger of two counts more",
        "both on one node",
        "no more than the limit",
        "a node without images makes the others count less",
        "three large ones",
        "small ones",
        "one of two on one node",
    ],
)
def test_sizes_add_up_by_how_many_nodes_have_them(wanted, nodes, expected):
    incoming = pod("p").no_containers()
    for size in wanted:
        incoming = incoming.container(image=str(size))
    names = [f"n{number}" for number in range(len(nodes))]
    cluster = state([holding(name, *sizes) for name, sizes in zip(names, nodes, strict=True)])
    assert raw_scores(PLUGIN, cycle_of(cluster, incoming)) == dict(zip(names, expected, strict=True))


@pytest.mark.parametrize(
    "incoming",
    [
        pod("p").image("30").volume("files", image={"reference": "300"}),
        pod("p").image("30").container(image="300"),
        pod("p").image("30").init_container(image="300"),
    ],
    ids=["image volume", "container", "init container"],
)
def test_it_is_all_one_where_an_image_is_used(incoming):
    cluster = state([holding("n1", 300, 600, 900), holding("n2", 4000, 30)])
    assert raw_scores(PLUGIN, cycle_of(cluster, incoming)) == {"n1": 6, "n2": 0}


def test_the_share_of_a_size_is_truncated_to_whole_bytes():
    size = 100 * MIB + 1
    nodes = [node("a").image("app:1", size=size), node("b"), node("c")]
    counted = int(float(size) * (1.0 / 3.0))
    expected = 100 * (counted - 23 * MIB) // (977 * MIB)
    assert raw_scores(PLUGIN, cycle_of(state(nodes), pod("p").image("app:1")))["a"] == expected


def test_a_pod_without_images_scores_0():
    cluster = state([node("n").image("app:1", size=500 * MIB)])
    assert raw_scores(PLUGIN, cycle_of(cluster, pod("p").no_containers())) == {"n": 0}


class TestEpoch:
    def setup_method(self):
        self.cluster = state([node("n1").image("app:1", size=MIB), node("n2").image("other:1", size=MIB)])
        self.cycle = cycle_of(self.cluster, pod("p").image("app:1"))
        self.before = PLUGIN.epoch(self.cycle)

    def test_another_node_with_the_image_changes_all_scores(self):
        self.cluster.set_node(node("n2").image("app:1", size=MIB).build())
        assert PLUGIN.epoch(self.cycle) != self.before

    def test_so_does_the_number_of_nodes(self):
        self.cluster.set_node(node("n3").build())
        assert PLUGIN.epoch(self.cycle) != self.before

    def test_so_does_losing_the_image_and_having_it_again(self):
        self.cluster.set_node(node("n1").build())
        lost = PLUGIN.epoch(self.cycle)
        self.cluster.set_node(node("n1").image("app:1", size=2 * MIB).build())
        assert len({lost, self.before, PLUGIN.epoch(self.cycle)}) == 3

    def test_other_images_change_nothing(self):
        self.cluster.set_node(node("n2").image("third:1", size=MIB).build())
        assert PLUGIN.epoch(self.cycle) == self.before
