"""What a scheduler process is told to do: the command line and its --config, read and checked together."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from scheduler.app.settings import Settings, read_settings
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGateError
from scheduler.config.flags import add_scheduler_flags
from scheduler.config.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scheduler.config.types import KubeSchedulerConfiguration

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def flags(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_scheduler_flags(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "config.yaml"
        path.write_text(HEAD + text)
        return str(path)

    return write


def names(config: KubeSchedulerConfiguration) -> list[str]:
    return [profile.scheduler_name for profile in config.profiles]


def test_without_flags_it_is_berths_own_configuration_and_kube_schedulers_options() -> None:
    settings = read_settings(flags())
    assert names(settings.config) == ["berth"]
    assert settings.options == Options(feature_gates=settings.options.feature_gates)
    assert (settings.source, settings.warnings) == ("", ())
    assert "NodeResourcesFit" in settings.registry


def test_what_only_berth_has_is_off_or_at_its_default() -> None:
    settings = read_settings(flags())
    assert (settings.self_check, settings.annotate, settings.scheduler_profiles) == (False, False, False)
    assert settings.random_seed is None
    assert settings.records > 0
    assert settings.record_bytes > 0
    assert settings.grace == 20.0


def test_a_file_decides_and_what_it_says_is_kept_without_defaults(file: Callable[[str], str]) -> None:
    path = file("profiles: [{schedulerName: mine}]\n")
    settings = read_settings(flags("--config", path))
    assert names(settings.config) == ["mine"]
    assert settings.source == settings.options.config == path
    assert settings.document["profiles"] == [{"schedulerName": "mine"}]
    assert "podInitialBackoffSeconds" not in settings.document


def test_settings_that_were_made_of_no_file_have_berths_own_document() -> None:
    read = read_settings(flags())
    made = Settings(config=read.config, options=read.options, registry=read.registry)
    assert made.document == read.document


def test_flags_count_over_the_file_where_kube_schedulers_do(file: Callable[[str], str]) -> None:
    path = file("leaderElection: {leaderElect: true}\nclientConnection: {qps: 3}\n")
    settings = read_settings(flags("--config", path, "--leader-elect=false", "--kube-api-qps=7"))
    assert not settings.config.leader_election.leader_elect
    assert settings.config.client_connection.qps == 3
    assert settings.options.ignored == ("--kube-api-qps",)


def test_a_command_may_have_fewer_flags_than_kube_scheduler() -> None:
    settings = read_settings(argparse.Namespace(config="", feature_gates=[], secure_port=0))
    assert settings.options == Options(secure_port=0, feature_gates=settings.options.feature_gates)


def test_gates_are_those_of_the_command_line_with_their_warnings() -> None:
    settings = read_settings(flags("--feature-gates=SchedulerAsyncAPICalls=true,DRAAdminAccess=true"))
    assert settings.options.feature_gates.enabled("SchedulerAsyncAPICalls")
    assert settings.warnings == (
        "setting GA feature gate. It will be removed in a future release. DRAAdminAccess=true",
    )


def test_the_command_may_change_the_configuration_before_its_plugins_are_tried(file: Callable[[str], str]) -> None:
    """So that what it leaves out can't be in the way."""
    path = file("extenders: [{urlPrefix: 'https://127.0.0.1', tlsConfig: {caFile: /missing}}]\n")
    with pytest.raises(ConfigError, match=r"extenders\[0\]"):
        read_settings(flags("--config", path))
    settings = read_settings(flags("--config", path), adjusted=lambda config: replace(config, extenders=()))
    assert settings.config.extenders == ()


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["--config=/nonexistent"], FileNotFoundError, "/nonexistent"),
        (["--feature-gates=GenericWorkload=true"], FeatureGateError, "not supported by Berth"),
        (["--secure-port=99999"], ConfigError, "--secure-port 99999 must be between 0 and 65535"),
        (["--tls-cert-file=a"], ConfigError, "have to be given together"),
        (["--leader-elect-lease-duration=1s"], ConfigError, "leaderElection"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: list[str], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        read_settings(flags(*arguments))


def test_a_bad_file_is_refused_by_name(file: Callable[[str], str]) -> None:
    path = file("bogus: 1\n")
    with pytest.raises(ConfigError, match=path):
        read_settings(flags("--config", path))
