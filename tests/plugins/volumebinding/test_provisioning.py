"""Whether volumes can be made for claims."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from scheduler.api.objects import CSIStorageCapacity
from scheduler.plugins.volumebinding.provisioning import Provision, ProvisionError, limit, provision
from scheduler.plugins.volumebinding.topology import Topology
from tests.builders import node, state
from tests.plugins.storage import capacity, claim, csi_driver, put, storage_class

NODES = [node("a").zone("x"), node("b").zone("y"), node("c")]
ZONE = "topology.kubernetes.io/zone"
PUBLISHED = [storage_class(), csi_driver(capacity=True)]


def found(*objects: Any, wanted: Any = None) -> Provision:
    cluster = put(state(NODES), *objects)
    topology = Topology(cluster)
    topology.refresh()
    return provision(wanted or claim("c"), np.ones(3, np.bool_), cluster.objects, topology)


def names(mask: Any) -> str:
    return "".join("abc"[row] for row in np.flatnonzero(mask).tolist())


def test_a_class_without_further_conditions_is_made_everywhere() -> None:
    part = found(storage_class())
    assert (names(part.made), names(part.elsewhere), names(part.full)) == ("abc", "", "")


@pytest.mark.parametrize("provisioner", ["kubernetes.io/no-provisioner", ""])
def test_a_class_without_a_provisioner_makes_nothing(provisioner: str) -> None:
    part = found(storage_class(provisioner=provisioner))
    assert (names(part.made), names(part.elsewhere)) == ("", "abc")


def test_only_allowed_topologies_will_do() -> None:
    part = found(storage_class(topologies={ZONE: ["x"]}))
    assert (names(part.made), names(part.elsewhere)) == ("a", "bc")


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [(claim("c", None), 'no class for claim "default/c"'), (claim("c", "x"), 'failed to find storage class "x"')],
)
def test_a_claim_needs_a_class_that_exists(wanted: Any, problem: str) -> None:
    with pytest.raises(ProvisionError, match=problem):
        found(wanted=wanted)


class TestCapacity:
    def test_there_must_be_enough_where_the_driver_publishes_it(self) -> None:
        part = found(*PUBLISHED, capacity("one", "5Gi", host="a"), capacity("two", "4Gi", host="b"))
        assert (names(part.made), names(part.full)) == ("a", "bc")
        published = part.capacity(0)
        assert published is not None
        assert published.metadata.name == "one"
        assert part.capacity(1) is None

    @pytest.mark.parametrize("driver", [[], [csi_driver()], [csi_driver(capacity=False)]])
    def test_is_not_asked_for_where_the_driver_does_not(self, driver: list[Any]) -> None:
        assert names(found(storage_class(), *driver).made) == "abc"

    def test_is_not_asked_for_by_claims_of_no_size(self) -> None:
        assert names(found(*PUBLISHED, wanted=claim("c", resources={})).made) == "abc"

    def test_the_largest_volume_counts_rather_than_what_is_free(self) -> None:
        part = found(*PUBLISHED, capacity("one", "100Gi", most="1Gi", host="a"), capacity("two", None, host="b"))
        assert names(part.full) == "abc"
        assert names(found(*PUBLISHED, capacity("one", "1Gi", most="5Gi", host="a")).made) == "a"

    def test_of_another_class_or_for_no_node_does_not_count(self) -> None:
        nowhere = msgspec.structs.replace(capacity("nowhere", "9Gi"), node_topology=None)
        part = found(*PUBLISHED, capacity("other", "9Gi", storage_class="other", host="a"), nowhere)
        assert names(part.made) == ""

    def test_with_a_selector_that_does_not_parse_does_not_count(self) -> None:
        broken = {"matchExpressions": [{"key": "k", "operator": "Bad"}]}
        document = {"metadata": {"name": "x"}, "storageClassName": "wait", "nodeTopology": broken, "capacity": "9Gi"}
        assert names(found(*PUBLISHED, msgspec.convert(document, CSIStorageCapacity)).made) == ""

    def test_for_all_nodes(self) -> None:
        assert names(found(*PUBLISHED, capacity("all", "9Gi")).made) == "abc"

    def test_is_not_looked_for_where_the_class_does_not_allow_it(self) -> None:
        objects = [storage_class(topologies={ZONE: ["x"]}), csi_driver(capacity=True)]
        part = found(*objects, capacity("b", "9Gi", host="b"))
        assert (names(part.made), names(part.elsewhere), names(part.full)) == ("", "bc", "a")


@pytest.mark.parametrize(
    ("published", "expected"),
    [(capacity("x", "1Ki"), 1024), (capacity("x", "1Ki", most="2Ki"), 2048), (capacity("x", None), None)],
)
def test_the_limit_of_a_capacity(published: Any, expected: int | None) -> None:
    assert limit(published) == expected
