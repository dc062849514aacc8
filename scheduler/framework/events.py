"""What happens in the cluster, as plugins ask to hear of it (k8s.io/kube-scheduler/framework/types.go).

A plugin that rejects a pod names the events that may change its mind, each with a hint: a function that looks at
the event's old and new object and says whether a pod of the given shape is worth another try.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo


class ActionType(enum.IntFlag):
    """What happened to an object; combinations are possible."""

    NONE = 0
    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_NODE_PREEMPTION_POLICY = 1 << 8
    UPDATE_POD_LABEL = 1 << 9
    UPDATE_POD_SCALE_DOWN = 1 << 10
    UPDATE_POD_SCALE_UP = 1 << 11
    UPDATE_POD_TOLERATION = 1 << 12
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 13
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 14
    UPDATE = (1 << 15) - 1 - 3
    ALL = (1 << 15) - 1


_ACTION_WORDS: Final = {
    ActionType.ADD: "Add",
    ActionType.DELETE: "Delete",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE_NODE_PREEMPTION_POLICY: "UpdateNodePreemptionPolicy",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel",
    ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp",
    ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    ActionType.UPDATE: "Update",
    ActionType.ALL: "All",
}


class EventResource(enum.StrEnum):
    """The kinds of object that events are about."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    WILDCARD = "*"


class ClusterEvent:
    """One thing that happened: to which kind of object, and what. Not to be changed.

    `label` is how metrics and logs name it, e.g. "NodeAdd" or "AssignedPodDelete" (ClusterEvent.Label).
    """

    __slots__ = ("_hash", "action", "label", "resource")

    def __init__(self, resource: EventResource, action: ActionType, custom_label: str = "") -> None:
        self.resource = resource
        self.action = action
        self.label = custom_label or f"{resource}{_ACTION_WORDS.get(action, '')}"
        self._hash = hash((self.label, int(action)))  # of enums it takes a microsecond

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, ClusterEvent)
            and self.label == other.label
            and self.resource is other.resource
            and self.action == other.action
        )

    def __repr__(self) -> str:
        return f"ClusterEvent({self.label})"


class OfProfile(msgspec.Struct, frozen=True):
    """What an event is about that concerns all pods of one profile: its scheduler name."""

    name: str


class QueueingHint(enum.IntEnum):
    """Whether an event makes another try worth while."""

    SKIP = 0
    QUEUE = 1


HintFunction = Callable[["PodInfo", Any, Any], QueueingHint]
"""(the waiting pod, the object before or None, the object after or None) -> hint.

Node events carry `api.Node`, pod events `PodInfo`, all others the api struct of their kind. A hint looks at nothing
of the waiting pod but its shape, unless the event is about that very pod (TARGET_POD): it is run once per shape.
"""


class EventHint(msgspec.Struct, frozen=True):
    """One kind of event that a plugin asks to hear of; no hint function means that any such event may help."""

    resource: EventResource
    actions: ActionType
    hint: HintFunction | None = None
