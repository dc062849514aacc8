"""Events beside each case: objects that come, change and go, about which the hints of the plugins are asked."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from e2e.oracle.cases import storage_events
from e2e.oracle.cases.case import HOST, REGION, ZONE, Object

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

_FEATURES = ("GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits")
Event = dict[str, Any]
"""{"old": the object before or None, "new": the object after or None}."""

_TAINTS = (
    {"key": "maint", "effect": "NoSchedule"},
    {"key": "maint", "effect": "NoExecute"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)
_TOLERATIONS = (
    {"operator": "Exists"},
    {"key": "maint", "operator": "Exists"},
    {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
)
_LABELS = {
    ZONE: ("zone-a", "zone-b", "zone-c"),
    REGION: ("r1", "r2"),
    HOST: ("node-00", "node-01"),
    "disktype": ("ssd", "hdd", "nvme"),
    "gen": ("1", "5", "9"),
    "rack": ("r1", "r2", "r3"),
}
_POD_LABELS = {"app": ("web", "db", "cache"), "tier": ("front", "back"), "pod-template-hash": ("h1", "h2")}
_AMOUNTS = {
    "cpu": ("0", "100m", "1", "4", "32"),
    "memory": ("64Mi", "1Gi", "64Gi"),
    "ephemeral-storage": ("1Gi", "500Gi"),
    "pods": ("0", "4", "110"),
    "example.com/gpu": ("0", "2", "8"),
}


def events(r: random.Random, case: Object) -> list[Event]:
    """Some events that have to do with the objects of a case or its pod."""
    kinds: dict[str, list[Object]] = {}
    for item in case["objects"]:
        kinds.setdefault(item["kind"], []).append(item)
    makers: list[Callable[[], Event | None]] = [
        *[lambda: _node(r, kinds.get("Node", []))] * 4,
        *[lambda: _pod(r, [pod for pod in kinds.get("Pod", []) if pod["spec"].get("nodeName")], case)] * 4,
        *[lambda: _target(r, case["pod"])] * 3,
        lambda: _nominated(r, kinds.get("Pod", [])),
        lambda: _device_class(r),
    ]
    makers += storage_events.makers(r, kinds, case["pod"])
    made = [r.choice(makers)() for _ in range(r.choice([2, 4, 8]))]
    return [event for event in made if event is not None]


def _event(old: Object | None, new: Object | None) -> Event:
    return {"old": old, "new": new}


def _node(r: random.Random, nodes: Sequence[Object]) -> Event | None:
    if not nodes:
        return None
    node = r.choice(nodes)
    what = r.random()
    if what < 0.1:
        return _event(node, None)
    new = copy.deepcopy(node)
    if what < 0.35:
        new["metadata"].update(name="node-new", uid="uid-node-new")
        if r.random() < 0.5:
            _change_node(r, new)
        return _event(None, new)
    for _ in range(r.choice([1, 1, 2])):
        _change_node(r, new)
    return _event(node, new) if r.random() < 0.6 else _event(new, node)


def _change_node(r: random.Random, node: Object) -> None:
    labels, spec, status = node["metadata"].setdefault("labels", {}), node["spec"], node["status"]
    change = r.choice(["label", "label", "label", "taint", "taint", "cordon", "room", "room", "other", "feature"])
    if change == "label":
        key = r.choice([*_LABELS, *labels])
        if r.random() < 0.4:
            labels.pop(key, None)
        else:
            labels[key] = r.choice(_LABELS.get(key, ("x", "y")))
    elif change == "taint":
        taints = [] if r.random() < 0.5 else list(spec.get("taints", []))
        spec["taints"] = taints if taints and r.random() < 0.3 else [*taints[:1], dict(r.choice(_TAINTS))][-1:]
        if r.random() < 0.3:
            del spec["taints"]
    elif change == "cordon":
        spec["unschedulable"] = not spec.get("unschedulable", False)
    elif change == "room":
        name = r.choice([*_AMOUNTS, *status["allocatable"]])
        status["allocatable"] = {**status["allocatable"], name: r.choice(_AMOUNTS.get(name, ("0", "3")))}
    elif change == "feature":
        status["declaredFeatures"] = r.choice(
            [[], ["GuaranteedQoSPodCPUResize"], ["RestartAllContainersOnContainerExits"]]
        )
    else:
        status["conditions"] = [{"type": "Ready", "status": r.choice(["True", "False"])}]
        node["metadata"]["annotations"] = {"note": r.choice("ab")}


def _pod(r: random.Random, pods: Sequence[Object], case: Object) -> Event | None:
    """A pod on a node, or one like the target, which is as near to what the target waits for as can be."""
    if not pods or r.random() < 0.3:
        like = copy.deepcopy(case["pod"])
        like["metadata"].update(name="like-target", uid="uid-like-target")
        like["metadata"].setdefault("namespace", "default")
        like["spec"]["nodeName"] = "node-00"
        like["spec"].pop("schedulingGates", None)
        pods = [like]
    pod = r.choice(pods)
    what = r.random()
    if what < 0.3:
        return _event(pod, None)
    new = copy.deepcopy(pod)
    if what < 0.55:
        new["metadata"].update(name="pod-new", uid="uid-pod-new")
        if r.random() < 0.5:
            _change_pod(r, new)
        if r.random() < 0.1:
            new["metadata"]["namespace"] = "other"
        return _event(None, new)
    for _ in range(r.choice([1, 1, 2])):
        _change_pod(r, new)
    return _event(pod, new)


def _change_pod(r: random.Random, pod: Object) -> None:
    if r.random() < 0.55:
        _relabel(r, pod)
    else:
        _resize(r, pod)


def _relabel(r: random.Random, pod: Object) -> None:
    labels = pod["metadata"].setdefault("labels", {})
    key = r.choice([*_POD_LABELS, *labels])
    if r.random() < 0.3:
        labels.pop(key, None)
    else:
        labels[key] = r.choice(_POD_LABELS.get(key, ("x", "y")))


def _resize(r: random.Random, pod: Object) -> None:
    resources = r.choice(pod["spec"]["containers"]).setdefault("resources", {})
    requests = resources["requests"] = dict(resources.get("requests", {}))
    name = r.choice(["cpu", "memory", "ephemeral-storage", "example.com/gpu", *requests])
    if r.random() < 0.3:
        requests.pop(name, None)
    else:
        requests[name] = r.choice(_AMOUNTS.get(name, ("2Mi", "4Mi") if "hugepages" in name else ("1", "3")))
    if name not in ("cpu", "memory", "ephemeral-storage"):  # what can't be overcommitted has its limit
        resources["limits"] = {**resources.get("limits", {}), name: requests.get(name, "0")}


def _target(r: random.Random, pod: Object) -> Event:
    """The pod itself, changed."""
    new = copy.deepcopy(pod)
    spec = new["spec"]
    for _ in range(r.choice([1, 1, 2])):
        change = r.choice(["label", "label", "toleration", "toleration", "size", "gate", "feature", "other"])
        if change == "label":
            _relabel(r, new)
        elif change == "toleration":
            spec["tolerations"] = [*spec.get("tolerations", []), dict(r.choice(_TOLERATIONS))]
        elif change == "size":
            _resize(r, new)
        elif change == "gate":
            spec.pop("schedulingGates", None)
        elif change == "feature":
            rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
            spec["containers"][0]["restartPolicyRules"] = [rule]
        else:
            new["metadata"].setdefault("annotations", {})["note"] = r.choice("ab")
    return _event(pod, new)


def _nominated(r: random.Random, pods: Sequence[Object]) -> Event | None:
    """A pod that goes without having been on a node, be it that one was held for it or not."""
    waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
    return _event(r.choice(waiting), None) if waiting else None


def _device_class(r: random.Random) -> Event:
    def one(resource: str | None) -> Object:
        spec: Object = {"extendedResourceName": resource} if resource else {}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu-class"},
            "spec": spec,
        }

    names = (None, "example.com/gpu", "example.com/fpga", "vendor.io/dongle")
    old = one(r.choice(names)) if r.random() < 0.6 else None
    return _event(old, one(r.choice(names)))
