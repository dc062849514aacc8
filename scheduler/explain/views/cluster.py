"""The cluster and the scheduler at a glance, and what is found in them by name."""

from collections.abc import Mapping

from scheduler.explain.views.base import View


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
