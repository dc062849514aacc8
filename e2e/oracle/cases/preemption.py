"""Profile preemption: pods that may evict others."""

from __future__ import annotations

from e2e.oracle.cases.case import HOST, ZONE, Case


def preempt(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Full nodes, priorities, budgets and nominations."""
    r = c.r
    prios = [-5, 0, 0, 1, 5, 10, 100]
    for n in c.nodes:
        a = n["status"]["allocatable"]
        a["cpu"], a["memory"] = r.choice(["2", "4"]), "8Gi"
        n["status"]["capacity"] = dict(a)
        if r.random() < 0.1:
            a["pods"] = "3"
        free = int(a["cpu"]) * 1000 - r.choice([0, 0, 0, 100, 500])
        while free > 0 and len([p for p in c.pods if p["spec"].get("nodeName") == c.name(n)]) < 12:
            q = min(free, r.choice([100, 250, 500, 1000, 1500]))
            free -= q
            p = c.add_pod(
                n,
                {"cpu": f"{q}m", "memory": r.choice(["128Mi", "1Gi"])},
                labels={"app": r.choice(["web", "db", "cache"])},
                priority=r.choice(prios),
                ns=r.choice(["default", "default", "other"]),
            )
            if r.random() < 0.08:
                p["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
            if r.random() < 0.04:
                p["metadata"]["deletionTimestamp"] = "2026-11-29T00:00:00Z"
                p["metadata"]["deletionGracePeriodSeconds"] = 30
                if r.random() < 0.6:
                    p["status"]["conditions"] = [
                        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
                    ]
            if r.random() < 0.05:
                p["spec"]["affinity"] = {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "topologyKey": r.choice([HOST, ZONE]),
                                "labelSelector": {"matchLabels": {"app": c.pod["metadata"]["labels"]["app"]}},
                            }
                        ]
                    }
                }
    # At most one budget for a pod: with two, the order of a Go map decides which of them is charged.
    pns, apps = r.choice(["default", "default", "other"]), r.sample(["web", "db", "cache"], 3)
    for i in range(r.choice([0, 0, 1, 2, 3])):
        c.objs.append(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": f"pdb-{i}", "namespace": pns},
                "spec": {
                    "minAvailable": 1,
                    "selector": r.choice(
                        [
                            {"matchLabels": {"app": apps[i]}},
                            {"matchExpressions": [{"key": "app", "operator": "In", "values": [apps[i]]}]},
                        ]
                    ),
                },
                "status": {
                    "disruptionsAllowed": r.choice([0, 0, 1, 2, 5]),
                    "currentHealthy": 3,
                    "desiredHealthy": 2,
                    "expectedPods": 3,
                    **(
                        {"disruptedPods": {r.choice(c.pods)["metadata"]["name"]: "2026-11-29T00:00:00Z"}}
                        if c.pods and r.random() < 0.3
                        else {}
                    ),
                },
            }
        )
    c.pod["spec"]["priority"] = r.choice([0, 1, 5, 10, 10, 50, 1000, 2000000000])
    c.requests(cpu=r.choice(["200m", "500m", "1", "1500m", "2", "3", "8"]), memory=r.choice(["64Mi", "1Gi", "2Gi"]))
    if r.random() < 0.1:
        c.pod["spec"]["preemptionPolicy"] = "Never"
    if r.random() < 0.15:
        c.container()["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    if r.random() < 0.15:
        c.pod["spec"]["nodeSelector"] = {"disktype": "ssd"}
    if r.random() < 0.15:
        for n in c.nodes:
            if r.random() < 0.4:
                n["spec"]["taints"] = [{"key": "maint", "effect": "NoSchedule"}]
    if r.random() < 0.15:
        c.pod["spec"]["topologySpreadConstraints"] = [
            {
                "maxSkew": r.choice([1, 2]),
                "topologyKey": r.choice([ZONE, HOST]),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": c.pod["metadata"]["labels"]["app"]}},
            }
        ]
    if r.random() < 0.15:
        c.pod["spec"]["affinity"] = {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": r.choice([HOST, ZONE]),
                        "labelSelector": {"matchLabels": {"app": r.choice(["web", "db"])}},
                    }
                ]
            }
        }
    for _ in range(r.choice([0, 0, 0, 1, 2])):  # pods that wait for their nominated node
        p = c.add_pod(
            None, {"cpu": r.choice(["500m", "1"])}, labels={"app": "db"}, priority=r.choice([0, 5, 10, 100, 5000])
        )
        p["status"]["nominatedNodeName"] = c.name(r.choice(c.nodes))
    if r.random() < 0.08:
        c.pod["status"]["nominatedNodeName"] = c.name(r.choice(c.nodes))
