"""The labels by which nodes and volumes tell where they are (k8s.io/api/core/v1/well_known_labels.go)."""

from __future__ import annotations

from typing import Final

HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
REGION_LABEL: Final = "topology.kubernetes.io/region"
BETA_ZONE_LABEL: Final = "failure-domain.beta.kubernetes.io/zone"
"""What `ZONE_LABEL` was called before Kubernetes 1.17. Old nodes, and volumes with their affinity, still carry it."""
BETA_REGION_LABEL: Final = "failure-domain.beta.kubernetes.io/region"
"""What `REGION_LABEL` was called before Kubernetes 1.17."""
ZONE_DELIMITER: Final = "__"
"""Between the zones (or regions) of a volume's label (cloud-provider/volume/constants.go, LabelMultiZoneDelimiter)."""
