"""Profile storage: the cases of profile volumes with what is rare in them: migrated drivers, odd classes and terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from e2e.oracle.cases.case import HOST, REGION, ZONE, Case, Object
from e2e.oracle.cases.volumes import volumes

if TYPE_CHECKING:
    from collections.abc import Callable

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
DRIVER_ZONES = ("topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.cinder.csi.openstack.org/zone")
IN_TREE = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
_VALUES = ("zone-a", "zone-b", "zone-c", "r1", "node-00", "node-01", "node-02")


def storage(c: Case) -> None:
    """A case of profile volumes, each of its objects changed now and then; half of them with migrated drivers."""
    volumes(c)
    migrates = c.p(0.5)
    for node in c.nodes:
        _node(c, node)
    changes: dict[str, Callable[[Case, Object], None]] = {
        "PersistentVolume": _volume,
        "PersistentVolumeClaim": _claim,
        "StorageClass": _class,
        "CSIStorageCapacity": _capacity,
    }
    for item in c.objs:
        if item["kind"] in changes:
            changes[item["kind"]](c, item)
        if migrates:
            _migrate(c, item)
    _odd(c, migrates=migrates)


def _odd(c: Case, *, migrates: bool) -> None:
    """Volumes of pods and attachments that are rare."""
    if migrates:
        for pod in (*c.pods, c.pod):
            if c.p(0.4):
                pod["spec"].setdefault("volumes", []).append({"name": "in-tree", **_source(c)})
    for pod in c.pods:
        if pod["spec"].get("volumes") and c.p(0.1):
            pod["metadata"]["namespace"] = "other"
    if c.p(0.15):
        volume = {"name": "inline-csi", "csi": {"driver": "csi.example.com"}}
        c.pod["spec"].setdefault("volumes", []).append(volume)
    for node in c.nodes:
        if c.p(0.15):
            c.objs.append(_attachment(c, c.name(node)))


def _attachment(c: Case, node: str) -> Object:
    """A volume attached to a node that no pod there is known for, or what names no volume that counts."""
    inline = {"capacity": {"storage": "1Gi"}, "csi": {"driver": "csi.example.com", "volumeHandle": "inline"}}
    source = c.r.choice(
        [{"persistentVolumeName": "pv-01"}, {"persistentVolumeName": "pv-02"}, {"inlineVolumeSpec": inline}]
    )
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": f"odd-{node}"},
        "spec": {"attacher": c.r.choice(["csi.example.com", ""]), "nodeName": node, "source": source},
        "status": {"attached": True},
    }


def _node(c: Case, node: Object) -> None:
    labels = node["metadata"].setdefault("labels", {})
    zone = labels.get(ZONE, "zone-a")
    for key in (*DRIVER_ZONES, BETA_ZONE):
        if c.p(0.4):
            labels[key] = zone
    if c.p(0.2):
        labels[BETA_REGION] = "r1"
    if c.p(0.2):
        labels.pop(ZONE, None)


def _volume(c: Case, volume: Object) -> None:
    r, spec, meta = c.r, volume["spec"], volume["metadata"]
    if c.p(0.2):
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [_term(c) for _ in range(r.choice([1, 1, 2]))]}}
    if c.p(0.15):
        spec["volumeAttributesClassName"] = r.choice(["gold", "silver"])
    if c.p(0.15):
        spec["accessModes"] = r.choice([["ReadWriteMany"], ["ReadWriteOnce", "ReadOnlyMany"]])
    if c.p(0.1):
        meta.setdefault("annotations", {})[BETA_CLASS] = r.choice(["local", "wffc"])
    if c.p(0.05):
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if c.p(0.3):
        label = r.choice(["zone-a", "zone-b__zone-c", "us-east1-a__us-east1-b", "r1", "a__"])
        meta.setdefault("labels", {})[r.choice([ZONE, BETA_ZONE, REGION, BETA_REGION])] = label


def _term(c: Case) -> Object:
    term: Object = {"matchExpressions": [_requirement(c) for _ in range(c.r.choice([0, 1, 1, 2]))]}
    if c.p(0.2):
        term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [c.r.choice(_VALUES)]}]
    return term


def _requirement(c: Case) -> Object:
    key = c.r.choice([ZONE, BETA_ZONE, REGION, BETA_REGION, HOST, *DRIVER_ZONES])
    operator = c.r.choice(["In", "In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Odd"])
    values: dict[str, list[str]] = {
        "In": c.r.sample(_VALUES, c.r.choice([1, 2, 4])),
        "NotIn": c.r.sample(_VALUES, 1),
        "Gt": ["1"],
        "Odd": ["x"],
    }
    return {"key": key, "operator": operator, "values": values.get(operator, [])}


def _claim(c: Case, claim: Object) -> None:
    r, spec, annotations = c.r, claim["spec"], claim["metadata"].setdefault("annotations", {})
    if c.p(0.15):
        spec["volumeAttributesClassName"] = r.choice(["gold", "silver", ""])
    if c.p(0.15):
        spec["accessModes"] = r.choice([["ReadWriteMany"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOncePod"]])
    if c.p(0.1):
        annotations[BETA_CLASS] = r.choice(["local", "wffc", "", "nosuch"])
    if c.p(0.05):
        operator = r.choice(["In", "Odd"])
        spec["selector"] = {"matchExpressions": [{"key": "tier", "operator": operator, "values": ["gold"]}]}
    if c.p(0.05):
        spec["resources"] = {}
    if c.p(0.05):
        annotations.pop("pv.kubernetes.io/bind-completed", None)
    if c.p(0.1):
        spec["volumeMode"] = "Block"


def _class(c: Case, storage_class: Object) -> None:
    if storage_class["metadata"]["name"] == "wffc" and c.p(0.2):
        both = [{"key": ZONE, "values": ["zone-a"]}, {"key": REGION, "values": ["r1"]}]
        one = [{"key": ZONE, "values": ["zone-b"]}]
        terms: list[Any] = c.r.choice([[[]], [[{"key": ZONE, "values": []}]], [both, one]])
        storage_class["allowedTopologies"] = [{"matchLabelExpressions": term} for term in terms]


def _capacity(c: Case, capacity: Object) -> None:
    """Never for more nodes than before: among several that do the scheduler picks at random."""
    zone = capacity["nodeTopology"]["matchLabels"][ZONE]
    change = c.r.random()
    if change < 0.1:
        del capacity["nodeTopology"]
    elif change < 0.3:
        operator = c.r.choice(["In", "Odd"])
        capacity["nodeTopology"] = {"matchExpressions": [{"key": ZONE, "operator": operator, "values": [zone]}]}
    if c.p(0.1):
        del capacity["capacity"]


def _migrate(c: Case, item: Object) -> None:
    r = c.r
    if item["kind"] == "CSINode":
        if c.p(0.6):
            listed = ",".join(r.sample(sorted(IN_TREE), r.choice([1, 3, 7])))
            item["metadata"].setdefault("annotations", {})[_MIGRATED] = listed
        for driver in r.sample(sorted(IN_TREE.values()), r.choice([1, 3, 7])):
            entry: Object = {"name": driver, "nodeID": "n", "topologyKeys": []}
            if c.p(0.6):
                entry["allocatable"] = {"count": r.choice([0, 1, 2])}
            item["spec"]["drivers"].append(entry)
    elif item["kind"] == "PersistentVolume" and "csi" in item["spec"] and c.p(0.5):
        del item["spec"]["csi"]
        item["spec"].update(_source(c, secretNamespace="x"))
    elif item["kind"] == "StorageClass" and c.p(0.3):
        item["provisioner"] = r.choice([*IN_TREE, ""])


def _source(c: Case, **azure_file: str) -> dict[str, Any]:
    """A volume source of an in-tree driver."""
    r = c.r
    kind: Object = {"kind": r.choice(["Managed", "Dedicated"])} if c.p(0.5) else {}
    return r.choice(
        [
            {"awsElasticBlockStore": {"volumeID": r.choice(["vol-1", "aws://z/vol-2", "aws:///vol-1", "aws://z/no"])}},
            {"gcePersistentDisk": {"pdName": r.choice(["pd1", "pd2"])}},
            {"cinder": {"volumeID": r.choice(["c1", "c2"])}},
            {"azureDisk": {"diskName": "d", "diskURI": r.choice(["u1", "u2"]), **kind}},
            {"portworxVolume": {"volumeID": r.choice(["p1", "p2"])}},
            {"azureFile": {"secretName": "s", "shareName": "sh", **azure_file}},
            {"vsphereVolume": {"volumePath": "[x] y"}},
        ]
    )
