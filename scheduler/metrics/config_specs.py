"""Metrics of Berth's own about the configuration in force, and about changes that are tried in shadow."""

from __future__ import annotations

from scheduler.metrics.instruments import Spec

CONFIG_RELOADS = Spec(
    "berth_config_reloads_total",
    "ALPHA",
    "Number of configurations that came while the scheduler was running, by where from (file or resource) and by "
    "what became of them (success or rejected).",
    labels=("source", "result"),
)
CONFIG_LAST_SUCCESS = Spec(
    "berth_config_last_reload_success_timestamp_seconds",
    "ALPHA",
    "When a configuration was last taken up while the scheduler was running, by where from, in seconds since 1970.",
    labels=("source",),
)
CONFIG_INFO = Spec(
    "berth_config_info",
    "ALPHA",
    "A metric with a constant '1' value labeled by the hash of the configuration in force.",
    labels=("hash",),
)
CONFIG_RESTART_REQUIRED = Spec(
    "berth_config_restart_required",
    "ALPHA",
    "1 if the configuration file says something that takes effect only after a restart, 0 if not.",
)
SHADOW_DECISIONS = Spec(
    "berth_shadow_decisions_total",
    "ALPHA",
    "Number of decisions that were compared with those of a profile in shadow, by how it would have decided.",
    labels=("profile", "verdict"),
)
