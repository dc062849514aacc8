"""Why a pod fits on no node, how far it is from it, and what would help: changes that were tried, all of them.

    steps = why_not(state, profile, pod)           # a generator: each step is short, whole, and leaves no trace
    answer = explain(state, profile, pod)          # the same, run to its end

`state` is a ClusterState, live or simulated, `profile` the Profile that the pod asks for and `pod` its PodInfo, which
must not be assigned. Both give a `views.WhyNot`, or None if the pod fits on some node by now. Between two steps of the
generator the state may change: each step looks at it as it is then.

Only PreFilter and Filter plugins are asked, as they are in any attempt, so that nothing is reserved, evicted or
written. Extenders are not asked; `WhyNot.not_tried` says so. What is tried (other nodes, fewer pods, other objects) is
undone before the step is over. To show the answer: `text.parts`.
"""

from scheduler.explain.whynot.answer import explain, why_not

__all__ = ["explain", "why_not"]
