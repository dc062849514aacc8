"""Pod, as far as scheduling reads it."""

from __future__ import annotations

from msgspec import field

from scheduler.api.meta import (
    Int32,
    Int64,
    LabelSelector,
    Model,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    ResourceList,
    ResourceRequirements,
)
from scheduler.api.volumes import Volume, VolumeMount  # noqa: TC001 - msgspec resolves annotations at run time


class ContainerPort(Model, frozen=True, kw_only=True):
    """core/v1 ContainerPort."""

    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = ""


class ContainerRestartRule(Model, frozen=True, kw_only=True):
    """core/v1 ContainerRestartRule."""

    action: str = ""


class ResourceClaimUse(Model, frozen=True, kw_only=True):
    """core/v1 ResourceClaim: a container's use of one of its pod's claims."""

    name: str = ""
    request: str = ""


class ContainerResources(ResourceRequirements, frozen=True, kw_only=True):
    """core/v1 ResourceRequirements with the claims that the container uses."""

    claims: tuple[ResourceClaimUse, ...] = ()


class Container(Model, frozen=True, kw_only=True):
    """core/v1 Container, of containers and init containers."""

    name: str = ""
    image: str = ""
    resources: ContainerResources = ContainerResources()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()


class Toleration(Model, frozen=True, kw_only=True):
    """core/v1 Toleration."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class PreferredSchedulingTerm(Model, frozen=True, kw_only=True):
    """core/v1 PreferredSchedulingTerm."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Model, frozen=True, kw_only=True):
    """core/v1 NodeAffinity."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Model, frozen=True, kw_only=True):
    """core/v1 PodAffinityTerm."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Model, frozen=True, kw_only=True):
    """core/v1 WeightedPodAffinityTerm."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Model, frozen=True, kw_only=True):
    """core/v1 PodAffinity and PodAntiAffinity, which have the same fields."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Model, frozen=True, kw_only=True):
    """core/v1 Affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Model, frozen=True, kw_only=True):
    """core/v1 TopologySpreadConstraint."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodSchedulingGate(Model, frozen=True, kw_only=True):
    """core/v1 PodSchedulingGate."""

    name: str = ""


class PodResourceClaim(Model, frozen=True, kw_only=True):
    """core/v1 PodResourceClaim."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(Model, frozen=True, kw_only=True):
    """core/v1 PodSchedulingGroup: the group that the pod is scheduled with."""

    pod_group_name: str | None = None


class PodSpec(Model, frozen=True, kw_only=True):
    """core/v1 PodSpec."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: ResourceList = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    scheduling_group: PodSchedulingGroup | None = None


class PodCondition(Model, frozen=True, kw_only=True):
    """core/v1 PodCondition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: str | None = None


class ResourcesInForce(Model, frozen=True, kw_only=True):
    """core/v1 ResourceRequirements of a status. An empty list is not the same here as none, which is None."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerStatus(Model, frozen=True, kw_only=True):
    """core/v1 ContainerStatus: what the kubelet has allocated to a running container."""

    name: str = ""
    allocated_resources: ResourceList | None = None
    resources: ResourcesInForce | None = None


class PodResourceClaimStatus(Model, frozen=True, kw_only=True):
    """core/v1 PodResourceClaimStatus."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Model, frozen=True, kw_only=True):
    """core/v1 ContainerExtendedResourceRequest."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Model, frozen=True, kw_only=True):
    """core/v1 PodExtendedResourceClaimStatus."""

    resource_claim_name: str = ""
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()


class PodStatus(Model, frozen=True, kw_only=True):
    """core/v1 PodStatus."""

    phase: str = ""
    nominated_node_name: str = ""
    conditions: tuple[PodCondition, ...] = ()
    start_time: str | None = None
    observed_generation: Int64 = 0
    resize: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: ResourceList | None = None
    resources: ResourcesInForce | None = None


class Pod(Model, frozen=True, kw_only=True):
    """core/v1 Pod."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
