"""Schedulers side by side, against a real API server."""
