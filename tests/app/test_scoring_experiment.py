"""Two nodes, one with a soft taint; two pods that prefer it, one of which tolerates the taint.

The second pod shows how weights settle it: its taint costs the preferred node more than its preference is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.manifests import read_manifests
from scheduler.app.simulation import Simulation
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.plugins.registry import IN_TREE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scheduler.app.decisions import PodDecision

MANIFESTS = """
apiVersion: v1
kind: Node
metadata: {name: a, labels: {preferred: "yes"}}
spec: {taints: [{key: slow, effect: PreferNoSchedule}]}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: first}
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 50
          preference: {matchExpressions: [{key: preferred, operator: In, values: ["yes"]}]}
  containers: [{name: main, image: registry.example/main:1}]
  tolerations: [{key: slow, operator: Exists, effect: PreferNoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: second}
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 50
          preference: {matchExpressions: [{key: preferred, operator: In, values: ["yes"]}]}
  containers: [{name: main, image: registry.example/main:1}]
"""


@pytest.fixture
async def decisions(tmp_path: Path) -> Sequence[PodDecision]:
    """The decisions on both pods, in turn."""
    path = tmp_path / "experiment.yaml"
    path.write_text(MANIFESTS)
    gates = FeatureGates()
    config = default_config(feature_gates=gates)
    objects = read_manifests([str(path)]).objects
    return await Simulation(objects, config, registry=IN_TREE, gates=gates, details=True).run()


def totals(decision: PodDecision) -> dict[str, int]:
    return {node: score.total for node, score in decision.record.feasible.items()}


async def test_the_pod_that_tolerates_the_taint_goes_to_the_preferred_node(decisions: Sequence[PodDecision]) -> None:
    first, _ = decisions
    assert totals(first) == {"a": 597, "b": 397}
    assert first.node == "a"


async def test_the_pod_that_does_not_tolerate_it_goes_to_the_other(decisions: Sequence[PodDecision]) -> None:
    _, second = decisions
    assert totals(second) == {"a": 296, "b": 397}
    assert second.node == "b"


@pytest.mark.parametrize(
    ("plugin", "on_a", "on_b"),
    [
        ("TaintToleration", 0 * 3, 100 * 3),
        ("NodeAffinity", 100 * 2, 0 * 2),
        ("NodeResourcesFit", 96 * 1, 97 * 1),  # the first pod counts on a, though it requests nothing
        ("VolumeBinding", 0, 0),
        ("DynamicResources", 0, 0),
        ("ImageLocality", 0, 0),
    ],
)
async def test_parts_of_the_second_pods_totals(
    decisions: Sequence[PodDecision], plugin: str, on_a: int, on_b: int
) -> None:
    feasible: Any = decisions[1].record.feasible
    assert (feasible["a"].plugins[plugin], feasible["b"].plugins[plugin]) == (on_a, on_b)


async def test_plugins_with_nothing_to_say_are_left_out(decisions: Sequence[PodDecision]) -> None:
    skipped = ("InterPodAffinity", "NodeResourcesBalancedAllocation", "PodTopologySpread")
    assert decisions[1].record.prescore_skipped == skipped
    assert not set(skipped) & set(decisions[1].record.feasible["a"].plugins)
    assert len(decisions[1].record.feasible["a"].plugins) == 6
