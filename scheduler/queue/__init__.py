"""Pods that wait: to be tried, for their backoff, for something to change, or behind a gate."""
