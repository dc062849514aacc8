"""Label values that kube-scheduler uses (pkg/scheduler/metrics, pkg/scheduler/backend/queue)."""

from __future__ import annotations

# schedule_attempts_total, scheduling_attempt_duration_seconds: result
SCHEDULED = "scheduled"
UNSCHEDULABLE = "unschedulable"
ERROR = "error"
WAITING_ON_PREEMPTION = "waiting_on_preemption"

# pending_pods, queued_entities, queue_incoming_*: queue
ACTIVE = "active"
BACKOFF = "backoff"
GATED = "gated"
INCOMPLETE = "incomplete"
PENDING = "pending"

# queued_entities, queue_incoming_entities_total: type
POD = "pod"
POD_GROUP = "podgroup"

# goroutines: operation (plugins and extenders use their own names)
PRIORITIZING_EXTENDER = "prioritizing_extender"
BINDING = "binding"

# preemption_goroutines_execution_total: result
SUCCESS = "success"

# inflight_events: event of a pod that was popped
POD_POPPED = "PodPopped"

# cache_size: type
NODES = "nodes"
PODS = "pods"
ASSUMED_PODS = "assumed_pods"

# queueing_hint_execution_duration_seconds: hint
HINT_QUEUE = "Queue"
HINT_SKIP = "QueueSkip"
HINT_ERROR = "Error"

# pre_queueing_hint_evaluations_total: result
ALL_PODS = "all_pods"
NARROWED = "narrowed"


def attempts_label(attempts: int) -> str:
    """The label `attempts` of pod_scheduling_sli_duration_seconds ("15+" from 15 on; schedule_one.go)."""
    return str(attempts) if attempts < 15 else "15+"
