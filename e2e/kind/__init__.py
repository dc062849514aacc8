"""Berth in a kind cluster, where there is Docker."""
