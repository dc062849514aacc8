"""Zones and regions in the labels of volumes."""

from __future__ import annotations

from scheduler.plugins.volumezone.topology import Topology, topologies
from tests.plugins.storage import volume

ZONE, BETA_REGION = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"


def test_each_zone_and_region_label_asks_for_something() -> None:
    found = topologies(volume("v", labels={ZONE: "a__b", BETA_REGION: "r", "other": "x"}))
    assert found == [Topology(BETA_REGION, frozenset("r")), Topology(ZONE, frozenset("ab"))]


def test_a_label_without_a_value_asks_for_nothing() -> None:
    assert topologies(volume("v", labels={ZONE: ""})) == []
