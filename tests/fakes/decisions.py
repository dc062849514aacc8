"""A scheduler that knows a handful of decisions, for tests of what shows them."""

from __future__ import annotations

import asyncio

from scheduler.explain.comparison import contrast
from scheduler.explain.views import (
    Decision,
    Evaluation,
    Feasible,
    Found,
    FoundPod,
    NodePods,
    NodesView,
    Overview,
    Pending,
    PendingGroup,
    PodView,
    Preemption,
    PreemptionCandidate,
    PreemptionRefusal,
    QueueEvent,
    Rejected,
    ScoreColumn,
    Step,
    Summary,
    SummaryPage,
    Victim,
    WhyNot,
)

NOW = "2026-01-02T03:04:05Z"
PLACED = Summary(
    id=7, time=NOW, pod="shop/web-1", profile="berth", attempt=1, result="Scheduled", node="a", nodes=3, evaluated=3,
    feasible=2, seconds=0.001,
)  # fmt: skip
REFUSED = Summary(
    id=8, time=NOW, pod="shop/big", profile="berth", attempt=3, result="Unschedulable", nodes=3, evaluated=3,
    message="0/3 nodes are available: 3 Insufficient cpu.",
)  # fmt: skip
DECISION = Decision(
    summary=PLACED,
    feasible=Feasible(
        names=("a", "b"),
        totals=(187, 130),
        columns=(
            ScoreColumn(plugin="ImageLocality", weight=1, raw=(30, 0), normalized=(30, 0), weighted=(30, 0)),
            ScoreColumn(plugin="NodeResourcesFit", weight=1, raw=(57, 60), normalized=(57, 60), weighted=(57, 60)),
            ScoreColumn(plugin="TaintToleration", weight=2, raw=(0, 1), normalized=(50, 35), weighted=(100, 70)),
        ),
    ),
    rejected=(Rejected(plugin="NodeName", code="Unschedulable", reasons=("no",), nodes=("c",)),),
    ties=("a",),
    steps=(Step(point="PreFilter", seconds=0.0001), Step(point="Bind", plugin="DefaultBinder", seconds=0.002)),
)
REFUSAL = Decision(
    summary=REFUSED,
    rejected=(
        Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("Insufficient cpu",), nodes=("a", "b", "c")),
    ),
)
WEB = PodView(
    pod="shop/web-1", state="Scheduled", profile="berth", node="a", added=NOW, attempts=1,
    history=(QueueEvent(time=NOW, what="Added", event="PodAdd", queue="active"), QueueEvent(time=NOW, what="Bound")),
    latest=DECISION, decisions=(PLACED,),
)  # fmt: skip
BIG = PodView(
    pod="shop/big", state="Pending", profile="berth", queue="unschedulable", added=NOW, attempts=3,
    waits_for=("NodeResourcesFit",), latest=REFUSAL, decisions=(REFUSED,),
)  # fmt: skip


PREEMPTION = Preemption(
    helps=True,
    sentence="Preemption would help now: it would evict shop/idle (priority 0) from a",
    message="preemption: found a potential placement for pod on node a, preempting 1 victims",
    node="a",
    candidates=(
        PreemptionCandidate(
            node="a", victims=(Victim(pod="shop/idle", priority=0),), highest_priority=0, priority_sum=0, started=NOW,
            cleared_nominations=("shop/next",),
        ),
        PreemptionCandidate(
            node="b", victims=tuple(Victim(pod=f"shop/web-{n}", priority=7) for n in range(4)), pdb_violations=1,
            highest_priority=7, priority_sum=28, worse_by="pdbViolations",
            words="1 victim against a PodDisruptionBudget instead of 0",
        ),
    ),
    candidate_count=9,
    refused=(PreemptionRefusal(reason="Preemption is not helpful", nodes=1, words="1 node turns it down"),),
    might_help=2,
    tried=2,
    not_asked=("Mine",),
)  # fmt: skip


class FakeDecisions:
    """Answers from the values above; `evaluating` holds evaluations back until it is set."""

    def __init__(self):
        self.leads = True
        self.synced = True
        self.nodes_count = 3
        self.time = NOW
        self.asked = []
        self.evaluating = asyncio.Event()
        self.evaluating.set()

    def overview(self):
        return Overview(
            time=self.time, version="1", kubernetes_version="v1.37.2", leader=self.leads, started=NOW,
            profiles=("berth",), nodes=3, pods=2, queues={"active": 1}, counts={"Scheduled": 1}, records=2, bytes=900,
        )  # fmt: skip

    def decisions(self, choice):
        self.asked.append(choice)
        return SummaryPage(items=(REFUSED, PLACED), before=7)

    def decision(self, number):
        return {7: DECISION, 8: REFUSAL}.get(number)

    def comparison(self, number, other):
        found = self.decision(number)
        return None if found is None else contrast(found, other)

    def pod(self, namespace, name):
        return {WEB.pod: WEB, BIG.pod: BIG}.get(f"{namespace}/{name}")

    async def evaluate(self, namespace, name):
        await self.evaluating.wait()
        if f"{namespace}/{name}" != BIG.pod:
            return None
        why_not = WhyNot(sentence="no node has 8 CPUs", tried=4)
        return Evaluation(time=self.time, decision=REFUSAL, why_not=why_not, preemption=PREEMPTION)

    def pending(self):
        group = PendingGroup(
            shape="1f", profile="berth", cause="Insufficient cpu", plugins=("NodeResourcesFit",), count=1,
            queues={"unschedulable": 1}, example="shop/big",
        )  # fmt: skip
        return Pending(time=self.time, total=1, queues={"unschedulable": 1}, groups=(group,))

    def nodes(self):
        names = tuple(f"node-{number}" for number in range(self.nodes_count))
        numbers = tuple(range(self.nodes_count))
        return NodesView(
            time=self.time, names=names, zones=("",) * len(names), unschedulable=(False,) * len(names), pods=numbers,
            allowed_pods=numbers, resources=("cpu",), allocatable={"cpu": numbers}, requested={"cpu": numbers},
        )  # fmt: skip

    def find(self, text, limit):
        self.asked.append((text, limit))
        return Found(pods=(FoundPod(pod="shop/web-1", state="Scheduled", node="a"),), pod_count=1)

    def node(self, name):
        return NodePods(name=name, pods=("shop/web-1",)) if name == "a" else None
