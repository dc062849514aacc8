"""What is shown of decisions, pods and nodes: the objects of the decisions API, version 1.

The command line, the page and the static report read these and nothing else. Field names are stable: fields may be
added, and none changes its meaning within a version. Times are RFC 3339 in UTC, durations seconds, pods
"namespace/name". What grows with the cluster is kept in columns: lists of one length over the same nodes.
"""

from collections.abc import Mapping

import msgspec

from scheduler.explain.record import PostFilterRecord, ReservationRecord

API_VERSION = "explain.berth.dev/v1"


class View(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of all views."""


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
    """A step of the attempt, in order: its extension point, the plugin where only one was asked, time, outcome."""

    point: str
    plugin: str = ""
    seconds: float
    code: str = "Success"
    error: str = ""


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


class QueueEvent(View, frozen=True, kw_only=True):
    """What happened to a pod in the queue.

    `what` is Added, Gated, Activated, Popped, Failed, Woken, Kept (a hint said no), BackoffOver, Flushed, Bound or
    Deleted; `event` the cluster event that was the occasion (kube-scheduler's name, as in
    scheduler_queue_incoming_pods_total), `object` what it was about, `plugin` whose hint decided, `queue` where the pod
    went. `count` merges equal events in a row, `until` is the last of them.
    """

    time: str
    what: str
    event: str = ""
    object: str = ""
    plugin: str = ""
    queue: str = ""
    count: int = 1
    until: str = ""


class PodView(View, frozen=True, kw_only=True):
    """A pod and what is known of its way through the scheduler.

    `state` is Scheduled, Pending or Unknown (nothing is known of it). `queue`: active, backoff, unschedulable, gated,
    inFlight, waitingOnPermit, binding, or "" for a pod that is placed. `waits_for`: the plugins whose events would wake
    it; `next_try` when it is tried again by itself, if ever.
    """

    pod: str
    uid: str = ""
    state: str
    profile: str = ""
    node: str = ""
    priority: int = 0
    queue: str = ""
    created: str = ""
    added: str = ""
    attempts: int = 0
    waits_for: tuple[str, ...] = ()
    next_try: str = ""
    history: tuple[QueueEvent, ...] = ()
    latest: Decision | None = None
    decisions: tuple[Summary, ...] = ()


class Lack(View, frozen=True, kw_only=True):
    """What a node lacks for a pod. Amounts as Kubernetes quantities."""

    resource: str
    wanted: str
    free: str
    short: str


class NearestMiss(View, frozen=True, kw_only=True):
    """The node that lacks least."""

    node: str
    sentence: str
    lacks: tuple[Lack, ...] = ()


class SpreadDomain(View, frozen=True, kw_only=True):
    """A domain of a spread constraint; `fits`: whether a pod more keeps the skew. `nodes` that count for it.

    `usable`: how many of its nodes nothing but this constraint keeps the pod off.
    """

    name: str
    count: int
    nodes: int
    fits: bool
    usable: int = 0


class SpreadArithmetic(View, frozen=True, kw_only=True):
    """How a spread constraint comes out: count + self_match - minimum must not exceed max_skew."""

    topology_key: str
    max_skew: int
    min_domains: int = 0
    selector: str = ""
    minimum: int
    self_match: int
    domains: tuple[SpreadDomain, ...]
    sentence: str


class AffinityDomain(View, frozen=True, kw_only=True):
    """A domain of an affinity term, and how many pods in it match."""

    name: str
    count: int
    nodes: int


class AffinityArithmetic(View, frozen=True, kw_only=True):
    """How a term of pod (anti-)affinity comes out. `kind`: affinity, antiAffinity, existingAntiAffinity."""

    kind: str
    topology_key: str
    selector: str = ""
    namespaces: tuple[str, ...] = ()
    domains: tuple[AffinityDomain, ...] = ()
    pods: tuple[str, ...] = ()
    sentence: str


class Help(View, frozen=True, kw_only=True):
    """A change that would let the pod be placed, tried before it is listed.

    `kind` names the change for machines (lowerRequests, tolerate, removeTaint, addNode, ...); `change` has its details.
    `nodes`: (some of) the nodes that it opens, `opens` how many. `cost` orders: the lower, the smaller the change.
    """

    kind: str
    sentence: str
    change: Mapping[str, str] = {}
    opens: int
    nodes: tuple[str, ...] = ()
    cost: int = 0


class WhyNot(View, frozen=True, kw_only=True):
    """Why a pod fits nowhere, and what would help. `facts`: what else the objects tell, a sentence each.

    `tried`: how many changes were tried; `not_tried`: what could not be, and why.
    """

    sentence: str
    rejected: tuple[Rejected, ...] = ()
    nearest: NearestMiss | None = None
    spread: tuple[SpreadArithmetic, ...] = ()
    affinity: tuple[AffinityArithmetic, ...] = ()
    facts: tuple[str, ...] = ()
    helps: tuple[Help, ...] = ()
    tried: int = 0
    not_tried: tuple[str, ...] = ()


class Evaluation(View, frozen=True, kw_only=True):
    """What the scheduler would decide on a pod now, with nothing changed by asking."""

    time: str
    decision: Decision
    why_not: WhyNot | None = None


class PendingGroup(View, frozen=True, kw_only=True):
    """Waiting pods of one shape and one cause. `queues`: how many are where; `example` a pod of them."""

    shape: str
    profile: str
    cause: str
    plugins: tuple[str, ...]
    count: int
    queues: Mapping[str, int]
    example: str
    owner: str = ""
    pods: tuple[str, ...] = ()
    oldest: str = ""
    attempts: int = 0
    next_try: str = ""


class Pending(View, frozen=True, kw_only=True):
    """All waiting pods by cause and shape, the largest groups first."""

    time: str
    total: int
    queues: Mapping[str, int]
    groups: tuple[PendingGroup, ...]


class NodesView(View, frozen=True, kw_only=True):
    """All nodes in columns. Resources in base units: cpu in milli-CPU, others in bytes or counts."""

    time: str
    names: tuple[str, ...]
    zones: tuple[str, ...]
    unschedulable: tuple[bool, ...]
    pods: tuple[int, ...]
    allowed_pods: tuple[int, ...]
    resources: tuple[str, ...]
    allocatable: Mapping[str, tuple[int, ...]]
    requested: Mapping[str, tuple[int, ...]]
    taints: tuple[str, ...] = ()


class NodePods(View, frozen=True, kw_only=True):
    """A node and the pods on it."""

    name: str
    pods: tuple[str, ...]


class FoundPod(View, frozen=True, kw_only=True):
    """A pod that was searched for. `state` is Scheduled or Pending, `node` "" for one that has none yet."""

    pod: str
    state: str
    node: str = ""


class Found(View, frozen=True, kw_only=True):
    """What has a text in its name, the best matches first; `pod_count` and `node_count`: how many there are in all."""

    pods: tuple[FoundPod, ...] = ()
    pod_count: int = 0
    nodes: tuple[str, ...] = ()
    node_count: int = 0


class Overview(View, frozen=True, kw_only=True):
    """The scheduler at a glance. `counts` of attempts since the start by result; `records` kept, `bytes` they take."""

    time: str
    version: str
    kubernetes_version: str
    leader: bool
    started: str
    profiles: tuple[str, ...]
    nodes: int
    pods: int
    queues: Mapping[str, int]
    counts: Mapping[str, int]
    records: int
    bytes: int
    recording: bool = True
