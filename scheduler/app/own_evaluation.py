"""A decision on one pod taken by this process, from what its user may read of the cluster; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from scheduler.app.configuration import all_plugins
from scheduler.app.manifests import ManifestError
from scheduler.app.simulation import Simulation
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.explain.evaluate import Evaluator
from scheduler.explain.explanation import SIMULATED, explain
from scheduler.explain.pod_view import find_pod, pod_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.api.meta import Model
    from scheduler.explain.explanation import PodExplanation


def evaluate_here(objects: Iterable[Model], namespace: str, name: str, *, asked: Sequence[str] = ()) -> PodExplanation:
    """What the default profile would decide on a pod, whatever scheduler it asks for.

    A pod that has a node is decided on as if it had none. Raises ManifestError if there is no such pod.
    """
    gates = FeatureGates()
    config = default_config(feature_gates=gates)
    simulation = Simulation(objects, config, registry=all_plugins(), gates=gates, takes_all=True)
    simulation.cluster.sync()
    scheduler = simulation.scheduler
    pod = find_pod(scheduler, namespace, name)
    if pod is None:
        raise ManifestError(
            f"the cluster has no pod {namespace}/{name} that has not ended: -n NAMESPACE says where it is"
        )
    evaluation = Evaluator(scheduler).explain(pod)
    # What it went through here, on its way in, is nothing that ever happened to it.
    view = replace(pod_view(scheduler, None, namespace, name), history=(), added="", queue="")
    return explain(view, time=evaluation.time, evaluation=evaluation, asked=asked, source=SIMULATED)
