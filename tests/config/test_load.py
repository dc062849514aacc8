from __future__ import annotations

import pytest

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.registry import ArgsRegistry
from scheduler.config.errors import ConfigError, invalid
from scheduler.config.load import default_config, is_scheduler_config, load_config
from scheduler.config.plugins import IN_TREE_PLUGINS
from scheduler.config.types import API_VERSION, KIND

HEAD = {"apiVersion": API_VERSION, "kind": KIND}


class MineArgs(PluginArgs, frozen=True, kw_only=True):
    size: int = 3

    def validate(self, path, gates):
        return [] if self.size > 0 else [invalid(f"{path}.size", self.size, "must be positive")]


def with_mine(args):
    profile = {
        "plugins": {"score": {"enabled": [{"name": "Mine", "weight": 2}]}},
        "pluginConfig": [{"name": "Mine", "args": args}],
    }
    return {**HEAD, "profiles": [profile]}


def errors_of(given, gates, **options):
    with pytest.raises(ConfigError) as caught:
        load_config(given, source="f", feature_gates=gates, **options)
    return [str(error) for error in caught.value.errors]


def test_text_bytes_and_values_read_alike(gates):
    text = f"apiVersion: {API_VERSION}\nkind: {KIND}\nparallelism: 3\n"
    expected = load_config({**HEAD, "parallelism": 3}, source="f", feature_gates=gates)
    assert load_config(text, source="f", feature_gates=gates) == expected
    assert load_config(text.encode(), source="f", feature_gates=gates) == expected
    assert expected.parallelism == 3


def test_the_default_configuration_is_that_of_an_empty_one(gates):
    assert default_config(feature_gates=gates) == load_config(HEAD, source="f", feature_gates=gates)


def test_the_source_is_named_in_front_of_each_error(gates):
    with pytest.raises(ConfigError) as caught:
        load_config({**HEAD, "parallelism": 0, "podMaxBackoffSeconds": 0}, source="f.yaml", feature_gates=gates)
    assert str(caught.value).splitlines() == [
        "f.yaml: parallelism: Invalid value: 0: should be an integer value greater than zero",
        "f.yaml: podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to PodInitialBackoffSeconds",
    ]


def test_errors_of_all_kinds_are_told_at_once(gates):
    given = {
        **HEAD,
        "paralelism": 3,
        "podMaxBackoffSeconds": "x",
        "profiles": [
            {"schedulerName": "a", "plugins": {"filter": {"enabled": [{"name": "Nodename", "weight": -1}]}}},
            {"schedulerName": "a", "pluginConfig": [{"name": "InterPodAffinity", "args": {"odd": 1}}]},
        ],
    }
    assert errors_of(given, gates) == [
        'unknown field "paralelism", did you mean "parallelism"?',
        'podMaxBackoffSeconds: Invalid value: "x": cannot unmarshal string into int64',
        'profiles[0].plugins.filter.enabled[0].name: Invalid value: "Nodename": '
        'plugin "Nodename" does not exist, did you mean "NodeName"?',
        "profiles[0].plugins.filter.enabled[0].weight: Invalid value: -1: must be non-negative",
        'unknown field "profiles[1].pluginConfig[0].args.odd"',
        'profiles[1].schedulerName: Duplicate value: "a"',
    ]


def test_an_unknown_plugin_is_refused_wherever_it_is_named(gates):
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": "X1"}]}, "score": {"disabled": [{"name": "X2"}]}},
        "pluginConfig": [{"name": "X3", "args": {}}],
    }
    assert [error.partition(":")[0] for error in errors_of({**HEAD, "profiles": [profile]}, gates)] == [
        "profiles[0].plugins.multiPoint.enabled[0].name",
        "profiles[0].plugins.score.disabled[0].name",
        "profiles[0].pluginConfig[0].name",
    ]


def test_a_plugin_that_older_versions_had_may_still_be_disabled(gates):
    profile = {"plugins": {"filter": {"disabled": [{"name": "EBSLimits"}]}}}
    load_config({**HEAD, "profiles": [profile]}, source="f", feature_gates=gates)


def test_a_users_plugin_is_known_once_it_is_registered(gates):
    assert len(errors_of(with_mine({}), gates)) == 2
    config = load_config(
        with_mine({"any": ["thing"]}), source="f", known_plugins=IN_TREE_PLUGINS | {"Mine"}, feature_gates=gates
    )
    assert config.profiles[0].args("Mine") == {"any": ["thing"]}


def test_arguments_of_a_users_plugin_are_decoded_and_validated(gates):
    options = {
        "known_plugins": IN_TREE_PLUGINS | {"Mine"},
        "args": ArgsRegistry().extended({"Mine": MineArgs}),
    }
    config = load_config(with_mine({"size": 5}), source="f", feature_gates=gates, **options)
    assert config.profiles[0].args("Mine") == MineArgs(size=5)
    assert errors_of(with_mine({"size": 0}), gates, **options) == [
        "profiles[0].pluginConfig[0].args.size: Invalid value: 0: must be positive"
    ]
    assert errors_of(with_mine({"sized": 1}), gates, **options) == [
        'unknown field "profiles[0].pluginConfig[0].args.sized", did you mean "size"?'
    ]


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (HEAD, True),
        ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": KIND}, True),
        ({"apiVersion": "v1", "kind": "Pod"}, False),
        ({"kind": KIND}, False),
        ([], False),
    ],
)
def test_a_scheduler_configuration_is_told_by_kind_and_group(value, is_one):
    assert is_scheduler_config(value) is is_one
