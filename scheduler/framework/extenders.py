"""What the scheduling cycle asks extenders for one pod, and what it makes of their answers.

Source: findNodesThatPassExtenders, prioritizeNodes and extendersBinding in pkg/scheduler/schedule_one.go, callExtenders
in pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.client.extender.interface import CandidateVictims, ExtenderError
from scheduler.framework.interface import Eviction
from scheduler.framework.status import unresolvable, unschedulable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.client.extender.interface import Extender, HostScore, VictimUIDs
    from scheduler.framework.status import Status

log = logging.getLogger(__name__)

EXTENDER: Final = "Extender"
"""Stands among the plugins that turned a pod down for extenders that did (ExtenderName in framework/types.go)."""

SCALE: Final = 10
"""From scores of extenders, 0 to 10, to those of plugins, 0 to 100."""


class ExtendersFiltered(msgspec.Struct, frozen=True):
    """The nodes that all extenders let pass; why others were turned down, by name, as far as the extenders say.

    `whole`: one of them sent nodes back, instead of their names.
    """

    kept: Sequence[str]
    statuses: Mapping[str, Status]
    whole: bool


class Refused(msgspec.Struct, frozen=True):
    """The nodes that one extender turned down, with its reasons; with `unresolvable` ones no eviction helps."""

    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class ExtenderCalls:
    """The extenders, as they are asked about one pod in one attempt.

    Those that take no interest in the pod are left out. What they answer to Filter and Prioritize is remembered, so
    that the attempt can be gone through again without asking them a second time. `refused` are the nodes that an
    extender turned down when it was last asked to filter, `preempted` the victims that it agreed to, by its name.
    """

    __slots__ = ("_answers", "_extenders", "_interested", "_pod", "_replayed", "preempted", "refused")

    def __init__(self, extenders: Sequence[Extender], pod: PodInfo) -> None:
        self._extenders = extenders
        self._pod = pod
        self._interested: list[Extender] | None = None
        self._answers: list[tuple[Extender, frozenset[str], Any]] = []
        self._replayed: deque[tuple[Extender, frozenset[str], Any]] | None = None
        self.refused: dict[str, Refused] = {}
        self.preempted: dict[str, Mapping[str, VictimUIDs]] = {}

    def __bool__(self) -> bool:
        """Whether there are any, interested or not."""
        return bool(self._extenders)

    @property
    def filters(self) -> bool:
        """Whether any takes part in filtering, interested or not."""
        return any(extender.filters for extender in self._extenders)

    @property
    def prioritizes(self) -> bool:
        """Whether any takes part in scoring, interested or not."""
        return any(extender.prioritizes for extender in self._extenders)

    @property
    def interested(self) -> list[Extender]:
        """Those that are asked about this pod, in order. Raises ExtenderError where that can't be told."""
        if self._interested is None:
            self._interested = [extender for extender in self._extenders if extender.interested(self._pod)]
        return self._interested

    def replay(self) -> ExtenderCalls:
        """The same calls, answered from memory in the order in which they were made."""
        twin = ExtenderCalls(self._extenders, self._pod)
        twin._interested = self._interested
        twin._replayed = deque(self._answers)
        return twin

    def filter(self, nodes: Sequence[str]) -> ExtendersFiltered:
        """Ask one after the other which nodes the pod may go to, while any are left.

        Raises ExtenderError for one that fails and must not.
        """
        statuses: dict[str, Status] = {}
        whole = False
        for extender in self.interested:
            if not nodes:
                break
            if not extender.filters:
                continue
            try:
                answer = self._answer(extender, nodes, lambda asked, of: asked.filter(self._pod, of))
            except ExtenderError as problem:
                if not extender.ignorable:
                    raise
                log.info("Skipping extender %s, which failed and is ignorable: %s", extender.name, problem)
                continue
            self.refused[extender.name] = Refused(answer.failed, answer.unresolvable)
            for name, reason in answer.failed.items():
                statuses[name] = unschedulable(reason)
            for name, reason in answer.unresolvable.items():
                statuses[name] = unresolvable(reason)
            nodes = answer.kept
            whole = whole or answer.whole
        return ExtendersFiltered(nodes, statuses, whole)

    def scores(self, nodes: Sequence[str]) -> list[tuple[str, int, Sequence[HostScore]]]:
        """(extender, weight, scores 0 to 10) of all extenders that score, asked at the same time.

        One that fails gives no scores.
        """
        asked = [extender for extender in self.interested if extender.prioritizes]
        futures = {}
        if self._replayed is None:
            futures = {id(extender): extender.prioritize(self._pod, nodes) for extender in asked}
        given = []
        for extender in asked:
            try:
                scores = self._answer(extender, nodes, lambda asked, _: futures[id(asked)].result())
            except ExtenderError as problem:
                log.debug("No scores from extender %s for pod %s: %s", extender.name, self._pod.key, problem)
                continue
            given.append((extender.name, extender.weight, scores))
        return given

    async def bind(self, node: str) -> str:
        """Let the first extender that binds do so; its name, "" if there is none. Raises ExtenderError if it fails."""
        for extender in self.interested if any(extender.binds for extender in self._extenders) else ():
            if not extender.binds:
                continue
            try:
                await extender.bind(self._pod, node)
            except ExtenderError as problem:
                if not extender.ignorable:
                    raise
                log.info("Skipping extender %s in bind, which failed and is ignorable: %s", extender.name, problem)
                continue
            return extender.name
        return ""

    def preempt(
        self, candidates: Sequence[Eviction], pods_on: Callable[[str], Sequence[PodInfo] | None]
    ) -> Sequence[Eviction]:
        """The candidates for preemption that are left once all extenders that preempt have had their say.

        `pods_on` gives the pods of a node, None for one that is not there. Raises ExtenderError where one fails and
        must not.
        """
        for extender in self.interested if candidates else ():
            if not extender.preempts:
                continue
            try:
                chosen = self._chosen(extender, candidates, pods_on)
            except ExtenderError as problem:
                if not extender.ignorable:
                    raise
                log.info(
                    "Skipping extender %s in preemption, which failed and is ignorable: %s", extender.name, problem
                )
                continue
            for eviction in chosen:
                if not eviction.victims and not extender.ignorable:
                    raise ExtenderError(f'expected at least one victim pod on node "{eviction.node}"')
            candidates = [eviction for eviction in chosen if eviction.victims]
            if not candidates:
                break
        return candidates

    def _chosen(
        self,
        extender: Extender,
        candidates: Sequence[Eviction],
        pods_on: Callable[[str], Sequence[PodInfo] | None],
    ) -> list[Eviction]:
        """The candidates as an extender wants them, with the pods that it names."""
        sent = {one.node: CandidateVictims(one.victims, one.violations) for one in candidates}
        chosen = []
        agreed = self.preempted[extender.name] = extender.preempt(self._pod, sent)
        for node, answer in agreed.items():
            there = pods_on(node)
            if there is None:
                raise ExtenderError(f'nodeinfo not found for node name "{node}"')
            by_uid = {pod.uid: pod for pod in there}
            for uid in answer.uids:
                if uid not in by_uid:
                    raise ExtenderError(
                        f"extender: {extender.name} claims to preempt pod (UID: &{{{uid}}}) on node: {node}, "
                        "but the pod is not found on that node"
                    )
            chosen.append(Eviction(node, tuple(by_uid[uid] for uid in answer.uids), answer.pdb_violations))
        return chosen

    def _answer(self, extender: Extender, nodes: Sequence[str], ask: Callable[[Extender, Sequence[str]], Any]) -> Any:
        """What an extender says of these nodes, from memory where that is replayed. Raises ExtenderError."""
        about = frozenset(nodes)
        if self._replayed is not None:
            asked, of, answer = self._replayed.popleft() if self._replayed else (None, about, None)
            if asked is not extender or of != about:
                raise ExtenderError(f"extender {extender.name} was not asked about these nodes: {sorted(about)}")
        else:
            try:
                answer = ask(extender, nodes)
            except ExtenderError as problem:
                answer = problem
        self._answers.append((extender, about, answer))
        if isinstance(answer, ExtenderError):
            raise answer
        return answer
