from __future__ import annotations

import argparse

import pytest

from scheduler.config.duration import Duration
from scheduler.config.flags import add_scheduler_flags


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser(prog="berth", allow_abbrev=False)
    add_scheduler_flags(parser)
    return parser


def refusal(parser, capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_flags_that_are_not_given_are_none(parser):
    assert set(vars(parser.parse_args([])).values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--config=f.yaml"], "config", "f.yaml"),
        (["--config", "f.yaml"], "config", "f.yaml"),
        (["--leader-elect"], "leader_elect", True),
        (["--leader-elect=false"], "leader_elect", False),
        (["--leader-elect=F"], "leader_elect", False),
        (["--leader-elect-lease-duration=1m"], "leader_elect_lease_duration", Duration.of_seconds(60)),
        (["--authentication-token-webhook-cache-ttl=2s"], "authentication_token_webhook_cache_ttl", 2.0),
        (["--bind-address="], "bind_address", "0.0.0.0"),
        (["--bind-address=::1"], "bind_address", "::1"),
        (["--secure-port=0"], "secure_port", 0),
        (["--tls-cipher-suites=A,B", "--tls-cipher-suites=C"], "tls_cipher_suites", ("A", "B", "C")),
        (["--authorization-always-allow-paths="], "authorization_always_allow_paths", ()),
        (["--feature-gates=A=true,B=false"], "feature_gates", ("A=true", "B=false")),
        (["-v", "4"], "v", 4),
        (["-v=4"], "v", 4),
        (["--v=4"], "v", 4),
        (["--kube-api-qps=12.5"], "kube_api_qps", 12.5),
        (["--disable-http2-serving"], "disable_http2_serving", ""),
        (["--log-flush-frequency=1s"], "log_flush_frequency", "1s"),
    ],
)
def test_flags_are_spelled_as_kube_schedulers(parser, arguments, name, value):
    assert getattr(parser.parse_args(arguments), name) == value


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--leader-elect=maybe", "invalid boolean value 'maybe'"),
        ("--leader-elect-retry-period=2", 'time: missing unit in duration "2"'),
        ("--bind-address=host", "invalid IP address 'host'"),
        ("--kube-api-burst=4294967296", "invalid 32-bit integer '4294967296'"),
        ("--kube-api-qps=nan", "invalid number 'nan'"),
        ("--tls-min-version=TLS1", "invalid choice: 'TLS1'"),
        ("--logging-format=xml", "invalid choice: 'xml'"),
        ("--leader=true", "unrecognized arguments: --leader=true"),
    ],
)
def test_bad_values_are_refused(parser, capsys, argument, message):
    assert message in refusal(parser, capsys, argument)


@pytest.mark.parametrize(
    "argument",
    ["--tls-sni-cert-key=a,b", "--requestheader-client-ca-file=f", "--allow-metric-labels=a=b", "--emulated-version"],
)
def test_flags_that_ask_for_what_berth_lacks_are_refused_with_the_reason(parser, capsys, argument):
    name = argument.partition("=")[0]
    assert f"error: {name} is not supported: " in refusal(parser, capsys, argument)


def test_help_says_what_has_no_effect_and_what_is_refused(parser):
    text = parser.format_help()
    assert "flags of kube-scheduler that are accepted without effect:" in text
    assert "flags of kube-scheduler that are refused:" in text
    for title in ("secure serving", "authentication", "authorization", "leader election", "deprecated"):
        assert f"{title} flags:" in text
