from __future__ import annotations

import argparse

import pytest

from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGateError
from scheduler.config.flags import add_scheduler_flags
from scheduler.config.load import default_config
from scheduler.config.options import Options, apply_flags, gates_from_flags


@pytest.fixture
def config(gates):
    return default_config(feature_gates=gates)


def parsed(*arguments):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_scheduler_flags(parser)
    return parser.parse_args(arguments)


def test_without_flags_nothing_changes_and_options_have_kube_schedulers_defaults(config):
    same, options = apply_flags(config, parsed())
    assert same == config
    assert (options.bind_address, options.secure_port) == ("0.0.0.0", 10259)
    assert options.authorization_always_allow_paths == ("/healthz", "/readyz", "/livez")
    assert options.pod_max_in_unschedulable_pods_duration == 300.0


def test_options_take_what_is_given(config):
    flags = ["--secure-port=0", "--client-ca-file=ca", "--disabled-metrics=a,b", "-v=3", "--log-flush-frequency=1s"]
    _, options = apply_flags(config, parsed(*flags, "--authorization-webhook-cache-authorized-ttl=1m"))
    assert (options.secure_port, options.client_ca_file, options.v) == (0, "ca", 3)
    assert options.disabled_metrics == ("a", "b")
    assert options.authorization_webhook_cache_authorized_ttl == 60.0


def test_leader_election_flags_win_over_the_file(config):
    flags = ["--config=f", "--leader-elect=false", "--leader-elect-lease-duration=1m", "--leader-elect-resource-name=b"]
    changed, _ = apply_flags(config, parsed(*flags))
    election = changed.leader_election
    assert (election.leader_elect, str(election.lease_duration), election.resource_name) == (False, "1m0s", "b")
    assert election.resource_namespace == config.leader_election.resource_namespace


DEPRECATED = (
    "--kubeconfig=k",
    "--kube-api-qps=5",
    "--kube-api-burst=6",
    "--kube-api-content-type=application/json",
    "--profiling=false",
    "--contention-profiling=false",
)


def test_deprecated_flags_count_without_a_file(config):
    changed, options = apply_flags(config, parsed(*DEPRECATED))
    connection = changed.client_connection
    assert (connection.kubeconfig, connection.qps, connection.burst) == ("k", 5.0, 6)
    assert connection.content_type == "application/json"
    assert (changed.enable_profiling, changed.enable_contention_profiling) == (False, False)
    assert options.ignored == ()


def test_deprecated_flags_are_ignored_with_a_file_and_listed(config):
    same, options = apply_flags(config, parsed("--config=f", *DEPRECATED))
    assert same == config
    assert options.config == "f"
    assert options.ignored == (
        "--kubeconfig",
        "--kube-api-content-type",
        "--kube-api-qps",
        "--kube-api-burst",
        "--profiling",
        "--contention-profiling",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--leader-elect-lease-duration=1s"],
            'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        (
            ["--leader-elect-resource-lock=endpoints"],
            'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
        ),
        (["--kube-api-burst=-1"], "clientConnection.burst: Invalid value: -1: must be non-negative"),
        (
            ["--secure-port=65536"],
            "--secure-port 65536 must be between 0 and 65535, inclusive. 0 for turning off secure port",
        ),
        (["--tls-cert-file=c"], "--tls-cert-file and --tls-private-key-file have to be given together"),
    ],
)
def test_values_out_of_range_are_refused(config, arguments, message):
    with pytest.raises(ConfigError) as caught:
        apply_flags(config, parsed(*arguments))
    assert str(caught.value) == f"command line: {message}"


def test_feature_gates_come_from_all_uses_of_the_flag(config):
    flags = parsed("--feature-gates=GenericWorkload=true", "--feature-gates=OpportunisticBatching=false")
    assert gates_from_flags(flags).enabled("GenericWorkload")
    _, options = apply_flags(config, flags)
    assert not options.feature_gates.enabled("OpportunisticBatching")
    with pytest.raises(FeatureGateError, match="unrecognized feature gate: Nope"):
        gates_from_flags(parsed("--feature-gates=Nope=true"))


def test_every_option_has_a_flag():
    own = set(Options.__struct_fields__) - {"ignored"}
    assert own <= set(vars(parsed()))
