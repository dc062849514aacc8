"""What is rare beside any case: nodes in prospect, of the pod and of others like it, and resizes that are refused."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from e2e.oracle.cases.resizes import pending

if TYPE_CHECKING:
    import random

    from e2e.oracle.cases.case import Object

PROFILES = ("resources", "taints", "nodeaffinity", "basic", "ports", "spread", "interpod", "image", "volumes")
"""The profiles that get them; in the others they are drawn already, or would change too much."""

_OFTEN = 0.1
_RARELY = 0.02


def nominate(r: random.Random, case: Object) -> None:
    """Add some to a case that is drawn already."""
    nodes = [item["metadata"]["name"] for item in case["objects"] if item["kind"] == "Node"]
    assigned = [item for item in case["objects"] if item["kind"] == "Pod" and item["spec"].get("nodeName")]
    if r.random() < _OFTEN:
        case["pod"]["status"]["nominatedNodeName"] = r.choice(nodes)
    if r.random() < _OFTEN:
        case["objects"] += [_rival(r, r.choice([case["pod"], *assigned]), r.choice(nodes), i) for i in range(2)]
    for pod in assigned:
        if r.random() < _RARELY:
            pod["status"].setdefault("conditions", []).append(pending(r))


def _rival(r: random.Random, like: Object, node: str, number: int) -> Object:
    """A waiting pod for which a node is held."""
    rival = copy.deepcopy(like)
    meta, spec = rival["metadata"], rival["spec"]
    meta.update(name=f"rival-{number}", uid=f"uid-rival-{number}")
    meta.setdefault("namespace", "default")
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        meta.pop(field, None)
    for field in ("nodeName", "schedulingGates"):
        spec.pop(field, None)
    spec["priority"] = r.choice([0, 10, 1000])
    rival["status"] = {"phase": "Pending", "nominatedNodeName": node}
    return rival
