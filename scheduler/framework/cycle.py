"""One attempt to place one pod: what plugins are given, and what they hand on to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.cache.nodes import NodeView

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.cache.state import ClusterState
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.recorder import PluginRecorder


class Cycle:
    """The context of a scheduling attempt.

    - `pod`, `shape`, `state`: the pod, what it shares with its like, and the cluster.
    - `nodes`: all rows of the node table.
    - `feasible`: rows (intp) of the feasible nodes, in no particular order; set before PreScore.
    - `data`: what a plugin keeps from one point to the next, under its name.
    - `rejections`: why nodes were turned down; set before PostFilter.
    - `recorder`: what counts and times the plugins, None where nobody wants to know; `sampled`: whether each plugin is
      timed in this cycle.
    """

    __slots__ = (
        "data",
        "feasible",
        "nodes",
        "pod",
        "profile_name",
        "recorder",
        "rejections",
        "sampled",
        "shape",
        "state",
    )

    def __init__(
        self,
        pod: PodInfo,
        state: ClusterState,
        profile_name: str,
        *,
        recorder: PluginRecorder | None = None,
        sampled: bool = False,
    ) -> None:
        self.pod = pod
        self.shape: PodShape = pod.shape
        self.state = state
        self.profile_name = profile_name
        self.nodes = NodeView(state.nodes)
        self.data: dict[str, Any] = {}
        self.feasible: npt.NDArray[np.intp] | None = None
        self.rejections: Rejections | None = None
        self.recorder = recorder
        self.sampled = sampled
