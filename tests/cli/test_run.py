"""`berth run`: what it makes of its command line."""

from __future__ import annotations

import logging

import pytest
import yaml

from scheduler.app import process
from scheduler.app.problems import SettingsError, StartError
from scheduler.cli.main import main

FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
"""


@pytest.fixture
def run(monkeypatch):
    """Runs the command with everything but the process itself; gives its exit code and the settings."""
    root, own = logging.getLogger(), logging.getLogger("scheduler")
    before = root.handlers[:], root.level, own.level
    given = []

    def start(settings):
        given.append(settings)
        return 0

    def command(*arguments):
        given.clear()
        code = main(["run", *arguments])
        return code, given[0] if given else None

    monkeypatch.setattr(process, "run_process", start)
    monkeypatch.delenv("BERTH_SELF_CHECK", raising=False)
    yield command
    root.handlers[:], root.level, own.level = before
    logging.captureWarnings(False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "berth.yaml"
    path.write_text(FILE)
    return str(path)


def test_without_a_configuration_it_serves_the_name_berth(run):
    code, settings = run()
    assert code == 0
    assert [profile.scheduler_name for profile in settings.config.profiles] == ["berth"]
    assert settings.config.leader_election.resource_name == "berth"
    assert (settings.self_check, settings.random_seed, settings.grace) == (False, None, 20.0)


def test_flags_override_the_configuration_where_kube_schedulers_do(run, file):
    _, settings = run("--config", file, "--leader-elect=false", "--kube-api-qps=7", "--random-seed", "3")
    assert settings.source == file
    assert not settings.config.leader_election.leader_elect
    assert settings.config.client_connection.qps == 50
    assert settings.warnings == ("--kube-api-qps has no effect, as --config is given",)
    assert settings.random_seed == 3


def test_a_burst_is_dealt_with_at_intervals(run):
    assert run()[1].burst_interval == 0.02
    assert run("--burst-interval=25ms")[1].burst_interval == 0.025
    assert run("--burst-interval=0")[1].burst_interval == 0.0


@pytest.mark.parametrize("interval", ["-1ms", "101ms", "10"])
def test_an_interval_that_would_keep_the_process_from_answering_is_refused(run, capsys, interval):
    with pytest.raises(SystemExit):
        run(f"--burst-interval={interval}")
    assert "argument --burst-interval: " in capsys.readouterr().err


def test_flags_without_effect_are_warned_of(run):
    _, settings = run("--vmodule=a=2")
    assert settings.warnings == ("--vmodule has no effect: verbosity is the same for all files",)


def test_the_effective_configuration_is_written_and_nothing_is_run(run, file, tmp_path):
    written = tmp_path / "written.yaml"
    code, settings = run("--config", file, "--leader-elect=false", f"--write-config-to={written}")
    assert (code, settings) == (0, None)
    config = yaml.safe_load(written.read_text())
    assert config["profiles"][0]["schedulerName"] == "mine"
    assert config["leaderElection"]["leaderElect"] is False


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--feature-gates=GenericWorkload=true"], "not supported by Berth: "),
        (["--feature-gates=Nonsense=true"], "unrecognized feature gate: Nonsense"),
        (["--config=/nonexistent/berth.yaml"], "/nonexistent/berth.yaml: No such file or directory"),
        (["--secure-port=99999"], "--secure-port 99999 must be between 0 and 65535"),
        (["--leader-elect-lease-duration=1s"], "leaderElection"),
    ],
)
def test_what_makes_no_sense_ends_with_2(run, arguments, told, capsys):
    code, settings = run(*arguments)
    assert (code, settings) == (2, None)
    error = capsys.readouterr().err
    assert error.startswith("berth: error: ")
    assert told in error


@pytest.mark.parametrize(
    ("flag", "variable", "on"),
    [
        ([], None, False),
        ([], "1", True),
        ([], "false", False),
        (["--self-check"], None, True),
        (["--self-check=false"], "1", False),
    ],
)
def test_the_self_check_is_switched_by_flag_or_environment(run, monkeypatch, flag, variable, on):
    if variable is not None:
        monkeypatch.setenv("BERTH_SELF_CHECK", variable)
    assert run(*flag)[1].self_check is on


def test_a_value_of_the_environment_that_is_no_boolean_ends_with_2(run, monkeypatch, capsys):
    monkeypatch.setenv("BERTH_SELF_CHECK", "perhaps")
    assert run() == (2, None)
    assert "BERTH_SELF_CHECK is 'perhaps'" in capsys.readouterr().err


@pytest.mark.parametrize(("problem", "code"), [(SettingsError("kubeconfig x: bad"), 2), (StartError("port in use"), 1)])
def test_a_process_that_cannot_start_says_why(run, monkeypatch, problem, code, capsys):
    def refuse(_settings):
        raise problem

    monkeypatch.setattr(process, "run_process", refuse)
    assert main(["run"]) == code
    assert capsys.readouterr().err == f"berth: error: {problem}\n"


def test_decisions_are_written_to_pods_only_if_asked_for_and_recorded(run, capsys):
    assert run()[1].annotate is False
    assert run("--annotate-decisions")[1].annotate is True
    for nothing in ("--record-decisions=0", "--record-decisions-bytes=0"):
        code, settings = run("--annotate-decisions", nothing)
        assert (code, settings) == (2, None)
        assert f"{nothing} records nothing" in capsys.readouterr().err
