"""Profile resources: requests of all kinds on nodes of all sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case

from e2e.oracle.cases.quantities import EXT, MI, reslist, value, whole
from e2e.oracle.cases.resizes import pending


def pod_level(c: Case, spec: Any) -> Any:
    """Pod-level requests, not below those of the containers."""

    def sums(res: str) -> float:
        cs = spec.get("containers", []) + spec.get("initContainers", [])
        rs = [x.get("resources", {}) for x in cs]
        return sum(value(x.get("requests", {}).get(res, x.get("limits", {}).get(res, "0"))) for x in rs)

    out = {"cpu": f"{int(sums('cpu') * 1000) + 1 + c.r.choice([1, 500, 1500])}m"}
    if c.r.random() < 0.6:
        out["memory"] = f"{int(sums('memory') / MI) + 1 + c.r.choice([1, 512, 2048])}Mi"
    return out


def resources(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Containers, sidecars, init containers, pod-level resources, overhead and resizes."""
    r = c.r
    for n in c.nodes:
        a = n["status"]["allocatable"]
        for e in EXT:
            if r.random() < 0.5:
                a[e] = "256Mi" if e == "hugepages-2Mi" else str(r.randint(0, 4))
        if r.random() < 0.12:
            a["pods"] = str(r.randint(0, 4))
        if r.random() < 0.05:
            a.pop(r.choice(["cpu", "memory", "ephemeral-storage"]))
        n["status"]["capacity"] = dict(a)
    for n in c.nodes:
        for _ in range(r.randint(0, 5)):
            p = c.add_pod(n, reslist(c), labels={"app": r.choice(["web", "db"])})
            if r.random() < 0.2:
                p["spec"]["initContainers"] = [{"name": "i0", "image": "x", "resources": whole(reslist(c))}]
                if r.random() < 0.5:
                    p["spec"]["initContainers"][0]["restartPolicy"] = "Always"
            if r.random() < 0.1:
                p["spec"]["overhead"] = {"cpu": "50m", "memory": "32Mi"}
            if r.random() < 0.1:
                p["spec"]["resources"] = {"requests": pod_level(c, p["spec"])}
            if r.random() < 0.15:  # in-place resize: what the kubelet has allocated counts
                st = {
                    "name": "c0",
                    "ready": True,
                    "started": True,
                    "restartCount": 0,
                    "image": "x",
                    "imageID": "x",
                    "allocatedResources": reslist(c, ext=0),
                    "resources": {"requests": reslist(c, ext=0)},
                }
                p["status"]["containerStatuses"] = [st]
                if r.random() < 0.5:
                    p["status"]["conditions"] = [pending(r)]
    if r.random() < 0.15:  # a pod on a node that isn't there, and finished pods
        c.add_pod("gone", {"cpu": "1"})
        p = c.add_pod(r.choice(c.nodes), {"cpu": "8"})
        p["status"]["phase"] = r.choice(["Succeeded", "Failed"])
    spec = c.pod["spec"]
    spec["containers"] = []
    for i in range(r.choice([1, 1, 1, 2, 3])):
        ct: Any = {"name": f"c{i}", "image": "registry.example.com/app:v1", "resources": {}}
        if r.random() < 0.9:
            ct["resources"] = whole(reslist(c))
        if r.random() < 0.25:
            lim = ct["resources"].get("limits", {})
            ct["resources"].get("requests", {})
            for k in ("cpu", "memory"):
                if r.random() < 0.6:
                    lim[k] = {"cpu": "4", "memory": "8Gi"}[k]
            if lim:
                ct["resources"]["limits"] = lim
        spec["containers"].append(ct)
    for i in range(r.choice([0, 0, 0, 1, 2, 3])):
        ic = {"name": f"i{i}", "image": "x", "resources": whole(reslist(c, ext=0.1))}
        if r.random() < 0.5:
            ic["restartPolicy"] = "Always"
        spec.setdefault("initContainers", []).append(ic)
    if r.random() < 0.15:
        spec["overhead"] = {"cpu": r.choice(["100m", "250m"]), "memory": "64Mi"}
    if r.random() < 0.2:
        pl = {}
        if r.random() < 0.7:
            pl["requests"] = pod_level(c, spec)
        if r.random() < 0.5 or not pl:
            pl["limits"] = {"cpu": "64", "memory": "128Gi"}
            if r.random() < 0.3:
                del pl["limits"]["memory"]
        spec["resources"] = pl
    if r.random() < 0.1:
        c.plugin_args(
            "NodeResourcesFit",
            {"ignoredResources": ["example.com/gpu"]}
            if r.random() < 0.5
            else {"ignoredResourceGroups": ["example.com"]},
        )
