"""Events about claims, volumes, classes, drivers and attachments."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from e2e.oracle.cases.case import ZONE, Object

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

Event = dict[str, Any]

_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
_DRIVERS = ("csi.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com")
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
_IN_TREE = ("kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder")


def makers(r: random.Random, kinds: Mapping[str, Sequence[Object]], pod: Object) -> list[Callable[[], Event | None]]:
    """What makes such events, if there is any storage in the case."""
    if "StorageClass" not in kinds:
        return []
    claims = _claims_of(kinds.get("PersistentVolumeClaim", ()), pod)
    changes: list[tuple[Sequence[Object], Callable[[random.Random, Object], None]]] = [
        (claims, _change_claim),
        (kinds.get("PersistentVolumeClaim", ()), _change_claim),
        (kinds.get("PersistentVolume", ()), _change_volume),
        (kinds["StorageClass"], _change_class),
        (kinds.get("CSINode", ()), _change_csi_node),
        (kinds.get("CSIDriver", ()), _change_driver),
        (kinds.get("CSIStorageCapacity", ()), _change_capacity),
    ]
    made: list[Callable[[], Event | None]] = [partial(_event, r, items, change) for items, change in changes]
    return [*made, *made, lambda: _attachment(r)]


def _claims_of(claims: Sequence[Object], pod: Object) -> list[Object]:
    name = pod["metadata"]["name"]
    wanted = {
        volume.get("persistentVolumeClaim", {}).get("claimName", f"{name}-{volume['name']}")
        for volume in pod["spec"].get("volumes", [])
    }
    return [claim for claim in claims if claim["metadata"]["name"] in wanted]


def _event(r: random.Random, items: Sequence[Object], change: Callable[[random.Random, Object], None]) -> Event | None:
    if not items:
        return None
    item = r.choice(items)
    what = r.random()
    if what < 0.1:
        return {"old": item, "new": None}
    new = copy.deepcopy(item)
    for _ in range(r.choice([0, 1, 1, 2])):
        change(r, new)
    if what < 0.4:
        return {"old": None, "new": new}
    return {"old": item, "new": new} if r.random() < 0.6 else {"old": new, "new": item}


def _change_claim(r: random.Random, claim: Object) -> None:
    spec, annotations = claim["spec"], claim["metadata"].setdefault("annotations", {})
    change = r.random()
    if change < 0.3:
        spec["volumeName"] = r.choice(["", "pv-01", "pv-02"])
    elif change < 0.5:
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    elif change < 0.7:
        annotations["volume.kubernetes.io/selected-node"] = r.choice(["node-00", "node-01"])
    elif change < 0.85:
        spec["resources"] = {"requests": {"storage": r.choice(["1Gi", "20Gi"])}}
    else:
        claim["metadata"]["namespace"] = r.choice(["default", "other"])


def _change_volume(r: random.Random, volume: Object) -> None:
    spec, labels = volume["spec"], volume["metadata"].setdefault("labels", {})
    change = r.random()
    if change < 0.4:
        labels[r.choice([ZONE, _BETA_ZONE])] = r.choice(["zone-a", "zone-b__zone-c", "zone-c"])
    elif change < 0.55:
        labels.clear()
    elif change < 0.8:
        expression = {"key": ZONE, "operator": "In", "values": [r.choice(["zone-a", "zone-b"])]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    else:
        spec["capacity"] = {"storage": r.choice(["1Gi", "30Gi"])}
        spec["storageClassName"] = r.choice(["local", "imm"])


def _change_class(r: random.Random, storage_class: Object) -> None:
    change = r.random()
    if change < 0.6:
        zones = r.choice([["zone-a"], ["zone-b", "zone-c"], ["zone-b", "zone-a"]])
        storage_class["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}]
    elif change < 0.8:
        storage_class.pop("allowedTopologies", None)
    else:
        storage_class["volumeBindingMode"] = r.choice(["Immediate", "WaitForFirstConsumer"])


def _change_csi_node(r: random.Random, csi_node: Object) -> None:
    change = r.random()
    drivers = csi_node["spec"]["drivers"]
    if change < 0.3:
        listed = ",".join(r.sample(_IN_TREE, r.choice([0, 1, 2])))
        csi_node["metadata"].setdefault("annotations", {})[_MIGRATED] = listed
    elif change < 0.7 and drivers:
        driver = r.choice(drivers)
        driver["allocatable"] = r.choice([{"count": 0}, {"count": 2}, {"count": 9}, {}])
    elif drivers:
        drivers.pop()
    else:
        drivers.append({"name": r.choice(_DRIVERS), "nodeID": "n", "topologyKeys": [], "allocatable": {"count": 3}})


def _change_driver(r: random.Random, driver: Object) -> None:
    spec = driver["spec"]
    field = r.choice(["storageCapacity", "storageCapacity", "attachRequired", "preventPodSchedulingIfMissing"])
    spec[field] = not spec.get(field, False)


def _change_capacity(r: random.Random, capacity: Object) -> None:
    field = r.choice(["capacity", "capacity", "maximumVolumeSize"])
    if r.random() < 0.2:
        capacity.pop(field, None)
    else:
        capacity[field] = r.choice(["0", "1Gi", "500Gi"])


def _attachment(r: random.Random) -> Event:
    attachment = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": "va"},
        "spec": {
            "attacher": r.choice(_DRIVERS),
            "nodeName": "node-00",
            "source": {"persistentVolumeName": r.choice(["pv-01", "pv-02", "other"])},
        },
        "status": {"attached": True},
    }
    return {"old": attachment, "new": None} if r.random() < 0.8 else {"old": None, "new": attachment}
