"""A profile in shadow: it decides on pods besides the profile that runs, and nothing comes of it but a comparison."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.cycle.algorithm import Algorithm, Decision, FitError
from scheduler.explain.agreement import Agreement, Verdict, agreement
from scheduler.framework.cycle import Cycle
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cycle.outcome import Failure
    from scheduler.framework.profile import Profile
    from scheduler.metrics.instruments import Counter as CounterFamily

log = logging.getLogger(__name__)

SHARE: Final = 0.1
"""Seconds of CPU a second that a shadow may take."""
BURST: Final = 0.5
"""Seconds of CPU that it may save up."""


class Example(msgspec.Struct, frozen=True):
    """A difference: when (seconds since the epoch), for which pod ("namespace/name"), and which."""

    time: float
    pod: str
    agreement: Agreement


class Tally:
    """What a shadow has come to so far.

    - `observed`: decisions of the running profile. `compared`: those that the shadow decided on as well; others were
      left out to save time. `failed`: those on which it could not decide.
    - `verdicts`: of those compared. `behind`: by plugin, how many differences it has a part in.
    - `examples`: the last differences.
    """

    def __init__(self, examples: int) -> None:
        self.observed = 0
        self.compared = 0
        self.failed = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.behind: Counter[str] = Counter()
        self.examples: deque[Example] = deque(maxlen=examples)
        self.last_failure = ""

    @property
    def different(self) -> int:
        """How many decisions differ."""
        return self.compared - self.verdicts[Verdict.SAME]

    def add(self, pod: str, found: Agreement, now: float) -> None:
        """Count a comparison."""
        self.compared += 1
        self.verdicts[found.verdict] += 1
        if not found.agrees:
            self.behind.update(found.behind)
            self.examples.append(Example(now, pod, found))


class Shadow:
    """A `ShadowHook`: decides by `profile` on the state on which the running profile has just decided.

    The profile's plugins must be instances of its own. The decision is taken from where the running one began to search
    for nodes, so that differences come from the profile alone. Extenders are not asked again: what they answered is
    used, and where they were asked about other nodes the decision counts as failed. PostFilter, and all that follows
    on a choice, is left out.

    `percentage` are the decisions that are looked at, drawn by `draw`, which gives numbers in 0..1; besides, a shadow
    takes no more than SHARE of a CPU, measured by `clock`. `percentage_of_nodes_to_score` holds where the profile has
    none of its own.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        draw: Callable[[], float],
        percentage: int = 100,
        percentage_of_nodes_to_score: int = 0,
        examples: int = 5,
        series: CounterFamily | None = None,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.profile = profile
        self.tally = Tally(examples)
        self._draw = draw
        self._share = percentage / 100
        self._nodes = percentage_of_nodes_to_score
        self._series = series
        self._clock = clock
        self._now = now
        self._credit = BURST
        self._credited = clock()

    def __call__(self, cycle: Cycle, decision: Decision, failure: Failure | None, node: str) -> None:
        """Decide as well, and compare. Nothing is raised: whatever goes wrong is the shadow's."""
        self.tally.observed += 1
        if not self._affordable():
            return
        start = self._clock()
        try:
            self._compare(cycle, decision, failure, node)
        except Exception as problem:
            if not isinstance(problem, PluginError):
                log.exception("The shadow of profile %s failed on pod %s", self.profile.name, cycle.pod.key)
            self.tally.failed += 1
            self.tally.last_failure = f"{cycle.pod.key}: {problem}"
        self._credit -= self._clock() - start

    def _affordable(self) -> bool:
        now = self._clock()
        self._credit = min(BURST, self._credit + (now - self._credited) * SHARE)
        self._credited = now
        return self._credit > 0 and (self._share >= 1 or self._draw() < self._share)

    def _compare(self, cycle: Cycle, decision: Decision, failure: Failure | None, node: str) -> None:
        mine = self._decide(cycle, decision)
        if cycle.extenders and not np.array_equal(np.sort(mine.feasible), np.sort(decision.feasible)):
            raise PluginError("extenders were not asked about the nodes that fit here")
        refused_by = tuple(sorted(failure.unschedulable_plugins)) if failure is not None else ()
        found = agreement(mine, self.profile, node, refused_by=refused_by)
        self.tally.add(cycle.pod.key, found, self._now())
        if self._series is not None:
            self._series.labels(self.profile.name, str(found.verdict)).inc()

    def _decide(self, cycle: Cycle, running: Decision) -> Decision:
        everything = running.percentage is None
        algorithm = Algorithm(cycle.state, percentage_of_nodes_to_score=self._nodes, all_nodes=everything)
        algorithm.next_start = running.start
        twin = Cycle(cycle.pod, cycle.state, self.profile.name)
        twin.extenders = cycle.extenders.replay()
        begun: list[Decision] = []
        with suppress(FitError):
            algorithm.decide(self.profile, cycle.pod, cycle=twin, observe=begun.append)
        return begun[0]
