"""Services and the controllers of pods, policies, priority classes and leases."""

from __future__ import annotations

from msgspec import field

from scheduler.api.meta import Int32, Int64, LabelSelector, Model, ObjectMeta


class ServiceSpec(Model, frozen=True, kw_only=True):
    """core/v1 ServiceSpec. No selector and an empty one are alike here, and neither selects a pod."""

    selector: dict[str, str] = field(default_factory=dict)


class Service(Model, frozen=True, kw_only=True):
    """core/v1 Service."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(Model, frozen=True, kw_only=True):
    """core/v1 ReplicationControllerSpec."""

    selector: dict[str, str] = field(default_factory=dict)


class ReplicationController(Model, frozen=True, kw_only=True):
    """core/v1 ReplicationController."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class SelectingSpec(Model, frozen=True, kw_only=True):
    """The part of apps/v1 ReplicaSetSpec and StatefulSetSpec that scheduling reads."""

    selector: LabelSelector | None = None


class ReplicaSet(Model, frozen=True, kw_only=True):
    """apps/v1 ReplicaSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: SelectingSpec = SelectingSpec()


class StatefulSet(Model, frozen=True, kw_only=True):
    """apps/v1 StatefulSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: SelectingSpec = SelectingSpec()


class PodDisruptionBudgetSpec(Model, frozen=True, kw_only=True):
    """policy/v1 PodDisruptionBudgetSpec."""

    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Model, frozen=True, kw_only=True):
    """policy/v1 PodDisruptionBudgetStatus. ``disrupted_pods`` maps pod names to times of eviction."""

    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, str | None] = field(default_factory=dict)


class PodDisruptionBudget(Model, frozen=True, kw_only=True):
    """policy/v1 PodDisruptionBudget."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(Model, frozen=True, kw_only=True):
    """scheduling.k8s.io/v1 PriorityClass."""

    metadata: ObjectMeta = ObjectMeta()
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class LeaseSpec(Model, frozen=True, kw_only=True):
    """coordination.k8s.io/v1 LeaseSpec. Times are RFC 3339 texts with microseconds."""

    holder_identity: str | None = None
    lease_duration_seconds: Int64 | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: Int64 | None = None


class Lease(Model, frozen=True, kw_only=True):
    """coordination.k8s.io/v1 Lease."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()
