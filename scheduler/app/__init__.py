"""Puts the parts together: profiles from a configuration, a scheduler on a cluster."""
