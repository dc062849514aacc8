"""`berth config`."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.cli.main import main

FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "berth.yaml"
    path.write_text(FILE)
    return path


def test_without_a_file_it_is_the_configuration_that_berth_runs_with(capsys):
    assert main(["config"]) == 0
    config = yaml.safe_load(capsys.readouterr().out)
    assert [profile["schedulerName"] for profile in config["profiles"]] == ["berth"]
    assert config["leaderElection"]["resourceName"] == "berth"


@pytest.mark.parametrize(("output", "read"), [("yaml", yaml.safe_load), ("json", json.loads)])
def test_a_file_is_shown_with_its_defaults(file, output, read, capsys):
    assert main(["config", "--config", str(file), "-o", output]) == 0
    config = read(capsys.readouterr().out)
    assert config["profiles"][0]["schedulerName"] == "mine"
    assert config["podMaxBackoffSeconds"] == 10


def test_a_bad_field_is_named_with_its_file(file, capsys):
    file.write_text(FILE + "  plugin: []\n")
    assert main(["config", "--config", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f'berth: error: {file}: unknown field "profiles[0].plugin"')
    assert len(told.err.splitlines()) == 1


def test_what_only_a_plugin_can_tell_is_told_too(file, capsys):
    file.write_text(FILE.replace("profiles:", "extenders: [{urlPrefix: x, tlsConfig: {caFile: /no}}]\nprofiles:"))
    assert main(["config", "--config", str(file)]) == 2
    assert "extenders" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main(["config", "--config", str(tmp_path / "none.yaml")]) == 2
    assert capsys.readouterr().err == f"berth: error: {tmp_path / 'none.yaml'}: No such file or directory\n"


def test_features_lists_the_gates(capsys):
    assert main(["config", "features", "--feature-gates", "SchedulerAsyncAPICalls=true"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "SchedulerAsyncAPICalls=true (BETA - default=false)" in lines


def test_a_gate_on_its_way_out_is_warned_of(capsys):
    assert main(["config", "features", "--feature-gates", "DRAAdminAccess=true"]) == 0
    assert capsys.readouterr().err.startswith("berth: warning: setting GA feature gate")
