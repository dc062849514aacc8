"""All that there is to say about one pod, from what was recorded and from a fresh evaluation, told apart."""

from collections.abc import Sequence
from typing import Final

from scheduler.explain.ages import age
from scheduler.explain.grid import Part, Styled
from scheduler.explain.journey import history, standing, steps
from scheduler.explain.placement import chosen_node, comparisons, placement
from scheduler.explain.preemption_text import parts as preemption_parts
from scheduler.explain.refusal import refused
from scheduler.explain.views import API_VERSION, Decision, Evaluation, NodeComparison, PodView, View
from scheduler.explain.whynot.text import parts as why_not_parts

RECORDED: Final = "recorded"
"""By a scheduler, as it decided."""
SIMULATED: Final = "simulated"
"""By this command, on the objects of the cluster."""

_FOUND: Final = "Scheduled"


class PodExplanation(View, frozen=True, kw_only=True):
    """Why a pod is where it is, or why it is nowhere.

    `decision` is the recorded attempt that is explained, `evaluation` what would be decided now; `source` who says so:
    "recorded" or "simulated". `compared`: the next best node and those that were asked for, beside the chosen one.
    """

    api_version: str
    kind: str
    source: str
    time: str
    pod: PodView
    decision: Decision | None = None
    evaluation: Evaluation | None = None
    compared: tuple[NodeComparison, ...] = ()


def explain(
    pod: PodView,
    *,
    time: str,
    decision: Decision | None = None,
    evaluation: Evaluation | None = None,
    asked: Sequence[str] = (),
    compared: Sequence[NodeComparison] = (),
    source: str = RECORDED,
) -> PodExplanation:
    """Put together what is known; `compared` where the scheduler has words for the comparisons."""
    shown = decision if decision is not None else evaluation.decision if evaluation is not None else None
    return PodExplanation(
        api_version=API_VERSION,
        kind="PodExplanation",
        source=source,
        time=time,
        pod=pod,
        decision=decision,
        evaluation=evaluation,
        compared=tuple(compared) or (comparisons(shown, asked) if shown is not None else ()),
    )


def story(explanation: PodExplanation, *, asked: Sequence[str] = ()) -> list[Part]:
    """The explanation for people."""
    pod, now = explanation.pod, explanation.time
    parts: list[Part] = []
    decision, evaluation = explanation.decision, explanation.evaluation
    placed = decision is not None and decision.summary.result == _FOUND
    if not placed and explanation.source == RECORDED:
        parts.append(Styled(standing(pod, now), "bold"))
    if decision is not None:
        parts += _recorded(explanation, decision, asked)
    elif explanation.source == RECORDED and evaluation is None:
        parts.append(Styled("no attempt of it is on record"))
    if evaluation is not None:
        parts += _fresh(explanation, evaluation, asked, after="\n" if parts else "")
    parts += history(pod.history, now)
    return parts + (steps(decision.steps) if decision is not None else [])


def _recorded(explanation: PodExplanation, decision: Decision, asked: Sequence[str]) -> list[Part]:
    summary, now = decision.summary, explanation.time
    if summary.result == _FOUND:
        parts = placement(decision, explanation.compared, asked=asked)
    else:
        when = f"Attempt {summary.attempt}" if summary.attempt else "Recorded"
        parts = [Styled(f"\n{when}, {age(summary.time, now)} ago: {summary.result}", "bold"), *refused(decision)]
    if decision.incomplete:
        parts.append(Styled(f"not all is known any more: {decision.incomplete}", "yellow"))
    return parts


def _fresh(explanation: PodExplanation, evaluation: Evaluation, asked: Sequence[str], *, after: str) -> list[Part]:
    recorded, fresh = explanation.decision, evaluation.decision
    here = explanation.source == SIMULATED
    title = "Evaluated here, from what you may read of the cluster" if here else "Now, by a fresh evaluation"
    parts: list[Part] = [Styled(f"{after}{title}", "bold")]
    if recorded is not None:
        parts.append(Styled(_changed(recorded, fresh)))
    if fresh.summary.result == _FOUND:
        parts += placement(fresh, comparisons(fresh, asked), asked=asked)
    elif evaluation.why_not is not None:
        parts += why_not_parts(evaluation.why_not)
    else:
        parts += refused(fresh)
    if evaluation.preemption is not None:
        parts += [Styled(""), *preemption_parts(evaluation.preemption, evaluation.time)]
    if fresh.incomplete:
        parts.append(Styled(fresh.incomplete, "yellow"))
    return parts


def _changed(recorded: Decision, fresh: Decision) -> str:
    """What a fresh evaluation says, beside what was recorded."""
    before, now = recorded.summary.result, fresh.summary.result
    if before == _FOUND and now == _FOUND:
        there, here = recorded.summary.node, chosen_node(fresh)
        return "the same node would be chosen again" if there == here else f"it would go to {here} instead of {there}"
    if now == _FOUND:
        return "there is a node for it now: it only has to be tried again"
    if before == _FOUND:
        return "it would find no node any more"
    return "still no node, for the same reasons" if _reasons(recorded) == _reasons(fresh) else _other_reasons(fresh)


def _other_reasons(fresh: Decision) -> str:
    return f"still no node, though the reasons have changed: {fresh.summary.message}"


def _reasons(decision: Decision) -> set[tuple[str, tuple[str, ...], int]]:
    return {(group.plugin, group.reasons, len(group.nodes)) for group in decision.rejected}
