"""Takes another scheduler's decisions once more, each at the state that the cluster was in."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.app.observing.orders import chosen_among_best, decide, explanation
from scheduler.app.observing.report import Observation, Outcome
from scheduler.cycle.algorithm import NoNodesError
from scheduler.cycle.handlers import EventHandlers
from scheduler.explain.agreement import agreement
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.api.objects import Pod
    from scheduler.app.observing.orders import Explanation
    from scheduler.app.observing.report import Tally
    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.framework.profile import Profile

log = logging.getLogger(__name__)

_EARLIER: Final = 256
"""How many binds before may have been decided after a pod."""
_LATER: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""After how many more binds it is seen whether a difference was one of order; it stands after the last."""
_PATIENCE: Final = 5.0
"""Seconds after which a difference stands, though no more binds came."""


class _Waiting(msgspec.Struct):
    """A pod that the other scheduler has not placed yet: as it is, and since when (seconds) it is known."""

    pod: PodInfo
    since: float
    refusal: str = ""


class _Open(msgspec.Struct):
    """A difference that binds on their way may still explain: those shortly before it, and those that came since."""

    pod: PodInfo
    observation: Observation
    profile: Profile
    deadline: float
    earlier: list[str]
    later: list[str]


class Observer(EventHandlers):
    """Handlers for informers that keep the state, and compare each placement of the profiles' pods before it counts.

    `scheduler` is fed nothing to schedule: its profiles decide, and its state follows the cluster. A pod counts for the
    profile that it names.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        tally: Tally,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(scheduler, ())
        self._profiles: Mapping[str, Profile] = scheduler.profiles
        self._percentage = scheduler.algorithm.percentage_of_nodes_to_score
        self._tally = tally
        self._clock = clock
        self._now = now
        self._waiting: dict[str, _Waiting] = {}
        self._bound: deque[str] = deque(maxlen=_EARLIER)
        self._open: list[_Open] = []
        self.begun = False
        """Whether what comes now is news; what is there at the start was decided before anybody looked."""

    @property
    def waiting(self) -> int:
        """How many pods wait for the other scheduler."""
        return len(self._waiting)

    @property
    def open(self) -> int:
        """How many differences may still turn out to be ones of order."""
        return len(self._open)

    def pod(self, old: Pod | None, new: Pod | None) -> None:
        """A pod came, changed or went."""
        if new is None:
            assert old is not None
            self._gone(old.metadata.uid)
            super().pod(old, new)
            return
        profile = self._profiles.get(new.spec.scheduler_name)
        uid = new.metadata.uid
        if profile is None:
            super().pod(old, new)
        elif not new.spec.node_name:
            self._waits(profile, self._state.info(new))
        elif uid in self._waiting:
            self._placed(profile, self._waiting.pop(uid), new.spec.node_name)
            super().pod(old, new)
            self._bound_now(uid)
        else:
            if self.begun and self._state.pods.get(uid) is None:
                self._tally.skipped += 1
            super().pod(old, new)

    def settle(self, *, all_open: bool = False) -> None:
        """Let differences stand that nothing has explained in time, or all that are open."""
        now = self._clock()
        for item in self._open:
            if all_open or now >= item.deadline:
                self._tally.add(item.observation)
        self._open = [item for item in self._open if not all_open and now < item.deadline]

    # a pod that waits

    def _waits(self, profile: Profile, pod: PodInfo) -> None:
        known = self._waiting.setdefault(pod.uid, _Waiting(pod, self._clock()))
        known.pod = pod
        self._state.nominations.add(pod, pod.nominated_node_name)
        condition = pod.scheduled_condition
        if condition is None or condition.reason != "Unschedulable" or condition.message == known.refusal:
            return
        known.refusal = condition.message
        if self.begun:
            self._refused(profile, known)

    def _gone(self, uid: str) -> None:
        if self._waiting.pop(uid, None) is not None:
            self._state.nominations.remove(uid)

    # comparing

    def _placed(self, profile: Profile, known: _Waiting, node: str) -> None:
        """A pod was given a node: decide on it as if it were still waiting."""
        pod = known.pod
        self._state.nominations.remove(pod.uid)
        self._close_refusals(pod.uid)
        if not self.begun:
            return
        observed = self._compare(profile, pod, node, since=known.since)
        self._note(profile, pod, observed)

    def _refused(self, profile: Profile, known: _Waiting) -> None:
        self._note(profile, known.pod, self._compare(profile, known.pod, "", since=known.since))

    def _note(self, profile: Profile, pod: PodInfo, observed: Observation | None) -> None:
        if observed is None:
            return
        if observed.outcome is Outcome.DIFFERENT:
            self._open.append(_Open(pod, observed, profile, self._clock() + _PATIENCE, list(self._bound), []))
        else:
            self._tally.add(observed)

    def _close_refusals(self, uid: str) -> None:
        """A pod has its node now: what was open about its refusal was that others had made room since."""
        for item in self._open:
            if item.pod.uid == uid and not item.observation.node:
                self._tally.add(_reordered(item, "refused before it was known that there was room again"))
        self._open = [item for item in self._open if item.pod.uid != uid or item.observation.node]

    def _compare(self, profile: Profile, pod: PodInfo, node: str, *, since: float) -> Observation | None:
        state, start = self._state, time.perf_counter()
        try:
            decision = decide(state, profile, pod)
            took = time.perf_counter() - start
            found = agreement(decision, profile, node)
            outcome, detail = Outcome.AGREED, ""
            if not chosen_among_best(decision, node):
                outcome, detail = self._explained(profile, pod, node)
        except (PluginError, NoNodesError) as problem:
            log.warning("Pod %s was not compared: %s", pod.key, problem)
            self._tally.failed += 1
            return None
        return Observation(
            time=self._now(),
            pod=pod.key,
            node=node,
            scheduler=profile.name,
            outcome=outcome,
            agreement=found,
            detail=detail,
            observed_seconds=self._clock() - since,
            decision_seconds=took,
        )

    def _explained(self, profile: Profile, pod: PodInfo, node: str) -> tuple[Outcome, str]:
        found = explanation(self._state, profile, pod, node, earlier=list(self._bound), percentage=self._percentage)
        if found is None:
            return Outcome.DIFFERENT, ""
        return self._worded(found, later=0)

    def _worded(self, found: Explanation, *, later: int) -> tuple[Outcome, str]:
        """What had to be assumed, in words."""
        parts = []
        if later:
            parts.append(f"decided after {_counted(later, 'bind')} that became known later")
        if found.left_out:
            parts.append(f"decided before {_counted(found.left_out, 'bind')} in flight counted")
        if found.sampled is not None:
            parts.append(f"the best of the {found.sampled} nodes that fit in a sample of {len(self._state.nodes)}")
        return (Outcome.OTHER_ORDER if found.sampled is None else Outcome.SAMPLED), ", and ".join(parts)

    def _bound_now(self, uid: str) -> None:
        """A bind has been counted: see whether it explains differences that are still open."""
        for item in self._open:
            if item.pod.uid != uid:
                item.later.append(uid)
        self._open = [item for item in self._open if not self._closed(item, uid)]
        self._bound.appendleft(uid)

    def _closed(self, item: _Open, uid: str) -> bool:
        if item.pod.uid == uid or not item.observation.node:
            return False
        if len(item.later) not in _LATER:
            return False
        try:
            found = explanation(
                self._state,
                item.profile,
                item.pod,
                item.observation.node,
                earlier=item.earlier,
                later=item.later[::-1],
                percentage=self._percentage,
            )
        except (PluginError, NoNodesError):
            found = None
        if found is not None:
            outcome, detail = self._worded(found, later=len(item.later))
            self._tally.add(msgspec.structs.replace(item.observation, outcome=outcome, detail=detail))
            return True
        if len(item.later) < _LATER[-1]:
            return False
        self._tally.add(item.observation)
        return True


def _reordered(item: _Open, detail: str) -> Observation:
    return msgspec.structs.replace(item.observation, outcome=Outcome.OTHER_ORDER, detail=detail)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
