"""What the decisions API shows of a running scheduler."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scheduler.explain.cluster_view import node_pods, nodes_view, overview
from scheduler.explain.comparison import contrast
from scheduler.explain.differences import Differences
from scheduler.explain.evaluate import Evaluator
from scheduler.explain.finding import find
from scheduler.explain.pending import pending_view
from scheduler.explain.pod_view import UNKNOWN, find_pod, pod_view
from scheduler.explain.views import SummaryPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.records import Records
    from scheduler.explain.views import (
        Decision,
        Evaluation,
        Found,
        NodeComparison,
        NodePods,
        NodesView,
        Overview,
        Pending,
        PodView,
        Summary,
    )
    from scheduler.server.explain import Choice


_KEPT: Final = 1.0
"""Seconds for which the view of all nodes is good."""


class LiveDecisions:
    """The provider of the decisions API (`server.explain.Provider`). `records` is None where none are kept."""

    def __init__(
        self,
        scheduler: Scheduler,
        records: Records | None,
        *,
        leads: Callable[[], bool],
        synced: Callable[[], bool],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._scheduler = scheduler
        self._records = records
        self._leads = leads
        self._synced = synced
        self._clock = clock
        self._started = clock()
        self._nodes: tuple[float, NodesView] | None = None

    @property
    def leads(self) -> bool:
        """Whether this process is the one that schedules."""
        return self._leads()

    @property
    def synced(self) -> bool:
        """Whether the cluster has been read."""
        return self._synced()

    def overview(self) -> Overview:
        """The scheduler at a glance."""
        return overview(self._scheduler, self._records, leader=self._leads(), started=self._started, now=self._clock())

    def decisions(self, choice: Choice) -> SummaryPage:
        """Attempts, the newest first."""
        if self._records is None:
            return SummaryPage(items=())
        part = choice.pod or (f"{choice.namespace}/" if choice.namespace else "")
        found: list[Summary] = []
        before = choice.before
        while True:
            page = self._records.recent(
                choice.limit - len(found), before=before, pod=part, node=choice.node, result=choice.result
            )
            found += [summary for summary in page.items if _is_of(summary, choice)]
            before = page.before
            if before is None or len(found) >= choice.limit:
                return SummaryPage(items=tuple(found), before=before)

    def decision(self, number: int) -> Decision | None:
        """One attempt, whole."""
        return None if self._records is None else self._records.get(number)

    def pod(self, namespace: str, name: str) -> PodView | None:
        """A pod and its way; None where nothing at all is known."""
        view = pod_view(self._scheduler, self._records, namespace, name)
        return None if view.state == UNKNOWN and not view.decisions and view.latest is None else view

    def comparison(self, number: int, other: str) -> NodeComparison | None:
        """Why the node of an attempt and not another one; with words for the points, as the cluster is now."""
        decision = self.decision(number)
        if decision is None:
            return None
        namespace, _, name = decision.summary.pod.partition("/")
        pod = find_pod(self._scheduler, namespace, name)
        tell = None
        if pod is not None and pod.uid == decision.summary.uid:
            evaluator = Evaluator(self._scheduler, self._clock)
            tell = Differences(self._scheduler.state, evaluator.profile_for(pod), pod)
        return contrast(decision, other, tell=tell)

    async def evaluate(self, namespace: str, name: str) -> Evaluation | None:
        """What would be decided on a pod now."""
        pod = find_pod(self._scheduler, namespace, name)
        return None if pod is None else await Evaluator(self._scheduler, self._clock).explain_in_turns(pod)

    def pending(self) -> Pending:
        """All waiting pods by cause."""
        return pending_view(self._scheduler, self._clock())

    def nodes(self) -> NodesView:
        """All nodes, as they were within the last second: for 5,000 of them it takes 20 ms, whoever asks how often."""
        now = self._clock()
        if self._nodes is None or not 0 <= now - self._nodes[0] < _KEPT:
            self._nodes = now, nodes_view(self._scheduler.state, now)
        return self._nodes[1]

    def node(self, name: str) -> NodePods | None:
        """A node and its pods."""
        return node_pods(self._scheduler.state, name)

    def find(self, text: str, limit: int) -> Found:
        """Pods and nodes by a part of their names."""
        return find(self._scheduler, text, limit)


def _is_of(summary: Summary, choice: Choice) -> bool:
    """Whether the attempt is of the pod and the namespace that are asked for, where the records take a part for it."""
    if choice.pod and summary.pod != choice.pod:
        return False
    return not choice.namespace or summary.pod.startswith(f"{choice.namespace}/")
