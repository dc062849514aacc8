"""Profile scoring: every score at once, under changed weights and plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case

from e2e.oracle.cases.quantities import EXT, reslist


def scoring(c: Case) -> None:
    """Nodes that differ in all that is scored."""
    r = c.r
    for n in c.nodes:
        for e in EXT[:2]:
            if r.random() < 0.6:
                n["status"]["allocatable"][e] = n["status"]["capacity"][e] = str(r.randint(1, 8))
    for n in c.nodes:
        for _ in range(r.randint(0, 4)):
            c.add_pod(n, reslist(c, ext=0.4))
    c.requests(cpu=r.choice(["100m", "500m", "1", "0"]), memory=r.choice(["64Mi", "1Gi", "2Gi"]))
    if r.random() < 0.3:
        c.container()["resources"]["requests"]["example.com/gpu"] = "1"
        c.container()["resources"]["limits"] = {"example.com/gpu": "1"}
    if r.random() < 0.15:
        c.container()["resources"] = {}
    st = r.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", None])
    res = [
        {"name": x, "weight": r.choice([1, 1, 2, 5, 10])}
        for x in r.choice(
            [
                ["cpu"],
                ["cpu", "memory"],
                ["cpu", "memory", "example.com/gpu"],
                ["example.com/gpu"],
                ["memory", "ephemeral-storage"],
                ["cpu", "hugepages-2Mi"],
            ]
        )
    ]
    if st:
        s: Any = {"type": st, "resources": res}
        if st == "RequestedToCapacityRatio":
            s["requestedToCapacityRatio"] = {
                "shape": r.choice(
                    [
                        [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
                        [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}],
                        [
                            {"utilization": 0, "score": 0},
                            {"utilization": 37, "score": 7},
                            {"utilization": 80, "score": 3},
                            {"utilization": 100, "score": 10},
                        ],
                        [{"utilization": 20, "score": 2}, {"utilization": 50, "score": 9}],
                    ]
                )
            }
        c.plugin_args("NodeResourcesFit", {"scoringStrategy": s})
    if r.random() < 0.3:
        c.plugin_args(
            "NodeResourcesBalancedAllocation",
            {
                "resources": [
                    {"name": x, "weight": 1}
                    for x in r.choice(
                        [
                            ["cpu", "memory"],
                            ["cpu", "memory", "ephemeral-storage"],
                            ["cpu", "memory", "example.com/gpu"],
                            ["memory"],
                            ["example.com/gpu", "example.com/fpga"],
                        ]
                    )
                ]
            },
        )
    if r.random() < 0.5:
        weights(c)


def weights(c: Case) -> None:
    """Other weights, and plugins that are off at some or all points."""
    r = c.r
    names = [
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
        "ImageLocality",
        "TaintToleration",
        "NodeAffinity",
        "PodTopologySpread",
        "InterPodAffinity",
    ]
    pl = c.conf().setdefault("plugins", {})
    how = r.random()
    pick = r.sample(names, r.randint(1, 4))
    if how < 0.4:
        pl["score"] = {
            "disabled": [{"name": n} for n in pick],
            "enabled": [{"name": n, "weight": r.randint(1, 20)} for n in pick if r.random() < 0.7],
        }
    elif how < 0.6:
        pl["score"] = {"disabled": [{"name": "*"}], "enabled": [{"name": n, "weight": r.randint(1, 20)} for n in pick]}
    elif how < 0.8:
        pl["multiPoint"] = {"enabled": [{"name": n, "weight": r.randint(1, 20)} for n in pick]}
    elif how < 0.9:
        pl["multiPoint"] = {"disabled": [{"name": n} for n in pick if n != "NodeResourcesFit"]}
    else:
        pl["filter"] = {
            "disabled": [
                {"name": n}
                for n in r.sample(["TaintToleration", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread"], 2)
            ]
        }
        if r.random() < 0.4:
            pl["postFilter"] = {"disabled": [{"name": "DefaultPreemption"}]}
        if r.random() < 0.3:
            pl["score"] = {"disabled": [{"name": "*"}]}
