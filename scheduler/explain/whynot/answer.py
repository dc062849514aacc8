"""The whole answer, put together step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from scheduler.explain.steps import in_one_go
from scheduler.explain.views import Rejected, WhyNot
from scheduler.explain.whynot import affinity, ports, spread, storage, volumes
from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.change import Change, both
from scheduler.explain.whynot.nearest import nearest_miss
from scheduler.explain.whynot.reasons import groups_of, sentence, views
from scheduler.explain.whynot.resources import fragmentation
from scheduler.explain.whynot.search import Found, search
from scheduler.explain.whynot.wording import count, listed
from scheduler.explain.whynot.words import words_of
from scheduler.framework.filtering import filter_row, nominated_rivals
from scheduler.framework.names import POD_TOPOLOGY_SPREAD, SCHEDULING_GATES
from scheduler.framework.per_node import NodeFilterPlugin

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from scheduler.api.objects import Pod
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.explain.whynot.survey import Survey
    from scheduler.framework.profile import Profile

_SHOWN = 6
_LOOKED_AT = 50
_KEPT = 3


def explain(state: ClusterState, profile: Profile, pod: PodInfo, *, shown: int = _SHOWN) -> WhyNot | None:
    """Why a pod fits nowhere and what would help, in one go; None if it fits somewhere and may be tried."""
    return in_one_go(why_not(state, profile, pod, shown=shown))


def why_not(
    state: ClusterState, profile: Profile, pod: PodInfo, *, shown: int = _SHOWN
) -> Generator[None, None, WhyNot | None]:
    """The same in steps, between which the state may change; `shown` is how many helps are wanted at most.

    A pod with scheduling gates is looked at as if it had none; all that helps it then includes their removal.
    """
    bench = Bench(state, profile, pod)
    survey = bench.survey()
    if survey.fits.any() and not pod.gates:
        return None
    groups = groups_of(survey)
    told, rejected, nearest = (
        sentence(survey, groups, "it" if pod.gates else pod.name),
        views(survey, groups),
        nearest_miss(survey),
    )
    why = _why(survey)
    spreads, affinities = spread.arithmetic(survey, why), affinity.arithmetic(survey, why)
    facts = (
        *_nominated(survey),
        *_kept_free(survey),
        *fragmentation(survey),
        *ports.facts(survey),
        *volumes.facts(survey, why),
        *storage.facts(survey, why),
    )
    fits = survey.names
    yield
    if fits:
        return _gated(bench, fits, rejected)
    found = yield from search(bench, shown)
    if pod.gates:
        told = f"{_waiting(pod)} {told}"
        found = [Found(both(_ungated(pod), one.change), one.nodes, one.opens) for one in found]
    return WhyNot(
        sentence=told,
        rejected=rejected,
        nearest=nearest,
        spread=spreads,
        affinity=affinities,
        facts=facts,
        helps=tuple(one.help() for one in found),
        tried=bench.tried,
        not_tried=tuple(_not_tried(bench.profile)),
    )


def _nominated(survey: Survey) -> list[str]:
    """Where room is being made for the pod, and whose leaving it waits for."""
    pod, state = survey.pod, survey.state
    node = pod.nominated_node_name or state.nominations.node_of(pod.uid)
    if node not in state.nodes:
        return []
    leaving = [other.key for other in state.pods.on_node(node) if other.terminating]
    whom = f", where {listed(leaving)} {'is' if len(leaving) == 1 else 'are'} leaving" if leaving else ""
    return [f"it is nominated to {node}{whom}"]


def _kept_free(survey: Survey) -> list[str]:
    """The nodes that would take the pod, were others not nominated to them that matter as much."""
    told: list[str] = []
    cycle, nodes = survey.cycle, survey.state.nodes
    for name in sorted(survey.state.nominations.nodes())[:_LOOKED_AT] if survey.refusal is None else ():
        rivals = [f"{pod.key} (priority {pod.priority})" for pod in nominated_rivals(cycle, name)]
        row = nodes.rows.get(name)
        if rivals and row is not None and not survey.fits[row] and filter_row(cycle, cycle.filters, row) is None:
            verb = "is" if len(rivals) == 1 else "are"
            told.append(f"{name} is kept free for {listed(rivals)}, which {verb} nominated to it")
    return told[:_KEPT]


def _why(survey: Survey) -> Callable[[list[int]], str]:
    """What else than spread keeps the pod off the nodes in some rows, in words ("lack CPU"); "" if nothing does."""

    def why(rows: list[int]) -> str:
        told: dict[str, int] = {}
        for row in rows[:_LOOKED_AT]:
            others = [s for s in survey.statuses(row) if s.plugin != POD_TOPOLOGY_SPREAD]
            if others:
                words, _ = next(iter(words_of(survey, others[0], np.array([row]))))
                text = words.one if len(rows) == 1 else words.many
                told[text] = told.get(text, 0) + 1
        return max(told, key=lambda text: told[text]) if told else ""

    return why


def _gates(pod: PodInfo) -> str:
    return f"scheduling gate{'' if len(pod.gates) == 1 else 's'} {listed(pod.gates)}"


def _waiting(pod: PodInfo) -> str:
    return f"{pod.name} waits for its {_gates(pod)}; without {'the gate' if len(pod.gates) == 1 else 'the gates'}"


def _gated(bench: Bench, fits: list[str], rejected: tuple[Rejected, ...]) -> WhyNot:
    """The answer for a pod that only its gates hold back."""
    pod, total = bench.pod, len(bench.state.nodes)
    told = f"{_waiting(pod)} it fits on {len(fits)} of {count(total, 'node')}"
    found = Found(_ungated(pod), fits, len(fits))
    return WhyNot(sentence=told, rejected=rejected, helps=(found.help(),), tried=1)


def _ungated(pod: PodInfo) -> Change:
    def edit(pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, scheduling_gates=()))

    return Change(
        kind="removeGates",
        details={"gates": ",".join(pod.gates)},
        cost=0,
        what=lambda _: f"removing the {_gates(pod)}",
        solves=frozenset((SCHEDULING_GATES,)),
        pod=edit,
    )


def _not_tried(profile: Profile) -> list[str]:
    told = []
    if profile.extenders:
        told.append("extenders were not asked: they may turn down what is listed here")
    own = [plugin.name for plugin in profile.filter if isinstance(plugin, NodeFilterPlugin)]
    if own:
        told.append(f"{listed(own)} looks at one node at a time and was asked only where all else fits")
    return told
