"""Which pods use which volumes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, info, node, pod, state


def using(name: str, *claims: str) -> PodBuilder:
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)]
    return pod(name).set("spec.volumes", volumes)


class TestNeeds:
    @pytest.mark.parametrize("source", [{}, {"emptyDir": {}}, {"csi": {"driver": "d"}}, {"image": {"reference": "i"}}])
    def test_volumes_that_no_plugin_looks_at_are_none(self, source: dict[str, Any]) -> None:
        assert info(pod("p").volume("v", **source)).shape.volumes is None

    def test_claims_as_often_as_they_are_named(self) -> None:
        needs = info(using("p", "a", "b", "a").volume("e", ephemeral={})).shape.volumes
        assert needs is not None
        assert (needs.claims, needs.ephemeral) == (("a", "b", "a"), True)
        assert needs.exclusive == needs.migratable == ()

    def test_disks(self) -> None:
        incoming = pod("p").volume("gce", gcePersistentDisk={}).volume("rbd", rbd={}).volume("cinder", cinder={})
        needs = info(incoming).shape.volumes
        assert needs is not None
        assert [volume.name for volume in needs.exclusive] == ["gce", "rbd"]
        assert [volume.name for volume in needs.migratable] == ["gce", "cinder"]


def test_pods_with_ephemeral_volumes_have_shapes_of_their_own() -> None:
    cluster = state()
    first, second = (info(pod(name).volume("v", ephemeral={}), cluster) for name in ("a", "b"))
    assert first.shape is not second.shape
    assert info(using("a", "c"), cluster).shape is info(using("b", "c"), cluster).shape


def test_uses_are_counted_with_the_pods_on_nodes() -> None:
    away = using("away", "c").namespace("other").on("n")
    cluster = state([node("n")], [using("a", "c", "c").on("n"), away, using("lost", "c").on("gone"), pod("x").on("n")])
    use = cluster.volumes
    assert use.claims == {("default", "c"): 2, ("other", "c"): 1}
    assert use.names == {"c": 3}
    row = cluster.nodes.rows["n"]
    assert [each.name for each in use.on_row(row).values()] == ["a", "away"]
    (first, *_) = cluster.pods
    with cluster.what_if() as trial:
        trial.remove(first)
        assert use.claims == {("other", "c"): 1}
    assert use.names == {"c": 3}
    cluster.remove_node("n")
    assert not use.claims
    assert not use.names
    assert not use.pods
    assert use.on_row(row) == {}
