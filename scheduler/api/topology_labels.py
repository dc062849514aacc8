"""The labels by which nodes tell where they are (k8s.io/api/core/v1/well_known_labels.go)."""

from __future__ import annotations

from typing import Final

HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
