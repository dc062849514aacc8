"""What the command line decides besides the configuration, and its effect on the configuration.

Source: cmd/kube-scheduler/app/options/options.go (ApplyDeprecated, ApplyLeaderElectionTo, Validate).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from scheduler.config.errors import ConfigError, FieldError, invalid, plain
from scheduler.config.features import FeatureGates
from scheduler.config.validation import validate_leader_election

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scheduler.config.types import KubeSchedulerConfiguration

COMMAND_LINE: Final = "command line"

#: Flags that take effect without --config only, and the field that each sets.
_CLIENT_FLAGS: Final = {
    "kubeconfig": "kubeconfig",
    "kube_api_content_type": "content_type",
    "kube_api_qps": "qps",
    "kube_api_burst": "burst",
}
_PROFILING_FLAGS: Final = {
    "profiling": "enable_profiling",
    "contention_profiling": "enable_contention_profiling",
}
_LEADER_ELECTION_FLAGS: Final = {
    "leader_elect": "leader_elect",
    "leader_elect_lease_duration": "lease_duration",
    "leader_elect_renew_deadline": "renew_deadline",
    "leader_elect_retry_period": "retry_period",
    "leader_elect_resource_lock": "resource_lock",
    "leader_elect_resource_name": "resource_name",
    "leader_elect_resource_namespace": "resource_namespace",
}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Values of kube-scheduler's flags, named as the flags are. Spans of time are seconds.

    `config` is the file's path ("" without one), `secure_port` 0 means not to serve, `v` is the verbosity.
    `ignored` are the flags that were given but count only without --config.
    """

    config: str = ""
    write_config_to: str = ""
    master: str = ""
    bind_address: str = "0.0.0.0"
    secure_port: int = 10259
    cert_dir: str = ""
    tls_cert_file: str = ""
    tls_private_key_file: str = ""
    tls_min_version: str = ""
    tls_cipher_suites: tuple[str, ...] = ()
    permit_port_sharing: bool = False
    authentication_kubeconfig: str = ""
    authentication_skip_lookup: bool = False
    authentication_tolerate_lookup_failure: bool = True
    authentication_token_webhook_cache_ttl: float = 10.0
    client_ca_file: str = ""
    authorization_kubeconfig: str = ""
    authorization_always_allow_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")
    authorization_webhook_cache_authorized_ttl: float = 10.0
    authorization_webhook_cache_unauthorized_ttl: float = 10.0
    pod_max_in_unschedulable_pods_duration: float = 300.0
    disabled_metrics: tuple[str, ...] = ()
    logging_format: str = "text"
    v: int = 0
    feature_gates: FeatureGates = msgspec.field(default_factory=FeatureGates)
    ignored: tuple[str, ...] = ()


def gates_from_flags(namespace: argparse.Namespace) -> FeatureGates:
    """The feature gates of the command line. Raises FeatureGateError; `load_config` needs them first."""
    return FeatureGates.parse(*(namespace.feature_gates or ()))


def apply_flags(
    config: KubeSchedulerConfiguration, namespace: argparse.Namespace
) -> tuple[KubeSchedulerConfiguration, Options]:
    """`config` with the overrides of the command line, and the rest of what the command line says.

    Flags of leader election always override; deprecated ones (kubeconfig, client rates, profiling) only where no
    --config is given. Raises ConfigError if a value is out of range, FeatureGateError for bad gates.
    """
    given = {name: value for name, value in vars(namespace).items() if value is not None}
    configurable = _CLIENT_FLAGS | _PROFILING_FLAGS
    ignored = tuple(f"--{name.replace('_', '-')}" for name in configurable if name in given)
    if not given.get("config"):
        ignored = ()
        config = replace(
            config,
            client_connection=replace(config.client_connection, **_chosen(given, _CLIENT_FLAGS)),
            **_chosen(given, _PROFILING_FLAGS),
        )
    config = replace(config, leader_election=replace(config.leader_election, **_chosen(given, _LEADER_ELECTION_FLAGS)))
    own = set(Options.__struct_fields__) - {"feature_gates", "ignored"}
    values = {name: value for name, value in given.items() if name in own}
    options = Options(**values, feature_gates=gates_from_flags(namespace), ignored=ignored)
    if errors := _errors(config, options):
        raise ConfigError(COMMAND_LINE, errors)
    return config, options


def _chosen(given: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    return {field: given[flag] for flag, field in fields.items() if flag in given}


def _errors(config: KubeSchedulerConfiguration, options: Options) -> list[FieldError]:
    errors = validate_leader_election(config.leader_election, "leaderElection")
    if config.client_connection.burst < 0:
        burst = config.client_connection.burst
        errors.append(invalid("clientConnection.burst", burst, "must be non-negative"))
    if not 0 <= options.secure_port <= 65535:
        detail = "must be between 0 and 65535, inclusive. 0 for turning off secure port"
        errors.append(plain(f"--secure-port {options.secure_port} {detail}"))
    if bool(options.tls_cert_file) != bool(options.tls_private_key_file):
        errors.append(plain("--tls-cert-file and --tls-private-key-file have to be given together"))
    return errors
