"""Why a pod fits nowhere as things are, and what would help it."""

from collections.abc import Mapping

from scheduler.explain.views.base import View
from scheduler.explain.views.decisions import Decision, Rejected
from scheduler.explain.views.preemption import Preemption


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
    """What the scheduler would decide on a pod now, with nothing changed by asking.

    `preemption`: whether evictions would make room for a pod that finds no node; None where none would be tried.
    """

    time: str
    decision: Decision
    why_not: WhyNot | None = None
    preemption: Preemption | None = None
