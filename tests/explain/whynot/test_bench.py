"""Changes are tried on the state itself, and leave it as it was."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler.explain.whynot.bench import Bench, edited, whole
from scheduler.explain.whynot.change import Change
from tests.builders import info, node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import claim, storage_class


def small(name: str) -> Any:
    return node(name).capacity(cpu="2", memory="8Gi", pods="10")


def change(**fields: Any) -> Change:
    return Change(kind="x", cost=1, what=lambda _: "x", solves=frozenset(), **fields)


def everything(cluster: Cluster) -> Any:
    table = cluster.state.nodes
    return (
        {name: (table.node(row), table.requested[:, row].tolist()) for name, row in table.rows.items()},
        {each.uid: each.node_name for each in cluster.state.pods},
        {item.metadata.name: item for item in cluster.state.objects.all("StorageClass")},
        {item.metadata.name: item for item in cluster.state.objects.all("PersistentVolumeClaim")},
    )


def opened(cluster: Cluster, waits: Any, tried: Change) -> list[str]:
    """The nodes that a change opens; what there was before is there afterwards."""
    before = everything(cluster)
    found = Bench(cluster.state, cluster.profile, cluster.info(waits)).opened(tried)
    assert everything(cluster) == before
    return found


def uncordoned(each: Any) -> Any:
    return replace(each, spec=replace(each.spec, unschedulable=False))


def cheaper(each: Any) -> Any:
    return replace(each, spec=pod("p").cpu("1").build().spec)


BIG = pod("new").cpu("2")


class TestWhatIsChanged:
    def test_a_node(self) -> None:
        cluster = Cluster([small("a").unschedulable(), small("b").unschedulable()])
        assert opened(cluster, BIG, change(nodes={"b": uncordoned})) == ["b"]

    def test_a_node_that_comes_with_its_pods(self) -> None:
        cluster = Cluster([small("a").unschedulable()])
        new = node("new").capacity(cpu="2", memory="8Gi", pods="10").build()
        assert opened(cluster, BIG, change(new=(new,))) == ["new"]
        daemon = cluster.info(pod("daemon").uid("d").on("new").cpu("1"))
        assert opened(cluster, BIG, change(new=(new,), come=(daemon,))) == []

    def test_a_pod_that_goes(self) -> None:
        cluster = Cluster([small("a")], [pod("there").uid("t").on("a").cpu("1")])
        (there,) = cluster.state.pods
        assert opened(cluster, BIG, change(gone=(there,))) == ["a"]

    def test_one_that_has_gone_by_itself_meanwhile_is_no_matter(self) -> None:
        cluster = Cluster([small("a")])
        assert opened(cluster, BIG, change(gone=(cluster.info(pod("left").uid("l").on("a").cpu("1")),))) == ["a"]

    def test_the_pod_itself(self) -> None:
        cluster = Cluster([small("a")], [pod("there").on("a").cpu("1")])
        assert opened(cluster, BIG, change(pod=cheaper)) == ["a"]

    @pytest.mark.parametrize("there", [True, False], ids=["in the place of one", "new"])
    def test_an_object(self, there: bool) -> None:
        immediate = storage_class("s", mode="Immediate")
        cluster = Cluster([small("a")], objects=[claim("c", "s"), *([immediate] if there else [])])
        waits = pod("new").volume("v", persistentVolumeClaim={"claimName": "c"})
        late = ("StorageClass", storage_class("s"))
        assert opened(cluster, waits, change(objects=(late,))) == ["a"]

    def test_all_of_it_at_once(self) -> None:
        cluster = Cluster([small("a").unschedulable()], [pod("there").uid("t").on("a").cpu("2")])
        (there,) = cluster.state.pods
        assert opened(cluster, pod("new").cpu("9"), change(nodes={"a": uncordoned}, gone=(there,), pod=cheaper)) == [
            "a"
        ]


def test_a_node_that_has_gone_meanwhile_opens_nothing() -> None:
    """Between two steps the cluster may change."""
    cluster = Cluster([small("a")])
    assert opened(cluster, BIG, change(nodes={"gone": uncordoned})) == []


def test_what_fails_leaves_the_state_as_it_was_too() -> None:
    cluster = Cluster([small("a")], objects=[storage_class("s", mode="Immediate")])
    before = everything(cluster)

    def broken(_: Any) -> Any:
        raise ValueError("no")

    tried = change(nodes={"a": broken}, objects=(("StorageClass", storage_class("s")),))
    with pytest.raises(ValueError, match="no"):
        Bench(cluster.state, cluster.profile, cluster.info(BIG)).opened(tried)
    assert everything(cluster) == before


def test_changes_are_counted_as_they_are_tried() -> None:
    cluster = Cluster([small("a")])
    bench = Bench(cluster.state, cluster.profile, cluster.info(BIG))
    bench.survey()
    for _ in range(3):
        bench.opened(change())
    assert bench.tried == 3


def test_what_there_would_be_to_try_behind_a_change_is_asked_at_the_changed_state() -> None:
    cluster = Cluster([small("a").unschedulable()], [pod("there").on("a").cpu("1")])
    bench = Bench(cluster.state, cluster.profile, cluster.info(BIG))
    seen: list[list[str]] = []

    def generator(survey: Any) -> Any:
        seen.append(sorted(survey.codes))
        yield (change(),)
        yield ()

    found = bench.behind(change(nodes={"a": uncordoned}), [generator])
    assert seen == [["NodeResourcesFit"]]
    assert len(found) == 1


class TestRecords:
    def test_a_pod_that_is_not_edited_stays_the_record_it_was(self) -> None:
        cluster = Cluster([])
        one = cluster.info(BIG)
        assert edited(one, change(), cluster.state) is one

    def test_an_edited_one_is_still_the_same_pod(self) -> None:
        cluster = Cluster([])
        one = cluster.info(pod("new").uid("u").cpu("2").priority(5))
        other = edited(one, change(pod=cheaper), cluster.state)
        assert (other.uid, other.name, other.key) == (one.uid, one.name, one.key)
        assert other.usage.requests["cpu"] == 1000

    def test_the_whole_pod_is_what_scheduling_knows_of_it(self) -> None:
        made = pod("new").uid("u").cpu("2").priority(5).label(app="web").build()
        known = whole(info(made))
        assert known.spec == made.spec
        assert (known.metadata.name, known.metadata.uid, known.metadata.labels) == ("new", "u", {"app": "web"})
