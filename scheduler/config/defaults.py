"""Defaults that depend on something else: on other fields, on feature gates, on the plugins of a profile.

Source: apis/config/v1/defaults.go, component-base/config/v1alpha1/defaults.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
from scheduler.config.duration import Duration
from scheduler.config.plugins import default_plugins, enabled_names, merge_plugins
from scheduler.config.types import (
    DEFAULT_SCHEDULER_NAME,
    ClientConnection,
    KubeSchedulerConfiguration,
    LeaderElection,
    PluginConfig,
    Profile,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.config.args.registry import ArgsRegistry
    from scheduler.config.features import FeatureGates

_EXTENDER_TIMEOUT = Duration.of_seconds(5)


def set_defaults(
    config: KubeSchedulerConfiguration, given: Mapping[str, Any], *, args: ArgsRegistry, gates: FeatureGates
) -> KubeSchedulerConfiguration:
    """`config`, as decoded from `given`, with all defaults that kube-scheduler sets."""
    profiles = config.profiles or (Profile(),)
    if len(profiles) == 1 and not _names_a_profile(given):
        profiles = (replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    contention = config.enable_contention_profiling
    if given.get("enableContentionProfiling") is None:
        contention = config.enable_profiling
    ignored = ignored_by_scheduler(config)
    return replace(
        config,
        profiles=tuple(
            _leave_to_extenders(_default_profile(profile, args=args, gates=gates), ignored) for profile in profiles
        ),
        extenders=tuple(
            extender if extender.http_timeout != Duration() else replace(extender, http_timeout=_EXTENDER_TIMEOUT)
            for extender in config.extenders
        ),
        leader_election=_default_leader_election(config.leader_election),
        client_connection=_default_client_connection(config.client_connection),
        enable_contention_profiling=contention,
    )


def ignored_by_scheduler(config: KubeSchedulerConfiguration) -> tuple[str, ...]:
    """Extended resources that an extender looks after and the scheduler isn't to check."""
    return tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )


def _leave_to_extenders(profile: Profile, ignored: tuple[str, ...]) -> Profile:
    """`profile` whose NodeResourcesFit leaves out `ignored`, if that is any (scheduler.go buildExtenders)."""
    if not ignored:
        return profile
    entries = tuple(
        replace(entry, args=replace(entry.args, ignored_resources=ignored))
        if isinstance(entry.args, NodeResourcesFitArgs)
        else entry
        for entry in profile.plugin_config
    )
    return replace(profile, plugin_config=entries)


def _names_a_profile(given: Mapping[str, Any]) -> bool:
    """Whether the only profile has a name of its own; an empty one counts, and is an error later."""
    profiles = given.get("profiles")
    if not isinstance(profiles, list) or not profiles or not isinstance(profiles[0], dict):
        return False
    return profiles[0].get("schedulerName") is not None


def _default_profile(profile: Profile, *, args: ArgsRegistry, gates: FeatureGates) -> Profile:
    plugins = merge_plugins(default_plugins(gates), profile.plugins)
    entries = [
        replace(entry, args=entry.args.defaulted(gates)) if isinstance(entry.args, PluginArgs) else entry
        for entry in profile.plugin_config
    ]
    configured = {entry.name for entry in entries}
    for name in sorted(enabled_names(plugins) - configured):
        kind = args.get(name)
        if kind is not None:
            entries.append(PluginConfig(name=name, args=kind().defaulted(gates)))
    return replace(profile, plugins=plugins, plugin_config=tuple(entries))


def _default_leader_election(given: LeaderElection) -> LeaderElection:
    """An empty text or a zero duration counts as absent."""
    default = LeaderElection()
    absent = {
        name: getattr(default, name)
        for name in LeaderElection.__struct_fields__
        if getattr(given, name) in ("", Duration())
    }
    return replace(given, **absent)


def _default_client_connection(given: ClientConnection) -> ClientConnection:
    default = ClientConnection()
    return replace(
        given,
        content_type=given.content_type or default.content_type,
        qps=given.qps or default.qps,
        burst=given.burst or default.burst,
    )
