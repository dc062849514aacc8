"""Node and Namespace, as far as scheduling reads them."""

from __future__ import annotations

from msgspec import field

from scheduler.api.meta import Int64, Model, ObjectMeta, ResourceList


class Taint(Model, frozen=True, kw_only=True):
    """core/v1 Taint."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Model, frozen=True, kw_only=True):
    """core/v1 NodeSpec."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = field(default="", name="providerID")


class NodeCondition(Model, frozen=True, kw_only=True):
    """core/v1 NodeCondition."""

    type: str = ""
    status: str = ""
    reason: str = ""


class ContainerImage(Model, frozen=True, kw_only=True):
    """core/v1 ContainerImage."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeStatus(Model, frozen=True, kw_only=True):
    """core/v1 NodeStatus."""

    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(Model, frozen=True, kw_only=True):
    """core/v1 Node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Model, frozen=True, kw_only=True):
    """core/v1 Namespace."""

    metadata: ObjectMeta = ObjectMeta()
