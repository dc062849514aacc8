"""Attempts that end without a node, for preemption to begin with."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from scheduler.api.objects import PodDisruptionBudget
from scheduler.app.profiles import build_profiles
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.framework.cycle import Cycle
from scheduler.framework.handle import Handle
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.registry import IN_TREE
from tests.builders import info, node, pod
from tests.plugins.harness import UnusedBinder

if TYPE_CHECKING:
    from scheduler.api.objects import Pod
    from scheduler.cache.state import ClusterState
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.profile import Profile
    from tests.builders import NodeBuilder, PodBuilder

NOW = 1_767_225_600.0
"""2026-01-01."""
NO_BUDGETS = Budgets(())


@cache
def _gates() -> FeatureGates:
    return FeatureGates.parse()


@cache
def _config() -> KubeSchedulerConfiguration:
    return default_config(feature_gates=_gates())


def handle(cluster: ClusterState, **more: Any) -> Handle:
    """A handle on a cluster with the default gates and a seed."""
    return Handle(cluster, UnusedBinder(), _gates().enabled, random=random.Random(7), **more)


def profile_of(cluster: ClusterState) -> Profile:
    """The default profile, with plugins of its own."""
    return build_profiles(_config(), IN_TREE, handle(cluster))["default-scheduler"]


def rejected(
    cluster: ClusterState, incoming: PodBuilder | Pod, profile: Profile | None = None
) -> tuple[Cycle, Rejections]:
    """An attempt in which no node fits, by the default profile if no other one is given."""
    profile = profile or profile_of(cluster)
    cycle = Cycle(info(incoming, cluster), cluster, profile.name)
    with pytest.raises(FitError) as misfit:
        Algorithm(cluster, all_nodes=True).decide(profile, cycle.pod, cycle=cycle)
    return cycle, misfit.value.rejections


def small(name: str) -> NodeBuilder:
    """A node with two CPUs."""
    return node(name).capacity(cpu="2", memory="8Gi")


def there(name: str, on: str, *, cpu: str = "1", priority: int = 0, started: int | None = 0) -> PodBuilder:
    """A pod on a node that began to run in a given second of the year."""
    made = pod(name).on(on).cpu(cpu).priority(priority)
    if started is None:
        return made
    return made.set("status.startTime", f"2026-01-01T00:{started // 60:02d}:{started % 60:02d}Z")


def wanting(cpu: str = "2", priority: int = 100) -> PodBuilder:
    """A pod that is to be placed."""
    return pod("urgent").cpu(cpu).priority(priority)


def budget(
    name: str,
    selector: dict[str, Any] | None,
    allowed: int = 0,
    *,
    namespace: str = "default",
    disrupted: tuple[str, ...] = (),
) -> PodDisruptionBudget:
    """A budget that allows so many disruptions of the pods that it selects."""
    status = {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")}
    document = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector},
        "status": status,
    }
    return msgspec.convert(document, PodDisruptionBudget)
