"""Where a pod goes that is to be tried again, or to wait (moveToActiveQ and moveToBackoffQ in scheduling_queue.go)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scheduler.queue import history
from scheduler.queue.contents import QueueContents
from scheduler.queue.hints import QUEUE_AFTER_BACKOFF, SKIP
from scheduler.queue.history import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.queue.backoff import BackoffQueue
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.gates import Gates
    from scheduler.queue.heap import PodHeap
    from scheduler.queue.hints import Strategy
    from scheduler.queue.incoming import Incoming
    from scheduler.queue.parked import ParkedGroup

    Moves = tuple[Strategy, str, list[QueuedPod]]
    """By what, by whose hint, and which pods are to be moved."""
    Held = tuple[ParkedGroup, Strategy]
    """A group of which a gate holds back all that are not moved, and the strategy that these would be moved by."""


class Placement(QueueContents):
    """Puts pods where they belong, asks the gates on the way, and counts what comes in where.

    `clock` gives seconds since the epoch; with `pop_early` pods in backoff may be popped, so gates are asked before.
    """

    def __init__(
        self,
        active: PodHeap,
        backoff: BackoffQueue,
        gates: Gates,
        incoming: Incoming,
        kind_of: Callable[[QueuedPod], object],
        *,
        clock: Callable[[], float],
        pop_early: bool,
    ) -> None:
        super().__init__(active, backoff, kind_of)
        self._gates = gates
        self._incoming = incoming
        self._clock = clock
        self._pop_early = pop_early
        self._ready = asyncio.Event()

    def _requeue(self, entry: QueuedPod, strategy: Strategy, event: str) -> str:
        """Put a pod where a strategy says; the name of the queue it ended up in."""
        if strategy == SKIP:
            self._park(entry, event, strategy)
            return "unschedulable"
        if strategy == QUEUE_AFTER_BACKOFF and self._backoff.is_backing_off(entry):
            return "backoff" if self._move_to_backoff(entry, event, strategy) else "unschedulable"
        return "active" if self._move_to_active(entry, event, strategy) else "unschedulable"

    def _move_to_active(
        self, entry: QueuedPod, event: str, strategy: Strategy | None, *, from_backoff: bool = False
    ) -> bool:
        if not (from_backoff and self._pop_early):
            self._gates.ask(entry)
        if self._held_back(entry, event, strategy):
            return False
        if entry.first_attempt is None:
            entry.first_attempt = self._clock()
        self._parked.remove(entry.name)
        entry.woken_by = event
        self._active.push(entry)
        self._incoming.count("active", event, strategy)
        self._ready.set()
        return True

    def _move_to_backoff(self, entry: QueuedPod, event: str, strategy: Strategy) -> bool:
        if self._pop_early:
            self._gates.ask(entry)
            if self._held_back(entry, event, strategy):
                return False
        self._parked.remove(entry.name)
        entry.woken_by = event
        self._backoff.push(entry)
        self._incoming.count("backoff", event, strategy)
        if self._pop_early:
            self._ready.set()
        return True

    def _held_back(self, entry: QueuedPod, event: str, strategy: Strategy | None) -> bool:
        if entry.gated:
            note(entry, history.GATED, self._clock(), event=event, plugin=entry.gating_plugin, queue="gated")
            entry.flushed = False
            self._note_rejectors(entry)
            self._park(entry, event, strategy)
        return entry.gated

    def _move_groups(self, moves: list[Moves], held: list[Held], event: str, about: str) -> None:
        """Put parked pods where they belong; note of those that a gate still holds back that it was asked."""
        for _, _, entries in moves:
            for entry in entries:
                self._parked.remove(entry.name)
        for members, strategy in held:
            if members:
                self._stay_gated(members, strategy, event)
        now = self._clock()
        for strategy, decider, entries in moves:
            for entry in entries:
                place = self._requeue(entry, strategy, event)
                if not entry.gated:
                    note(entry, history.WOKEN, now, event=event, about=about, plugin=decider, queue=place)

    def _stay_gated(self, members: ParkedGroup, strategy: Strategy, event: str) -> None:
        """What `_held_back` does with each pod of a group, noted once for all: one plugin still holds them back."""
        first = next(iter(members.values()))
        if first.history is not None:
            members.kept.note(history.GATED, self._clock(), event=event, plugin=first.gating_plugin, queue="gated")
        self._note_rejectors(first)
        self._incoming.count("unschedulable", event, strategy, len(members))

    def _park(self, entry: QueuedPod, event: str, strategy: Strategy | None) -> None:
        if self._parked.add(entry):
            self._incoming.count("unschedulable", event, strategy)
