"""Metrics with kube-scheduler's names, labels, buckets and texts."""
