from __future__ import annotations

from scheduler.config.types import KubeSchedulerConfiguration, PluginConfig, Profile


def test_a_profile_finds_the_arguments_of_a_plugin():
    profile = Profile(plugin_config=(PluginConfig(name="A", args={"x": 1}),))
    assert profile.args("A") == {"x": 1}
    assert profile.args("B") is None


def test_fields_have_kube_schedulers_defaults():
    config = KubeSchedulerConfiguration()
    assert (config.parallelism, config.percentage_of_nodes_to_score) == (16, 0)
    assert (config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds) == (1, 10)
    assert (config.client_connection.qps, config.client_connection.burst) == (50.0, 100)
    assert config.leader_election.resource_name == "kube-scheduler"
    assert str(config.leader_election.lease_duration) == "15s"
