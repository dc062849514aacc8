"""What is read from a scheduler at each scrape rather than counted along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cycle.scheduler import Scheduler

POD_POPPED: Final = "PodPopped"
"""Stands in the metric inflight_events for the pods in flight themselves."""

_BINDING: Final = "binding"
_PRIORITIZING_EXTENDER: Final = "prioritizing_extender"

if TYPE_CHECKING:
    Values = Mapping[tuple[str, ...], float]


def wire(scheduler: Scheduler) -> None:
    """Let the scheduler's metrics read its gauges: queue, cache, events in flight and binding cycles."""
    metrics, queue, state = scheduler.metrics, scheduler.queue, scheduler.state

    def pending_pods() -> Values:
        counts: dict[tuple[str, ...], float] = {(place,): count for place, count in queue.counts().items()}
        # Of pod groups, which are not scheduled as such.
        return {**counts, ("incomplete",): 0, ("pending",): 0}

    def queued_entities() -> Values:
        return {(place, "pod"): count for place, count in queue.counts().items()}

    def inflight_events() -> Values:
        counts = queue.in_flight.counts()
        values: dict[tuple[str, ...], float] = {(label,): counts.get(label, 0) for label in queue.in_flight.seen}
        return {**values, (POD_POPPED,): len(queue.in_flight)}

    def unschedulable_pods() -> Values:
        counts = queue.rejector_counts()
        return {key: counts.get(key, 0) for key in queue.rejectors_seen}

    def goroutines() -> Values:
        values: dict[tuple[str, ...], float] = {(_BINDING,): scheduler.binding}
        if scheduler.algorithm.extenders_scored:
            values[_PRIORITIZING_EXTENDER,] = 0  # nothing is scraped while the cycle waits for them
        return values

    metrics.pending_pods.read(pending_pods)
    metrics.queued_entities.read(queued_entities)
    metrics.inflight_events.read(inflight_events)
    metrics.unschedulable_pods.read(unschedulable_pods)
    metrics.cache_size.read(
        lambda: {
            ("assumed_pods",): len(state.assumed),
            ("nodes",): len(state.nodes),
            ("pods",): len(state.pods),
        }
    )
    metrics.goroutines.read(goroutines)
