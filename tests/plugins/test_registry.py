"""The registry of in-tree plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.app.profiles import build_profiles
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.framework.interface import POINTS, EnqueueExtensions, Plugin
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, handle, in_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What implements what, as in kube-scheduler v1.37.2.
EXPECTED = {
    "SchedulingGates": "preEnqueue events",
    "PrioritySort": "queueSort",
    "NodeName": "preFilter filter events",
    "NodeUnschedulable": "preFilter filter events",
    "TaintToleration": "preFilter filter preScore score events",
    "NodeAffinity": "preFilter filter preScore score events",
    "NodePorts": "preFilter filter events",
    "NodeResourcesFit": "preFilter filter preScore score events",
    "VolumeRestrictions": "preFilter filter events",
    "NodeVolumeLimits": "preFilter filter events",
    "VolumeBinding": "preFilter filter preScore score reserve preBind events",
    "VolumeZone": "preFilter filter events",
    "PodTopologySpread": "preFilter filter preScore score events",
    "InterPodAffinity": "preFilter filter preScore score events",
    "DynamicResources": "preEnqueue preFilter filter postFilter score reserve preBind events",
    "DefaultPreemption": "preEnqueue postFilter events",
    "NodeResourcesBalancedAllocation": "preScore score",
    "ImageLocality": "score",
    "DefaultBinder": "bind",
    "NodeDeclaredFeatures": "preFilter filter events",
}


def points(plugin: Plugin) -> Iterator[str]:
    yield from (point for point, kind in POINTS.items() if isinstance(plugin, kind))
    if isinstance(plugin, EnqueueExtensions):
        yield "events"


def test_all_default_plugins_are_there():
    assert set(IN_TREE) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_plugins_have_their_name_and_extension_points(name):
    plugin = in_tree(name, state())
    assert plugin.name == name
    assert set(points(plugin)) == set(EXPECTED[name].split())


def test_plugins_that_normalize_by_the_highest_score_leave_scores_alike_that_are_alike():
    cluster = state([node("n")])
    profile = next(
        iter(build_profiles(default_config(feature_gates=FeatureGates()), IN_TREE, handle(cluster)).values())
    )
    declared = [plugin for plugin, _ in profile.score if plugin.by_highest]
    assert {plugin.name for plugin in declared} == {"TaintToleration", "NodeAffinity"}
    for plugin in declared:
        for value in (0, 1, 7):
            normalized = [plugin.normalize(cycle_of(cluster, pod("p")), np.full(size, value)) for size in (1, 5)]
            assert {int(score) for scores in normalized for score in scores} == {int(normalized[0][0])}
