"""A simulation as a document: the page with all that it shows inside, to be read in a browser without a scheduler."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from scheduler.api.times import format_time
from scheduler.app.decisions import SCHEDULED, UNSCHEDULABLE
from scheduler.explain.cluster_view import node_pods, nodes_view, overview
from scheduler.explain.decision_view import of_decision
from scheduler.explain.pending import pending_view
from scheduler.explain.places import place_of
from scheduler.explain.pod_view import PENDING
from scheduler.explain.pod_view import SCHEDULED as PLACED
from scheduler.explain.views import Decision, Evaluation, PodView, Summary, SummaryPage
from scheduler.server.page.document import Document, packed, report, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.app.simulation import Simulation
    from scheduler.cycle import algorithm
    from scheduler.cycle.outcome import Failure
    from scheduler.explain.views import Pending
    from scheduler.queue.entry import QueuedPod

_SIZE: Final = 24 * 1024 * 1024
_BEST: Final = 20
_TURNED_DOWN: Final = "turned down after a node had been picked"

_encode = msgspec.json.Encoder().encode


class Report:
    """Collects what a simulation decides; `add` is its observer.

    Decisions are kept whole until they come to `size` bytes, packed; of later ones the best nodes and what turned down
    the others.
    """

    def __init__(self, *, size: int = _SIZE) -> None:
        self._left = size
        self._answers: dict[str, str] = {}
        self._summaries: list[Summary] = []

    def __len__(self) -> int:
        """How many attempts there were."""
        return len(self._summaries)

    def add(self, entry: QueuedPod, decision: algorithm.Decision | None, failure: Failure | None, node: str) -> None:
        """An attempt came to an end. Times are left out, as none passes in a simulation."""
        summary = Summary(
            id=len(self._summaries) + 1,
            time="",
            pod=entry.pod.key,
            uid=entry.pod.uid,
            profile=entry.pod.scheduler_name,
            attempt=entry.attempts,
            result="",
            node=node if failure is None else "",
        )
        view = replace(of_decision(decision, failure, summary), steps=())
        self._summaries.append(view.summary)
        self._keep(view)

    def document(self, simulation: Simulation, decisions: Iterable[PodDecision], notes: Sequence[str] = ()) -> Document:
        """The document. `decisions` is what became of the pods in the end, `notes` what is to be said above all."""
        decisions = list(decisions)
        self._settle(decisions)
        scheduler, now = simulation.scheduler, time.time()
        at_a_glance = overview(scheduler, None, leader=True, started=now, now=now)
        counts = Counter(summary.result for summary in self._summaries)
        answers: dict[str, Any] = {
            "overview": replace(at_a_glance, counts=counts, records=len(self)),
            "pending": _timeless(pending_view(scheduler, now)),
            "nodes": nodes_view(scheduler.state, now),
            "decisions": SummaryPage(items=tuple(reversed(self._summaries))),
            **{f"nodes/{name}": node_pods(scheduler.state, name) for name in scheduler.state.nodes.rows},
            **{f"pods/{pod.pod}": pod for pod in self._pods(simulation)},
        }
        for decision in decisions:
            if decision.why_not is not None:
                answers[f"pods/{decision.pod}/evaluation"] = _evaluation(decision, now)
        self._answers |= {path: packed(_encode(answer)) for path, answer in answers.items()}
        title = f"simulation of {_counted(len({s.pod for s in self._summaries}), 'pod')}"
        return report(title, self._answers, notes=notes)

    def _keep(self, view: Decision) -> None:
        path = f"decisions/{view.summary.id}"
        text = packed(_encode(view))
        if len(text) > self._left:
            text = packed(_encode(_shortened(view)))
        self._left -= len(text)
        self._answers[path] = text

    def _settle(self, decisions: Iterable[PodDecision]) -> None:
        """A pod can be turned down after its node was picked, while it waits at Permit: then say so."""
        ends = {decision.pod: decision for decision in decisions}
        latest: set[str] = set()
        for place in reversed(range(len(self._summaries))):
            summary = self._summaries[place]
            first, end = summary.pod not in latest, ends[summary.pod]
            latest.add(summary.pod)
            if summary.result != SCHEDULED or (first and end.node is not None):
                continue
            result, message = (end.status, end.message) if first else (UNSCHEDULABLE, _TURNED_DOWN)
            self._summaries[place] = replace(summary, result=result, node="", message=message)
            path = f"decisions/{summary.id}"
            view = msgspec.json.decode(unpacked(self._answers[path]), type=Decision)
            self._answers[path] = packed(_encode(replace(view, summary=self._summaries[place])))

    def _pods(self, simulation: Simulation) -> Iterable[PodView]:
        """The pods that were tried, and those that wait; their decisions are looked up by whoever shows them."""
        tried: dict[str, list[Summary]] = {}
        for summary in reversed(self._summaries):
            tried.setdefault(summary.pod, []).append(summary)
        queue = simulation.scheduler.queue
        waiting = {entry.pod.key: entry for entries in queue.pending().values() for entry in entries}
        for key in {**tried, **waiting}:
            attempts = tuple(tried.get(key, ()))
            entry = waiting.get(key)
            placed = entry is None and attempts[0].result == SCHEDULED
            yield PodView(
                pod=key,
                uid=attempts[0].uid if attempts else "",
                state=PLACED if placed else PENDING,
                profile=attempts[0].profile if attempts else "",
                node=attempts[0].node if placed else "",
                priority=entry.pod.priority if entry is not None else 0,
                queue=place_of(simulation.scheduler, entry) if entry is not None else "",
                attempts=len(attempts),
                waits_for=_waits_for(entry),
                decisions=attempts,
            )


def _waits_for(entry: QueuedPod | None) -> tuple[str, ...]:
    if entry is None:
        return ()
    return (entry.gating_plugin,) if entry.gated else tuple(sorted(entry.rejectors))


def _shortened(view: Decision) -> Decision:
    """The best nodes only; nodes that were turned down are as many as they were."""
    feasible = view.feasible
    if len(feasible.names) <= _BEST:
        return view
    columns = tuple(
        replace(
            column,
            raw=column.raw[:_BEST],
            normalized=column.normalized[:_BEST],
            weighted=column.weighted[:_BEST],
        )
        for column in feasible.columns
    )
    best = replace(feasible, names=feasible.names[:_BEST], totals=feasible.totals[:_BEST], columns=columns)
    what = (
        f"the report is as large as it may be, so that only the best {_BEST} of {len(feasible.names)} nodes are in it"
    )
    return replace(view, feasible=best, incomplete=what)


def _timeless(pending: Pending) -> Pending:
    """Without the times, which are made up."""
    return replace(pending, groups=tuple(replace(group, oldest="", next_try="") for group in pending.groups))


def _evaluation(decision: PodDecision, now: float) -> Evaluation:
    """Why a pod fits nowhere as things are in the end, and what would help."""
    time_ = format_time(now)
    summary = Summary(id=0, time=time_, pod=decision.pod, result=decision.status, message=decision.message)
    return Evaluation(time=time_, decision=Decision(summary=summary), why_not=decision.why_not)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
