from __future__ import annotations

import pytest

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.config.args.registry import IN_TREE_ARGS, ArgsRegistry
from scheduler.config.plugins import IN_TREE_PLUGINS


class MineArgs(PluginArgs, frozen=True, kw_only=True):
    size: int = 3


def test_arguments_belong_to_plugins_that_exist_and_are_named_after_them():
    assert set(IN_TREE_ARGS) <= IN_TREE_PLUGINS
    assert all(kind.__name__ == f"{name}Args" for name, kind in IN_TREE_ARGS.items())


def test_a_registry_is_extended_without_being_changed():
    registry = ArgsRegistry()
    extended = registry.extended({"Mine": MineArgs})
    assert extended.get("Mine") is MineArgs
    assert extended.get("InterPodAffinity") is InterPodAffinityArgs
    assert registry.get("Mine") is None
    assert "Mine" in extended
    assert "Mine" not in registry


def test_arguments_of_an_in_tree_plugin_cannot_be_replaced():
    with pytest.raises(ValueError, match="registered already for InterPodAffinity"):
        ArgsRegistry().extended({"InterPodAffinity": MineArgs})


def test_in_tree_defaults_are_valid(gates):
    for kind in IN_TREE_ARGS.values():
        assert kind().defaulted(gates).validate("args", gates) == []
