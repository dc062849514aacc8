"""Node selectors and node affinity: asking for less, or labelling a node."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.nodeaffinity import required_node_selector
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.wording import any_of, nothing
from scheduler.framework.names import NODE_AFFINITY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.api.objects import Node, NodeSelectorRequirement, NodeSelectorTerm, Pod
    from scheduler.explain.whynot.change import EditPod
    from scheduler.explain.whynot.survey import Survey

_LABEL: Final = 30
_DROP: Final = 35
_TRIED: Final = 5
_OPERATORS: Final = {"In": "in", "NotIn": "not in", "Gt": ">", "Lt": "<", "Exists": "exists", "DoesNotExist": "absent"}
_SOLVES: Final = frozenset((NODE_AFFINITY,))


def options(survey: Survey) -> Iterator[Option]:
    """Each requirement dropped, and the labels that nodes lack added."""
    rows = survey.rows(NODE_AFFINITY)
    if NODE_AFFINITY not in survey.codes:
        return
    spec = survey.pod.shape.pod.spec
    for key, value in sorted(spec.node_selector.items()):
        yield (_drop(f"nodeSelector {key}={value}", partial(_without_label, key), {"nodeSelector": key}),)
    if len(spec.node_selector) > 1:
        text = ",".join(f"{key}={value}" for key, value in sorted(spec.node_selector.items()))
        details = {"nodeSelector": ",".join(sorted(spec.node_selector))}
        yield (_drop(f"nodeSelector {text}", _without_selector, details, cost=_DROP + len(spec.node_selector)),)
    required = required_node_selector(survey.pod.shape.pod.spec.affinity)
    for place, term in enumerate(required.node_selector_terms if required is not None else ()):
        for index, requirement in enumerate(term.match_expressions):
            text = f"the node affinity requirement {requirement_text(requirement)}"
            yield (_drop(text, partial(_without_expression, place, index), {"expression": requirement.key}),)
    by_labels: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for row in rows[: 4 * _TRIED].tolist():
        node = survey.state.nodes.node(row)
        labels = wanted_labels(survey.pod.shape.pod, node)
        if labels and not any("kubernetes.io/" in key for key in labels):
            by_labels.setdefault(tuple(sorted(labels.items())), []).append(node.metadata.name)
    for some, nodes in by_labels.items():
        yield tuple(_label(name, dict(some)) for name in nodes[:_TRIED])


def _drop(text: str, edit: EditPod, details: Mapping[str, str], *, cost: int = _DROP) -> Change:
    return Change(
        kind="dropNodeSelector" if "nodeSelector" in details else "dropNodeAffinity",
        details=details,
        cost=cost,
        what=lambda _: f"dropping {text}",
        solves=_SOLVES,
        pod=edit,
    )


def _label(name: str, labels: Mapping[str, str]) -> Change:
    text = ",".join(f"{key}={value}" for key, value in labels.items())

    def told(nodes: Sequence[str]) -> str:
        return f"the label{'s' if len(labels) > 1 else ''} {text} on {any_of(nodes or [name])}"

    return Change(
        kind="labelNode",
        details=labels,
        cost=_LABEL,
        what=told,
        effect=nothing,
        solves=_SOLVES,
        nodes={name: partial(with_labels, labels)},
    )


def with_labels(labels: Mapping[str, str], node: Node) -> Node:
    """The node with further labels."""
    return replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, **labels}))


def wanted_labels(pod: Pod, node: Node) -> dict[str, str] | None:
    """The labels that would make a node match what the pod asks of nodes; None where labels alone can't."""
    has = node.metadata.labels
    wanted = {key: value for key, value in pod.spec.node_selector.items() if has.get(key) != value}
    required = required_node_selector(pod.spec.affinity)
    if required is None:
        return wanted
    choices: list[dict[str, str]] = [
        more for term in required.node_selector_terms if (more := _for_term(term, has)) is not None
    ]
    if not choices:
        return None
    fewest: dict[str, str] = min(choices, key=len)
    return {**fewest, **wanted}


def _for_term(term: NodeSelectorTerm, has: Mapping[str, str]) -> dict[str, str] | None:
    if term.match_fields:
        return None
    wanted = {}
    for requirement in term.match_expressions:
        value = has.get(requirement.key)
        if requirement.operator == "In":
            if value not in requirement.values:
                wanted[requirement.key] = requirement.values[0]
        elif requirement.operator == "Exists":
            if value is None:
                wanted[requirement.key] = "true"
        elif (requirement.operator == "DoesNotExist" and value is None) or (
            requirement.operator == "NotIn" and value not in requirement.values
        ):
            continue
        else:
            return None
    return wanted


def requirement_text(requirement: NodeSelectorRequirement) -> str:
    """A requirement in words."""
    operator = _OPERATORS.get(requirement.operator, requirement.operator)
    values = ", ".join(requirement.values)
    return f"{requirement.key} {operator} ({values})" if values else f"{requirement.key} {operator}"


def _without_label(key: str, pod: Pod) -> Pod:
    rest = {name: value for name, value in pod.spec.node_selector.items() if name != key}
    return replace(pod, spec=replace(pod.spec, node_selector=rest))


def _without_selector(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_selector={}))


def _without_expression(place: int, index: int, pod: Pod) -> Pod:
    """Without one expression of a term; a term without any would match nothing, so it means no requirement at all."""
    required = required_node_selector(pod.spec.affinity)
    assert required is not None
    terms = list(required.node_selector_terms)
    term = terms[place]
    rest = (*term.match_expressions[:index], *term.match_expressions[index + 1 :])
    terms[place] = replace(term, match_expressions=rest)
    free = not rest and not term.match_fields
    selector = None if free else replace(required, node_selector_terms=tuple(terms))
    affinity = pod.spec.affinity
    assert affinity is not None
    assert affinity.node_affinity is not None
    node_affinity = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=selector)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=node_affinity)))
