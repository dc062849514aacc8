"""The names by which nodes and volumes tell where they are. Everything that reads places goes by these."""

from __future__ import annotations

from pathlib import Path

import scheduler
from scheduler.api.topology_labels import (
    BETA_REGION_LABEL,
    BETA_ZONE_LABEL,
    HOSTNAME_LABEL,
    REGION_LABEL,
    ZONE_DELIMITER,
    ZONE_LABEL,
)

LABELS = {
    HOSTNAME_LABEL: "kubernetes.io/hostname",
    ZONE_LABEL: "topology.kubernetes.io/zone",
    REGION_LABEL: "topology.kubernetes.io/region",
    BETA_ZONE_LABEL: "failure-domain.beta.kubernetes.io/zone",
    BETA_REGION_LABEL: "failure-domain.beta.kubernetes.io/region",
}


def test_the_names_are_those_that_kubelets_cloud_providers_and_provisioners_set() -> None:
    assert all(name == spelt for name, spelt in LABELS.items())


def test_several_zones_of_a_volume_are_written_with_two_underscores_between_them() -> None:
    assert "europe-west1-b__europe-west1-c".split(ZONE_DELIMITER) == ["europe-west1-b", "europe-west1-c"]


def test_they_are_spelt_out_nowhere_else() -> None:
    package = Path(scheduler.__file__).parent
    spelt = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if any(f'"{name}"' in path.read_text(encoding="utf-8") for name in LABELS)
    }
    assert spelt == {"api/topology_labels.py"}
