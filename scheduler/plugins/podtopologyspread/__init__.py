"""PodTopologySpread: keep the pods of a kind evenly spread over the domains of the cluster."""
