"""kube-scheduler v1.37's metrics: names, help texts, labels and buckets.

From pkg/scheduler/metrics/metrics.go, pkg/scheduler/framework/plugins/volumebinding/metrics/metrics.go and
k8s.io/dynamic-resource-allocation/resourceclaim/metrics. The texts are part of the scraped output, so they
are kube-scheduler's to the letter. Left out: metrics behind gates that are off by default, and
scheduler_preemption_goroutines_duration_seconds, which v1.37 hides (an ALPHA metric deprecated in 1.37).
"""

from __future__ import annotations

from scheduler.metrics.instruments import Spec, exponential_buckets

SCHEDULE_ATTEMPTS = Spec(
    "scheduler_schedule_attempts_total",
    "STABLE",
    (
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
        "scheduled, while 'error' means an internal scheduler problem."
    ),
    labels=("result", "profile"),
)
SCHEDULING_ATTEMPT_DURATION = Spec(
    "scheduler_scheduling_attempt_duration_seconds",
    "STABLE",
    "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    labels=("result", "profile"),
    buckets=exponential_buckets(0.001, 2, 15),
)
SCHEDULING_ALGORITHM_DURATION = Spec(
    "scheduler_scheduling_algorithm_duration_seconds",
    "BETA",
    "Scheduling algorithm latency in seconds",
    buckets=exponential_buckets(0.001, 2, 15),
)
EVENT_HANDLING_DURATION = Spec(
    "scheduler_event_handling_duration_seconds",
    "ALPHA",
    "Event handling latency in seconds.",
    labels=("event",),
    buckets=exponential_buckets(0.0001, 2, 12),
)
PREEMPTION_VICTIMS = Spec(
    "scheduler_preemption_victims",
    "STABLE",
    "Number of selected preemption victims for preemption initiated by a single pod",
    buckets=exponential_buckets(1, 2, 7),
)
PREEMPTION_ATTEMPTS = Spec(
    "scheduler_preemption_attempts_total",
    "STABLE",
    "Total preemption attempts in the cluster till now",
)
PENDING_PODS = Spec(
    "scheduler_pending_pods",
    "STABLE",
    (
        "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
        "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities "
        "that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods"
        " that the scheduler never attempted to schedule because they are gated; 'incomplete' means "
        "number of pods in incompletePodGroupPods; 'pending' means number of pods in pendingPodGroupPods."
    ),
    labels=("queue",),
)
QUEUED_ENTITIES = Spec(
    "scheduler_queued_entities",
    "ALPHA",
    (
        "Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for individual pods that"
        " are not members of any podgroup) by the queue type. 'active' means number of entities in "
        "activeQ; 'backoff' means number of entities in backoffQ; 'unschedulable' means number of "
        "entities in unschedulableEntities that the scheduler attempted to schedule and failed; 'gated' "
        "is the number of unschedulable entities that the scheduler never attempted to schedule because "
        "they are gated."
    ),
    labels=("queue", "type"),
)
INFLIGHT_EVENTS = Spec(
    "scheduler_inflight_events",
    "ALPHA",
    "Number of events currently tracked in the scheduling queue.",
    labels=("event",),
)
GOROUTINES = Spec(
    "scheduler_goroutines",
    "BETA",
    "Number of running goroutines split by the work they do such as binding.",
    labels=("operation",),
)
POD_SCHEDULING_SLI_DURATION = Spec(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "BETA",
    (
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
        "might involve multiple scheduling attempts."
    ),
    labels=("attempts",),
    buckets=exponential_buckets(0.01, 2, 20),
)
POD_SCHEDULING_ATTEMPTS = Spec(
    "scheduler_pod_scheduling_attempts",
    "STABLE",
    "Number of attempts to successfully schedule a pod.",
    buckets=exponential_buckets(1, 2, 5),
)
POD_SCHEDULED_AFTER_FLUSH = Spec(
    "scheduler_pod_scheduled_after_flush_total",
    "ALPHA",
    (
        "Number of pods that were successfully scheduled after being flushed from unschedulableEntities "
        "due to timeout. This metric helps detect potential queueing hint misconfigurations or event "
        "handling issues."
    ),
)
FRAMEWORK_EXTENSION_POINT_DURATION = Spec(
    "scheduler_framework_extension_point_duration_seconds",
    "STABLE",
    "Latency for running all plugins of a specific extension point.",
    labels=("extension_point", "status", "profile"),
    buckets=exponential_buckets(0.0001, 2, 12),
)
PLUGIN_EXECUTION_DURATION = Spec(
    "scheduler_plugin_execution_duration_seconds",
    "BETA",
    "Duration for running a plugin at a specific extension point.",
    labels=("plugin", "extension_point", "status"),
    buckets=exponential_buckets(1e-05, 1.5, 20),
)
QUEUE_INCOMING_PODS = Spec(
    "scheduler_queue_incoming_pods_total",
    "STABLE",
    "Number of pods added to scheduling queues by event and queue type.",
    labels=("queue", "event"),
)
QUEUE_INCOMING_ENTITIES = Spec(
    "scheduler_queue_incoming_entities_total",
    "ALPHA",
    (
        "Number of scheduling entities added to scheduling queues by event, queue type, and entity type. "
        "Entity types are either 'pod' (for individual pods that are not members of any podgroup) or "
        "'podgroup'."
    ),
    labels=("queue", "event", "type"),
)
PERMIT_WAIT_DURATION = Spec(
    "scheduler_permit_wait_duration_seconds",
    "BETA",
    "Duration of waiting on permit.",
    labels=("result",),
    buckets=exponential_buckets(0.001, 2, 15),
)
CACHE_SIZE = Spec(
    "scheduler_cache_size",
    "ALPHA",
    "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
    labels=("type",),
)
UNSCHEDULABLE_PODS = Spec(
    "scheduler_unschedulable_pods",
    "BETA",
    (
        "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for "
        "all plugins that caused it to not schedule and so this metric have meaning only when broken down"
        " by plugin."
    ),
    labels=("plugin", "profile"),
)
PLUGIN_EVALUATION = Spec(
    "scheduler_plugin_evaluation_total",
    "BETA",
    (
        "Number of attempts to schedule pods by each plugin and the extension point (available only in "
        "PreFilter, Filter, PreScore, and Score)."
    ),
    labels=("plugin", "extension_point", "profile"),
)
QUEUEING_HINT_EXECUTION_DURATION = Spec(
    "scheduler_queueing_hint_execution_duration_seconds",
    "ALPHA",
    "Duration for running a queueing hint function of a plugin.",
    labels=("plugin", "event", "hint"),
    buckets=exponential_buckets(1e-05, 1.5, 20),
)
PRE_QUEUEING_HINT_EVALUATIONS = Spec(
    "scheduler_pre_queueing_hint_evaluations_total",
    "ALPHA",
    "Number of PreQueueingHint evaluations, labeled by plugin and result (all_pods or narrowed).",
    labels=("plugin", "result"),
)
BATCH_ATTEMPTS = Spec(
    "scheduler_batch_attempts_total",
    "ALPHA",
    "Counts of results when we attempt to use batching.",
    labels=("profile", "result"),
)
BATCH_CACHE_FLUSHED = Spec(
    "scheduler_batch_cache_flushed_total",
    "ALPHA",
    "Counts of cache flushes by reason.",
    labels=("profile", "reason"),
)
BATCH_RESCORE_ATTEMPTS = Spec(
    "scheduler_batch_rescore_attempts_total",
    "ALPHA",
    "Counts of rescore attempts during opportunistic batching.",
    labels=("profile",),
)
BATCH_RESCORE_DURATION = Spec(
    "scheduler_batch_rescore_duration_seconds",
    "ALPHA",
    "Latency for rescoring a node during opportunistic batching.",
    labels=("profile",),
    buckets=exponential_buckets(1e-05, 2, 12),
)
GET_NODE_HINT_DURATION = Spec(
    "scheduler_get_node_hint_duration_seconds",
    "ALPHA",
    "Latency for getting a node hint.",
    labels=("hinted", "profile"),
    buckets=exponential_buckets(1e-05, 2, 12),
)
STORE_SCHEDULE_RESULTS_DURATION = Spec(
    "scheduler_store_schedule_results_duration_seconds",
    "ALPHA",
    "Latency for storing scheduling results.",
    labels=("profile",),
    buckets=exponential_buckets(1e-05, 2, 12),
)
VOLUME_BINDER_CACHE_REQUESTS = Spec(
    "scheduler_volume_binder_cache_requests_total",
    "ALPHA",
    "Total number for request volume binding cache",
    labels=("operation",),
)
VOLUME_SCHEDULING_STAGE_ERROR = Spec(
    "scheduler_volume_scheduling_stage_error_total",
    "ALPHA",
    "Volume scheduling stage error count",
    labels=("operation",),
)
PREEMPTION_GOROUTINES_EXECUTION = Spec(
    "scheduler_preemption_goroutines_execution_total",
    "ALPHA",
    "Number of preemption goroutines executed.",
    labels=("result",),
)
DRA_BINDINGCONDITIONS_ALLOCATIONS = Spec(
    "scheduler_dra_bindingconditions_allocations_total",
    "ALPHA",
    ("Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt"),
    labels=("profile", "driver", "status"),
)
DRA_BINDINGCONDITIONS_WAIT_DURATION = Spec(
    "scheduler_dra_bindingconditions_wait_duration_seconds",
    "ALPHA",
    "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
    labels=("profile", "driver", "status"),
    buckets=exponential_buckets(0.1, 2, 14),
)
DYNAMIC_RESOURCE_ALLOCATION_RESOURCECLAIM_CREATES = Spec(
    "dynamic_resource_allocation_resourceclaim_creates_total",
    "ALPHA",
    (
        "Number of ResourceClaims creation requests, categorized by creation status, admin access, and "
        "owning API group and kind (either Pod or scheduling.k8s.io/PodGroup)"
    ),
    labels=("status", "admin_access", "owner_api_group", "owner_api_kind"),
)
