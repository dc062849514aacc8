"""Profile dra: devices and claims to them."""

from __future__ import annotations

from typing import Any

from e2e.oracle.cases.case import ZONE, Case

CLASS = "gpu.example.com"


def dra(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Devices of one driver, claims on them, and a pod that has some."""
    r = c.r
    api = "resource.k8s.io/v1"
    ext = r.random() < 0.2
    sel = [{"cel": {"expression": f'device.driver == "{CLASS}"'}}]
    first = len(c.objs)
    c.objs.append(
        {
            "apiVersion": api,
            "kind": "DeviceClass",
            "metadata": {"name": CLASS},
            "spec": {
                "selectors": sel if r.random() < 0.8 else [],
                **({"extendedResourceName": "example.com/gpu"} if ext else {}),
            },
        }
    )
    c.objs.append(
        {
            "apiVersion": api,
            "kind": "DeviceClass",
            "metadata": {"name": "big"},
            "spec": {
                "selectors": [
                    *sel,
                    {"cel": {"expression": f'device.capacity["{CLASS}"].memory.compareTo(quantity("40Gi")) >= 0'}},
                ]
            },
        }
    )

    def device(name: str) -> Any:
        d: Any = {
            "name": name,
            "attributes": {
                "model": {"string": r.choice(["a100", "h100", "l4"])},
                "numa": {"int": r.randint(0, 1)},
                "ecc": {"bool": r.random() < 0.7},
                "driverVersion": {"version": r.choice(["1.2.3", "2.0.0"])},
            },
            "capacity": {"memory": {"value": r.choice(["16Gi", "40Gi", "80Gi"])}},
        }
        if r.random() < 0.1:
            del d["attributes"]["model"]
        if r.random() < 0.12:
            d["taints"] = [
                {"key": "broken", "effect": r.choice(["NoSchedule", "NoExecute"]), "timeAdded": "2026-11-01T00:00:00Z"}
            ]
        return d

    devs: Any = {}
    for n in c.nodes:
        if r.random() < 0.75:
            nm = c.name(n)
            gen = r.choice([1, 1, 1, 2])
            count = r.choice([1, 1, 1, 2])
            complete = r.random() < 0.95
            devs[nm] = []
            for s in range(count):
                dd = [device(f"gpu-{s}-{i}") for i in range(r.randint(1, 4))]
                devs[nm] += [(nm, d["name"]) for d in dd]
                if not complete and s == count - 1 and count > 1:
                    continue
                c.objs.append(
                    {
                        "apiVersion": api,
                        "kind": "ResourceSlice",
                        "metadata": {"name": f"slice-{nm}-{s}"},
                        "spec": {
                            "driver": CLASS,
                            "pool": {
                                "name": nm,
                                "generation": gen,
                                "resourceSliceCount": count if complete or count > 1 else 2,
                            },
                            "nodeName": nm,
                            "devices": dd,
                        },
                    }
                )
    if r.random() < 0.2:
        scope: Any = r.choice(
            [
                {"allNodes": True},
                {
                    "nodeSelector": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-a"]}]}
                        ]
                    }
                },
            ]
        )
        c.objs.append(
            {
                "apiVersion": api,
                "kind": "ResourceSlice",
                "metadata": {"name": "net"},
                "spec": {
                    "driver": CLASS,
                    "pool": {"name": "net", "generation": 1, "resourceSliceCount": 1},
                    **scope,
                    "devices": [device("n0"), device("n1")],
                },
            }
        )
    if r.random() < 0.15:
        c.objs.append(_mixed_slice([device(f"own-{number}") for number in range(3)]))
    i = 0
    for nm, lst in devs.items():
        for pool, dev in lst:
            if r.random() < 0.3:
                i += 1
                c.objs.append(
                    {
                        "apiVersion": api,
                        "kind": "ResourceClaim",
                        "metadata": {"name": f"used-{i}", "namespace": "default", "uid": f"uid-used-{i}"},
                        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": CLASS}}]}},
                        "status": {
                            "allocation": {
                                "devices": {
                                    "results": [{"request": "r", "driver": CLASS, "pool": pool, "device": dev}]
                                },
                                "nodeSelector": {
                                    "nodeSelectorTerms": [
                                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [nm]}]}
                                    ]
                                },
                            },
                            "reservedFor": [{"resource": "pods", "name": "x", "uid": f"uid-x{i}"}],
                        },
                    }
                )
    if ext and r.random() < 0.8:
        c.requests(**{"example.com/gpu": str(r.randint(1, 2))})
        c.container()["resources"]["limits"] = {
            "example.com/gpu": c.container()["resources"]["requests"]["example.com/gpu"]
        }
        for n in c.nodes:
            if r.random() < 0.3:
                n["status"]["allocatable"]["example.com/gpu"] = str(r.randint(0, 3))
                n["status"]["capacity"]["example.com/gpu"] = n["status"]["allocatable"]["example.com/gpu"]
        if r.random() < 0.7:
            _score(c, plain=not c.objs[first]["spec"]["selectors"])
        if r.random() < 0.6:
            return

    def exactly(cls: str | None = None) -> Any:
        e: Any = {"deviceClassName": cls or r.choice([CLASS, CLASS, "big"] + (["nosuch"] if r.random() < 0.1 else []))}
        if r.random() < 0.4:
            e["selectors"] = [
                {
                    "cel": {
                        "expression": r.choice(
                            [
                                f'device.attributes["{CLASS}"].model == "a100"',
                                f'device.attributes["{CLASS}"].ecc',
                                f'device.attributes["{CLASS}"].numa == 0',
                                f'device.capacity["{CLASS}"].memory.isGreaterThan(quantity("20Gi"))',
                                f'device.attributes["{CLASS}"].driverVersion.isGreaterThan(semver("1.5.0"))',
                                f'"model" in device.attributes["{CLASS}"]'
                                f' && device.attributes["{CLASS}"].model in ["h100", "l4"]',
                            ]
                        )
                    }
                }
            ]
        x = r.random()
        if x < 0.2:
            e["count"] = r.randint(2, 3)
        elif x < 0.3:
            e["allocationMode"] = "All"
        if r.random() < 0.15:
            e["tolerations"] = [{"key": "broken", "operator": "Exists"}]
        return e

    claims = []
    for i in range(r.choice([1, 1, 1, 2])):
        reqs = []
        for q in range(r.choice([1, 1, 2])):
            if r.random() < 0.25:
                subs = [dict(name=f"s{s}", **exactly()) for s in range(r.randint(2, 3))]
                reqs.append({"name": f"r{q}", "firstAvailable": subs})
            else:
                reqs.append({"name": f"r{q}", "exactly": exactly()})
        spec = {"devices": {"requests": reqs}}
        if r.random() < 0.25:
            spec["devices"]["constraints"] = [{"matchAttribute": CLASS + "/" + r.choice(["model", "numa"])}]
        name = f"claim-{i}"
        cl: Any = {
            "apiVersion": api,
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": "uid-" + name},
            "spec": spec,
            "status": {},
        }
        x = r.random()
        if x < 0.15 and devs:
            nm = r.choice(sorted(devs))
            pool, dev = devs[nm][0]
            cl["spec"] = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": CLASS}}]}}
            cl["status"] = {
                "allocation": {
                    "devices": {"results": [{"request": "r", "driver": CLASS, "pool": pool, "device": dev}]},
                    "nodeSelector": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [nm]}]}
                        ]
                    },
                }
            }
        pc = {"name": f"pc{i}", "resourceClaimName": name}
        if r.random() < 0.25:
            pc = {"name": f"pc{i}", "resourceClaimTemplateName": "tmpl"}
            if r.random() < 0.85:
                c.pod["status"].setdefault("resourceClaimStatuses", []).append(
                    {"name": f"pc{i}", "resourceClaimName": name}
                )
                cl["metadata"]["ownerReferences"] = [
                    {"apiVersion": "v1", "kind": "Pod", "name": "target", "uid": "uid-target", "controller": True}
                ]
        if r.random() < 0.96:
            c.objs.append(cl)
        claims.append(pc)
    c.pod["spec"]["resourceClaims"] = claims
    c.container()["resources"]["claims"] = [{"name": p["name"]} for p in claims]
    c.requests(cpu="100m")


def _mixed_slice(devices: list[Any]) -> Any:
    """A slice whose devices each say for themselves which nodes have them."""
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-b"]}]}
    devices[0]["nodeName"], devices[1]["allNodes"] = "node-00", True
    devices[2]["nodeSelector"] = {"nodeSelectorTerms": [term]}
    pool = {"name": "mixed", "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "mixed"},
        "spec": {"driver": CLASS, "pool": pool, "perDeviceNodeSelection": True, "devices": devices},
    }


def _score(c: Case, *, plain: bool) -> None:
    """Score nodes by the devices that stand for a resource.

    With NodeResourcesBalancedAllocation only for a class without selectors (``plain``): others crash kube-scheduler.
    """
    resources = [{"name": name, "weight": 1} for name in ("cpu", "example.com/gpu")]
    strategy = {"type": c.r.choice(["LeastAllocated", "MostAllocated"]), "resources": resources}
    c.plugin_args("NodeResourcesFit", {"scoringStrategy": strategy})
    if plain:
        c.plugin_args("NodeResourcesBalancedAllocation", {"resources": resources})
