"""Profile volumes: claims, volumes, classes, drivers and their limits."""

from __future__ import annotations

import json
from typing import Any

from e2e.oracle.cases.case import HOST, REGION, ZONE, Case


def volumes(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Bound, unbound and missing claims with their volumes, classes and limits."""
    r = c.r
    drv = "csi.example.com"
    c.objs += [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "imm"},
            "provisioner": drv,
            "volumeBindingMode": "Immediate",
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "wffc"},
            "provisioner": drv,
            "volumeBindingMode": "WaitForFirstConsumer",
            **(
                {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["zone-a", "zone-b"]}]}]}
                if r.random() < 0.3
                else {}
            ),
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "local"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    ]
    cap = r.random() < 0.4
    c.objs.append(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": {"name": drv},
            "spec": {
                "attachRequired": r.random() < 0.8,
                "storageCapacity": cap,
                **({"preventPodSchedulingIfMissing": True} if r.random() < 0.3 else {}),
            },
        }
    )
    if cap:
        for z in "abc":
            if r.random() < 0.75:
                c.objs.append(
                    {
                        "apiVersion": "storage.k8s.io/v1",
                        "kind": "CSIStorageCapacity",
                        "metadata": {"name": "cap-" + z, "namespace": "kube-system"},
                        "storageClassName": "wffc",
                        "nodeTopology": {"matchLabels": {ZONE: "zone-" + z}},
                        "capacity": r.choice(["1Gi", "5Gi", "100Gi", "0"]),
                        **({"maximumVolumeSize": r.choice(["2Gi", "50Gi"])} if r.random() < 0.4 else {}),
                    }
                )
    limit = r.random() < 0.5
    for n in c.nodes:
        if r.random() < 0.92:
            d: Any = {"name": drv, "nodeID": c.name(n), "topologyKeys": [ZONE]}
            if limit and r.random() < 0.8:
                d["allocatable"] = {"count": r.choice([0, 1, 1, 2, 3])}
            c.objs.append(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {"name": c.name(n)},
                    "spec": {"drivers": [d] if r.random() < 0.95 else []},
                }
            )
    counter = [0]

    def pv(
        node: Any = None,
        cls: str = "imm",
        size: str = "10Gi",
        claim: str | None = None,
        modes: Any = None,
        mode: str = "Filesystem",
        csi: bool = True,
    ) -> Any:
        counter[0] += 1
        name = f"pv-{counter[0]:02d}"
        # No two sizes are alike: the scheduler picks at random among equally small volumes.
        size = f"{int(size[:-2]) * 1024 + counter[0]}Mi"
        o: Any = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "uid": "uid-" + name, "labels": {}},
            "spec": {
                "capacity": {"storage": size},
                "accessModes": modes or ["ReadWriteOnce"],
                "storageClassName": cls,
                "volumeMode": mode,
                "persistentVolumeReclaimPolicy": "Delete",
            },
            "status": {"phase": "Available"},
        }
        if csi:
            o["spec"]["csi"] = {"driver": drv, "volumeHandle": "h-" + name}
        else:
            o["spec"]["local"] = {"path": "/mnt/x"}
        x = r.random()
        if node:
            o["spec"]["nodeAffinity"] = {
                "required": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]
                }
            }
        elif x < 0.4:
            o["spec"]["nodeAffinity"] = {
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": ZONE,
                                    "operator": "In",
                                    "values": r.sample(["zone-a", "zone-b", "zone-c"], r.randint(1, 2)),
                                }
                            ]
                        }
                    ]
                }
            }
        elif x < 0.65:
            o["metadata"]["labels"] = {
                r.choice([ZONE, "failure-domain.beta.kubernetes.io/zone"]): r.choice(
                    ["zone-a", "zone-b__zone-c", "zone-c"]
                )
            }
            if r.random() < 0.3:
                o["metadata"]["labels"][REGION] = "r1"
        if claim:
            o["spec"]["claimRef"] = {
                "kind": "PersistentVolumeClaim",
                "namespace": "default",
                "name": claim,
                "uid": "uid-" + claim,
            }
            o["status"]["phase"] = "Bound"
        c.objs.append(o)
        return o

    def pvc(
        name: str, cls: Any, size: str = "5Gi", modes: Any = None, vol: Any = None, ann: Any = None, **extra: Any
    ) -> Any:
        o: Any = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default", "uid": "uid-" + name, "annotations": ann or {}},
            "spec": {
                "accessModes": modes or ["ReadWriteOnce"],
                "storageClassName": cls,
                "resources": {"requests": {"storage": size}},
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Bound" if vol else "Pending"},
        }
        if vol:
            o["spec"]["volumeName"] = vol["metadata"]["name"]
            o["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        o["spec"].update(extra)
        c.objs.append(o)
        return o

    vols: Any = []
    for i in range(r.choice([1, 1, 1, 2, 2, 3])):
        name = f"claim-{i}"
        k = r.choice(
            [
                "bound",
                "bound",
                "bound",
                "wffc",
                "wffc",
                "local",
                "local",
                "local",
                "rwop",
                "immediate",
                "missing",
                "ephemeral",
                "inline",
                "selected",
                "lost",
            ]
        )
        if k == "bound":
            v = pv(claim=name)
            o = pvc(name, "imm", vol=v)
            if r.random() < 0.04:
                o["metadata"]["deletionTimestamp"] = "2026-11-20T00:00:00Z"
            if r.random() < 0.04:
                c.objs.remove(v)
        elif k == "rwop":
            v = pv(claim=name, modes=["ReadWriteOncePod"])
            pvc(name, "imm", vol=v, modes=["ReadWriteOncePod"])
            if r.random() < 0.6:
                c.add_pod(
                    r.choice(c.nodes),
                    {"cpu": "10m"},
                    priority=r.choice([0, 5]),
                    volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}],
                )
                c.pod["spec"]["priority"] = r.choice([0, 10, 10])
        elif k == "wffc":
            o = pvc(name, "wffc", size=r.choice(["1Gi", "3Gi", "20Gi"]))
        elif k == "selected":
            pvc(name, "wffc", ann={"volume.kubernetes.io/selected-node": c.name(r.choice(c.nodes))})
        elif k == "local":
            prebound = False
            for n in c.nodes:
                for _ in range(r.choice([0, 1, 1, 2])):
                    v = pv(
                        node=c.name(n),
                        cls="local",
                        size=r.choice(["2Gi", "5Gi", "10Gi", "50Gi"]),
                        csi=False,
                        mode=r.choice(["Filesystem", "Filesystem", "Filesystem", "Block"]),
                    )
                    if r.random() < 0.3:
                        v["metadata"]["labels"]["tier"] = "gold"
                    if r.random() < 0.15:  # reserved; for this claim at most once, or the choice would be random
                        who = "someone" if prebound or r.random() < 0.7 else name
                        prebound = prebound or who == name
                        v["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": who}
                    if r.random() < 0.05:
                        v["status"]["phase"] = "Released"
            gold: Any = {"selector": {"matchLabels": {"tier": "gold"}}} if r.random() < 0.25 else {}
            pvc(name, "local", **gold)
        elif k == "immediate":
            pvc(name, r.choice(["imm", "", "nosuch"]))
        elif k == "lost":
            o = pvc(name, "imm")
            o["status"]["phase"] = "Lost"
            o["spec"]["volumeName"] = "gone"
            o["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        if k == "ephemeral":
            if r.random() < 0.8:
                o = pvc(f"target-v{i}", "wffc", size="1Gi")
                if r.random() < 0.85:
                    o["metadata"]["ownerReferences"] = [
                        {"apiVersion": "v1", "kind": "Pod", "name": "target", "uid": "uid-target", "controller": True}
                    ]
            vols.append(
                {
                    "name": f"v{i}",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "storageClassName": "wffc",
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            )
        elif k == "inline":
            s: Any = r.choice(
                [
                    {"gcePersistentDisk": {"pdName": "pd1", "readOnly": r.random() < 0.5}},
                    {"awsElasticBlockStore": {"volumeID": "vol-1"}},
                    {
                        "iscsi": {
                            "targetPortal": "10.0.0.1:3260",
                            "iqn": "iqn.2026-01.com.example:x",
                            "lun": 0,
                            "readOnly": r.random() < 0.5,
                        }
                    },
                    {"rbd": {"monitors": ["m1", "m2"], "image": "img", "pool": "rbd", "readOnly": r.random() < 0.5}},
                    {"csi": {"driver": drv}},
                    {"configMap": {"name": "x"}},
                    {"emptyDir": {}},
                ]
            )
            vols.append(dict(name=f"v{i}", **s))
            for n in c.nodes:
                if r.random() < 0.4:
                    s2 = json.loads(json.dumps(s))
                    for v in s2.values():
                        if "readOnly" in v:
                            v["readOnly"] = r.random() < 0.6
                    c.add_pod(n, {"cpu": "10m"}, volumes=[dict(name="v", **s2)], priority=0)
        else:
            vols.append({"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}})
    c.pod["spec"]["volumes"] = vols
    if limit:  # other pods with attached volumes, some of them shared with the target pod
        for n in c.nodes:
            for _ in range(r.choice([0, 1, 2])):
                cn = f"oc-{counter[0]}"
                pvc(cn, "imm", vol=pv(claim=cn))
                c.add_pod(
                    n,
                    {"cpu": "10m"},
                    volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": cn}}],
                    priority=r.choice([0, 5]),
                )
            if r.random() < 0.15:
                c.objs.append(
                    {
                        "apiVersion": "storage.k8s.io/v1",
                        "kind": "VolumeAttachment",
                        "metadata": {"name": "va-" + c.name(n)},
                        "spec": {
                            "attacher": drv,
                            "nodeName": c.name(n),
                            "source": {"persistentVolumeName": r.choice(["pv-01", "pv-77"])},
                        },
                        "status": {"attached": True},
                    }
                )
        if r.random() < 0.4:
            c.pod["spec"]["priority"] = 10
    c.fill(0, 1)
