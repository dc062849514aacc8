"""For plugins that would rather look at one node at a time: convenience for a fraction of the speed.

Subclass `NodeFilterPlugin` or `NodeScorePlugin` (or both) and answer for a `NodeInfoView`; the rest is done here. Only
nodes are asked about that all filters before let pass.
"""

from __future__ import annotations

import abc
import logging
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from scheduler.framework.interface import FilterPlugin, ScorePlugin
from scheduler.framework.status import Code, PluginError, Status, error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scheduler.api.objects import Node
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Codes, Scores

log = logging.getLogger(__name__)

_STATUSES: Final = "/statuses"


class NodeInfoView:
    """One node as it is now, pods on their way to it included. Amounts: milli-CPU, bytes and counts."""

    __slots__ = ("_row", "_state", "node")

    def __init__(self, state: ClusterState, row: int) -> None:
        self.node: Node = state.nodes.node(row)
        self._state = state
        self._row = row

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """The node's annotations."""
        return self.node.metadata.annotations

    @property
    def pods(self) -> list[PodInfo]:
        """The pods of the node, in the order in which they came."""
        return self._state.pods.on_node(self.name)

    @property
    def allowed_pods(self) -> int:
        """How many pods the node takes."""
        return int(self._state.nodes.allowed_pods[self._row])

    def allocatable(self, resource: str) -> int:
        """How much of a resource the node has for pods; 0 if it has none."""
        index = self._state.nodes.resources.get(resource)
        return 0 if index is None else int(self._state.nodes.allocatable[index, self._row])

    def requested(self, resource: str) -> int:
        """How much of a resource the pods of the node request."""
        index = self._state.nodes.resources.get(resource)
        return 0 if index is None else int(self._state.nodes.requested[index, self._row])


class NodeFilterPlugin(FilterPlugin):
    """A filter that is asked node by node."""

    feasible_only: ClassVar[bool] = True
    per_cycle: ClassVar[bool] = True
    """Nobody says what such a plugin looks at, so nothing that it says is kept. A class that scores as well gets this
    attribute from here."""
    may_fail: ClassVar[bool] = True

    @abc.abstractmethod
    def filter_node(self, cycle: Cycle, node: NodeInfoView) -> Status | None:
        """None if the pod fits there, else Unschedulable, UnschedulableAndUnresolvable or Error with the reasons.

        What is raised counts as Error, which ends the attempt.
        """

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """The places of the nodes' statuses in a list kept for the cycle, counted from 1."""
        known: dict[Status, int] = cycle.data.setdefault(self.name + _STATUSES, {})
        codes = np.zeros(len(nodes), np.uint32)
        for position, node in _nodes(cycle, nodes):
            status = self._ask(cycle, node)
            if status is not None and status.code is not Code.SUCCESS:
                codes[position] = known.setdefault(status, len(known) + 1)
        return codes if codes.any() else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """The status as the plugin gave it."""
        statuses: dict[Status, int] = cycle.data[self.name + _STATUSES]
        return list(statuses)[code - 1]

    def _ask(self, cycle: Cycle, node: NodeInfoView) -> Status | None:
        try:
            status = self.filter_node(cycle, node)
        except PluginError as problem:
            return error(str(problem))
        except Exception as problem:
            log.exception("Plugin %s failed for pod %s on node %s", self.name, cycle.pod.key, node.name)
            return error(f"{type(problem).__name__}: {problem}")
        if status is None or status.rejected or status.code in (Code.SUCCESS, Code.ERROR):
            return status
        return error(f"unexpected status {status.code}: {status.message}")


class NodeScorePlugin(ScorePlugin):
    """A score that is asked for node by node.

    It must be an integer in 0..100, unless the plugin normalizes: then it overrides `normalizes` and `normalize`.
    """

    per_cycle: ClassVar[bool] = True

    @abc.abstractmethod
    def score_node(self, cycle: Cycle, node: NodeInfoView) -> int:
        """How well the pod would sit there: the more, the better. What is raised ends the attempt."""

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """The scores of the nodes."""
        scores = np.zeros(len(nodes), np.int64)
        try:
            for position, node in _nodes(cycle, nodes):
                scores[position] = self.score_node(cycle, node)
        except PluginError as problem:
            raise PluginError(f'running Score plugins: plugin "{self.name}" failed with: {problem}') from problem
        return scores


def _nodes(cycle: Cycle, nodes: NodeView) -> Iterator[tuple[int, NodeInfoView]]:
    live = cycle.state.nodes.live
    for position, row in enumerate(nodes.indices.tolist()):
        if live[row]:
            yield position, NodeInfoView(cycle.state, row)
