"""A decision as kube-scheduler-simulator writes it to a pod: the same annotations, for tools that read these.

Keys and values are those of kubernetes-sigs/kube-scheduler-simulator (simulator/scheduler/plugin/annotation,
plugin/resultstore/store.go, storereflector): JSON whose innermost values are texts, numbers included. What a decision
does not tell is left out: of several PreFilter plugins that restrict the nodes, which one left which. What extenders
said has values of its own (`simulator_extenders`).

Kubernetes takes 256 KiB of annotations on an object (TotalAnnotationSizeLimitB in
staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go), which some hundred nodes fill. Nodes that find no
room are left out of every value alike, so that what is written keeps its form, and `LEFT_OUT` says how many these are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.config.duration import Duration
from scheduler.explain.simulator_extenders import KEYS as EXTENDER_KEYS
from scheduler.explain.simulator_extenders import NOTHING, ExtenderResults
from scheduler.framework.recorder import BIND, PERMIT, POST_FILTER, PRE_BIND, PRE_FILTER, PRE_SCORE, RESERVE
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.explain.simulator_extenders import Heard
    from scheduler.explain.views import Decision, Rejected, Step
    from scheduler.framework.profile import Profile

PREFIX: Final = "kube-scheduler-simulator.sigs.k8s.io/"
HISTORY: Final = PREFIX + "result-history"
LEFT_OUT: Final = "explain.berth.dev/results-left-out"
"""Not the simulator's: a sentence on the nodes that found no room, absent if all did."""

LIMIT: Final = 200 << 10
"""The bytes that these annotations may take together."""
TOTAL_LIMIT: Final = 256 << 10
"""The bytes that Kubernetes allows for keys and values of all annotations of an object."""

_OK: Final = str(Code.SUCCESS)
_WAITS: Final = str(Code.WAIT)
_NOT_NOW: Final = str(Code.UNSCHEDULABLE)

_PASSED: Final = "passed"
_SUCCESS: Final = "success"
_WAIT: Final = "wait"
_VICTIMS: Final = "preemption victim"
_RESERVE: Final = 2 << 10
"""Bytes for keys, brackets and the sentence of `LEFT_OUT`."""
_BEST: Final = 3
"""Of so many nodes that fit and one that does not, as long as there are both."""

_Names = tuple[str, ...]


class Plugins(msgspec.Struct, frozen=True):
    """The names of a profile's plugins, in the order in which they are asked."""

    pre_filter: _Names = ()
    filter: _Names = ()
    post_filter: _Names = ()
    pre_score: _Names = ()
    reserve: _Names = ()
    permit: _Names = ()
    extenders: _Names = ()


class _Node(msgspec.Struct):
    """What there is to say of one node; None where a map does not have it."""

    filter: dict[str, str]
    score: dict[str, str] | None = None
    final: dict[str, str] | None = None
    post_filter: dict[str, str] | None = None


def plugins_of(profile: Profile) -> Plugins:
    """The names of a profile's plugins."""
    points = (
        profile.pre_filter, profile.filter, profile.post_filter, profile.pre_score, profile.reserve, profile.permit,
        profile.extenders,
    )  # fmt: skip
    return Plugins(*(tuple(plugin.name for plugin in point) for point in points))


def to_annotations(
    decision: Decision, plugins: Plugins, present: Mapping[str, str], *, heard: Heard = NOTHING, limit: int = LIMIT
) -> dict[str, str | None]:
    """What to set on a pod that has the annotations `present`; None for one to remove.

    `heard` is what extenders said. They take `limit` bytes at most, and leave the other annotations their room. Empty
    if there is no room at all. Where it is scarce, former results leave the history first, the oldest before the
    others; then nodes: those with the highest scores stay, and of those that were turned down the ones that passed the
    most filters.
    """
    others = sum(len(key.encode()) + len(text.encode()) for key, text in present.items() if not _ours(key))
    room = min(limit, TOTAL_LIMIT - others) - _RESERVE
    fixed = _without_nodes(decision, plugins)
    extenders = ExtenderResults(decision, plugins.extenders, heard)
    fixed |= _texts(extenders.values(()))
    # The result is written twice: by itself, and as the last one of the history.
    room -= sum(_twice(key) + _twice(text) for key, text in fixed.items())
    if room < 0:
        return {}
    restricting = len(_restricting(decision))
    nodes: dict[str, _Node] = {}
    for name, node in _nodes(decision, plugins):
        parts = [part for part in (node.filter, node.score, node.final, node.post_filter) if part is not None]
        needs = sum(_twice(name) + _twice(_text(part)) for part in parts) + restricting * (_twice(name) + 3)
        needs += sum(_twice(_text(part)) for part in extenders.of_node(name))
        if needs > room:
            break
        nodes[name] = node
        room -= needs
    result = fixed | _of_nodes(decision, nodes) | _texts(extenders.values(nodes))
    told = len(decision.feasible.names) + sum(len(group.nodes) for group in _filtered(decision))
    left_out = told - len(nodes)
    stale = {PREFIX + key: None for key in EXTENDER_KEYS if PREFIX + key in present}
    return {
        **stale,
        **result,
        HISTORY: _history(present.get(HISTORY, ""), result, room),
        LEFT_OUT: _sentence(left_out, told) if left_out else None,
    }


def _ours(key: str) -> bool:
    return key.startswith(PREFIX) or key == LEFT_OUT


def _without_nodes(decision: Decision, plugins: Plugins) -> dict[str, str]:
    """The annotations that do not grow with the nodes."""
    steps = {step.point: step for step in decision.steps}
    reserve, permit = steps.get(RESERVE), steps.get(PERMIT)
    waits = permit.timeouts if permit is not None else {}
    permitted = {
        plugin: text if plugin not in waits else _WAIT for plugin, text in _asked(plugins.permit, permit).items()
    }
    values: dict[str, object] = {
        "prefilter-result-status": _pre_filter_status(decision, plugins),
        "prescore-result": _pre_score(decision, plugins),
        "reserve-result": _asked(plugins.reserve, reserve),
        "permit-result": permitted,
        "permit-result-timeout": {plugin: _duration(waits.get(plugin, 0.0)) for plugin in permitted},
        "prebind-result": _each(decision, PRE_BIND),
        "bind-result": {
            plugin: text for plugin, text in _each(decision, BIND).items() if plugin not in plugins.extenders
        },
    }
    return {**_texts(values), PREFIX + "selected-node": decision.summary.node}


def _of_nodes(decision: Decision, nodes: Mapping[str, _Node]) -> dict[str, str]:
    """The annotations that grow with the nodes."""
    values: dict[str, object] = {
        "prefilter-result": {plugin: sorted(nodes) for plugin in _restricting(decision)},
        "filter-result": {name: node.filter for name, node in nodes.items()},
        "postfilter-result": {n: node.post_filter for n, node in nodes.items() if node.post_filter is not None},
        "score-result": {name: node.score for name, node in nodes.items() if node.score is not None},
        "finalscore-result": {name: node.final for name, node in nodes.items() if node.final is not None},
    }
    return _texts(values)


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {PREFIX + name: _text(value) for name, value in values.items()}


def _pre_filter_status(decision: Decision, plugins: Plugins) -> dict[str, str]:
    """A plugin that has nothing to do for the pod has an empty status; those behind one that ends it are not asked."""
    step = _step(decision, PRE_FILTER)
    if step is None:
        return {}
    refusal = _refusal(decision)
    found: dict[str, str] = {}
    for plugin in plugins.pre_filter:
        if refusal is not None and plugin == refusal.plugin:
            found[plugin] = ", ".join(refusal.reasons)
            if refusal.code != _NOT_NOW:
                break
        else:
            found[plugin] = "" if plugin in decision.skipped_filters else _SUCCESS
    return found


def _pre_score(decision: Decision, plugins: Plugins) -> dict[str, str]:
    if _step(decision, PRE_SCORE) is None:
        return {}
    return {plugin: "" if plugin in decision.skipped_scores else _SUCCESS for plugin in plugins.pre_score}


def _asked(plugins: Sequence[str], step: Step | None) -> dict[str, str]:
    """What the plugins of a step said that ends with the first one that does not agree."""
    if step is None:
        return {}
    if step.code in (_OK, _WAITS) or step.plugin not in plugins:
        return dict.fromkeys(plugins, _SUCCESS)
    before = plugins[: plugins.index(step.plugin)]
    return {**dict.fromkeys(before, _SUCCESS), step.plugin: step.error}


def _each(decision: Decision, point: str) -> dict[str, str]:
    """What plugins said whose steps are noted one by one."""
    steps = [step for step in decision.steps if step.point == point and step.plugin]
    return {step.plugin: _SUCCESS if step.code == _OK else step.error for step in steps}


def _step(decision: Decision, point: str) -> Step | None:
    return next((step for step in decision.steps if step.point == point), None)


def _refusal(decision: Decision) -> Rejected | None:
    """How PreFilter turned the pod down on all nodes, None if it did not."""
    step = _step(decision, PRE_FILTER)
    refused = step is not None and step.code != _OK
    return next((group for group in decision.rejected if not group.left_out), None) if refused else None


def _restricting(decision: Decision) -> set[str]:
    """The PreFilter plugins that left nodes out."""
    return {plugin for group in decision.rejected if group.left_out for plugin in group.plugin.split(",")}


def _filtered(decision: Decision) -> list[Rejected]:
    """The nodes that filters were asked about in vain."""
    if _refusal(decision) is not None:
        return []
    return [group for group in decision.rejected if not group.left_out]


def _nodes(decision: Decision, plugins: Plugins) -> Iterator[tuple[str, _Node]]:
    """The nodes that filters were asked about, those that matter most first."""
    filters = [plugin for plugin in plugins.filter if plugin not in decision.skipped_filters]
    fits, misfits = _fitting(decision, filters, plugins), _misfits(decision, filters, plugins)
    while True:
        some = [node for _, node in zip(range(_BEST), fits, strict=False)]
        some += [node for _, node in zip(range(1), misfits, strict=False)]
        if not some:
            return
        yield from some


def _fitting(decision: Decision, filters: Sequence[str], plugins: Plugins) -> Iterator[tuple[str, _Node]]:
    columns = [column for column in decision.feasible.columns if column.plugin not in plugins.extenders]
    for place, name in enumerate(decision.feasible.names):
        node = _Node(dict.fromkeys(filters, _PASSED))
        if columns:
            node.score = {column.plugin: str(column.raw[place]) for column in columns}
            node.final = {column.plugin: str(column.weighted[place]) for column in columns}
        yield name, node


def _misfits(decision: Decision, filters: Sequence[str], plugins: Plugins) -> Iterator[tuple[str, _Node]]:
    """Those first that passed more filters than the others."""

    def passed(group: Rejected) -> int:
        return filters.index(group.plugin) if group.plugin in filters else len(filters)

    made_room = decision.post_filter
    nominated = "" if made_room is None else made_room.nominated_node or ""
    for group in sorted(_filtered(decision), key=lambda group: -passed(group)):
        told = dict.fromkeys(filters[: passed(group)], _PASSED)
        if group.plugin:  # an extender's refusal is no plugin's
            told[group.plugin] = ", ".join(group.reasons)
        for name in group.nodes:
            node = _Node(told)
            if made_room is not None:
                node.post_filter = {_made_room(decision, plugins): _VICTIMS} if name == nominated else {}
            yield name, node


def _made_room(decision: Decision, plugins: Plugins) -> str:
    """The PostFilter plugin that nominated a node: the one that was asked, or else the last there is."""
    step = _step(decision, POST_FILTER)
    return step.plugin if step is not None and step.plugin else plugins.post_filter[-1]


def _history(former: str, result: Mapping[str, str], room: int) -> str:
    """The former results as far as there is room, the newest of them, and then this one."""
    kept = [result]
    for one in reversed(_results(former)):
        room -= len(_text(one).encode()) + 1
        if room < 0:
            break
        kept.insert(0, one)
    return _text(kept)


def _results(text: str) -> list[dict[str, str]]:
    """What a history has; nothing if it is none, since anybody may have written it."""
    try:
        return msgspec.json.decode(text, type=list[dict[str, str]])
    except msgspec.DecodeError:
        return []


def _sentence(left_out: int, told: int) -> str:
    return (
        f"{left_out} of {told} nodes are left out of these results, for there is no room: the best and the nearest "
        "ones are kept; berth explain pod shows all"
    )


def _text(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _duration(seconds: float) -> str:
    return str(Duration(round(seconds * 1e9)))


def _twice(text: str) -> int:
    """The bytes of a text by itself and within a JSON text, with quotation marks, and a comma to spare."""
    return len(text.encode()) + len(msgspec.json.encode(text)) + 3
