"""Profiles taints, nodeaffinity, basic (names, cordons, gates, declared features) and image."""

from __future__ import annotations

from typing import Any

from e2e.oracle.cases.case import ZONE, Case
from e2e.oracle.cases.quantities import GI, MI

TAINTS = [
    ("dedicated", ["gpu", "db", ""]),
    ("maint", ["true", "1"]),
    ("level", ["1", "5", "10"]),
    ("node.kubernetes.io/not-ready", [""]),
    ("spot", ["", "yes"]),
]


def taints(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Taints of all effects, tolerations of all forms."""
    r = c.r
    for n in c.nodes:
        ts, seen = [], set()
        for _ in range(r.choice([0, 0, 1, 1, 2, 4])):
            k, vs = r.choice(TAINTS)
            e = r.choice(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"])
            if (k, e) in seen:
                continue
            seen.add((k, e))
            t: Any = {"key": k, "effect": e}
            v = r.choice(vs)
            if v:
                t["value"] = v
            if e == "NoExecute":
                t["timeAdded"] = "2026-11-01T00:00:00Z"
            ts.append(t)
        if ts:
            n["spec"]["taints"] = ts
        if r.random() < 0.08:
            n["spec"]["unschedulable"] = True
            if r.random() < 0.7:
                n["spec"].setdefault("taints", []).append(
                    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
                )
    tol = []
    for _ in range(r.choice([0, 0, 1, 2, 3])):
        k, vs = r.choice(TAINTS)
        t = {}
        if r.random() < 0.9:
            t["key"] = k
        op = r.choice(["Equal", "Exists", None, *(["Gt", "Lt"] if k == "level" else [])])
        if "key" not in t:
            op = "Exists"
        if op:
            t["operator"] = op
        if op != "Exists":
            v = r.choice(vs)
            if v:
                t["value"] = v
        if r.random() < 0.7:
            t["effect"] = r.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])
        if t.get("effect") == "NoExecute" and r.random() < 0.5:
            t["tolerationSeconds"] = r.choice([0, 30, 300])
        tol.append(t)
    if r.random() < 0.05:
        tol.append({"operator": "Exists"})
    if r.random() < 0.1:
        tol.append(
            {
                "key": "node.kubernetes.io/unschedulable",
                "operator": "Exists",
                "effect": r.choice(["NoSchedule", "NoExecute"]),
            }
        )
    if tol:
        c.pod["spec"]["tolerations"] = tol


def node_expr(c: Case) -> Any:
    """A requirement on node labels."""
    r = c.r
    k = r.choice(["disktype", "disktype", ZONE, "gen", "gen", "kubernetes.io/arch", "rack", "nosuch"])
    vals = {
        "disktype": ["ssd", "hdd", "nvme", "tape"],
        ZONE: ["zone-a", "zone-b", "zone-c", "zone-x"],
        "gen": [str(i) for i in range(10)],
        "kubernetes.io/arch": ["amd64", "arm64"],
        "rack": ["r1", "r2", "r3", "r4"],
        "nosuch": ["x"],
    }[k]
    op = r.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] * 2 if k in ("gen", "rack") else []))
    e: Any = {"key": k, "operator": op}
    if op in ("In", "NotIn"):
        e["values"] = r.sample(vals, r.randint(1, min(3, len(vals))))
    elif op in ("Gt", "Lt"):
        e["values"] = [str(r.randint(0, 10))]
    return e


def node_term(c: Case, fields: float = 0.15) -> Any:
    """A node selector term."""
    r = c.r
    t = {}
    if r.random() < 0.88:
        t["matchExpressions"] = [node_expr(c) for _ in range(r.choice([1, 1, 1, 2]))]
    if not t or r.random() < fields:
        n = c.name(r.choice(c.nodes)) if r.random() < 0.9 else "absent"
        t["matchFields"] = [{"key": "metadata.name", "operator": r.choice(["In", "In", "NotIn"]), "values": [n]}]
    if r.random() < 0.02:
        t = {}
    return t


def nodeaffinity(c: Case) -> None:
    """Selectors, required and preferred terms, and affinity that the configuration adds."""
    r = c.r
    na: Any = {}
    if r.random() < 0.65:
        na["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [node_term(c) for _ in range(r.choice([1, 1, 2, 3]))]
        }
    if r.random() < 0.7:
        na["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": r.choice([1, 10, 30, 50, 80, 100]), "preference": node_term(c, 0.05)}
            for _ in range(r.choice([1, 2, 3]))
        ]
    if na:
        c.pod["spec"].setdefault("affinity", {})["nodeAffinity"] = na
    if r.random() < 0.25:
        c.pod["spec"]["nodeSelector"] = {"disktype": r.choice(["ssd", "hdd"])}
        if r.random() < 0.3:
            c.pod["spec"]["nodeSelector"]["kubernetes.io/arch"] = "amd64"
    if r.random() < 0.2:
        aa: Any = {}
        if r.random() < 0.6:
            aa["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [node_term(c, 0) or node_term(c, 0)]
            }
        if r.random() < 0.6 or not aa:
            aa["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": r.choice([5, 40]), "preference": {"matchExpressions": [node_expr(c)]}}
            ]
        for term in aa.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", []):
            if not term:
                term["matchExpressions"] = [{"key": "disktype", "operator": "Exists"}]
        c.plugin_args("NodeAffinity", {"addedAffinity": aa})


def basic(c: Case) -> None:
    """Node names, cordons, gates and declared features."""
    r = c.r
    x = r.random()
    if x < 0.35:
        c.pod["spec"]["nodeName"] = ""
    if x < 0.25:  # nodeName can't be set on an unassigned pod; the matchFields form is what daemon sets use
        c.pod["spec"]["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchFields": [
                                {
                                    "key": "metadata.name",
                                    "operator": "In",
                                    "values": [c.name(r.choice(c.nodes)) if r.random() < 0.85 else "absent"],
                                }
                            ]
                        }
                    ]
                }
            }
        }
    for n in c.nodes:
        if r.random() < 0.25:
            n["spec"]["unschedulable"] = True
            if r.random() < 0.8:
                n["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    if r.random() < 0.2:
        c.pod["spec"]["tolerations"] = [
            {
                "key": "node.kubernetes.io/unschedulable",
                "operator": "Exists",
                "effect": r.choice(["NoSchedule", "NoExecute"]),
            }
        ]
    if r.random() < 0.05:
        c.pod["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    if r.random() < 0.15:
        for n in c.nodes:
            if r.random() < 0.5:
                n["status"]["declaredFeatures"] = r.choice(
                    [
                        ["UserNamespacesHostNetworkSupport"],
                        ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"],
                        ["Other"],
                    ]
                )
        c.container()["restartPolicy"] = "Never"
        c.container()["restartPolicyRules"] = [
            {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
        ]
    c.fill(0, 3)
    c.requests(cpu=r.choice(["100m", "500m", "1"]))


def image(c: Case) -> None:
    """Images on some of the nodes."""
    r = c.r
    imgs = [
        (["registry.example.com/app:v1"], 200 * MI),
        (["registry.example.com/app:v2", "registry.example.com/app@sha256:" + "a" * 64], 1200 * MI),
        (["docker.io/library/nginx:latest"], 140 * MI),
        (["quay.io/big/model:1"], 7 * GI),
        (["registry.example.com/tiny:latest"], 5 * MI),
        (["localhost:5000/x/y:latest"], 400 * MI),
    ]
    for n in c.nodes:
        has = [i for i in imgs if r.random() < 0.45]
        n["status"]["images"] = [{"names": i[0], "sizeBytes": i[1]} for i in has]
    use = [
        "registry.example.com/app:v1",
        "registry.example.com/app:v2",
        "docker.io/library/nginx:latest",
        "docker.io/library/nginx",
        "nginx",
        "quay.io/big/model:1",
        "registry.example.com/tiny",
        "localhost:5000/x/y",
        "absent:1",
        "registry.example.com/app@sha256:" + "a" * 64,
    ]
    c.pod["spec"]["containers"] = [{"name": f"c{i}", "image": r.choice(use)} for i in range(r.choice([1, 1, 2, 3]))]
    if r.random() < 0.3:
        c.pod["spec"]["initContainers"] = [{"name": "i0", "image": r.choice(use)}]
    if r.random() < 0.2:
        c.pod["spec"]["volumes"] = [{"name": "m", "image": {"reference": r.choice(use)}}]
    c.fill(0, 2)
