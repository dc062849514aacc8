"""A cluster that the page shows in its tests: made up, but with everything in it that the views can hold."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scheduler.explain.views import (
    Decision,
    Evaluation,
    Feasible,
    Found,
    FoundPod,
    Help,
    Lack,
    NearestMiss,
    NodePods,
    NodesView,
    Overview,
    Pending,
    PendingGroup,
    PodView,
    Preemption,
    PreemptionCandidate,
    QueueEvent,
    Rejected,
    ScoreColumn,
    SpreadArithmetic,
    SpreadDomain,
    Step,
    Summary,
    Victim,
    WhyNot,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

# name, weight: the default profile's plugins that score.
PLUGINS = (
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("NodeResourcesFit", 1),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
)
APPS = (
    "checkout",
    "catalog",
    "search-api",
    "ledger",
    "mailer",
    "thumbnailer",
    "gateway",
    "sessions",
    "reports",
    "ingest",
)
# Share of the waiting pods, stem of their names, owner, plugins and words.
_CAUSES = (
    (
        0.5, "ml/trainer", "Job ml/trainer", ("NodeResourcesFit", "TaintToleration"),
        "3,334 Insufficient cpu; 1,666 node(s) had untolerated taint(s)",
    ),
    (
        0.25, "shop/checkout", "ReplicaSet shop/checkout-7d9f", ("PodTopologySpread",),
        "node(s) didn't match pod topology spread constraints",
    ),
    (
        0.15, "data/ledger", "StatefulSet data/ledger", ("VolumeBinding",),
        "node(s) had volume node affinity conflict",
    ),
    (
        0.1, "shop/gateway", "Deployment shop/gateway", ("SchedulingGates",),
        "waiting for scheduling gates: [example.com/approval]",
    ),
)  # fmt: skip
HOSTILE = "<img src=x onerror=window.hacked=1>\"'`&</script><script>window.hacked=2</script>\u202e"
"""A name as no API server would take it, to show that the page only ever shows it."""
_GI = 1024**3
_ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")


class World:
    """A cluster with its scheduler at one moment. The same `seed` makes the same one."""

    def __init__(
        self, *, nodes: int = 5000, pods: int = 50_000, decisions: int = 400, waiting: int = 900, seed: int = 1
    ) -> None:
        self.random = random.Random(seed)
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.nodes = nodes
        self.pods = pods
        self.waiting = waiting
        self.names = tuple(f"pool-{'abc'[index % 3]}-{index:04d}" for index in range(nodes))
        self.counts = {"Scheduled": pods, "Unschedulable": 4213, "Error": 7}
        self.summaries = [self._summary(number) for number in range(1, decisions + 1)]
        self.view = self._nodes_view()

    def at(self, seconds: float) -> str:
        """A time, seconds before the moment."""
        return (self.now - timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def decide(self) -> Summary:
        """One decision more."""
        summary = self._summary(len(self.summaries) + 1)
        self.summaries.append(summary)
        return summary

    def overview(self) -> Overview:
        return Overview(
            time=self.at(0), version="0.2.0", kubernetes_version="v1.37.2", leader=True, started=self.at(90_000),
            profiles=("berth",), nodes=self.nodes, pods=self.pods, queues=self._queues(), counts=self.counts,
            records=len(self.summaries), bytes=48_000_000,
        )  # fmt: skip

    def _queues(self) -> dict[str, int]:
        part = self.waiting // 9
        return {
            "active": part, "backoff": part, "unschedulable": self.waiting - 4 * part, "gated": part, "inFlight": 1,
            "waitingOnPermit": 0, "binding": part - 1,
        }  # fmt: skip

    def pending(self) -> Pending:
        groups = tuple(
            self._group(pods, max(1, round(self.waiting * share)), cause, plugins, owner)
            for share, pods, owner, plugins, cause in _CAUSES
        )
        return Pending(time=self.at(0), total=self.waiting, queues=self._queues(), groups=groups)

    def _group(self, stem: str, count: int, cause: str, plugins: tuple[str, ...], owner: str) -> PendingGroup:
        gated = plugins == ("SchedulingGates",)
        return PendingGroup(
            shape=f"{abs(hash(stem)) % 16**8:08x}", profile="berth", cause=cause, plugins=plugins, count=count,
            queues={"gated": count} if gated else {"unschedulable": count - count // 5, "backoff": count // 5},
            example=f"{stem}-0", owner=owner, pods=tuple(f"{stem}-{index}" for index in range(min(count, 50))),
            oldest=self.at(5200), attempts=0 if gated else 12, next_try="" if gated else self.at(-7),
        )  # fmt: skip

    def _summary(self, number: int) -> Summary:
        app = APPS[number % len(APPS)]
        namespace = "shop" if number % 3 else "data"
        result = "Unschedulable" if number % 7 == 0 else "Error" if number % 61 == 0 else "Scheduled"
        feasible = 0 if result == "Unschedulable" else 1 + self.random.randrange(self.nodes)
        if number % 10 == 0 and result == "Scheduled":
            feasible = max(1, self.nodes - self.nodes // 4)
        message = {
            "Scheduled": "",
            "Unschedulable": f"0/{self.nodes} nodes are available: {self.nodes // 3} node(s) had untolerated taint(s), "
            f"{self.nodes - self.nodes // 3} Insufficient cpu. preemption: 0/{self.nodes} nodes are available.",
            "Error": 'binding: Operation cannot be fulfilled on pods "x": the object has been modified',
        }[result]
        return Summary(
            id=number,
            time=self.at(0.9 * (400 - number)),
            pod=f"{namespace}/{app}-{number % 97:04d}",
            uid=f"uid-{number}",
            profile="berth",
            attempt=1 + number % 4,
            result=result,
            node=self.names[(number * 37) % self.nodes] if result == "Scheduled" else "",
            message=message,
            nodes=self.nodes,
            evaluated=self.nodes,
            feasible=feasible,
            seconds=0.0004 + 0.0011 * self.random.random(),
        )

    def decision(self, number: int) -> Decision | None:
        """A decision whole; None if there is none of this number."""
        if not 1 <= number <= len(self.summaries):
            return None
        summary = self.summaries[number - 1]
        steps = tuple(
            Step(point=point, plugin=plugin, seconds=seconds * (1 + number % 3))
            for point, plugin, seconds in (
                ("PreFilter", "", 0.00009), ("Filter", "", 0.00021), ("PreScore", "", 0.00004), ("Score", "", 0.00026),
                ("Reserve", "", 0.00002), ("PreBind", "VolumeBinding", 0.0008), ("Bind", "DefaultBinder", 0.0046),
            )
        )  # fmt: skip
        if summary.result != "Scheduled":
            return Decision(summary=summary, rejected=self._rejected(self.names), steps=steps[:2])
        feasible, ties = self._feasible(summary)
        rest = sorted(set(self.names) - set(feasible.names))
        return Decision(
            summary=summary, feasible=feasible, ties=ties, rejected=self._rejected(rest), steps=steps,
            skipped_filters=("NodePorts", "VolumeZone"), skipped_scores=(),
        )  # fmt: skip

    def _feasible(self, summary: Summary) -> tuple[Feasible, tuple[str, ...]]:
        chance = random.Random(summary.id)
        count = min(summary.feasible, self.nodes)
        names = list(chance.sample(self.names, count))
        if summary.node in names:
            names.remove(summary.node)
            names.insert(0, summary.node)
        else:
            names[0] = summary.node
        normalized = [_scores(plugin, count, chance) for plugin, _ in PLUGINS]
        totals = [
            sum(column[row] * weight for column, (_, weight) in zip(normalized, PLUGINS, strict=True))
            for row in range(count)
        ]
        order = sorted(range(count), key=lambda row: -totals[row])
        place = order.index(0)  # the node of the summary changes names with the best
        best = order[0]
        names[0], names[best] = names[best], names[0]
        del place
        columns = tuple(
            ScoreColumn(
                plugin=plugin, weight=weight, normalized=tuple(column[row] for row in order),
                raw=tuple(column[row] * 7 + 3 for row in order), weighted=tuple(column[row] * weight for row in order),
            )
            for column, (plugin, weight) in zip(normalized, PLUGINS, strict=True)
        )  # fmt: skip
        ordered = tuple(names[row] for row in order)
        sums = tuple(totals[row] for row in order)
        return Feasible(names=ordered, totals=sums, columns=columns), tuple(
            name for name, total in zip(ordered, sums, strict=True) if total == sums[0]
        )

    def _rejected(self, names: Sequence[str]) -> tuple[Rejected, ...]:
        third = len(names) // 3
        parts = (
            ("NodeResourcesFit", ("Insufficient cpu",), names[: third * 2]),
            ("TaintToleration", ("node(s) had untolerated taint(s)",), names[third * 2 :]),
        )
        return tuple(
            Rejected(plugin=plugin, code="Unschedulable", reasons=reasons, nodes=tuple(some))
            for plugin, reasons, some in parts
            if some
        )

    def pod(self, namespace: str, name: str) -> PodView:
        key = f"{namespace}/{name}"
        mine = [item for item in reversed(self.summaries) if item.pod == key]
        waits = not mine or mine[0].result != "Scheduled"
        number = mine[0].id if mine else 7
        history = (
            QueueEvent(time=self.at(5200), what="Added", event="PodAdd", queue="active"),
            QueueEvent(time=self.at(5190), what="Popped", queue="inFlight"),
            QueueEvent(time=self.at(5190), what="Failed", queue="unschedulable", plugin="NodeResourcesFit"),
            QueueEvent(
                time=self.at(4000),
                what="Kept",
                event="AssignedPodDelete",
                object="shop/mailer-0004",
                plugin="NodeResourcesFit",
                count=41,
                until=self.at(60),
            ),
            QueueEvent(
                time=self.at(30),
                what="Woken",
                event="NodeAdd",
                object=self.names[-1],
                plugin="NodeResourcesFit",
                queue="backoff",
            ),
        )
        return PodView(
            pod=key,
            uid="b2c1",
            state="Pending" if waits else "Scheduled",
            profile="berth",
            node="" if waits else mine[0].node,
            priority=1000,
            queue="backoff" if waits else "",
            created=self.at(5201),
            added=self.at(5200),
            attempts=4,
            waits_for=("NodeResourcesFit", "TaintToleration") if waits else (),
            next_try=self.at(-6) if waits else "",
            history=history,
            latest=self.decision(number),
            decisions=tuple(mine),
        )

    def evaluation(self, namespace: str, name: str) -> Evaluation:
        decision = self.decision(7)
        assert decision is not None
        helps = (
            Help(
                kind="lowerRequests",
                sentence="300m less CPU would do on any of 12 nodes",
                opens=12,
                nodes=self.names[:12],
                cost=1,
            ),
            Help(
                kind="tolerate",
                sentence="A toleration for dedicated=gpu:NoSchedule",
                opens=4,
                nodes=self.names[20:24],
                cost=2,
            ),
            Help(kind="addNode", sentence="One more node like pool-a-0000", opens=1, cost=9),
        )
        domains = tuple(
            SpreadDomain(name=zone, count=count, nodes=self.nodes // 3, fits=count < 2)
            for zone, count in zip(_ZONES, (5, 4, 1), strict=True)
        )
        why = WhyNot(
            sentence=f"{namespace}/{name} fits on none of {self.nodes:,} nodes: most lack CPU, others have a taint.",
            nearest=NearestMiss(
                node=self.names[3],
                sentence="it lacks 300m of CPU",
                lacks=(Lack(resource="cpu", wanted="4", free="3700m", short="300m"),),
            ),
            spread=(
                SpreadArithmetic(
                    topology_key="topology.kubernetes.io/zone",
                    max_skew=1,
                    minimum=1,
                    self_match=1,
                    domains=domains,
                    sentence="Only eu-west-1c keeps the skew at 1 or less.",
                ),
            ),
            helps=helps,
            tried=31,
        )
        return Evaluation(time=self.at(0), decision=decision, why_not=why, preemption=self._preemption())

    def _preemption(self) -> Preemption:
        def candidate(index: int, victims: int, priority: int, words: str = "") -> PreemptionCandidate:
            pods = tuple(Victim(pod=pod, priority=priority) for pod in self._pods_on(index)[:victims])
            return PreemptionCandidate(
                node=self.names[index], victims=pods, highest_priority=priority, priority_sum=priority * victims,
                started=self.at(86_400 + index), worse_by="highestPriority" if words else "", words=words,
            )  # fmt: skip

        first, other = candidate(4, 1, 0), candidate(7, 3, 50, "a victim of priority 50 instead of 0")
        told = f"Preemption would help now: it would evict {first.victims[0].pod} (priority 0) from {first.node}"
        return Preemption(
            helps=True, sentence=told, message="", node=first.node, candidates=(first, other), candidate_count=12,
            might_help=20, tried=20,
        )  # fmt: skip

    def _nodes_view(self) -> NodesView:
        chance = self.random
        cpu = tuple(16_000 if index % 3 else 64_000 for index in range(self.nodes))
        memory = tuple(64 * _GI if index % 3 else 256 * _GI for index in range(self.nodes))
        full = [min(1.0, max(0.0, chance.betavariate(6, 2.2))) for _ in range(self.nodes)]
        pods = [round(self.pods / self.nodes * (0.4 + share)) for share in full]
        return NodesView(
            time=self.at(0),
            names=self.names,
            zones=tuple(_ZONES[index // 3 % 3] for index in range(self.nodes)),
            unschedulable=tuple(index % 97 == 5 for index in range(self.nodes)),
            pods=tuple(pods),
            allowed_pods=(110,) * self.nodes,
            resources=("cpu", "memory", "nvidia.com/gpu"),
            allocatable={
                "cpu": cpu,
                "memory": memory,
                "nvidia.com/gpu": tuple(0 if index % 3 else 8 for index in range(self.nodes)),
            },
            requested={
                "cpu": tuple(round(room * share / 50) * 50 for room, share in zip(cpu, full, strict=True)),
                "memory": tuple(
                    round(room * min(1, share * (0.6 + 0.4 * chance.random())))
                    for room, share in zip(memory, full, strict=True)
                ),
                "nvidia.com/gpu": tuple(0 if index % 3 else chance.randrange(9) for index in range(self.nodes)),
            },
            taints=tuple("dedicated=gpu:NoSchedule" if index % 3 == 0 else "" for index in range(self.nodes)),
        )

    def node(self, name: str) -> NodePods | None:
        if name not in self.names:
            return None
        return NodePods(name=name, pods=self._pods_on(self.names.index(name)))

    def _pods_on(self, index: int) -> tuple[str, ...]:
        return tuple(f"shop/{APPS[n % len(APPS)]}-{index:04d}-{n}" for n in range(self.view.pods[index]))

    def find(self, text: str, limit: int) -> Found:
        """Pods and nodes by a part of their names."""
        places = {pod: "" for group in self.pending().groups for pod in group.pods}
        places |= {pod: name for index, name in enumerate(self.names) for pod in self._pods_on(index)}
        pods = sorted(pod for pod in places if text.lower() in pod.lower())
        nodes = sorted(name for name in self.names if text.lower() in name.lower())
        return Found(
            pods=tuple(
                FoundPod(pod=pod, state="Scheduled" if places[pod] else "Pending", node=places[pod])
                for pod in pods[:limit]
            ),
            pod_count=len(pods),
            nodes=tuple(nodes[:limit]),
            node_count=len(nodes),
        )


def _scores(plugin: str, count: int, chance: random.Random) -> list[int]:
    if plugin == "TaintToleration":
        return [100 if chance.random() > 0.2 else 50 for _ in range(count)]
    if plugin == "NodeAffinity":
        return [100 if chance.random() > 0.7 else 0 for _ in range(count)]
    if plugin == "PodTopologySpread":
        return [(100, 71, 12)[row % 3] for row in range(count)]
    if plugin == "InterPodAffinity":
        return [chance.choice((0, 0, 0, 40, 100)) for _ in range(count)]
    if plugin == "ImageLocality":
        return [chance.choice((0, 0, 0, 0, 38)) for _ in range(count)]
    return [min(100, max(0, round(chance.gauss(62, 17)))) for _ in range(count)]
