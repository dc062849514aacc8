"""What a plugin's refusal of some nodes means, said of those nodes, with the taints, labels and amounts that decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.api.tolerations import find_untolerated
from scheduler.explain.whynot import affinity, ports, spread, volumes
from scheduler.explain.whynot.resources import missing_of
from scheduler.explain.whynot.wording import key_word, listed, resource_word, taint_text
from scheduler.framework import names
from scheduler.framework.status import Code
from scheduler.plugins.interpodaffinity.plugin import REASON_AFFINITY, REASON_ANTI_AFFINITY
from scheduler.plugins.node_affinity import REASON_ENFORCED
from scheduler.plugins.noderesources.fit import TOO_MANY_PODS
from scheduler.plugins.podtopologyspread.filtering import MISSING_LABEL, TOO_SKEWED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.api.objects import Taint
    from scheduler.explain.whynot.survey import Survey
    from scheduler.framework.status import Status

    Rows = npt.NDArray[np.intp]
    Split = Iterator[tuple["Words", Rows]]


class Words(NamedTuple):
    """What follows "it" and what follows "they"."""

    one: str
    many: str


def words_of(survey: Survey, status: Status, rows: Rows) -> Split:
    """The nodes in these rows, all turned down with this status, in groups of which one thing can be said."""
    split = _SPLITS.get(status.plugin)
    if split is None or status.code not in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
        yield _plain(status), rows
        return
    yield from split(survey, status, rows)


def _plain(status: Status) -> Words:
    text = f"turned down by {status.plugin}"
    reasons = ", ".join(reason.removeprefix("node(s) ") for reason in status.reasons)
    if reasons:
        text += f": {reasons}"
    return Words(f"is {text}", f"are {text}")


def _be(text: str) -> Words:
    return Words(f"is {text}", f"are {text}")


def _have(text: str) -> Words:
    return Words(f"has {text}", f"have {text}")


def _taints(survey: Survey, status: Status, rows: Rows) -> Split:
    del status
    table = survey.state.nodes
    tolerations = survey.pod.shape.pod.spec.tolerations
    found: dict[str, list[npt.NDArray[np.bool_]]] = {}
    ids = table.taints.ids[rows]
    for identifier in np.unique(ids).tolist():
        taints: Any = table.taints.values[identifier]
        taint: Taint | None = find_untolerated(taints, tolerations)
        text = "tainted" if taint is None else f"tainted {taint_text(taint)}"
        found.setdefault(text, []).append(ids == identifier)
    for text, masks in found.items():
        yield _be(text), rows[np.logical_or.reduce(masks)]


def _resources(survey: Survey, status: Status, rows: Rows) -> Split:
    lacking = [reason.removeprefix("Insufficient ") for reason in status.reasons if reason != TOO_MANY_PODS]
    words = listed([resource_word(name) for name in lacking], most=5)
    if TOO_MANY_PODS in status.reasons:
        one, many = (f" and lacks {words}", f" and lack {words}") if lacking else ("", "")
        yield Words(f"takes no more pods{one}", f"take no more pods{many}"), rows
        return
    if status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        yield Words(f"lacks {words}", f"lack {words}"), rows
        return
    for absent, some in missing_of(survey, lacking, rows):
        if absent:
            yield _have(f"no {listed(absent, word='or')}"), some
        else:
            yield Words(f"is too small for the pod's {words}", f"are too small for the pod's {words}"), some


def _node_affinity(survey: Survey, status: Status, rows: Rows) -> Split:
    if REASON_ENFORCED in status.reasons:
        yield Words("does not match the profile's addedAffinity", "do not match the profile's addedAffinity"), rows
        return
    spec = survey.pod.shape.pod.spec
    required = spec.affinity is not None and spec.affinity.node_affinity is not None
    selector = ",".join(f"{key}={value}" for key, value in sorted(spec.node_selector.items()))
    text = "the pod's node affinity"
    if selector:
        text = f"nodeSelector {selector}" + (" and node affinity" if required else "")
    yield Words(f"does not match {text}", f"do not match {text}"), rows


def _spread(survey: Survey, status: Status, rows: Rows) -> Split:
    del status
    left = np.ones(len(rows), np.bool_)
    for outcome in spread.outcomes(survey):
        verdict = outcome.verdict[outcome.item.column.ids[rows]]
        for code in (MISSING_LABEL, TOO_SKEWED):
            hit = left & (verdict == code)
            if not hit.any():
                continue
            if code == MISSING_LABEL:
                yield Words(f"lacks the label {outcome.key}", f"lack the label {outcome.key}"), rows[hit]
            else:
                text = f"would break the {key_word(outcome.key)} spread"
                yield Words(text, text), rows[hit]
        left &= verdict == 0
    if left.any():
        yield _be("kept free for pods that are nominated to it"), rows[left]


def _affinity(survey: Survey, status: Status, rows: Rows) -> Split:
    kinds = {REASON_AFFINITY: affinity.AFFINITY, REASON_ANTI_AFFINITY: affinity.ANTI_AFFINITY}
    kind = kinds.get(status.reasons[0], affinity.EXISTING) if status.reasons else affinity.EXISTING
    left = np.ones(len(rows), np.bool_)
    for term in affinity.terms_of(survey):
        if term.kind != kind:
            continue
        hit = left & affinity.turned_down(survey, term)[rows]
        if not hit.any():
            continue
        key, selector = key_word(term.term.topology_key), term.selector
        near = "" if key == "hostname" else f" in the same {key}"
        if kind == affinity.AFFINITY:
            yield _have(f"no pod with {selector}{near}"), rows[hit]
        elif kind == affinity.ANTI_AFFINITY:
            yield _have(f"a pod with {selector}{near}, which it keeps away from"), rows[hit]
        else:
            yield _have(f"a pod{near} that keeps away from {selector}"), rows[hit]
        left &= ~hit
    if left.any():
        yield _plain(status), rows[left]


def _cordoned(survey: Survey, status: Status, rows: Rows) -> Split:
    del survey, status
    yield _be("cordoned"), rows


def _named(survey: Survey, status: Status, rows: Rows) -> Split:
    del status
    yield Words(f"is not {survey.pod.node_name}", f"are not {survey.pod.node_name}"), rows


def _ports(survey: Survey, status: Status, rows: Rows) -> Split:
    del status
    for text, some in ports.taken(survey, rows):
        yield _have(f"host port {text} taken"), some


def _volumes(survey: Survey, status: Status, rows: Rows) -> Split:
    for (one, many), some in volumes.phrases(survey, status, rows):
        yield Words(one, many), some


_SPLITS: Final[dict[str, Callable[[Survey, Status, Rows], Split]]] = {
    names.TAINT_TOLERATION: _taints,
    names.NODE_RESOURCES_FIT: _resources,
    names.NODE_AFFINITY: _node_affinity,
    names.POD_TOPOLOGY_SPREAD: _spread,
    names.INTER_POD_AFFINITY: _affinity,
    names.NODE_UNSCHEDULABLE: _cordoned,
    names.NODE_NAME: _named,
    names.NODE_PORTS: _ports,
    names.VOLUME_ZONE: _volumes,
    names.VOLUME_BINDING: _volumes,
    names.VOLUME_RESTRICTIONS: _volumes,
    names.NODE_VOLUME_LIMITS: _volumes,
}
