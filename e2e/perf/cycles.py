"""What ``micro`` times: a cluster in memory, pods for it, and the CPU time that each takes the scheduler.

Nothing is read, written or awaited here, so the figures are those of deciding alone, and of keeping the state. They
include what a real run has around a decision: the recorder of plugin metrics, every tenth cycle timed plugin by
plugin, and a heap frozen as after the first sync.
"""

from __future__ import annotations

import gc
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.decode import decode_as
from scheduler.api.objects import Node, Pod
from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, Decision, FitError
from scheduler.cycle.journal import Attempted
from scheduler.cycle.outcome import Failure
from scheduler.explain.store import RecordStore
from scheduler.framework.cycle import Cycle
from scheduler.framework.handle import Handle
from scheduler.framework.recorder import BIND, PRE_BIND, RESERVE, PluginRecorder
from scheduler.framework.trace import Trace
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.plugins.registry import IN_TREE
from scheduler.queue import history
from scheduler.queue.entry import QueuedPod
from scheduler.queue.history import QueueHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.profile import Profile

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WARM_UP = 20
"""Pods that are scheduled before the first that counts, where more is not needed to have seen each shape twice."""


class MisfitError(Exception):
    """A pod that was to be placed fits nowhere, or one that was not to be placed fits."""


class Bench:
    """A scheduler without queue and API server, on `nodes` nodes of 4 CPUs, 32Gi and 110 pods in three zones.

    With `records` its attempts are recorded, and so is what happens to its pods in the queue.
    """

    def __init__(self, nodes: int, *, records: bool = False) -> None:
        self.store = RecordStore() if records else None
        gates = FeatureGates()
        self.state = ClusterState()
        no_binder: Any = None  # nothing is bound here
        handle = Handle(self.state, no_binder, gates.enabled)
        profiles = build_profiles(default_config(feature_gates=gates), IN_TREE, handle)
        self.profile: Profile = next(iter(profiles.values()))
        self.algorithm = Algorithm(self.state, all_nodes=True)
        self.recorder = PluginRecorder(SchedulerMetrics(), self.profile.name)
        self._random = random.Random(1)
        for index in range(nodes):
            self.state.set_node(decode_as(Node, node(index)))

    def attempt(self, info: PodInfo, *, sampled: bool = False) -> str:
        """Schedule a pod: the node that it is counted on now; "" if it fits nowhere, with the message worded."""
        trace = Trace() if self.store is not None else None
        cycle = Cycle(info, self.state, self.profile.name, recorder=self.recorder, sampled=sampled, trace=trace)
        begun: list[Decision] = []
        name, failure = "", None
        try:
            decision: Decision = self.algorithm.decide(self.profile, info, cycle=cycle, observe=begun.append)
        except FitError as misfit:
            plugins = frozenset(misfit.rejections.rejecting_plugins())
            failure = Failure(outcome.UNSCHEDULABLE, misfit.rejections.message(), plugins)
        else:
            leaders = decision.leaders
            row = int(leaders[0] if len(leaders) == 1 else leaders[self._random.randrange(len(leaders))])
            name = self.state.nodes.name(row)
            self.state.assume(info, name)
        if self.store is not None:
            self._record(cycle, begun[0], failure, name)
        return name

    def _record(self, cycle: Cycle, decision: Decision, failure: Failure | None, node: str) -> None:
        """What recording adds to an attempt, up to the end of its binding cycle."""
        assert self.store is not None
        assert cycle.trace is not None
        entry = QueuedPod(pod=cycle.pod, timestamp=0.0, history=QueueHistory())
        for what in (history.ADDED, history.POPPED, history.BOUND if node else history.FAILED):
            history.note(entry, what, time.time())
        self.store.attempted(Attempted(self.profile, cycle, entry, decision, failure, node, 0.0))
        for point in (RESERVE, PRE_BIND, BIND) if node else ():
            cycle.trace.step(point, 0.0, plugin="DefaultBinder")
        cycle.trace.end()


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A stream of pods. `shapes` is how many templates are used in turn (None: each pod is the first of its own)."""

    doc: str
    change: Callable[[dict[str, Any], str], None]
    shapes: int | None = 1
    fits: bool = True


def cpu_microseconds() -> float:
    """The CPU time of this process so far."""
    return time.process_time() * 1e6


def time_cycles(
    bench: Bench, workload: Workload, pods: int, clock: Callable[[], float] = cpu_microseconds
) -> list[float]:
    """What each pod takes by the clock, scheduled one after the other. Raises MisfitError if one goes astray."""
    warm_up = max(WARM_UP, 2 * (workload.shapes or 0))
    stream = [bench.state.info(decode_as(Pod, workload_pod(workload, index))) for index in range(warm_up + pods)]
    others = [bench.state.info(decode_as(Pod, pod(f"other-{index}", "other"))) for index in range(warm_up + pods)]
    times = []
    with frozen_heap():
        for index, info in enumerate(stream):
            start = clock()
            node_name = bench.attempt(info, sampled=index % 10 == 0)
            times.append(clock() - start)
            if bool(node_name) != workload.fits:
                where = f"went to {node_name}" if node_name else "fits nowhere"
                raise MisfitError(f"pod {info.key}, number {index + 1} of {len(stream)}, {where}")
            if not workload.fits:
                bench.attempt(others[index])  # or nothing would change between the attempts
    return times[warm_up:]


def time_events(bench: Bench, kind: str, pods: int, clock: Callable[[], float] = cpu_microseconds) -> list[float]:
    """What it takes by the clock to take in what a watch says of each pod. `kind` is one of EVENTS."""
    times = []
    running = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "podIP": "10.0.0.1"}
    names = [bench.state.nodes.name(row) for row in range(bench.state.nodes.size)]
    for index in range(pods + WARM_UP):
        body = pod(f"event-{index}", "event")
        pending = bench.state.info(decode_as(Pod, body))
        node_name = names[index % len(names)]
        body["spec"]["nodeName"] = node_name
        # The API server gives a pod the topology labels of its node as it is bound.
        body["metadata"]["labels"] = {**body["metadata"].get("labels", {}), ZONE: f"zone-{index % 3}"}
        bound = msgspec.json.encode(body)
        if kind == "event-confirmed":
            bench.state.assume(pending, node_name)
        elif kind == "event-status":
            bench.state.set_pod(bench.state.info(decode_as(Pod, bound)))
            body["status"] = running
        line = msgspec.json.encode(pod(f"event-{index}", "event") if kind == "event-added" else body)
        start = clock()
        info = bench.state.info(decode_as(Pod, line))
        if info.node_name:
            bench.state.set_pod(info)
        times.append(clock() - start)
    return times[WARM_UP:]


def time_records(
    benches: tuple[Bench, Bench], workload: Workload, pods: int, clock: Callable[[], float] = cpu_microseconds
) -> tuple[list[float], list[float]]:
    """What each pod takes on two benches in turn: so whatever else the machine does concerns both alike."""
    warm_up = max(WARM_UP, 2 * (workload.shapes or 0))
    times: tuple[list[float], list[float]] = ([], [])
    streams = [
        [bench.state.info(decode_as(Pod, workload_pod(workload, index))) for index in range(warm_up + pods)]
        for bench in benches
    ]
    others = [
        [bench.state.info(decode_as(Pod, pod(f"other-{index}", "other"))) for index in range(warm_up + pods)]
        for bench in benches
    ]
    with frozen_heap():
        for index in range(warm_up + pods):
            for which in (0, 1) if index % 2 else (1, 0):
                bench = benches[which]
                start = clock()
                bench.attempt(streams[which][index], sampled=index % 10 == 0)
                times[which].append(clock() - start)
                if not workload.fits:
                    bench.attempt(others[which][index])
    return times[0][warm_up:], times[1][warm_up:]


@contextmanager
def frozen_heap() -> Iterator[None]:
    """The heap as it is after the first sync: what exists is not looked at by the garbage collector any more."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


# objects


def node(index: int) -> dict[str, Any]:
    """A node with its labels."""
    name = f"node-{index:05d}"
    labels = {HOST: name, ZONE: f"zone-{index % 3}", "kubernetes.io/os": "linux", "half": str(index % 2)}
    allocatable = {"cpu": "4", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}}


def pod(name: str, app: str) -> dict[str, Any]:
    """A pod that requests 100m CPU and 500Mi."""
    requests = {"cpu": "100m", "memory": "500Mi"}
    container = {"name": "main", "image": "registry.example/main:1", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": app}},
        "spec": {"schedulerName": "default-scheduler", "containers": [container]},
    }


def workload_pod(workload: Workload, index: int) -> dict[str, Any]:
    """The pod with that number."""
    app = f"app-{index if workload.shapes is None else index % workload.shapes}"
    body = pod(f"pod-{index}", app)
    workload.change(body, app)
    return body


def _nothing(body: dict[str, Any], app: str) -> None:
    pass


def _spread(body: dict[str, Any], app: str) -> None:
    selector = {"matchLabels": {"app": app}}
    body["spec"]["topologySpreadConstraints"] = [
        {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector},
        {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector},
    ]


def _term(app: str, key: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def _apart(body: dict[str, Any], app: str) -> None:
    body["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app, HOST)]}
    }


def _near(body: dict[str, Any], app: str) -> None:
    preferred = [{"weight": 1, "podAffinityTerm": _term(app, ZONE)}]
    body["spec"]["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _half(body: dict[str, Any], app: str) -> None:
    body["spec"]["nodeSelector"] = {"half": "1"}


def _tolerant(body: dict[str, Any], app: str) -> None:
    body["spec"]["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]


def _own_requests(body: dict[str, Any], app: str) -> None:
    number = int(app.rpartition("-")[2])
    body["spec"]["containers"][0]["resources"]["requests"] = {
        "cpu": f"{50 + 10 * (number % 17)}m",
        "memory": f"{64 + number}Mi",
    }


def _on_one_node(body: dict[str, Any], app: str) -> None:
    number = int(app.rpartition("-")[2])
    field = {"key": "metadata.name", "operator": "In", "values": [f"node-{number % 500:05d}"]}
    terms = [{"matchFields": [field]}]
    body["spec"]["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }
    body["metadata"]["labels"] = {"app": "daemon"}


def _huge(body: dict[str, Any], app: str) -> None:
    body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "64"


_MIXTURE = (_nothing, _spread, _apart, _near, _half, _tolerant)


def _mixed(body: dict[str, Any], app: str) -> None:
    _MIXTURE[int(app.rpartition("-")[2]) % len(_MIXTURE)](body, app)


WORKLOADS: dict[str, Workload] = {
    "basic": Workload(doc="pods of one template", change=_nothing),
    "many-shapes": Workload(doc="100 templates in turn that differ in labels", change=_nothing, shapes=100),
    "many-requests": Workload(doc="100 templates in turn that differ in requests", change=_own_requests, shapes=100),
    "new-shapes": Workload(
        doc="each pod is the first of its template, which differs in labels", change=_nothing, shapes=None
    ),
    "new-requests": Workload(
        doc="each is the first with such requests: next to nothing kept helps", change=_own_requests, shapes=None
    ),
    "spread": Workload(doc="hard over zones, soft over hosts", change=_spread),
    "anti-affinity": Workload(doc="required, by host", change=_apart),
    "preferred-affinity": Workload(doc="preferred, by zone", change=_near),
    "mixed": Workload(
        doc="plain, spread, anti-affinity, affinity, selector, tolerations; 12 templates", change=_mixed, shapes=12
    ),
    "daemonset": Workload(doc="each pod names its node, as those of a DaemonSet do", change=_on_one_node, shapes=None),
    "unschedulable": Workload(doc="requests more than any node has; other pods come between", change=_huge, fits=False),
}
EVENTS: dict[str, str] = {
    "event-added": "decode, record",
    "event-confirmed": "decode, record, confirm",
    "event-bound": "decode, record, count",
    "event-status": "decode, record, replace",
}
