"""A resize in the status of the pod that is to be placed: nobody should write that, but nodes are scored by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from e2e.oracle.cases.case import Object

PROFILES = ("resources", "scoring", "preemption", "binding", "combined")
"""The profiles that get some."""

_RARELY = 0.04


def resize(r: random.Random, case: Object) -> None:
    """Make it one of them, now and then, in a case that is drawn already."""
    if r.random() >= _RARELY:
        return
    pod = case["pod"]
    status = pod.setdefault("status", {})
    for kind in ("containers", "initContainers"):
        told = [_told(r, container["name"]) for container in pod["spec"].get(kind, []) if r.random() < 0.8]
        if told:
            status["containerStatuses" if kind == "containers" else "initContainerStatuses"] = told
    if r.random() < 0.3:
        status.setdefault("conditions", []).append(pending(r))


def pending(r: random.Random) -> Object:
    """The condition of a pod whose resize is refused, or put off."""
    return {"type": "PodResizePending", "status": "True", "reason": r.choice(["Infeasible", "Deferred"])}


def _told(r: random.Random, name: str) -> Object:
    status: Object = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    if r.random() < 0.7:
        status["allocatedResources"] = _amounts(r)
    if r.random() < 0.7:
        status["resources"] = {"requests": _amounts(r)}
    return status


def _amounts(r: random.Random) -> Object:
    return {"cpu": r.choice(["100m", "1", "3"]), "memory": r.choice(["64Mi", "1Gi", "4Gi"])}
