"""What a scheduler process keeps of its attempts, and writes to the pods, as its settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.app.annotating import Annotator
from scheduler.explain.store import RecordStore

if TYPE_CHECKING:
    from scheduler.app.annotating import PodAnnotations
    from scheduler.app.settings import Settings
    from scheduler.client.supervise import Supervisor
    from scheduler.cycle.journal import Journal
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics


class Recording:
    """The records of one scheduler. `records` are None where none are kept; nothing is written to pods then either."""

    def __init__(self, settings: Settings, writer: PodAnnotations, metrics: SchedulerMetrics) -> None:
        wanted = settings.records > 0 and settings.record_bytes > 0
        self.records = RecordStore(settings.records, settings.record_bytes) if wanted else None
        self._annotator: Annotator | None = None
        if self.records is not None and settings.annotate:
            self._annotator = Annotator(self.records, self.records, writer, metrics.decision_annotations)

    @property
    def journal(self) -> Journal | None:
        """What the scheduler tells of each attempt."""
        return self.records if self._annotator is None else self._annotator

    def watch(self, scheduler: Scheduler) -> None:
        """Follow this scheduler: which of its pods wait, and whether it has a moment for annotations."""
        if self.records is not None:
            self.records.watch(scheduler)
        if self._annotator is not None:
            self._annotator.yield_to(lambda: scheduler.queue.ready)

    def start(self, supervisor: Supervisor) -> None:
        """Begin to write annotations, if that is wanted."""
        if self._annotator is not None:
            supervisor.start(self._annotator.run(), "annotations of decisions")
