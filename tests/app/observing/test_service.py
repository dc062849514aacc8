"""`berth shadow` on a small API server: what it reads, when it ends, what it refuses."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from scheduler.app.observing.service import Extent, ShadowService, default_profiles, observed_config
from scheduler.app.problems import SettingsError, StartError
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config, load_config
from scheduler.plugins.registry import IN_TREE
from tests.app.live import serve, settings
from tests.builders import node, pod

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


@pytest.fixture
def observed(kubeconfig, server):
    """Settings for observing the server's `default-scheduler`, without a port."""

    def make(**changes):
        given = settings(kubeconfig(server), **changes)
        return replace(given, config=default_profiles(given.config, ["default-scheduler"]))

    return make


async def test_it_ends_after_the_time_that_it_was_given(server, observed):
    serve(server, nodes=[node("n").build()], pods=[pod("p").scheduler("default-scheduler").build()])
    report = await ShadowService(observed(), extent=Extent(seconds=0.2)).run()
    assert (report.schedulers, report.observed) == (("default-scheduler",), 0)


async def test_a_stop_ends_it_and_progress_is_told_until_then(server, observed, eventually):
    serve(server, nodes=[node("n").build()], pods=[pod("p").scheduler("default-scheduler").build()])
    waiting = []
    service = ShadowService(observed(), on_progress=lambda _tally, count: waiting.append(count))
    task = asyncio.create_task(service.run())
    await eventually(lambda: waiting)
    service.stop()
    assert (await task).observed == 0
    assert waiting[0] == 1


async def test_nothing_is_written(server, observed):
    serve(server, nodes=[node("n").build()], pods=[pod("p").scheduler("default-scheduler").build()])
    await ShadowService(observed(), extent=Extent(seconds=0.1)).run()
    assert {request.method for request in server.requests} == {"GET"}


async def test_a_cluster_that_can_not_be_found(observed):
    given = observed()
    client = replace(given.config.client_connection, kubeconfig="/no/such/file")
    wrong = replace(given, config=replace(given.config, client_connection=client))
    with pytest.raises(SettingsError, match="/no/such/file"):
        await ShadowService(wrong).run()


def test_only_the_profiles_that_were_asked_for():
    gates = FeatureGates()
    given = {**HEADER, "profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}]}
    config = load_config(given, source="test", known_plugins=IN_TREE, feature_gates=gates)
    assert [profile.scheduler_name for profile in observed_config(config, ["b"]).profiles] == ["b"]
    assert observed_config(config, []) == config
    with pytest.raises(SettingsError, match="--scheduler-name c: the configuration has no such profile; it has a, b"):
        observed_config(config, ["c"])


def test_the_default_profile_under_any_name():
    config = default_profiles(default_config(feature_gates=FeatureGates()), ["volcano", "default-scheduler"])
    assert [profile.scheduler_name for profile in config.profiles] == ["volcano", "default-scheduler"]
    assert issubclass(SettingsError, StartError)
