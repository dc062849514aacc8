"""What decisions consisted of, in a form to be read, stored and compared.

Whoever shows something asks here; nothing below changes anything, and all of it is to be called on the event loop,
where it finds the state between two cycles. `scheduler` is the running `cycle.scheduler.Scheduler`, `records` what its
attempts left behind (`records.Records`, kept by `store.RecordStore`; None where recording is switched off), `now`
seconds since the epoch. All results are `views`.

    records.recent(limit, before=None, pod="", node="", result="", plugin="") -> views.SummaryPage
    records.get(id) -> views.Decision | None
    records.latest(namespace, name) -> views.Decision | None
    len(records), records.bytes

    pod_view.find_pod(scheduler, namespace, name) -> PodInfo | None
    pod_view.pod_view(scheduler, records, namespace, name) -> views.PodView        state "Unknown" for a stranger
    finding.find(scheduler, text, limit) -> views.Found
    pending.pending_view(scheduler, now) -> views.Pending
    cluster_view.nodes_view(scheduler.state, now) -> views.NodesView
    cluster_view.node_pods(scheduler.state, name) -> views.NodePods | None
    cluster_view.overview(scheduler, records, leader=..., started=..., now=...) -> views.Overview

    evaluate.Evaluator(scheduler).evaluate(pod, profile=None) -> views.Evaluation   without why_not
    evaluate.Evaluator(scheduler).explain(pod, profile=None) -> views.Evaluation    with it, in one go
    await evaluate.Evaluator(scheduler).explain_in_turns(pod, profile=None)         the same, a short step a turn
    preemption.preemption(profile, cycle) -> views.Preemption | None               for a cycle in which no node fits
    whynot.text.parts(answer) -> lines and tables of a views.WhyNot
    comparison.contrast(decision, other="", tell=differences.Differences(state, profile, pod)) -> views.NodeComparison
    table.contrast(comparison) -> lines and a table of it
    evaluate.Evaluator(scheduler).decide(pod, profile=None, details=False) -> (Decision | None, Failure | None)
    decision_view.of_decision(decision, failure, summary, steps=()) -> views.Decision

`Evaluator.decide` looks at the state as it is at that moment, so it is asked inside a `state.what_if()` to find what a
change would do; what it returns is good until the state changes.
"""
