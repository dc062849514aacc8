"""The scheduling queue (pkg/scheduler/backend/queue/scheduling_queue.go).

Everything runs on one event loop, so there are no locks; `wait` is the only coroutine.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from scheduler.framework.events import OfProfile
from scheduler.queue import history, incoming
from scheduler.queue.backoff import BackoffQueue
from scheduler.queue.entry import QueuedPod
from scheduler.queue.gates import Gates
from scheduler.queue.heap import PodHeap
from scheduler.queue.hints import QUEUE_AFTER_BACKOFF, QUEUE_IMMEDIATELY, SKIP, HintMap, Strategy, is_wildcard, matches
from scheduler.queue.history import described, note
from scheduler.queue.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scheduler.cache.nominations import Nominations
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.events import ClusterEvent
    from scheduler.framework.profile import Profile
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics
    from scheduler.queue.placement import Held, Moves

log = logging.getLogger(__name__)


class SchedulingQueue(Placement):
    """Active, backing off, unschedulable and gated pods of all profiles.

    `clock` gives seconds since the epoch. With `pop_early` (gate SchedulerPopFromBackoffQ) pods in backoff are popped
    when nothing else is active. After `longest_unschedulable` seconds a pod is tried again without a reason. With
    `histories` it is kept what happens to each pod.
    """

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        nominations: Nominations,
        metrics: SchedulerMetrics,
        *,
        initial_backoff: float = 1.0,
        maximum_backoff: float = 10.0,
        longest_unschedulable: float = 300.0,
        pop_early: bool = True,
        clock: Callable[[], float] = time.time,
        histories: bool = True,
    ) -> None:
        self._nominations = nominations
        self.longest_unschedulable = longest_unschedulable
        self._histories = histories
        sort = next(iter(profiles.values())).queue_sort[0]

        def sort_key(entry: QueuedPod) -> Any:
            return sort.sort_key(entry.pod, entry.timestamp)

        def observe(plugin: str, event: str, hint: str, seconds: float) -> None:
            metrics.queueing_hint_execution_duration.labels(plugin, event, hint).observe(seconds)

        self.hints = HintMap(profiles.values(), observe)
        backoff = BackoffQueue(
            initial=initial_backoff, maximum=maximum_backoff, clock=clock, sort_key=sort_key, windows=pop_early
        )
        super().__init__(
            PodHeap(sort_key),
            backoff,
            Gates(profiles, metrics),
            incoming.Incoming(metrics),
            self.hints.kind_of,
            clock=clock,
            pop_early=pop_early,
        )

    def backoff_until(self, entry: QueuedPod) -> float:
        """When a pod's backoff ends; minus infinity if it has none."""
        return self._backoff.until(entry)

    def now(self) -> float:
        """The time by the queue's clock."""
        return self._clock()

    # taking pods out

    @property
    def ready(self) -> bool:
        """Whether `pop` would give a pod."""
        return bool(len(self._active) or (self._pop_early and self._backoff.early))

    async def wait(self) -> None:
        """Until there is a pod to pop, or somebody calls `wake`."""
        self._ready.clear()
        if not self.ready:
            await self._ready.wait()

    def wake(self) -> None:
        """Let `wait` return."""
        self._ready.set()

    def pop(self) -> QueuedPod | None:
        """Take out the next pod to be tried, None if there is none. `done` or `add_unschedulable` must follow."""
        while True:
            entry = self._active.pop()
            event = ""
            if entry is None and self._pop_early:
                entry = self._backoff.pop_early()
                if entry is not None:
                    event = incoming.POP_FROM_BACKOFF
                    self._incoming.count("active", event, None)
            if entry is None:
                return None
            entry.attempts += 1
            if entry.history is not None:
                entry.history.note(history.POPPED, self._clock(), event=event)
            if self._in_flight.add(entry):
                return entry
            log.error("Pod %s is tracked in several places of the scheduler; discarding the one popped", entry.pod.key)

    def done(self, uid: str) -> None:
        """The pod won't come back from this attempt: its in-flight events are no longer needed."""
        self._in_flight.done(uid)

    def bound(self, entry: QueuedPod) -> None:
        """A pod that was popped is bound, and does not come back."""
        if entry.history is not None:
            entry.history.note(history.BOUND, self._clock())

    # putting pods in

    def add(self, pod: PodInfo) -> None:
        """A new pod to schedule."""
        now = self._clock()
        entry = QueuedPod(pod=pod, timestamp=now, added=now)
        if self._histories:
            entry.history = history.QueueHistory()
            entry.history.note(history.ADDED, now, event=incoming.UNSCHEDULED_POD_ADD.label)
        self._nominations.add(pod, pod.nominated_node_name)
        self._move_to_active(entry, incoming.UNSCHEDULED_POD_ADD.label, None)

    def update(self, old: PodInfo, new: PodInfo, events: Iterable[ClusterEvent]) -> None:
        """A pod that waits changed itself; `events` say how, as changes of a TargetPod."""
        if new.uid in self._in_flight:
            for event in events:
                self._in_flight.observe(event, old, new)
            return
        name = (old.namespace, old.name)
        for holder in (self._active, self._backoff):
            entry = holder.remove(name)
            if entry is not None:
                self._renew(entry, new)
                holder.push(entry)
                return
        entry = self._parked.get(name)
        if entry is None:
            self.add(new)
            return
        self._renew(entry, new)
        self._parked.add(entry)
        for event in events:
            strategy = self.hints.strategy(entry, event, old, new)
            decider = self.hints.decider
            what = history.KEPT if strategy == SKIP else history.WOKEN
            place = self._requeue(entry, strategy, event.label)
            if not entry.gated and (decider or what is history.WOKEN):
                note(entry, what, self._clock(), event=event.label, about=new.key, plugin=decider, queue=place)
            if place != "unschedulable":
                return

    def add_unschedulable(self, entry: QueuedPod) -> None:
        """A popped pod could not be placed: it waits for its backoff, or until something happens that may help.

        `unschedulable_plugins` and `pending_plugins` say who turned it down; none means that the attempt failed. Raises
        ValueError if a pod of its name is in the queue already.
        """
        try:
            if place := self.place_of(entry.name):
                raise ValueError(f"Pod {entry.pod.key} is already present in the {place} queue")
            if entry.rejectors:
                self._note_rejectors(entry)
                entry.rejections += 1
                entry.errors = 0
            else:
                entry.errors += 1
            entry.timestamp = self._clock()
            entry.backoff_until = None
            entry.flushed = False
            entry.flushed_at = 0.0
            note(entry, history.FAILED, entry.timestamp, plugin=",".join(sorted(entry.rejectors)))
            self._requeue(entry, self._in_flight_strategy(entry), incoming.SCHEDULE_ATTEMPT_FAILURE)
        finally:
            self._in_flight.done(entry.pod.uid)

    def delete(self, pod: PodInfo) -> None:
        """A pod is gone, or was bound by somebody else."""
        self._nominations.remove(pod.uid)
        name = (pod.namespace, pod.name)
        entry = self._active.remove(name) or self._backoff.remove(name) or self._parked.remove(name)
        if entry is not None:
            note(entry, history.DELETED, self._clock())

    def activate(self, names: Iterable[tuple[str, str]]) -> None:
        """Let pods (namespace, name) be tried at once that are unschedulable or back off.

        One that is being scheduled is tried again as soon as it may, should it come back.
        """
        for name in names:
            parked = self._parked.get(name)
            entry = parked or self._backoff.remove(name)
            if entry is not None and self._move_to_active(
                entry, incoming.FORCE_ACTIVATE.label, None, from_backoff=parked is None
            ):
                note(entry, history.ACTIVATED, self._clock(), event=incoming.FORCE_ACTIVATE.label, queue="active")
                continue
            flying = self._in_flight.find(name)
            if flying is not None:
                self._in_flight.observe(incoming.FORCE_ACTIVATE, None, flying.pod)

    # what happens around

    def move_all(
        self,
        event: ClusterEvent,
        old: object,
        new: object,
        *,
        only: Callable[[PodInfo], bool] | None = None,
    ) -> None:
        """Something happened: try the pods again that it may help. Costs by groups of pods alike, not by pods."""
        wildcard = is_wildcard(event)
        if not wildcard and not self.hints.hints(event):
            return
        moves: list[Moves] = []
        held: list[Held] = []
        for members in self._parked.groups():
            first = next(iter(members.values()))
            if first.gated and not wildcard and not any(matches(hint, event) for hint in first.gating_events):
                continue
            strategy = self.hints.strategy(first, event, old, new)
            decider = self.hints.decider
            if strategy != SKIP:
                asked = first.gated and only is None and self._pop_early  # then gates are asked wherever pods would go
                chosen = self._gates.let_go(members) if asked else None
                if chosen is None:
                    chosen = [entry for entry in members.values() if only is None or only(entry.pod)]
                else:
                    held.append((members, strategy))
                moves.append((strategy, decider, chosen))
            elif decider and self._histories:
                about = described(old if new is None else new)
                members.kept.note(history.KEPT, self._clock(), event=event.label, about=about, plugin=decider)
        if moves:
            self._move_groups(moves, held, event.label, described(old if new is None else new))
        self._in_flight.observe(event, old, new)

    def change_profile(self, profile: Profile) -> None:
        """A profile has other plugins, or other weights, from now on; the mapping of profiles has it already.

        Its pods are tried again, each after its backoff: what turned them down may be gone. That goes for those behind
        gates as well. Those that are about to be tried are asked for by the gates that there are now.
        """
        self.hints.set(profile)

        def concerned(pod: PodInfo) -> bool:
            return pod.scheduler_name == profile.name

        event = incoming.PROFILE_UPDATE
        for holder in (self._active, self._backoff) if self._pop_early else (self._active,):
            for entry in [entry for entry in holder if concerned(entry.pod)]:
                self._gates.ask(entry)
                if entry.gated:
                    holder.remove(entry.name)
                    self._held_back(entry, event.label, None)
        self.move_all(event, None, OfProfile(profile.name), only=concerned)

    def flush_backoff(self) -> None:
        """Let the pods be tried whose backoff is over; called once a second."""
        for entry in self._backoff.pop_finished():
            if self._move_to_active(entry, incoming.BACKOFF_COMPLETE, None, from_backoff=True):
                note(entry, history.BACKOFF_OVER, self._clock(), event=incoming.BACKOFF_COMPLETE, queue="active")

    def flush_unschedulable(self) -> None:
        """Let the pods be tried that have been unschedulable for too long; called twice a minute."""
        now = self._clock()
        too_old = now - self.longest_unschedulable
        late = [entry for entry in self._parked if max(entry.timestamp, entry.flushed_at) < too_old]
        for entry in late:
            entry.flushed = True
            entry.flushed_at = now
            self._parked.remove(entry.name)
            event = incoming.UNSCHEDULABLE_TIMEOUT.label
            place = self._requeue(entry, QUEUE_AFTER_BACKOFF, event)
            if not entry.gated:
                note(entry, history.FLUSHED, now, event=event, queue=place)
        if late:
            self._in_flight.observe(incoming.UNSCHEDULABLE_TIMEOUT, None, None)

    def _renew(self, entry: QueuedPod, pod: PodInfo) -> None:
        node = pod.nominated_node_name
        if not node and not entry.pod.nominated_node_name:
            # A nomination that only this process knows of stays until the API server says otherwise.
            node = self._nominations.node_of(pod.uid)
        self._nominations.add(pod, node)
        entry.pod = pod

    def _in_flight_strategy(self, entry: QueuedPod) -> Strategy:
        if not entry.rejectors or entry.pod.uid not in self._in_flight:
            return QUEUE_AFTER_BACKOFF
        best = SKIP
        for observed in self._in_flight.since(entry.pod.uid):
            strategy = self.hints.strategy(entry, observed.event, observed.old, observed.new)
            if strategy > best:
                best = strategy
                about = described(observed.old if observed.new is None else observed.new)
                decider = self.hints.decider
                note(entry, history.WOKEN, self._clock(), event=observed.event.label, about=about, plugin=decider)
            if best == QUEUE_IMMEDIATELY or (best == QUEUE_AFTER_BACKOFF and not entry.pending_plugins):
                break
        return best
