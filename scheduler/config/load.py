"""Reading a KubeSchedulerConfiguration: text or JSON values in, a defaulted and validated configuration out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from scheduler.config.args.registry import ArgsRegistry
from scheduler.config.decode import decode_struct
from scheduler.config.defaults import set_defaults
from scheduler.config.document import parse_document
from scheduler.config.errors import ConfigError, FieldError, closest, invalid, plain
from scheduler.config.plugins import ALL, IN_TREE_PLUGINS, MULTI_POINT, plugin_sets
from scheduler.config.types import API_VERSION, KIND, KubeSchedulerConfiguration, PluginConfig, Profile
from scheduler.config.validation import REMOVED_PLUGINS, validate

if TYPE_CHECKING:
    from collections.abc import Collection

    from scheduler.config.features import FeatureGates

_TYPE_FIELDS = frozenset({"apiVersion", "kind"})


def load_config(
    text_or_obj: str | bytes | Mapping[str, Any],
    *,
    source: str,
    known_plugins: Collection[str] = IN_TREE_PLUGINS,
    args: ArgsRegistry | None = None,
    feature_gates: FeatureGates,
) -> KubeSchedulerConfiguration:
    """The configuration in `text_or_obj` (YAML or JSON text, or its value), as kube-scheduler would run it.

    `source` names the text in errors. `known_plugins` are the plugins that exist; `args` says which of them
    take typed arguments (None: the in-tree ones). Raises ConfigError with everything that is wrong.
    """
    registry = args or ArgsRegistry()
    given = parse_document(text_or_obj, source=source) if isinstance(text_or_obj, str | bytes) else text_or_obj
    if type_errors := _type_errors(given):
        raise ConfigError(source, type_errors)
    errors: list[FieldError] = []
    decoded = decode_struct(KubeSchedulerConfiguration, dict(given), path="", errors=errors)
    errors += _plugin_name_errors(decoded.profiles, known_plugins)
    profiles = tuple(
        _with_typed_args(profile, f"profiles[{i}]", registry, errors) for i, profile in enumerate(decoded.profiles)
    )
    config = set_defaults(replace(decoded, profiles=profiles), given, args=registry, gates=feature_gates)
    errors += validate(config, feature_gates)
    if errors:
        raise ConfigError(source, errors)
    return config


def default_config(*, feature_gates: FeatureGates, args: ArgsRegistry | None = None) -> KubeSchedulerConfiguration:
    """What kube-scheduler runs without a configuration file."""
    given = {"apiVersion": API_VERSION, "kind": KIND}
    return load_config(given, source="default", args=args, feature_gates=feature_gates)


def is_scheduler_config(value: Any) -> bool:
    """Whether a parsed document is a KubeSchedulerConfiguration, of whatever version."""
    if not isinstance(value, dict):
        return False
    group = str(value.get("apiVersion", "")).partition("/")[0]
    return value.get("kind") == KIND and group == API_VERSION.partition("/")[0]


def _type_errors(given: Any) -> list[FieldError]:
    """apiVersion and kind decide how to read the rest, so nothing else is looked at if they are wrong."""
    expected = f"expected apiVersion {API_VERSION} and kind {KIND}"
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        return [plain(f"not a configuration: {expected}")]
    version, kind = given.get("apiVersion"), given.get("kind")
    if not kind:
        return [plain(f"Object 'Kind' is missing; {expected}", "kind")]
    if not version:
        return [plain(f"Object 'apiVersion' is missing; {expected}", "apiVersion")]
    if (version, kind) != (API_VERSION, KIND):
        detail = f'no kind "{kind}" is registered for version "{version}"; {expected}'
        return [plain(detail, "kind" if version == API_VERSION else "apiVersion")]
    return []


def _plugin_name_errors(profiles: Collection[Profile], known: Collection[str]) -> list[FieldError]:
    errors: list[FieldError] = []

    def check(path: str, name: str, *, may_be_removed: bool = False) -> None:
        if name not in known and not (may_be_removed and name in REMOVED_PLUGINS):
            hint = closest(name, known)
            errors.append(invalid(path, name, f'plugin "{name}" does not exist{hint and f", {hint}"}'))

    for i, profile in enumerate(profiles):
        for point, plugin_set in plugin_sets(profile.plugins):
            for j, plugin in enumerate(plugin_set.enabled):
                path = f"profiles[{i}].plugins.{point}.enabled[{j}]"
                check(f"{path}.name", plugin.name, may_be_removed=point != MULTI_POINT)
                if plugin.weight < 0:
                    errors.append(invalid(f"{path}.weight", plugin.weight, "must be non-negative"))
            for j, plugin in enumerate(plugin_set.disabled):
                if plugin.name != ALL:
                    check(f"profiles[{i}].plugins.{point}.disabled[{j}].name", plugin.name, may_be_removed=True)
        for j, entry in enumerate(profile.plugin_config):
            check(f"profiles[{i}].pluginConfig[{j}].name", entry.name, may_be_removed=True)
    return errors


def _with_typed_args(profile: Profile, path: str, registry: ArgsRegistry, errors: list[FieldError]) -> Profile:
    """`profile` with the args of its pluginConfig as structs, where the plugin has one."""
    entries = tuple(
        _typed_entry(entry, f"{path}.pluginConfig[{i}]", registry, errors)
        for i, entry in enumerate(profile.plugin_config)
    )
    return replace(profile, plugin_config=entries)


def _typed_entry(entry: PluginConfig, path: str, registry: ArgsRegistry, errors: list[FieldError]) -> PluginConfig:
    kind = registry.get(entry.name)
    if kind is None:
        return entry
    value = {} if entry.args is None else entry.args
    if isinstance(value, dict):
        expected = {"apiVersion": API_VERSION, "kind": f"{entry.name}Args"}
        for field, wanted in expected.items():
            if value.get(field) not in (None, "", wanted):
                detail = f"args for plugin {entry.name} were not of type {expected['kind']} of {API_VERSION}"
                errors.append(invalid(f"{path}.args.{field}", value[field], detail))
    typed = decode_struct(kind, value, path=f"{path}.args", errors=errors, ignore=_TYPE_FIELDS)
    return replace(entry, args=typed)
