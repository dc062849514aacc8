"""Claims that could be bound where the pod goes, and pods that have one for themselves."""

from __future__ import annotations

from typing import Any

from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import claim, storage_class, uses, volume


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).uid(name).set("spec.volumes", uses(*claims))


def found(waits: PodBuilder, *objects: Any, pods: tuple[PodBuilder, ...] = ()) -> list[Any]:
    changes = [one.change for one in Cluster([node("a"), node("b")], pods, objects).found(waits)]
    return [change for change in changes if change.kind in ("waitForFirstConsumer", "removePods")]


def test_a_class_that_would_wait_for_the_pod() -> None:
    (change,) = found(using("new", "data"), claim("data", "fast"), storage_class("fast", mode="Immediate"))
    assert change.what([]) == (
        "a StorageClass like fast with volumeBindingMode: WaitForFirstConsumer for its claim, "
        "so that the volume follows the pod,"
    )
    ((kind, item),) = change.objects
    assert (kind, item.metadata.name, item.volume_binding_mode) == ("StorageClass", "fast", "WaitForFirstConsumer")


def test_each_class_once() -> None:
    objects = claim("x", "fast"), claim("y", "fast"), storage_class("fast", mode="Immediate")
    assert len(found(using("new", "x", "y"), *objects)) == 1


def test_not_one_that_waits_already_or_is_not_there() -> None:
    assert found(using("new", "data"), claim("data", "gone")) == []


def test_the_pods_gone_that_have_the_claim_for_themselves() -> None:
    bound = claim("data", volume="v", accessModes=["ReadWriteOncePod"]), volume("v", accessModes=["ReadWriteOncePod"])
    holder = using("holder", "data").on("a")
    (change,) = found(using("new", "data"), *bound, pods=(holder, using("other", "logs").on("a")))
    assert change.details["pods"] == "default/holder"


def test_not_those_that_share_one() -> None:
    bound = claim("data", volume="v"), volume("v")
    assert found(using("new", "data").node_selector(disk="x"), *bound, pods=(using("holder", "data").on("a"),)) == []
