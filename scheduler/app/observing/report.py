"""What became of the comparison: counts, the plugins behind differences, latencies, the last differences."""

from __future__ import annotations

import enum
from collections import Counter, deque
from collections.abc import Mapping  # noqa: TC003 - msgspec resolves annotations at run time
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.explain.agreement import Agreement  # noqa: TC001 - msgspec resolves annotations at run time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TIMES: Final = 100_000
"""How many of the last durations percentiles are taken of."""


class Outcome(enum.StrEnum):
    """How an observed decision compares.

    - Agreed: the node that was chosen is among the best; or neither found one.
    - OtherOrder: it is, once binds that crossed each other on their way are counted in another order.
    - Sampled: it is the best of some sample of the nodes such as the other scheduler looks at.
    - Different: none of this.
    """

    AGREED = "Agreed"
    OTHER_ORDER = "OtherOrder"
    SAMPLED = "Sampled"
    DIFFERENT = "Different"


class Observation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One decision of the other scheduler. `time` in seconds since the epoch.

    `detail` says in words what was assumed where that took more than to decide. `observed_seconds`: from when the pod
    was seen waiting until it was seen bound; `decision_seconds`: what the decision took here.
    """

    time: float
    pod: str
    node: str
    scheduler: str
    outcome: Outcome
    agreement: Agreement
    detail: str = ""
    observed_seconds: float = 0.0
    decision_seconds: float = 0.0

    def __str__(self) -> str:
        """The observation in a sentence."""
        said = f"{self.pod}: {self.agreement}"
        return f"{said} ({self.detail})" if self.detail else said


class Percentiles(msgspec.Struct, frozen=True):
    """Seconds, and of how many."""

    count: int = 0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    max: float = 0.0


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """All that was observed. `outcomes` by kind; `agreement` the share, 0 to 1, that is not different.

    `placed` are pods that the other scheduler found a node for, `refused` such as it found none for. `behind` counts
    differences by the plugins that they come from. `skipped` are pods that were bound before they were seen waiting.
    """

    schedulers: tuple[str, ...]
    observed: int
    placed: int
    refused: int
    outcomes: Mapping[str, int]
    agreement: float
    behind: Mapping[str, int] = {}
    observed_latency: Percentiles = Percentiles()
    decision_time: Percentiles = Percentiles()
    skipped: int = 0
    failed: int = 0
    differences: tuple[Observation, ...] = ()


class Tally:
    """Counts observations as they come; `on_add` is told of each. The last `differences` are kept."""

    def __init__(
        self,
        schedulers: Iterable[str],
        *,
        differences: int = 20,
        on_add: Callable[[Observation], None] | None = None,
    ) -> None:
        self.skipped = 0
        self.failed = 0
        self._schedulers = tuple(schedulers)
        self._outcomes: Counter[Outcome] = Counter()
        self._placed = 0
        self._behind: Counter[str] = Counter()
        self._observed_seconds: deque[float] = deque(maxlen=_TIMES)
        self._decision_seconds: deque[float] = deque(maxlen=_TIMES)
        self._differences: deque[Observation] = deque(maxlen=differences)
        self._on_add = on_add

    @property
    def observed(self) -> int:
        """How many decisions have come to an outcome."""
        return self._outcomes.total()

    def add(self, observation: Observation) -> None:
        """Count an observation."""
        self._outcomes[observation.outcome] += 1
        if observation.node:
            self._placed += 1
            self._observed_seconds.append(observation.observed_seconds)
        self._decision_seconds.append(observation.decision_seconds)
        if observation.outcome is Outcome.DIFFERENT:
            self._behind.update(observation.agreement.behind)
            self._differences.append(observation)
        if self._on_add is not None:
            self._on_add(observation)

    def report(self) -> Report:
        """All so far."""
        observed = self.observed
        different = self._outcomes[Outcome.DIFFERENT]
        return Report(
            schedulers=self._schedulers,
            observed=observed,
            placed=self._placed,
            refused=observed - self._placed,
            outcomes={str(outcome): self._outcomes[outcome] for outcome in Outcome},
            agreement=(observed - different) / observed if observed else 1.0,
            behind=dict(self._behind.most_common()),
            observed_latency=_percentiles(self._observed_seconds),
            decision_time=_percentiles(self._decision_seconds),
            skipped=self.skipped,
            failed=self.failed,
            differences=tuple(self._differences),
        )


def _percentiles(seconds: deque[float]) -> Percentiles:
    if not seconds:
        return Percentiles()
    p50, p90, p99, most = np.percentile(np.array(seconds), [50, 90, 99, 100]).tolist()
    return Percentiles(len(seconds), p50, p90, p99, most)
