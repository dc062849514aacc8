from __future__ import annotations

import json

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.registry import ArgsRegistry
from scheduler.config.duration import Duration
from scheduler.config.load import default_config, load_config
from scheduler.config.plugins import IN_TREE_PLUGINS
from scheduler.config.render import to_json, to_json_value, to_yaml
from scheduler.config.types import API_VERSION, KIND


class MineArgs(PluginArgs, frozen=True, kw_only=True):
    size: int = 0
    wait: Duration = Duration()


def test_json_and_yaml_have_the_same_values(gates):
    config = default_config(feature_gates=gates)
    assert json.loads(to_json(config)) == to_json_value(config)
    assert to_yaml(config).startswith("apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n")


def test_what_is_written_reads_back_as_the_same_configuration(gates):
    profile = {"schedulerName": "a", "plugins": {"multiPoint": {"disabled": [{"name": "*"}]}}}
    profile["plugins"]["multiPoint"]["enabled"] = [{"name": "PrioritySort"}, {"name": "NodeResourcesFit"}]
    given = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    config = load_config(given, source="", feature_gates=gates)
    assert load_config(to_yaml(config), source="", feature_gates=gates) == config


def test_arguments_of_users_plugins_are_written_whole(gates):
    profile = {
        "plugins": {"score": {"enabled": [{"name": "Mine"}, {"name": "Raw"}]}},
        "pluginConfig": [{"name": "Raw", "args": {"b": [1]}}],
    }
    config = load_config(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]},
        source="",
        known_plugins=IN_TREE_PLUGINS | {"Mine", "Raw"},
        args=ArgsRegistry().extended({"Mine": MineArgs}),
        feature_gates=gates,
    )
    written = {entry["name"]: entry["args"] for entry in to_json_value(config)["profiles"][0]["pluginConfig"]}
    assert written["Mine"] == {"apiVersion": API_VERSION, "kind": "MineArgs", "size": 0, "wait": "0s"}
    assert written["Raw"] == {"b": [1]}


def test_rates_are_written_as_32_bit_floats(gates):
    def written(qps):
        given = {"apiVersion": API_VERSION, "kind": KIND, "clientConnection": {"qps": qps}}
        config = load_config(given, source="", feature_gates=gates)
        return to_json_value(config)["clientConnection"]["qps"]

    assert [written(qps) for qps in (0.1, 12.5, 50.0, 2**40)] == [0.1, 12.5, 50, 1099511600000]
