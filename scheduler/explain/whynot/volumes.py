"""Claims and volumes of the pod: where they are, and who has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler.api.claims import claim_name, class_of_claim
from scheduler.api.nodeaffinity import compile_node_selector
from scheduler.api.topology_labels import BETA_ZONE_LABEL, ZONE_LABEL
from scheduler.cache.nodes import NodeView
from scheduler.explain.whynot.wording import key_word, listed
from scheduler.framework import names
from scheduler.framework.node_match import SelectorMatch
from scheduler.plugins.volumebinding.plugin import REASONS
from scheduler.plugins.volumerestrictions.plugin import REASON_DISK
from scheduler.plugins.volumezone.topology import in_zone, topologies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from scheduler.api.objects import NodeSelectorRequirement, PersistentVolume, PersistentVolumeClaim
    from scheduler.cache.pods import PodInfo
    from scheduler.explain.whynot.survey import Survey
    from scheduler.framework.status import Status

    Rows = npt.NDArray[np.intp]
    Mask = npt.NDArray[np.bool_]
    Phrase = tuple[str, str]

EXCLUSIVE = "ReadWriteOncePod"
ZONES = (ZONE_LABEL, BETA_ZONE_LABEL)
_OPERATORS = {"In": "in", "NotIn": "not in"}
_WORDS = dict(
    zip(
        REASONS.values(),
        (
            ("can't reach {}", "can't reach {}"),
            ("has no volume for {}", "have no volume for {}"),
            ("has not enough free storage for {}", "have not enough free storage for {}"),
            ("can't take {}, whose volume does not exist", "can't take {}, whose volume does not exist"),
        ),
        strict=True,
    )
)


class Claim(NamedTuple):
    """A claim that the pod names; `claim` and `volume` are None where there is none (yet).

    `ephemeral`: it is made for the pod, and goes with it.
    """

    name: str
    claim: PersistentVolumeClaim | None
    volume: PersistentVolume | None
    ephemeral: bool = False

    @property
    def text(self) -> str:
        """The claim with its volume."""
        return (
            f"claim {self.name}" if self.volume is None else f"volume {self.volume.metadata.name} of claim {self.name}"
        )


def claims_of(survey: Survey) -> list[Claim]:
    """All claims of the pod."""
    pod, objects = survey.pod, survey.state.objects
    found = []
    for item in pod.shape.pod.spec.volumes:
        name = claim_name(item, pod.name)
        if name is None:
            continue
        claim = objects.get("PersistentVolumeClaim", pod.namespace, name)
        bound = claim.spec.volume_name if claim is not None else ""
        volume = objects.get("PersistentVolume", "", bound) if bound else None
        found.append(Claim(name, claim, volume, item.ephemeral is not None))
    return found


def place_of(volume: PersistentVolume) -> str:
    """Where a volume can be reached, in words: by its node affinity, or else its labels."""
    affinity = volume.spec.node_affinity
    if affinity is not None and affinity.required is not None:
        terms = affinity.required.node_selector_terms
        texts = [" and ".join(map(_requirement, (*t.match_expressions, *t.match_fields))) for t in terms]
        return " or ".join(filter(None, texts))
    return " and ".join(place_text(t.key, sorted(t.values)) for t in topologies(volume))


def _requirement(requirement: NodeSelectorRequirement) -> str:
    key = key_word(requirement.key)
    if requirement.operator == "In":
        return place_text(requirement.key, list(requirement.values))
    operator = _OPERATORS.get(requirement.operator, requirement.operator)
    return f"{key} {operator} {', '.join(requirement.values)}".rstrip()


def place_text(key: str, values: list[str]) -> str:
    """ "zone-a", "zone a or b", "region eu": a value that says itself what it is needs no word for it."""
    word = key_word(key)
    text = listed(values, word="or")
    return text if all(word in value for value in values) else f"{word} {text}"


def zones_of(survey: Survey) -> list[str]:
    """The zones in which the pod's volumes are, where they are in any in particular."""
    found: list[str] = []
    for claim in claims_of(survey):
        if claim.volume is None:
            continue
        affinity = claim.volume.spec.node_affinity
        if affinity is not None and affinity.required is not None:
            found += [
                value
                for term in affinity.required.node_selector_terms
                for requirement in term.match_expressions
                if requirement.key in ZONES and requirement.operator == "In"
                for value in requirement.values
            ]
        found += [zone for t in topologies(claim.volume) if t.key in ZONES for zone in sorted(t.values)]
    return list(dict.fromkeys(found))


def phrases(survey: Survey, status: Status, rows: Rows) -> Iterator[tuple[Phrase, Rows]]:
    """What is said of nodes that a volume plugin turns down: ("has no ...", "have no ...") and the rows."""
    if status.plugin == names.VOLUME_ZONE:
        yield from _by_claim(survey, rows, _outside, "outside")
    elif status.plugin == names.VOLUME_RESTRICTIONS:
        if REASON_DISK in status.reasons:
            yield ("has a pod that uses the same disk", "have a pod that uses the same disk"), rows
        else:
            wanted = _listed(claim for claim in claims_of(survey) if is_exclusive(claim))
            text = f"can't take {wanted}, which another pod has for itself"
            yield (text, text), rows
    elif status.plugin == names.NODE_VOLUME_LIMITS:
        yield ("takes no more volumes", "take no more volumes"), rows
    elif status.reasons == (next(iter(REASONS.values())),):
        yield from _by_claim(survey, rows, _unreachable, "out of reach of")
    else:
        unbound = _listed(c for c in claims_of(survey) if c.volume is None)
        known = [_WORDS[reason] for reason in status.reasons if reason in _WORDS]
        one = " and ".join(words[0].format(unbound) for words in known) or ", ".join(status.reasons)
        many = " and ".join(words[1].format(unbound) for words in known) or ", ".join(status.reasons)
        yield (one, many), rows


def _by_claim(survey: Survey, rows: Rows, test: object, words: str) -> Iterator[tuple[Phrase, Rows]]:
    assert callable(test)
    left = np.ones(len(rows), np.bool_)
    view = NodeView(survey.state.nodes, rows)
    for claim in claims_of(survey):
        if claim.volume is None:
            continue
        hit = left & test(claim.volume, view)
        if hit.any():
            place = place_of(claim.volume)
            text = f"{words} {claim.text}" if words != "outside" else f"outside {place}, where {claim.text} is"
            yield (f"is {text}", f"are {text}"), rows[hit]
            left &= ~hit
    if left.any():
        yield (f"is {words} of its volumes' zones", f"are {words} of its volumes' zones"), rows[left]


def _outside(volume: PersistentVolume, view: NodeView) -> Mask:
    outside = np.zeros(len(view), np.bool_)
    for topology in topologies(volume):
        outside |= ~in_zone(topology, view)
    return outside


def _unreachable(volume: PersistentVolume, view: NodeView) -> Mask:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return np.zeros(len(view), np.bool_)
    return ~SelectorMatch(compile_node_selector(affinity.required)).mask(view)


def is_exclusive(claim: Claim) -> bool:
    """Whether one pod at a time may use the claim."""
    return claim.claim is not None and EXCLUSIVE in claim.claim.spec.access_modes


def users(survey: Survey, name: str) -> list[PodInfo]:
    """The pods on nodes that use a claim of the pod's namespace."""
    namespace = survey.pod.namespace
    return [
        pod
        for here in survey.state.volumes.pods.values()
        for pod in here.values()
        if pod.namespace == namespace and pod.shape.volumes is not None and name in pod.shape.volumes.claims
    ]


def _listed(claims: Iterator[Claim]) -> str:
    texts = [f"claim {claim.name}" for claim in claims]
    return listed(texts) if texts else "its claims"


def facts(survey: Survey, why: Callable[[list[int]], str]) -> list[str]:
    """What the pod's claims are bound to, and who has those that one pod has for itself; only where volumes decide.

    `why` says in words what keeps the pod off the nodes in some rows.
    """
    deciding = {names.VOLUME_ZONE, names.VOLUME_BINDING, names.VOLUME_RESTRICTIONS, names.NODE_VOLUME_LIMITS}
    refused = survey.refusal is not None and survey.refusal.plugin in deciding
    if not refused and deciding.isdisjoint(survey.codes):
        return []
    return [fact for claim in claims_of(survey) for fact in _facts(survey, claim, why)]


def _facts(survey: Survey, claim: Claim, why: Callable[[list[int]], str]) -> Iterator[str]:
    if claim.claim is None:
        yield f"claim {claim.name} does not exist in namespace {survey.pod.namespace}"
        return
    name = class_of_claim(claim.claim)
    if claim.volume is not None:
        place = place_of(claim.volume)
        where = f", which is in {place}{_nodes_near(survey, claim.volume, why)}" if place else ""
        yield f"claim {claim.name} is bound to volume {claim.volume.metadata.name}{where}"
    else:
        storage_class = survey.state.objects.get("StorageClass", "", name) if name else None
        if name and storage_class is None:
            yield f"claim {claim.name} is not bound, and its StorageClass {name} does not exist"
        else:
            mode = storage_class.volume_binding_mode if storage_class is not None else None
            yield f"claim {claim.name} is not bound; its StorageClass {name or '(none)'} binds {mode or 'Immediate'}"
    if is_exclusive(claim):
        for pod in users(survey, claim.name)[:3]:
            yield f"claim {claim.name} is {EXCLUSIVE}, and {pod.key} on {pod.node_name} has it"


def _nodes_near(survey: Survey, volume: PersistentVolume, why: Callable[[list[int]], str]) -> str:
    """How many nodes reach a volume, and what keeps the pod off them."""
    view = NodeView(survey.state.nodes)
    near = survey.live & ~_outside(volume, view) & ~_unreachable(volume, view)
    rows = np.flatnonzero(near).tolist()
    if not rows:
        column = survey.state.nodes.labels(ZONES[0])
        zones = sorted({column.values[place] or "" for place in column.ids[: len(survey.live)][survey.live]} - {""})
        return f"; no node is there (nodes are in {listed(zones)})" if zones else "; no node is there"
    reason = why(rows)
    return f"; the {'node' if len(rows) == 1 else f'{len(rows)} nodes'} there {reason}" if reason else ""
