"""The effective configuration as kube-scheduler writes it with --write-config-to: same fields, same text.

Source: the JSON tags of kube-scheduler/config/v1 and core/v1; cmd/kube-scheduler/app/options/configfile.go.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from scheduler.api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
)
from scheduler.config.args.base import PluginArgs
from scheduler.config.args.dynamic_resources import DynamicResourcesArgs
from scheduler.config.args.node_affinity import NodeAffinityArgs
from scheduler.config.args.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
from scheduler.config.args.node_resources_fit import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ScoringStrategy,
)
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.config.args.scoring import ResourceSpec
from scheduler.config.args.volume_binding import VolumeBindingArgs
from scheduler.config.duration import Duration
from scheduler.config.plugins import enabled_names
from scheduler.config.types import (
    API_VERSION,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    PluginConfig,
    PluginSet,
    Profile,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

#: For structs whose empty fields are left out (omitempty in Go): the fields that are written all the same.
#: Structs that aren't listed are written whole.
_ALWAYS: Mapping[type, frozenset[str]] = {
    Profile: frozenset({"schedulerName", "plugins"}),
    PluginSet: frozenset(),
    Extender: frozenset({"urlPrefix", "httpTimeout"}),
    ExtenderManagedResource: frozenset({"name"}),
    ExtenderTLSConfig: frozenset(),
    NodeAffinityArgs: frozenset(),
    NodeResourcesBalancedAllocationArgs: frozenset(),
    NodeResourcesFitArgs: frozenset({"scoringStrategy"}),
    ScoringStrategy: frozenset(),
    RequestedToCapacityRatioParam: frozenset(),
    ResourceSpec: frozenset({"name"}),
    PodTopologySpreadArgs: frozenset(),
    VolumeBindingArgs: frozenset({"bindTimeoutSeconds"}),
    DynamicResourcesArgs: frozenset({"filterTimeout"}),
    NodeAffinity: frozenset(),
    NodeSelector: frozenset({"nodeSelectorTerms"}),
    NodeSelectorTerm: frozenset(),
    NodeSelectorRequirement: frozenset({"key", "operator"}),
    PreferredSchedulingTerm: frozenset({"weight", "preference"}),
    TopologySpreadConstraint: frozenset({"maxSkew", "topologyKey", "whenUnsatisfiable"}),
    LabelSelector: frozenset(),
    LabelSelectorRequirement: frozenset({"key", "operator"}),
}
_CONFIG_OMITTED_WHEN_EMPTY = frozenset({"extenders", "delayCacheUntilActive"})


class _Dumper(yaml.SafeDumper):
    """Quotes as Go's YAML writer does: texts that would read as another type in double quotes."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    tag = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # of PyYAML
    return dumper.represent_scalar(_TEXT_TAG, text, style=None if tag in _PLAIN_TAGS else '"')


_TEXT_TAG = "tag:yaml.org,2002:str"
_PLAIN_TAGS = frozenset({_TEXT_TAG, "tag:yaml.org,2002:yaml"})  # the latter: "*", "&", "!", quoted by the emitter
_Dumper.add_representer(str, _represent_text)


def to_json_value(config: KubeSchedulerConfiguration) -> dict[str, Any]:
    """`config` as JSON values; a profile's pluginConfig has the args of its enabled plugins, by name."""
    profiles = tuple(_effective(profile) for profile in config.profiles)
    written = _struct(msgspec.structs.replace(config, profiles=profiles))
    return {key: value for key, value in written.items() if value or key not in _CONFIG_OMITTED_WHEN_EMPTY}


def to_yaml(config: KubeSchedulerConfiguration) -> str:
    """The text that kube-scheduler's --write-config-to writes: YAML with sorted keys."""
    return yaml.dump(to_json_value(config), Dumper=_Dumper, default_flow_style=False, allow_unicode=True, width=2**31)


def to_json(config: KubeSchedulerConfiguration) -> str:
    """`config` as indented JSON with sorted keys."""
    return json.dumps(to_json_value(config), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _effective(profile: Profile) -> Profile:
    enabled = enabled_names(profile.plugins)
    entries = [entry for entry in profile.plugin_config if entry.name in enabled and entry.args is not None]
    entries.sort(key=lambda entry: entry.name)
    return msgspec.structs.replace(profile, plugin_config=tuple(entries))


def _value(value: Any) -> Any:
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, PluginConfig):
        return _plugin_config(value)
    if isinstance(value, msgspec.Struct):
        return _struct(value)
    if isinstance(value, tuple | list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _value(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return _float32(value) if isinstance(value, float) else value


def _float32(value: float) -> float | int:
    """`value` as the shortest decimal that is the same 32-bit float; rates are kept in those by kube-scheduler."""
    packed = struct.pack("f", value)
    shortest = next(
        rounded for digits in range(1, 18) if struct.pack("f", rounded := float(f"{value:.{digits}g}")) == packed
    )
    return int(shortest) if shortest.is_integer() else shortest


def _struct(value: msgspec.Struct) -> dict[str, Any]:
    always = _ALWAYS.get(type(value))
    written = {}
    for field in msgspec.structs.fields(value):
        item = getattr(value, field.name)
        # A struct and whatever a pointer points to is a value in Go, be it zero.
        is_value = isinstance(item, msgspec.Struct) or (field.default is None and item is not None)
        if always is None or field.encode_name in always or is_value or item:
            written[field.encode_name] = _value(item)
    return written


def _plugin_config(entry: PluginConfig) -> dict[str, Any]:
    args = _value(entry.args)
    if isinstance(entry.args, PluginArgs):
        args = {"apiVersion": API_VERSION, "kind": f"{entry.name}Args", **args}
    return {"name": entry.name, "args": args}
