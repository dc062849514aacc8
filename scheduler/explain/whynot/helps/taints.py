"""Tolerations, taints that are removed, nodes that become healthy, and nodes that are uncordoned."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec.structs import replace

from scheduler.api.objects import Toleration
from scheduler.api.tolerations import FILTERED_EFFECTS, tolerated_by_any
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.wording import any_of, listed, nothing, open_, opens, taint_text
from scheduler.framework.names import NODE_UNSCHEDULABLE, TAINT_TOLERATION
from scheduler.plugins.node_unschedulable import CORDON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.api.objects import Node, Pod, Taint
    from scheduler.explain.whynot.change import Text
    from scheduler.explain.whynot.survey import Survey

_UNCORDON: Final = 10
_TOLERATE: Final = 20
_HEAL: Final = 30
_REMOVE: Final = 58
"""More than evicting a pod: a taint keeps off others as well, and may have been set for that."""
_CONDITIONS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that Kubernetes sets for as long as something is wrong with a node."""
_TRIED: Final = 5


def options(survey: Survey) -> Iterator[Option]:
    """For each distinct list of taints in the way, tolerations, or nodes without them; a word for nodes not well."""
    yield from _uncordon(survey)
    table = survey.state.nodes
    rows = survey.rows(TAINT_TOLERATION)
    tolerations = survey.pod.shape.pod.spec.tolerations
    ids = table.taints.ids[rows]
    seen = set()
    for identifier in dict.fromkeys(ids.tolist()):
        taints: Any = table.taints.values[identifier]
        against = tuple(t for t in taints if t.effect in FILTERED_EFFECTS and not tolerated_by_any(t, tolerations))
        if not against or against in seen or all(taint.key == CORDON.key for taint in against):
            continue
        seen.add(against)
        ailing = tuple(taint for taint in against if taint.key.startswith(_CONDITIONS))
        names = [table.name(row) for row in rows[ids == identifier][:_TRIED].tolist()]
        if ailing:
            yield tuple(_healed(name, ailing) for name in names)
        else:
            yield (_tolerate(against),)
            yield tuple(_removed(name, against) for name in names)


def _tolerate(taints: Sequence[Taint]) -> Change:
    more = tuple(
        Toleration(key=taint.key, operator="Equal" if taint.value else "Exists", value=taint.value, effect=taint.effect)
        for taint in taints
    )
    texts = [taint_text(taint) for taint in taints]
    words = f"a toleration for {texts[0]}" if len(texts) == 1 else f"tolerations for {listed(texts, most=5)}"

    def edit(pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *more)))

    return Change(
        kind="tolerate",
        details={"taints": ",".join(texts)},
        cost=_TOLERATE * len(texts),
        what=lambda _: words,
        effect=opens if len(texts) == 1 else open_,
        solves=frozenset((TAINT_TOLERATION,)),
        pod=edit,
    )


def _healed(name: str, taints: Sequence[Taint]) -> Change:
    texts = listed([taint_text(taint) for taint in taints])
    return _untainted(
        name, taints, _HEAL, lambda nodes: f"{any_of(nodes or [name])} becoming well again (no longer tainted {texts})"
    )


def _removed(name: str, taints: Sequence[Taint]) -> Change:
    texts = [taint_text(taint) for taint in taints]
    words = f"the taint{'' if len(texts) == 1 else 's'} {listed(texts, most=5)}"
    return _untainted(name, taints, _REMOVE, lambda nodes: f"removing {words} from {any_of(nodes or [name])}")


def _untainted(name: str, taints: Sequence[Taint], cost: int, what: Text) -> Change:
    gone = frozenset(taint.key for taint in taints)
    return Change(
        kind="removeTaint",
        details={"taints": ",".join(taint_text(taint) for taint in taints)},
        cost=cost,
        what=what,
        effect=nothing,
        solves=frozenset((TAINT_TOLERATION, NODE_UNSCHEDULABLE)),
        nodes={name: partial(_without, gone)},
    )


def _uncordon(survey: Survey) -> Iterator[Option]:
    rows = survey.rows(NODE_UNSCHEDULABLE, most=3)[:_TRIED]
    names = [survey.state.nodes.name(row) for row in rows.tolist()]
    if names:
        yield tuple(
            Change(
                kind="uncordon",
                cost=_UNCORDON,
                what=partial(_uncordoned, name),
                effect=nothing,
                solves=frozenset((NODE_UNSCHEDULABLE, TAINT_TOLERATION)),
                nodes={name: partial(_without, frozenset((CORDON.key,)), uncordoned=True)},
            )
            for name in names
        )


def _uncordoned(name: str, nodes: Sequence[str]) -> str:
    return f"uncordoning {any_of(nodes or [name])}"


def _without(keys: frozenset[str], node: Node, *, uncordoned: bool = False) -> Node:
    taints = tuple(taint for taint in node.spec.taints if taint.key not in keys)
    closed = node.spec.unschedulable and not uncordoned
    return replace(node, spec=replace(node.spec, taints=taints, unschedulable=closed))


def well(node: Node) -> Node:
    """The node without cordon and without taints for what is wrong with it."""
    ailing = frozenset(taint.key for taint in node.spec.taints if taint.key.startswith(_CONDITIONS))
    return _without(ailing, node, uncordoned=True)


def is_well(survey: Survey) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """bool over rows: nodes that are neither cordoned nor tainted for what is wrong with them."""
    table = survey.state.nodes
    lists: list[Any] = table.taints.values
    fine = np.array([not any(taint.key.startswith(_CONDITIONS) for taint in taints) for taints in lists])
    size = len(survey.live)
    found: np.ndarray[Any, np.dtype[np.bool_]] = fine[table.taints.ids[:size]] & ~table.unschedulable[:size]
    return found
