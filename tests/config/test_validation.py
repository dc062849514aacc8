"""What the corpus (test_corpus.py) doesn't reach."""

from __future__ import annotations

import pytest

from scheduler.config.duration import Duration
from scheduler.config.load import default_config, load_config
from scheduler.config.types import API_VERSION, KIND, LeaderElection
from scheduler.config.validation import validate, validate_leader_election


def test_the_default_configuration_is_valid(gates):
    assert validate(default_config(feature_gates=gates), gates) == []


def test_nothing_of_leader_election_is_checked_while_it_is_off():
    bad = LeaderElection(leader_elect=False, lease_duration=Duration(), resource_lock="x")
    assert validate_leader_election(bad, "leaderElection") == []


@pytest.mark.parametrize("field", ["resource_name", "resource_namespace"])
def test_the_lease_needs_a_name_and_a_namespace(field):
    election = LeaderElection(**{field: ""})
    (error,) = validate_leader_election(election, "leaderElection")
    json_name = field.replace("resource_n", "resourceN")
    assert str(error) == f"leaderElection.{json_name}: Required value"


def test_an_empty_lock_is_missing_and_not_leases():
    errors = validate_leader_election(LeaderElection(resource_lock=""), "e")
    assert [str(error) for error in errors] == [
        "e.resourceLock: Required value",
        'e.resourceLock: Invalid value: "": resourceLock value must be "leases"',
    ]


def test_resources_ignored_for_an_extender_need_the_fit_plugin(gates):
    given = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}}],
        "extenders": [{"managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}]}],
    }
    with pytest.raises(ValueError, match="can't find NodeResourcesFitArgs in plugin config") as caught:
        load_config(given, source="", feature_gates=gates)
    assert [error.path for error in caught.value.errors] == ["profiles[0].pluginConfig"]


def test_arguments_of_the_queue_sort_plugin_must_not_differ(gates):
    sorting = {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}
    given = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "profiles": [
            {"schedulerName": "a", "plugins": sorting},
            {
                "schedulerName": "b",
                "plugins": sorting,
                "pluginConfig": [{"name": "PrioritySort", "args": {"x": 1}}],
            },
        ],
    }
    with pytest.raises(ValueError, match="queueSort must be the same for all profiles") as caught:
        load_config(given, source="", feature_gates=gates)
    assert [error.path for error in caught.value.errors] == ["profiles[1].pluginConfig.args"]
