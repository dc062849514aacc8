"""Extenders from a configuration."""

from __future__ import annotations

import asyncio
import logging

import pytest

from scheduler.app.extenders import build_extenders, warn_of_slow_extenders, without_binding
from scheduler.app.simulation import Simulation
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod
from tests.fakes.extender import FakeExtender, keeping

GATES = FeatureGates()
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def config(*extenders, **fields):
    given = {**HEADER, "extenders": list(extenders), **fields}
    return load_config(given, source="c.yaml", known_plugins=IN_TREE, feature_gates=GATES)


def test_ignorable_ones_come_last():
    made = build_extenders(
        config({"urlPrefix": "a", "ignorable": True}, {"urlPrefix": "b"}, {"urlPrefix": "c"}), source="c.yaml"
    )
    assert [extender.name for extender in made] == ["b", "c", "a"]


def test_all_certificates_that_can_not_be_used_are_told():
    bad = {"urlPrefix": "https://x", "tlsConfig": {"insecure": True, "caFile": "/missing"}}
    with pytest.raises(ConfigError) as caught:
        build_extenders(config(bad, {"urlPrefix": "b"}, bad), source="c.yaml")
    assert len(caught.value.errors) == 2
    assert "c.yaml: extenders[0].tlsConfig: couldn't build extenders: specifying a root" in str(caught.value)


def test_binding_can_be_taken_from_them():
    (extender,) = without_binding(config({"urlPrefix": "a", "bindVerb": "bind", "filterVerb": "filter"})).extenders
    assert (extender.bind_verb, extender.filter_verb) == ("", "filter")


def test_one_that_may_outlast_the_lease_is_warned_of(caplog):
    slow = {"urlPrefix": "http://slow", "httpTimeout": "10s"}
    with caplog.at_level(logging.WARNING):
        warn_of_slow_extenders(config(slow, {"urlPrefix": "http://quick"}))
        warn_of_slow_extenders(config(slow, leaderElection={"leaderElect": False}))
    assert [record.getMessage() for record in caplog.records] == [
        "extender http://slow may take 10s to answer (httpTimeout), which is not less than "
        "leaderElection.renewDeadline (10s): the lease is lost if it does"
    ]


def test_a_simulation_asks_extenders_and_lets_them_bind_nothing():
    with FakeExtender(filter=keeping(lambda name: name == "b", "reserved"), bind={"Error": "never"}) as server:
        extender = {"urlPrefix": server.url, "filterVerb": "filter", "bindVerb": "bind"}
        profiles = [{"schedulerName": "default-scheduler"}]
        objects = [node("a").build(), node("b").build(), pod("p").scheduler("default-scheduler").build()]
        simulation = Simulation(objects, config(extender, profiles=profiles), registry=IN_TREE, gates=GATES)
        (decision,) = asyncio.run(simulation.run())
        assert decision.node == "b"
        assert server.requests("bind") == []
