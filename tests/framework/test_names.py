"""The names of plugins."""

from __future__ import annotations

from scheduler.framework import names
from scheduler.plugins.registry import IN_TREE


def test_every_plugin_in_tree_has_a_name_here():
    known = {value for name, value in vars(names).items() if name.isupper()}
    assert set(IN_TREE) <= known


def test_plugins_go_by_the_names_that_they_are_registered_under():
    assert names.NODE_RESOURCES_BALANCED_ALLOCATION == "NodeResourcesBalancedAllocation"
    assert names.INTER_POD_AFFINITY == "InterPodAffinity"
