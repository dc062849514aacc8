"""A large cluster as `kubectl get -o json` shows it, with all that scheduling does not look at: inputs of ``simulate``.

Everything is the same each time it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from e2e.perf.cycles import HOST, ZONE
from scheduler.api.decode import decode_object
from scheduler.app.snapshot.archive import write_snapshot
from scheduler.cli.structured import as_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]

FORMS: Final = {"snapshot": ".tar.zst", "json": ".json", "yaml": ".yaml"}
"""The forms of inputs, by the endings of their names."""
DEPLOYMENTS: Final = 20
_TIME: Final = "2026-01-01T00:00:00Z"
_REGISTRY: Final = "registry.example"


def cluster(nodes: int, pending: int, running: int) -> Iterator[Json]:
    """Nodes in three zones, pods that run on them, and pods to be scheduled, all of them of deployments.

    Of the deployments one half has nothing but requests; the others spread over zones or hosts, keep apart, keep
    together, ask for a kind of node, tolerate its taint, have a priority. There is room for all of them.
    """
    for index in range(nodes):
        yield _node(index)
    for index in range(running):
        yield _pod(index, _name(index % nodes))
    for index in range(pending):
        yield _pod(running + index, "")


def write(objects: list[Json], form: str, path: Path) -> None:
    """The objects in one of `FORMS`, as `-f` takes it."""
    listed = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}
    if form == "yaml":
        with path.open("w", encoding="utf-8") as out:
            out.write(as_yaml(listed))
    elif form == "json":
        path.write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=4) + b"\n")
    else:
        with path.open("wb") as packed:
            write_snapshot(packed, [decode_object(item) for item in objects], taken=_TIME)


def _name(index: int) -> str:
    return f"node-{index:05d}"


def _node(index: int) -> Json:
    name = _name(index)
    special = index % 10 == 0
    amounts = {
        "cpu": "16",
        "memory": "65842208Ki",
        "pods": "110",
        "ephemeral-storage": "102350Mi",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
    }
    labels = {
        HOST: name,
        ZONE: f"zone-{index % 3}",
        "topology.kubernetes.io/region": "region-1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "large" if special else "standard",
        "pool": "special" if special else "general",
    }
    spec: Json = {"podCIDR": f"10.{index // 256}.{index % 256}.0/24", "providerID": f"example://{name}"}
    if special:
        spec["taints"] = [{"key": "dedicated", "value": "special", "effect": "NoSchedule"}]
    conditions = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            "creationTimestamp": _TIME,
            "labels": labels,
            "name": name,
            "resourceVersion": str(1000 + index),
            "uid": f"00000000-0000-4000-8000-{index:012d}",
        },
        "spec": spec,
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}],
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": "True" if kind == "Ready" else "False",
                    "reason": f"Kubelet{kind}",
                    "message": "as told by the kubelet",
                    "lastHeartbeatTime": _TIME,
                    "lastTransitionTime": _TIME,
                }
                for kind in conditions
            ],
            "images": [
                {"names": [f"{_REGISTRY}/app-{number}:1"], "sizeBytes": 100_000_000 + number}
                for number in range(index % 5, DEPLOYMENTS, 5)
            ],
            "nodeInfo": {"kubeletVersion": "v1.37.2", "operatingSystem": "linux", "architecture": "amd64"},
        },
    }


def _pod(index: int, node: str) -> Json:
    number = index % DEPLOYMENTS
    app = f"app-{number}"
    labels = {"app": app, "pod-template-hash": f"7d9f8c{number:04d}"}
    owner = {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": "ReplicaSet",
        "name": f"{app}-7d9f8c{number:04d}",
        "uid": f"00000000-0000-4000-9000-{number:012d}",
    }
    token = f"kube-api-access-{index % 100_000:05d}"
    container = {
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8080"}],
        "image": f"{_REGISTRY}/{app}:1",
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
        "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True}
        ],
    }
    spec: Json = {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {"effect": "NoExecute", "key": f"node.kubernetes.io/{what}", "operator": "Exists", "tolerationSeconds": 300}
            for what in ("not-ready", "unreachable")
        ],
        "volumes": [
            {
                "name": token,
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                    ],
                },
            }
        ],
    }
    _feature(spec, number, app)
    metadata = {
        "creationTimestamp": _TIME,
        "generateName": f"{owner['name']}-",
        "labels": labels,
        "name": f"{owner['name']}-{index:05d}",
        "namespace": f"team-{number % 4}",
        "ownerReferences": [owner],
        "resourceVersion": str(100_000 + index),
        "uid": f"00000000-0000-4000-a000-{index:012d}",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**spec, "nodeName": node} if node else spec,
        "status": _running(container) if node else {"phase": "Pending", "qosClass": "Burstable"},
    }


def _feature(spec: Json, number: int, app: str) -> None:
    """What a deployment of this number asks for besides its requests."""
    selector = {"matchLabels": {"app": app}}
    zones: Json = {"labelSelector": selector, "topologyKey": ZONE}
    hosts: Json = {"labelSelector": selector, "topologyKey": HOST}
    match number:
        case 10 | 11:
            spec["topologySpreadConstraints"] = [
                {**zones, "maxSkew": 5, "whenUnsatisfiable": "DoNotSchedule"},
                {**hosts, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
            ]
        case 12:
            spec["topologySpreadConstraints"] = [{**zones, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]
        case 13 | 14:
            preferred = [{"podAffinityTerm": hosts, "weight": 100}]
            spec["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
        case 15:
            preferred = [{"podAffinityTerm": zones, "weight": 10}]
            spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
        case 16:
            spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [zones]}}
        case 17:
            spec["nodeSelector"] = {"pool": "general"}
        case 18:
            spec["tolerations"].append({"effect": "NoSchedule", "key": "dedicated", "operator": "Exists"})
        case 19:
            spec["priority"] = 1000
            term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-0", "zone-1"]}]}
            spec["affinity"] = {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"preference": term, "weight": 50}]
                }
            }
        case _:
            pass


def _running(container: Json) -> Json:
    conditions = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {
        "conditions": [
            {"lastProbeTime": None, "lastTransitionTime": _TIME, "status": "True", "type": kind} for kind in conditions
        ],
        "containerStatuses": [
            {
                "containerID": f"containerd://{'0' * 64}",
                "image": container["image"],
                "imageID": f"{container['image']}@sha256:{'0' * 64}",
                "lastState": {},
                "name": "main",
                "ready": True,
                "resources": container["resources"],
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": _TIME}},
            }
        ],
        "hostIP": "10.0.0.1",
        "hostIPs": [{"ip": "10.0.0.1"}],
        "phase": "Running",
        "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}],
        "qosClass": "Burstable",
        "startTime": _TIME,
    }
