"""Who keeps records of attempts, as the scheduler knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.profile import Profile
    from scheduler.queue.entry import QueuedPod


class Attempted(NamedTuple):
    """An attempt whose scheduling cycle has just ended.

    `decision` is as far as it came, None where it did not begin; `node` the one that was picked, "" without one;
    `seconds` from the pop to now. Of a binding cycle, `cycle.trace` will tell.
    """

    profile: Profile
    cycle: Cycle
    entry: QueuedPod
    decision: Decision | None
    failure: Failure | None
    node: str
    seconds: float


class Journal(Protocol):
    """Keeps records."""

    def attempted(self, attempt: Attempted) -> None:
        """Called after each scheduling cycle, before anything else looks at the state or changes it but by what the
        attempt itself reserved."""
