"""The series of /metrics after the same workload, run once by kube-scheduler and once by Berth."""

from __future__ import annotations

import fnmatch
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import events, families, get, placements, pod
from e2e.controlplane import wait_until
from e2e.faults import Refusal
from e2e.rivals import LOCAL, OURS, THEIRS, URGENT, behind_proxy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from e2e.controlplane import ControlPlane
    from e2e.faults import FaultyApiServer

PROFILE = "default-scheduler"
READER = "reader"
GATES = [{"name": "example.com/quota"}]
FORBIDDEN = Refusal(code=403, reason="Forbidden", message="not on a Monday")
#: What kube-scheduler shows and Berth does not, as docs/differences.md has it.
NOT_THERE = (
    "go_*",
    "kubernetes_build_info{*",
    "version_info{*",
    "workqueue_*",
    "informer_*",
    "rest_client_rate_limiter_duration_seconds_*",
    "rest_client_request_size_bytes_*",
    "rest_client_response_size_bytes_*",
    "rest_client_transport_*",
    "rest_client_exec_plugin_*",
    "rest_client_*PUT*",
    "process_network_*",
    "process_virtual_memory_max_bytes{*",
    "apiserver_*",
    "aggregator_*",
    "authenticat*",
    "authorization_*",
    "registered_metrics_total{*",
    "hidden_metrics_total{*",
    "disabled_metrics_total{*",
    "cardinality_enforcement_*",
    'scheduler_goroutines{operation="[!b]*',
    'scheduler_framework_extension_point_duration_seconds_*extension_point="Sign"*',
    'scheduler_plugin_execution_duration_seconds_*extension_point="Sign"*',
    'scheduler_plugin_execution_duration_seconds_*"ScoreExtensionNormalize"*plugin="DynamicResources"*',
)
#: What each of them may happen not to show. Single plugins are timed in one cycle of ten, and these are asked about a
#: pod or two. Of several hints that an event has for a pod, kube-scheduler runs a random one first, and no more once
#: one says that the pod may be helped. Controllers change nodes when they like. Events in flight are those that came
#: during an attempt. Which queue a pod goes to that a deletion wakes depends on how long its last attempt is past.
BY_CHANCE = (
    'scheduler_event_handling_duration_seconds_*event="NodeUpdateNodeAnnotation"*',
    'scheduler_queue_incoming_*event="AssignedPodDelete"*',
    "scheduler_inflight_events{*",
    'scheduler_plugin_execution_duration_seconds_*plugin="NodeAffinity"*',
    'scheduler_plugin_execution_duration_seconds_*plugin="NodeVolumeLimits"*',
    'scheduler_plugin_execution_duration_seconds_*plugin="VolumeBinding"*',
    'scheduler_plugin_execution_duration_seconds_*plugin="VolumeRestrictions"*',
    'scheduler_plugin_execution_duration_seconds_*plugin="VolumeZone"*',
    'scheduler_plugin_execution_duration_seconds_*"Bind"*status="Error"*',
    'scheduler_plugin_execution_duration_seconds_*"Unreserve"*',
    'scheduler_plugin_execution_duration_seconds_*"Filter"*plugin="NodeResourcesFit",status="Unschedulable"*',
    'scheduler_plugin_execution_duration_seconds_*"PostFilter"*status="Success"*',
    'scheduler_plugin_execution_duration_seconds_*"PreEnqueue"*status="Unschedulable*',
    'scheduler_queueing_hint_execution_duration_seconds_*plugin="NodeAffinity"*',
)
_QUIET = 8
_FLUSH = 1.0
"""Seconds between the times at which kube-scheduler takes over what it has measured."""
_SERVER = re.compile(r"127\.0\.0\.1:\d+")
_SAMPLE = re.compile(r"^([a-z]\w*)(?:\{(.*)\})? \S+$", re.MULTILINE)
_GATE = re.compile(r'^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])$', re.MULTILINE)
_LABEL = re.compile(r'\w+="(?:[^"\\]|\\.)*"')


def let_read_metrics(cluster: ControlPlane) -> None:
    """Make the ServiceAccount that scrapes."""
    metadata, group = {"name": READER}, "rbac.authorization.k8s.io"
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    subject = {"kind": "ServiceAccount", "name": READER, "namespace": "default"}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": READER}
    binding = {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": metadata}
    cluster.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    cluster.api.create({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": [rule]})
    cluster.api.create({**binding, "roleRef": role, "subjects": [subject]})


def work(cluster: ControlPlane, proxy: FaultyApiServer, space: str) -> None:
    """The workload: pods that are bound, fit nowhere, are gated, preempt, have volumes, fail to be bound.

    Single plugins are timed in one cycle of ten only: there are so many pods that each plugin is timed once. They come
    in batches, since kube-scheduler keeps a thousand such times a second and drops the others.
    """
    api = cluster.api
    cluster.create_namespace(space)
    (here, _) = cluster.add_nodes(2, prefix=space, cpu="8")
    cluster.add_nodes(1, prefix=f"{space}-small", cpu="1", labels={"example.com/small": space})
    proxy.fail(f"POST */namespaces/{space}/pods/failing/binding", outcome=FORBIDDEN)
    for body in storage(space, here):
        api.create(body)

    def make(name: str, **spec: Any) -> dict[str, Any]:
        return pod(name, space, scheduler=PROFILE, terminationGracePeriodSeconds=0, **spec)

    def bound(*names: str) -> None:
        wait_until(f"bound: {names}", lambda: all(map(placements(cluster, space).get, names)))

    small: dict[str, Any] = {"nodeSelector": {"example.com/small": space}, "cpu": "800m"}
    api.create_all([make("failing"), make("gated", schedulingGates=GATES), make("cheap", **small)])
    web, large = [f"web-{number}" for number in range(120)], [f"large-{number}" for number in range(105)]
    for batch in range(3):
        api.create_all(make(name, cpu="1m") for name in web[batch::3])
        api.create_all(make(name, cpu="100") for name in large[batch::3])
        time.sleep(_FLUSH)
    wait_until("the volume is available", lambda: phase(cluster, space) == "Available")
    data = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    api.create(make("stateful", volumes=[data]))
    bound("cheap")
    api.create(make("dear", **small, priorityClassName=URGENT))
    bound("failing", "dear", "stateful", *web)
    wait_until("large pods were tried", lambda: told(cluster, space, "FailedScheduling") >= len(large) + 2)
    api.patch(f"/api/v1/namespaces/{space}/pods/gated", {"spec": {"schedulingGates": None}}, kind="merge")
    bound("gated")
    for name in web[:20]:
        api.delete(f"/api/v1/namespaces/{space}/pods/{name}", grace=0)
    api.patch(f"/api/v1/nodes/{here}", {"metadata": {"labels": {"example.com/new": "x"}}}, kind="merge")


def storage(space: str, node: str) -> list[dict[str, Any]]:
    """A local volume of a node, and a claim for it."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    shared = {"accessModes": ["ReadWriteOnce"], "storageClassName": LOCAL}
    volume = {
        "capacity": {"storage": "1Gi"},
        "local": {"path": "/mnt"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
    }
    claim = {"resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": space}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": space}, "spec": volume | shared},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim | shared},
    ]


def phase(cluster: ControlPlane, volume: str) -> str:
    """How far a volume is."""
    return str(cluster.api.get(f"/api/v1/persistentvolumes/{volume}")["status"].get("phase", ""))


def told(cluster: ControlPlane, space: str, reason: str) -> int:
    """How many pods have such an event."""
    return len({event["regarding"]["name"] for event in events(cluster, space) if event["reason"] == reason})


def clear(cluster: ControlPlane, space: str) -> None:
    """Take away what a workload has left."""
    query = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    cluster.api.request("DELETE", f"/api/v1/namespaces/{space}/pods", query)
    for node in cluster.api.list("/api/v1/nodes"):
        cluster.api.delete(f"/api/v1/nodes/{node['metadata']['name']}")


def scrape(cluster: ControlPlane, port: int) -> str:
    """The text of /metrics, without the API server's address."""
    token = cluster.service_account_token("default", READER)
    return _SERVER.sub("SERVER", get(port, "/metrics", token)[1])


def series(text: str) -> set[str]:
    """Name and labels of each sample, labels in order."""
    return {f"{name}{{{','.join(sorted(_LABEL.findall(labels)))}}}" for name, labels in _SAMPLE.findall(text)}


def settled(cluster: ControlPlane, port: int) -> str:
    """What is shown once no series has been added for two seconds."""
    seen: list[set[str]] = []

    def quiet() -> str:
        text = scrape(cluster, port)
        seen.append(series(text))
        return text if len(seen) > _QUIET and seen[-1] == seen[-_QUIET] else ""

    return wait_until("no more series", quiet, interval=0.25)


@pytest.fixture(scope="module")
def shown(contested: ControlPlane) -> dict[str, str]:
    """/metrics of both, by name."""
    let_read_metrics(contested)
    texts = {}
    for name in (THEIRS, OURS):
        with behind_proxy(contested, name, PROFILE) as (proxy, port):
            work(contested, proxy, name)
            texts[name] = settled(contested, port)
        clear(contested, name)
    return texts


def matching(names: set[str], patterns: Iterable[str]) -> set[str]:
    """The series that match one of the patterns."""
    return {name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}


def test_metrics_of_both_are_of_the_same_types(shown: dict[str, str]) -> None:
    ours, theirs = (families(shown[name]) for name in (OURS, THEIRS))
    common = ours.keys() & theirs.keys()
    assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}
    assert {name for name in ours if name not in common and not name.startswith("berth_")} == set()


def test_both_show_the_same_series(shown: dict[str, str]) -> None:
    ours, theirs = (series(shown[name]) for name in (OURS, THEIRS))
    missing, more = theirs - ours, ours - theirs
    assert sorted(missing - matching(missing, [*NOT_THERE, *BY_CHANCE])) == []
    assert sorted(more - matching(more, ["berth_*", *BY_CHANCE])) == []


def test_the_same_feature_gates_are_on(shown: dict[str, str]) -> None:
    ours, theirs = (set(_GATE.findall(shown[name])) for name in (OURS, THEIRS))
    assert len(theirs) > 200
    assert ours == theirs


@pytest.mark.parametrize("pattern", NOT_THERE)
def test_what_is_said_to_be_missing_is(shown: dict[str, str], pattern: str) -> None:
    ours, theirs = (series(shown[name]) for name in (OURS, THEIRS))
    assert matching(theirs, [pattern])
    assert matching(ours, [pattern]) == set()
