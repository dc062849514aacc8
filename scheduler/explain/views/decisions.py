"""Attempts: in a line, whole, and by two nodes of one."""

from collections.abc import Mapping

from scheduler.explain.record import PostFilterRecord, ReservationRecord
from scheduler.explain.views.base import View


class Summary(View, frozen=True, kw_only=True):
    """One attempt in a line of a list. `id` grows with time.

    `result` is Scheduled, Unschedulable, Error, or Gated; `nodes` all nodes there were, `evaluated` those that were
    looked at, `feasible` those that fit. `seconds` from the pop to the decision.
    """

    id: int
    time: str
    pod: str
    uid: str = ""
    profile: str = ""
    attempt: int = 0
    result: str
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    nodes: int = 0
    evaluated: int = 0
    feasible: int = 0
    seconds: float = 0.0


class SummaryPage(View, frozen=True, kw_only=True):
    """Attempts, the newest first. `before` is what to ask for the next page, None at the end."""

    items: tuple[Summary, ...]
    before: int | None = None


class ScoreColumn(View, frozen=True, kw_only=True):
    """What one plugin gave to each feasible node; weighted = normalized * weight, and the total adds these up."""

    plugin: str
    weight: int
    raw: tuple[int, ...]
    normalized: tuple[int, ...]
    weighted: tuple[int, ...]


class Feasible(View, frozen=True, kw_only=True):
    """The nodes that fit, the best first; all lists are of one length. Without totals and columns nothing needed to be
    scored: a single node fits, or no plugin scores."""

    names: tuple[str, ...] = ()
    totals: tuple[int, ...] = ()
    columns: tuple[ScoreColumn, ...] = ()


class Rejected(View, frozen=True, kw_only=True):
    """Nodes that were turned down in the same way, by the first plugin to do so.

    `left_out`: not looked at, since PreFilter restricted the nodes. `words`: the same for people, as what follows
    "they" ("lack CPU"), where it was worked out.
    """

    plugin: str
    code: str
    reasons: tuple[str, ...]
    nodes: tuple[str, ...]
    left_out: bool = False
    words: str = ""


class Step(View, frozen=True, kw_only=True):
    """A step of the attempt, in order: its extension point, the plugin where only one was asked, time, outcome.

    `timeouts`, of Permit: the seconds that plugins which want the pod to wait let it wait at most.
    """

    point: str
    plugin: str = ""
    seconds: float
    code: str = "Success"
    error: str = ""
    timeouts: Mapping[str, float] = {}


class Decision(View, frozen=True, kw_only=True):
    """One attempt, whole.

    `ties` are the nodes of the highest total, among which chance drew where there is more than one. `victims` and
    alternatives are in `post_filter`. `under_way`: its binding cycle has not ended, and there may be more steps.
    `incomplete` says what is no longer known, where memory ran out for it.
    """

    summary: Summary
    feasible: Feasible = Feasible()
    rejected: tuple[Rejected, ...] = ()
    not_evaluated: int = 0
    ties: tuple[str, ...] = ()
    nominated_path: bool = False
    skipped_filters: tuple[str, ...] = ()
    skipped_scores: tuple[str, ...] = ()
    post_filter: PostFilterRecord | None = None
    reserved: ReservationRecord | None = None
    steps: tuple[Step, ...] = ()
    under_way: bool = False
    incomplete: str = ""


class PluginDifference(View, frozen=True, kw_only=True):
    """What one plugin makes of two nodes: `points` of the total for the first, what it gave to each before normalizing.

    `words`: the difference in words, where the cluster tells it ("34% against 61% of CPU requested").
    """

    plugin: str
    points: int
    raw: tuple[int, int]
    words: str = ""


class NodeComparison(View, frozen=True, kw_only=True):
    """Why one node and not another. `lead` is in points; `parts` are the plugins that differ, by size.

    `rejected`: how the other was turned down, if it was; there are no points then.
    """

    node: str
    other: str
    sentence: str
    lead: int = 0
    parts: tuple[PluginDifference, ...] = ()
    rejected: Rejected | None = None
