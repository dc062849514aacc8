"""A pod's way through the scheduler: what happened to it in the queue, and the steps of an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.ages import age, took, until
from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.explain.grid import Cell, Part
    from scheduler.explain.views import PodView, QueueEvent, Step

_EVENTS: Final = 15
_WORDS: Final = {
    "Added": "came",
    "Gated": "held back by {plugin}",
    "Activated": "called for at once",
    "Popped": "tried",
    "Failed": "found no node",
    "Woken": "woken by {event}",
    "Kept": "left waiting at {event}",
    "BackoffOver": "its pause is over",
    "Flushed": "tried again after waiting long enough",
    "Bound": "bound",
    "Deleted": "deleted",
}
_STATES: Final = {
    "active": "waits for its turn",
    "backoff": "pauses after its last attempt",
    "unschedulable": "waits for something to change",
    "gated": "is held back before its first attempt",
    "inFlight": "is being decided on",
    "waitingOnPermit": "has a node and waits for other pods",
    "binding": "is being bound",
}


def standing(view: PodView, now: str) -> str:
    """Where a pod is now, in a sentence."""
    if view.state == "Scheduled":
        return f"{view.pod} is on {view.node}"
    if view.state != "Pending":
        return f"{view.pod}: nothing is known of it here"
    text = f"{view.pod} is pending and {_STATES.get(view.queue, 'waits')}"
    if view.added:
        text += f", since {age(view.added, now)}"
    if view.attempts:
        text += f", after {view.attempts} attempt{'' if view.attempts == 1 else 's'}"
    if view.waits_for:
        text += f"; events for {', '.join(view.waits_for)} wake it"
    if view.next_try and view.queue != "active":
        text += f"; next try by itself {until(view.next_try, now)}"
    return text


def history(events: Sequence[QueueEvent], now: str) -> list[Part]:
    """What happened in the queue, the newest last."""
    if not events:
        return []
    left_out = len(events) - _EVENTS
    rows = [(age(event.until or event.time, now), _told(event), event.queue) for event in events[-_EVENTS:]]
    parts: list[Part] = [Styled("\nIn the queue", "bold"), Grid(("AGO", "WHAT", "THEN IN"), rows, frozenset((0,)))]
    if left_out > 0:
        parts.insert(1, Styled(f"{left_out} earlier events are left out", "dim"))
    return parts


def steps(taken: Sequence[Step]) -> list[Part]:
    """The steps of an attempt with their durations, those of the binding cycle among them."""
    if not taken:
        return []
    rows: list[Sequence[Cell]] = []
    for step in taken:
        failed = step.code not in ("Success", "Skip")
        outcome = f"{step.code}: {step.error}" if step.error else step.code
        rows.append((step.point, step.plugin, took(step.seconds), Styled(outcome, "red" if failed else "")))
    return [Styled("\nSteps", "bold"), Grid(("STEP", "PLUGIN", "TOOK", "OUTCOME"), rows, frozenset((2,)))]


def _told(event: QueueEvent) -> str:
    text = _WORDS.get(event.what, event.what).format(plugin=event.plugin or "a plugin", event=event.event or "an event")
    about = [event.object] if event.object else []
    if event.plugin and "{plugin}" not in _WORDS.get(event.what, ""):
        about.append(f"says {event.plugin}")
    if about:
        text += f" ({', '.join(about)})"
    return f"{text}, {event.count} times" if event.count > 1 else text
