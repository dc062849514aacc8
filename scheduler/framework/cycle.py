"""One attempt to place one pod: what plugins are given, and what they hand on to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.cache.nodes import NodeView
from scheduler.framework.extenders import ExtenderCalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from scheduler.cache.nominations import Rivals
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.cache.state import ClusterState
    from scheduler.cache.what_if import WhatIf
    from scheduler.client.extender.interface import Extender
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.interface import FilterPlugin
    from scheduler.framework.post_filter import PostFilterOutcome
    from scheduler.framework.recorder import PluginRecorder
    from scheduler.framework.trace import Trace


class Cycle:
    """The context of a scheduling attempt.

    - `pod`, `shape`, `state`: the pod, what it shares with its like, and the cluster.
    - `nodes`: all rows of the node table.
    - `feasible`: rows (intp) of the feasible nodes, in no particular order; set before PreScore.
    - `data`: what a plugin keeps from one point to the next, under its name.
    - `filters`: the filters that have a say for this pod, in order; `rejections`: why nodes were turned down. Both are
      set before PostFilter, and `post_filter` is what came of that.
    - `rivals`: what `by_columns.rivals_of` found, and when.
    - `extenders`: what extenders are asked about the pod; `bare`: whether they sent nodes back whole, which are scored
      as if nothing ran on them.
    - `trial`: the changes that the state is tried with at this moment, if it is.
    - `trace`: what is noted of the attempt for its record, None where none is kept.
    - `recorder`: what counts and times the plugins, None where nobody wants to know; `sampled`: whether each plugin is
      timed in this cycle.
    """

    __slots__ = (
        "bare",
        "data",
        "extenders",
        "feasible",
        "filters",
        "nodes",
        "pod",
        "post_filter",
        "profile_name",
        "recorder",
        "rejections",
        "rivals",
        "sampled",
        "shape",
        "state",
        "trace",
        "trial",
    )

    def __init__(
        self,
        pod: PodInfo,
        state: ClusterState,
        profile_name: str,
        extenders: Sequence[Extender] = (),
        recorder: PluginRecorder | None = None,
        *,
        sampled: bool = False,
        trace: Trace | None = None,
    ) -> None:
        self.pod = pod
        self.shape: PodShape = pod.shape
        self.state = state
        self.profile_name = profile_name
        self.nodes = NodeView(state.nodes)
        self.data: dict[str, Any] = {}
        self.extenders = ExtenderCalls(extenders, pod)
        self.bare = False
        self.feasible: npt.NDArray[np.intp] | None = None
        self.filters: list[FilterPlugin] = []
        self.rejections: Rejections | None = None
        self.rivals: tuple[tuple[int, int], Rivals] | None = None
        self.post_filter: PostFilterOutcome | None = None
        self.trial: WhatIf | None = None
        self.recorder = recorder
        self.sampled = sampled
        self.trace = trace
