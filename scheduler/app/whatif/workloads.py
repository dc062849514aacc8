"""Workloads, as far as pods can be made of them: what a controller would do about a new object, once.

There are no controllers in a simulation. A workload of the input that has no pod yet gets those that its controller
would make; what a rollout would do to pods that are there is not tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.defaults import default_in_place
from scheduler.api.meta import Int32  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.api.objects import ObjectMeta, OwnerReference, PersistentVolumeClaim, Pod
from scheduler.api.owners import controller_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPLOYMENT: Final = "Deployment"
STATEFUL_SET: Final = "StatefulSet"
DAEMON_SET: Final = "DaemonSet"
JOB: Final = "Job"

API_VERSIONS: Final = {
    DEPLOYMENT: "apps/v1",
    STATEFUL_SET: "apps/v1",
    "ReplicaSet": "apps/v1",
    DAEMON_SET: "apps/v1",
    JOB: "batch/v1",
    "ReplicationController": "v1",
}
"""The kinds of workloads that pods are made of, with their apiVersion."""


class _Template(msgspec.Struct, frozen=True, rename="camel"):
    metadata: dict[str, Any] | None = None
    spec: dict[str, Any] | None = None


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    replicas: Int32 | None = None
    parallelism: Int32 | None = None
    completions: Int32 | None = None
    template: _Template | None = None
    volume_claim_templates: list[dict[str, Any]] = []


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    succeeded: Int32 | None = None
    completion_time: str | None = None


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


class Workload(msgspec.Struct, frozen=True):
    """A workload with its template. `replicas` is how many pods there are to be; for a DaemonSet it says nothing."""

    kind: str
    namespace: str
    name: str
    uid: str
    replicas: int
    place: str
    template: Pod
    claims: tuple[PersistentVolumeClaim, ...] = ()
    owner: str = ""
    """The kind of the object that controls it, "" if it stands for itself."""

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.kind} {self.namespace}/{self.name}"

    def pod(self, name: str, uid: str) -> Pod:
        """One pod of it."""
        owner = OwnerReference(api_version=API_VERSIONS[self.kind], kind=self.kind, name=self.name, uid=self.uid)
        metadata = replace(
            self.template.metadata,
            name=name,
            namespace=self.namespace,
            uid=uid,
            owner_references=(replace(owner, controller=True),),
        )
        return replace(self.template, metadata=metadata)


def is_workload(api_version: str, kind: str) -> bool:
    """Whether pods are made of objects of this kind."""
    return API_VERSIONS.get(kind) == api_version


def workload_of(value: dict[str, Any], place: str) -> Workload | None:
    """The workload in a JSON object; None if it has no template. Raises DecodeError."""
    kind = value["kind"]
    found = decode_as(_Object, value)
    template = found.spec.template
    if template is None or template.spec is None:
        return None
    meta = found.metadata
    if not meta.name:
        raise DecodeError("missing; an object needs a name", "metadata.name")
    namespace = meta.namespace or "default"
    labels = (template.metadata or {}).get("labels") or {}
    annotations = (template.metadata or {}).get("annotations") or {}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": meta.name, "namespace": namespace, "labels": labels, "annotations": annotations},
        "spec": template.spec,
    }
    try:
        made = decode_as(Pod, default_in_place(msgspec.json.decode(msgspec.json.encode(pod))))
    except DecodeError as problem:
        raise DecodeError(problem.detail, f"spec.template.{problem.path}") from problem
    owner = controller_of(meta)
    return Workload(
        kind,
        namespace,
        meta.name,
        meta.uid or f"{kind}/{namespace}/{meta.name}",
        _wanted(kind, found),
        place,
        made,
        tuple(_claims(found.spec.volume_claim_templates, namespace)),
        owner.kind if owner is not None else "",
    )


def _wanted(kind: str, found: _Object) -> int:
    """How many pods the controller would see to."""
    if kind != JOB:
        return 1 if found.spec.replicas is None else found.spec.replicas
    if found.status.completion_time:
        return 0
    parallelism = 1 if found.spec.parallelism is None else found.spec.parallelism
    if found.spec.completions is None:
        return parallelism
    return min(parallelism, max(found.spec.completions - (found.status.succeeded or 0), 0))


def _claims(templates: list[dict[str, Any]], namespace: str) -> Iterator[PersistentVolumeClaim]:
    for index, template in enumerate(templates):
        claim = {**template, "apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        metadata = template.get("metadata")
        claim["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "namespace": namespace}
        try:
            yield decode_as(PersistentVolumeClaim, default_in_place(msgspec.json.decode(msgspec.json.encode(claim))))
        except DecodeError as problem:
            raise DecodeError(problem.detail, f"spec.volumeClaimTemplates[{index}].{problem.path}") from problem
