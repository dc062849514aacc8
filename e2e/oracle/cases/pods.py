"""Profiles spread and interpod: pods that look at other pods."""

from __future__ import annotations

import json
from typing import Any

from e2e.oracle.cases.case import HOST, REGION, ZONE, Case, selector


def spread(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Constraints on labels, policies and domains, also by default from Services and controllers."""
    r = c.r
    nss = ["default", "default", "default", "other"]
    for n in c.nodes:
        for _ in range(r.choice([0, 0, 1, 1, 2, 4])):
            lb = {"app": r.choice(["web", "web", "db", "cache"]), "pod-template-hash": r.choice(["h1", "h2"])}
            if r.random() < 0.5:
                lb["tier"] = r.choice(["front", "back"])
            p = c.add_pod(n, {"cpu": r.choice(["50m", "300m"])}, labels=lb, ns=r.choice(nss))
            if r.random() < 0.05:
                p["metadata"]["deletionTimestamp"] = "2026-11-20T00:00:00Z"
                p["metadata"]["deletionGracePeriodSeconds"] = 30
        if r.random() < 0.12:
            n["spec"]["taints"] = [
                {"key": "maint", "effect": r.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])}
            ]
        if r.random() < 0.05:
            n["spec"]["unschedulable"] = True
    if r.random() < 0.8:
        tscs, seen = [], set()
        for _ in range(r.choice([1, 1, 2, 2, 3])):
            key = r.choice([ZONE, ZONE, HOST, "rack", REGION])
            when = r.choice(["DoNotSchedule", "ScheduleAnyway"])
            if (key, when) in seen:
                continue
            seen.add((key, when))
            t: Any = {"maxSkew": r.choice([1, 1, 2, 3, 5]), "topologyKey": key, "whenUnsatisfiable": when}
            if r.random() < 0.95:
                t["labelSelector"] = selector(c, (("app", ["web", "db", "cache"]), ("tier", ["front", "back"])))
            if r.random() < 0.25:
                t["nodeAffinityPolicy"] = r.choice(["Honor", "Ignore"])
            if r.random() < 0.3:
                t["nodeTaintsPolicy"] = r.choice(["Honor", "Ignore"])
            if when == "DoNotSchedule" and r.random() < 0.3:
                t["minDomains"] = r.randint(1, 5)
            if "labelSelector" in t and r.random() < 0.25:
                t["matchLabelKeys"] = r.choice([["pod-template-hash"], ["nosuch"], ["pod-template-hash", "app"]])
                used = json.dumps(t["labelSelector"])
                t["matchLabelKeys"] = [k for k in t["matchLabelKeys"] if f'"{k}"' not in used] or ["pod-template-hash"]
                if r.random() < 0.7:
                    # what the API server does at creation: the keys are merged into the selector
                    for k in t["matchLabelKeys"]:
                        if k in c.pod["metadata"]["labels"]:
                            t["labelSelector"].setdefault("matchExpressions", []).append(
                                {"key": k, "operator": "In", "values": [c.pod["metadata"]["labels"][k]]}
                            )
            tscs.append(t)
        c.pod["spec"]["topologySpreadConstraints"] = tscs
    else:
        lb = c.pod["metadata"]["labels"]
        if r.random() < 0.8:
            c.objs.append(
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": "svc", "namespace": "default"},
                    "spec": {"selector": {"app": lb["app"]} if r.random() < 0.9 else {"app": "nope"}},
                }
            )
        if r.random() < 0.5:
            kind, ver = r.choice(
                [("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1"), ("ReplicationController", "v1")]
            )
            sel = {"app": lb["app"]}
            c.objs.append(
                {
                    "apiVersion": ver,
                    "kind": kind,
                    "metadata": {"name": "owner", "namespace": "default", "uid": "uid-owner"},
                    "spec": {
                        "selector": sel if kind == "ReplicationController" else {"matchLabels": sel},
                        "template": {"metadata": {"labels": sel}, "spec": {"containers": []}},
                    },
                }
            )
            c.pod["metadata"]["ownerReferences"] = [
                {"apiVersion": ver, "kind": kind, "name": "owner", "uid": "uid-owner", "controller": True}
            ]
    if r.random() < 0.12:
        c.plugin_args(
            "PodTopologySpread",
            {
                "defaultingType": "List",
                "defaultConstraints": [
                    {
                        "maxSkew": r.choice([1, 2]),
                        "topologyKey": r.choice([ZONE, HOST, "rack"]),
                        "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"]),
                    }
                ],
            },
        )
    if r.random() < 0.3:
        c.pod["spec"]["nodeSelector"] = {"disktype": r.choice(["ssd", "hdd"])}
    if r.random() < 0.2:
        c.pod["spec"]["tolerations"] = [{"key": "maint", "operator": "Exists"}]
    c.requests(cpu=r.choice(["100m", "1"]))


def affinity_term(c: Case, sel: bool = True) -> Any:
    """A pod affinity term."""
    r = c.r
    t: Any = {"topologyKey": r.choice([ZONE, ZONE, HOST, HOST, "rack", REGION])}
    if r.random() < 0.96:
        t["labelSelector"] = selector(c)
    if r.random() < 0.25:
        t["namespaces"] = r.choice([["default"], ["other"], ["default", "other"], ["third"]])
    if r.random() < 0.2:
        t["namespaceSelector"] = r.choice(
            [
                {},
                {"matchLabels": {"team": "core"}},
                {"matchLabels": {"team": "edge"}},
                {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
            ]
        )
    return t


def with_label_keys(c: Case, t: Any, labels: Any) -> Any:
    """matchLabelKeys/mismatchLabelKeys, merged into the selector as the API server does it."""
    r = c.r
    if "labelSelector" not in t or r.random() > 0.2:
        return t
    f, op = r.choice([("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")])
    k = r.choice(["pod-template-hash", "tenant"])
    t[f] = [k]
    if k in labels and r.random() < 0.9:
        t["labelSelector"].setdefault("matchExpressions", []).append({"key": k, "operator": op, "values": [labels[k]]})
    return t


def pod_affinity(c: Case, labels: Any, req: float = 0.5, pref: float = 0.5) -> Any:
    """Affinity and anti-affinity of a pod."""
    r = c.r
    a = {}
    for kind in ("podAffinity", "podAntiAffinity"):
        if r.random() < 0.4:
            continue
        x = {}
        if r.random() < req:
            x["requiredDuringSchedulingIgnoredDuringExecution"] = [
                with_label_keys(c, affinity_term(c), labels) for _ in range(r.choice([1, 1, 2]))
            ]
        if r.random() < pref:
            x["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {
                    "weight": r.choice([1, 10, 30, 50, 100]),
                    "podAffinityTerm": with_label_keys(c, affinity_term(c), labels),
                }
                for _ in range(r.choice([1, 2, 3]))
            ]
        if x:
            a[kind] = x
    return a


def interpod(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Required and preferred terms, also those of the pods that are there already."""
    r = c.r
    c.ns("other", {"team": "edge"})
    c.ns("third", {})
    dens = r.choice([[0, 1], [0, 0, 0, 1], [0, 1, 2, 3]])
    for n in c.nodes:
        for _ in range(r.choice(dens)):
            lb = {"app": r.choice(["web", "db", "cache"]), "pod-template-hash": r.choice(["h1", "h2"])}
            if r.random() < 0.5:
                lb["tier"] = r.choice(["front", "back"])
            if r.random() < 0.3:
                lb["tenant"] = r.choice(["t1", "t2"])
            p = c.add_pod(
                n,
                {"cpu": "50m"},
                labels=lb,
                ns=r.choice(["default", "default", "other", "third"]),
                priority=r.choice([None, 0, 10]),
            )
            if r.random() < 0.35:
                a = pod_affinity(c, lb, 0.25, 0.7)
                if a:
                    p["spec"]["affinity"] = a
            if r.random() < 0.03:
                p["metadata"]["deletionTimestamp"] = "2026-11-20T00:00:00Z"
                p["metadata"]["deletionGracePeriodSeconds"] = 30
    if r.random() < 0.3:
        c.pod["metadata"]["labels"]["tenant"] = "t1"
    if r.random() < 0.5:
        c.pod["metadata"]["labels"]["tier"] = r.choice(["front", "back"])
    a = pod_affinity(c, c.pod["metadata"]["labels"], 0.6, 0.7)
    if a:
        c.pod["spec"]["affinity"] = a
    if r.random() < 0.25:
        c.plugin_args(
            "InterPodAffinity",
            {
                "hardPodAffinityWeight": r.choice([0, 1, 50, 100]),
                "ignorePreferredTermsOfExistingPods": r.random() < 0.5,
            },
        )
    if r.random() < 0.3:
        c.pod["spec"]["priority"] = 5
