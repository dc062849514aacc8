"""The sides that `berth simulate` places pods on: one, or two to compare."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.configuration import all_plugins
from scheduler.app.manifests import ManifestError, read_manifests
from scheduler.cli.main import build_parser
from scheduler.cli.simulate_input import changed_world
from scheduler.cli.simulate_sides import AS_IT_IS, CHANGED, Setting, checker
from scheduler.config.features import FeatureGates
from scheduler.cycle.self_check import check
from tests.cli.runs import CONFIG, small_cluster

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WAITING = (
    "{apiVersion: v1, kind: Pod, metadata: {name: new}, "
    "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}"
)


@pytest.fixture
def setting(tmp_path: Path) -> Callable[..., Setting]:
    """What a command is about, by its flags; the cluster has nodes n1 (which is nearly full) and n2."""

    def make(*arguments: str, cluster: str = f"{small_cluster()}\n---\n{WAITING}") -> Setting:
        path = tmp_path / "cluster.yaml"
        path.write_text(cluster)
        (tmp_path / "config.yaml").write_text(CONFIG)
        given = [each.replace("CONFIG", str(tmp_path / "config.yaml")) for each in arguments]
        namespace = build_parser().parse_args(["simulate", "-f", str(path), *given])
        return Setting(namespace, read_manifests([str(path)]), all_plugins(), FeatureGates())

    return make


def places(simulation: Any) -> dict[str, str | None]:
    return {decision.pod: decision.node for decision in asyncio.run(simulation.run())}


class TestConfigurations:
    def test_one_without_any(self, setting) -> None:
        (given,) = setting().configs()
        assert given.takes_all

    def test_two_that_are_named(self, setting) -> None:
        first, second = setting("--config", "CONFIG", "--config", "CONFIG").configs()
        assert first.source == second.source

    def test_a_change_is_compared_with_the_same_configuration(self, setting) -> None:
        first, second = setting("--compare", "--drain", "n1", "--config", "CONFIG").configs()
        assert first.config == second.config

    def test_a_field_that_is_set_is_set_on_the_changed_side_only(self, setting) -> None:
        first, second = setting("--compare", "--set", "percentageOfNodesToScore=7").configs()
        assert (first.config.percentage_of_nodes_to_score, second.config.percentage_of_nodes_to_score) != (7, 7)
        assert second.config.percentage_of_nodes_to_score == 7


class TestSides:
    def made(self, one: Setting) -> Any:
        world, _ = changed_world(one.namespace, one.manifests)
        return one.sides(world, one.configs())

    def test_a_change_and_the_input_as_it_is(self, setting) -> None:
        names, (before, after) = self.made(setting("--compare", "--without-node", "n2"))
        assert names == (AS_IT_IS, CHANGED)
        assert places(before(None))["default/new"] == "n2"
        assert places(after(None))["default/new"] is None

    def test_two_configurations_at_the_same_objects(self, setting) -> None:
        names, (first, second) = self.made(setting("--config", "CONFIG", "--config", "CONFIG", "--without-node", "n2"))
        assert names[0].endswith("config.yaml")
        assert places(first(None)) == places(second(None))

    def test_each_can_be_run_more_than_once(self, setting) -> None:
        _, (before, _) = self.made(setting("--compare", "--without-node", "n2"))
        assert places(before(None)) == places(before(None))


def test_a_pod_that_no_api_server_would_store_is_told_of_by_its_place(setting) -> None:
    one = setting(cluster=f"{small_cluster()}\n---\n{WAITING.replace('spec: {', 'spec: {priorityClassName: gold, ')}")
    world, _ = changed_world(one.namespace, one.manifests)
    (given,) = one.configs()
    with pytest.raises(ManifestError, match=r"cluster\.yaml, document 4.*no PriorityClass with name gold was found"):
        one.simulation(world.objects(), given)


def test_decisions_are_checked_if_that_is_wanted() -> None:
    assert checker(wanted=True) is check
    assert checker(wanted=False) is None
