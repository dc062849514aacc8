"""What a scheduler process is to do, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.app.configuration import all_plugins, check_plugins, own_document, read_document, supported_gates
from scheduler.config.bursts import INTERVAL
from scheduler.config.load import load_config
from scheduler.config.options import apply_flags
from scheduler.config.recording import BYTES, RECORDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from scheduler.config.options import Options
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration, what the command line says besides it, and the plugins there are.

    `document` is what the configuration was read from, as JSON values, before any defaults, and `source` its file (""
    without one); `warnings` are for the log. `random_seed` None breaks ties differently in each process. `records`
    attempts are recorded in at most `record_bytes`, none if either is 0; with `annotate` what is recorded is written to
    the pods' annotations. `grace` is the seconds that binds under way get when the process is stopped.
    `burst_interval` is the most seconds between two rounds of work while many pods come at once (`pacing.Pacer`).
    `scheduler_profiles`: whether SchedulerProfiles change profiles.
    """

    config: KubeSchedulerConfiguration
    options: Options
    registry: Mapping[str, Factory]
    document: Mapping[str, Any] = msgspec.field(default_factory=own_document)
    source: str = ""
    warnings: tuple[str, ...] = ()
    self_check: bool = False
    random_seed: int | None = None
    records: int = RECORDS
    record_bytes: int = BYTES
    annotate: bool = False
    grace: float = 20.0
    burst_interval: float = INTERVAL
    scheduler_profiles: bool = False


def read_settings(
    namespace: argparse.Namespace,
    *,
    adjusted: Callable[[KubeSchedulerConfiguration], KubeSchedulerConfiguration] = lambda config: config,
) -> Settings:
    """The settings that a command line asks for, as far as its flags are kube-scheduler's; the rest is at its default.

    `namespace` has `config` and `feature_gates`, and any other of kube-scheduler's flags. `adjusted` changes the
    configuration before its plugins are tried. The warnings are those about feature gates.
    Raises ConfigError, FeatureGateError, another ValueError for a plugin that can't be loaded, and OSError.
    """
    gates, warnings = supported_gates(namespace.feature_gates or ())
    registry = all_plugins()
    source = namespace.config or ""
    document = read_document(source)
    loaded = load_config(document, source=source, known_plugins=registry, feature_gates=gates)
    config, options = apply_flags(loaded, namespace)
    config = adjusted(config)
    check_plugins(config, gates=gates, registry=registry, source=source)
    return Settings(
        config=config, options=options, registry=registry, document=document, source=source, warnings=tuple(warnings)
    )
