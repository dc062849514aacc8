"""Validation of a defaulted configuration, with kube-scheduler's messages.

Source: apis/config/validation/validation.go, component-base/config/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.config.args.base import PluginArgs
from scheduler.config.defaults import ignored_by_scheduler
from scheduler.config.duration import Duration
from scheduler.config.errors import FieldError, duplicate, invalid, plain, required
from scheduler.config.plugins import EXTENSION_POINTS, plugin_sets
from scheduler.config.syntax import is_extended_resource, label_key_problems
from scheduler.config.types import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.config.features import FeatureGates
    from scheduler.config.types import (
        Extender,
        KubeSchedulerConfiguration,
        LeaderElection,
        PluginSet,
        Profile,
    )

#: Plugins that older versions had.
REMOVED_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
REMOVED_DETAIL = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'


def validate(config: KubeSchedulerConfiguration, gates: FeatureGates) -> list[FieldError]:
    """What is wrong with `config`, a defaulted configuration; empty if nothing is."""
    errors: list[FieldError] = []
    if config.client_connection.burst < 0:
        at = "clientConnection.burst"
        errors.append(invalid(at, config.client_connection.burst, "must be non-negative"))
    errors += validate_leader_election(config.leader_election, "leaderElection")
    if config.parallelism <= 0:
        detail = "should be an integer value greater than zero"
        errors.append(invalid("parallelism", config.parallelism, detail))
    errors += _profiles_errors(config.profiles, gates)
    errors += _percentage_errors("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    initial, longest = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if initial <= 0:
        errors.append(invalid("podInitialBackoffSeconds", initial, "must be greater than 0"))
    if longest < initial:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        errors.append(invalid("podMaxBackoffSeconds", longest, detail))
    if ignored_by_scheduler(config):
        errors += [
            plain("can't find NodeResourcesFitArgs in plugin config", f"profiles[{i}].pluginConfig")
            for i, profile in enumerate(config.profiles)
            if profile.args("NodeResourcesFit") is None
        ]
    return errors + _extenders_errors(config.extenders)


def validate_leader_election(election: LeaderElection, path: str) -> list[FieldError]:
    """As ValidateLeaderElectionConfiguration; nothing is checked while leader election is off."""
    if not election.leader_elect:
        return []
    errors = []
    spans = {
        "leaseDuration": election.lease_duration,
        "renewDeadline": election.renew_deadline,
        "retryPeriod": election.retry_period,
    }
    for name, span in spans.items():
        if span <= Duration():
            errors.append(invalid(f"{path}.{name}", span, "must be greater than zero"))
    if election.lease_duration <= election.renew_deadline:
        detail = "must be greater than `RenewDeadline`"
        errors.append(invalid(f"{path}.leaseDuration", election.renew_deadline, detail))
    if not election.resource_lock:
        errors.append(required(f"{path}.resourceLock"))
    if not election.resource_namespace:
        errors.append(required(f"{path}.resourceNamespace"))
    if not election.resource_name:
        errors.append(required(f"{path}.resourceName"))
    if election.resource_lock != "leases":
        detail = 'resourceLock value must be "leases"'
        errors.append(invalid(f"{path}.resourceLock", election.resource_lock, detail))
    return errors


def _percentage_errors(path: str, percentage: int | None) -> list[FieldError]:
    if percentage is None or 0 <= percentage <= 100:
        return []
    return [invalid(path, percentage, "not in valid range [0-100]")]


def _profiles_errors(profiles: Sequence[Profile], gates: FeatureGates) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, profile in enumerate(profiles):
        path = f"profiles[{i}]"
        if not profile.scheduler_name:
            errors.append(required(f"{path}.schedulerName"))
        errors += _percentage_errors(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        errors += _removed_plugin_errors(profile, path)
        errors += _plugin_config_errors(profile, path, gates)
        if profile.scheduler_name in seen:
            errors.append(duplicate(f"{path}.schedulerName", profile.scheduler_name))
        seen.add(profile.scheduler_name)
    return errors + _queue_sort_errors(profiles)


def _removed_plugin_errors(profile: Profile, path: str) -> list[FieldError]:
    return [
        invalid(f"{path}.plugins.{point}.enabled[{i}]", plugin.name, REMOVED_DETAIL)
        for point, plugin_set in plugin_sets(profile.plugins)
        if point in EXTENSION_POINTS
        for i, plugin in enumerate(plugin_set.enabled)
        if plugin.name in REMOVED_PLUGINS
    ]


def _plugin_config_errors(profile: Profile, path: str, gates: FeatureGates) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, entry in enumerate(profile.plugin_config):
        at = f"{path}.pluginConfig[{i}]"
        if entry.name in seen:
            errors.append(duplicate(at, entry.name))
        seen.add(entry.name)
        if entry.name in REMOVED_PLUGINS:
            errors.append(invalid(at, entry.name, REMOVED_DETAIL))
        elif isinstance(entry.args, PluginArgs):
            errors += entry.args.validate(f"{at}.args", gates)
    return errors


def _queue_sort_errors(profiles: Sequence[Profile]) -> list[FieldError]:
    """All profiles must sort their queue, which they share, alike."""
    errors = []
    first = profiles[0].plugins.queue_sort
    if len(first.enabled) > 1:
        at = "profiles[0].plugins.queueSort.Enabled"
        errors.append(invalid(at, len(first.enabled), "only one queue sort plugin can be enabled"))
    name = first.enabled[0].name if first.enabled else None
    for i, profile in enumerate(profiles[1:], 1):
        other = profile.plugins.queue_sort
        if other != first:
            detail = "must be the same for all profiles"
            errors.append(invalid(f"profiles[{i}].plugins.queueSort", _shown_set(other), detail))
        if name is not None and profile.args(name) != profiles[0].args(name):
            detail = "queueSort must be the same for all profiles"
            errors.append(invalid(f"profiles[{i}].pluginConfig.args", profile.args(name), detail))
    return errors


def _shown_set(plugin_set: PluginSet) -> dict[str, Any]:
    """A plugin set as kube-scheduler shows it in an error: the JSON of a struct without tags."""

    def shown(names: Sequence[Any]) -> list[dict[str, Any]] | None:
        return [{"Name": plugin.name, "Weight": plugin.weight} for plugin in names] or None

    return {"Enabled": shown(plugin_set.enabled), "Disabled": shown(plugin_set.disabled)}


def _extenders_errors(extenders: Sequence[Extender]) -> list[FieldError]:
    errors: list[FieldError] = []
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        path = f"extenders[{i}]"
        if extender.prioritize_verb and extender.weight <= 0:
            detail = "must have a positive weight applied to it"
            errors.append(invalid(f"{path}.weight", extender.weight, detail))
        for j, resource in enumerate(extender.managed_resources):
            at = f"{path}.managedResources[{j}].name"
            errors += _resource_name_errors(resource.name, at)
            if resource.name in managed:
                errors.append(invalid(at, resource.name, "duplicate extender managed resource name"))
            managed.add(resource.name)
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        errors.append(invalid("extenders", found, "only one extender can implement bind"))
    return errors


def _resource_name_errors(name: str, path: str) -> list[FieldError]:
    if problems := label_key_problems(name):
        return [invalid(path, name, problem) for problem in problems]
    return [] if is_extended_resource(name) else [invalid(path, name, "is an invalid extended resource name")]
