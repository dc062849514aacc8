"""Berth and kube-scheduler through the same sequences of events, on real API servers."""
