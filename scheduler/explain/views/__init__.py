"""What is shown of decisions, pods and nodes: the objects of the decisions API, version 1.

The command line, the page and the static report read these and nothing else. Field names are stable: fields may be
added, and none changes its meaning within a version. Times are RFC 3339 in UTC, durations seconds, pods
"namespace/name". What grows with the cluster is kept in columns: lists of one length over the same nodes.

All of them go by this name: import them from here.
"""

from scheduler.explain.views.base import API_VERSION, View
from scheduler.explain.views.cluster import Found, FoundPod, NodePods, NodesView, Overview
from scheduler.explain.views.decisions import (
    Decision,
    Feasible,
    NodeComparison,
    PluginDifference,
    Rejected,
    ScoreColumn,
    Step,
    Summary,
    SummaryPage,
)
from scheduler.explain.views.pods import Pending, PendingGroup, PodView, QueueEvent
from scheduler.explain.views.preemption import Preemption, PreemptionCandidate, PreemptionRefusal, Victim
from scheduler.explain.views.whynot import (
    AffinityArithmetic,
    AffinityDomain,
    Evaluation,
    Help,
    Lack,
    NearestMiss,
    SpreadArithmetic,
    SpreadDomain,
    WhyNot,
)

__all__ = [
    "API_VERSION",
    "AffinityArithmetic",
    "AffinityDomain",
    "Decision",
    "Evaluation",
    "Feasible",
    "Found",
    "FoundPod",
    "Help",
    "Lack",
    "NearestMiss",
    "NodeComparison",
    "NodePods",
    "NodesView",
    "Overview",
    "Pending",
    "PendingGroup",
    "PluginDifference",
    "PodView",
    "Preemption",
    "PreemptionCandidate",
    "PreemptionRefusal",
    "QueueEvent",
    "Rejected",
    "ScoreColumn",
    "SpreadArithmetic",
    "SpreadDomain",
    "Step",
    "Summary",
    "SummaryPage",
    "Victim",
    "View",
    "WhyNot",
]
