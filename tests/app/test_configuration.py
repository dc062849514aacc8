"""The configuration that `berth run` works with."""

from __future__ import annotations

import pytest

from scheduler.app.configuration import all_plugins, check_plugins, read_config, supported_gates
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGateError, FeatureGates
from scheduler.plugins.registry import IN_TREE

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
GATES = FeatureGates()


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "c.yaml"
        path.write_text(HEAD + text)
        return read_config(str(path), gates=GATES, registry=IN_TREE)

    return read


def names(config):
    return [profile.scheduler_name for profile in config.profiles]


def test_without_a_file_the_scheduler_and_its_lease_are_called_berth():
    config = read_config("", gates=GATES, registry=IN_TREE)
    assert names(config) == ["berth"]
    assert config.leader_election.resource_name == "berth"


def test_a_file_without_profiles_is_read_as_kube_scheduler_reads_it(read):
    assert names(read("")) == ["default-scheduler"]


@pytest.mark.parametrize(
    ("section", "lease"),
    [
        ("", "berth"),
        ("leaderElection:", "berth"),
        ("leaderElection: {leaderElect: false}", "berth"),
        ("leaderElection: {resourceName: ''}", "berth"),
        ("leaderElection: {resourceName: mine}", "mine"),
        ("leaderElection: {resourceName: kube-scheduler}", "kube-scheduler"),
    ],
)
def test_the_lease_is_called_berth_unless_the_file_names_it(read, section, lease):
    assert read(section).leader_election.resource_name == lease


@pytest.mark.parametrize("text", ["leaderElection: 3", "profiles: 3", "bogus: 1"])
def test_nonsense_is_an_error_that_names_the_file(read, tmp_path, text):
    with pytest.raises(ConfigError, match=str(tmp_path / "c.yaml")):
        read(text)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_config(str(tmp_path / "none"), gates=GATES, registry=IN_TREE)


def test_plugins_are_made_to_see_whether_they_can_be(read):
    config = read("extenders: [{urlPrefix: 'https://127.0.0.1', tlsConfig: {caFile: /missing}}]")
    with pytest.raises(ConfigError, match=r"c\.yaml: extenders\[0\]"):
        check_plugins(config, gates=GATES, registry=IN_TREE, source="c.yaml")


def test_a_usable_configuration_passes_the_check(read):
    check_plugins(read("profiles: [{schedulerName: mine}]"), gates=GATES, registry=IN_TREE, source="c.yaml")


def test_all_plugins_include_those_in_tree():
    assert set(IN_TREE) <= set(all_plugins())


def test_gates_that_berth_does_not_have_are_refused():
    with pytest.raises(FeatureGateError, match="not supported by Berth: GenericWorkload=true; `berth config features`"):
        supported_gates(["GenericWorkload=true"])


def test_gates_that_make_no_difference_are_taken_with_their_warnings():
    gates, warnings = supported_gates(["SchedulerAsyncAPICalls=true,DRAAdminAccess=true"])
    assert gates.enabled("SchedulerAsyncAPICalls")
    assert warnings == ["setting GA feature gate. It will be removed in a future release. DRAAdminAccess=true"]
