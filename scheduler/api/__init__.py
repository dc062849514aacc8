"""Typed, trimmed views of Kubernetes objects, and the arithmetic that their fields need."""
