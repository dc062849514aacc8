"""Berth, a Kubernetes scheduler in Python."""
