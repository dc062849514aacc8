"""Asking one plugin about a pod, as the runtime does, with answers by node name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.cache.nodes import NodeView
from scheduler.config.args.registry import IN_TREE_ARGS
from scheduler.config.features import FeatureGates
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType
from scheduler.framework.handle import Handle
from scheduler.framework.interface import NodeNames, PreFilterPlugin
from scheduler.plugins.registry import IN_TREE
from tests.builders import info

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.cache.state import ClusterState
    from scheduler.framework.events import EventHint
    from scheduler.framework.interface import FilterPlugin, Plugin, ScorePlugin
    from scheduler.framework.status import Status
    from tests.builders import PodBuilder


class UnusedBinder:
    """For plugins that bind nothing."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        raise AssertionError("nothing is to be bound")


def handle(cluster: ClusterState, *, gates: Mapping[str, bool] = MappingProxyType({})) -> Handle:
    """A handle on a cluster, with the feature gates at their defaults but for these, be they locked."""
    defaults = FeatureGates()
    return Handle(
        state=cluster,
        binder=UnusedBinder(),
        feature_enabled=lambda name: gates[name] if name in gates else defaults.enabled(name),
    )


def in_tree(name: str, cluster: ClusterState) -> Plugin:
    """The plugin of that name with its default arguments, on a cluster."""
    args_type = IN_TREE_ARGS.get(name)
    args: Any = args_type().defaulted(FeatureGates()) if args_type is not None else None
    return IN_TREE[name](args, handle(cluster))


def cycle_of(cluster: ClusterState, pod: PodBuilder) -> Cycle:
    """An attempt to place a pod, for which all nodes are feasible."""
    cycle = Cycle(info(pod, cluster), cluster, "default-scheduler")
    cycle.feasible = np.flatnonzero(cluster.nodes.live[: cluster.nodes.size])
    return cycle


def verdicts(plugin: FilterPlugin, cycle: Cycle) -> dict[str, Status | None]:
    """The status of each node, None where the pod fits; PreFilter runs first if there is one, and must not object."""
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(cycle)
        assert answer is None or isinstance(answer, NodeNames)
    return filtered(plugin, cycle)


def filtered(plugin: FilterPlugin, cycle: Cycle) -> dict[str, Status | None]:
    """The same without PreFilter."""
    codes = plugin.filter(cycle, cycle.nodes)
    if not plugin.per_cycle and not plugin.feasible_only:
        alone = [plugin.filter(cycle, view) for view in _each_alone(cycle)]
        assert [0 if one is None else int(one[0]) for one in alone] == (
            [0] * len(alone) if codes is None else codes.tolist()
        )
    if codes is None:
        return dict.fromkeys(cycle.state.nodes.rows)
    assert codes.dtype.kind == "u"
    assert len(codes) == len(cycle.nodes)
    return {
        name: plugin.status(cycle, int(codes[row])) if codes[row] else None
        for name, row in cycle.state.nodes.rows.items()
    }


def raw_scores(plugin: ScorePlugin, cycle: Cycle) -> dict[str, int]:
    """The score of each node before normalizing."""
    scores = plugin.score(cycle, cycle.nodes)
    assert scores.dtype == np.int64
    if not plugin.per_cycle:
        assert [plugin.score(cycle, view).tolist() for view in _each_alone(cycle)] == [[one] for one in scores.tolist()]
    return {name: int(scores[row]) for name, row in cycle.state.nodes.rows.items()}


def _each_alone(cycle: Cycle) -> list[NodeView]:
    """Row-wise plugins are asked about single nodes most of the time, and must not answer otherwise then."""
    return [NodeView(cycle.state.nodes, np.array([row])) for row in range(cycle.nodes.size)]


def final_scores(plugin: ScorePlugin, cycle: Cycle) -> dict[str, int]:
    """The score of each node, normalized over all nodes."""
    rows = cycle.state.nodes.rows
    raw = plugin.score(cycle, cycle.nodes)[list(rows.values())]
    scores = plugin.normalize(cycle, raw) if plugin.normalizes else raw
    return dict(zip(rows, scores.tolist(), strict=True))


def events(hints: Iterable[EventHint]) -> dict[str, Any]:
    """Kind and actions of each registered event, with the name of its hint function (None for no function)."""
    return {
        f"{hint.resource} {_words(hint.actions)}": hint.hint.__name__ if hint.hint is not None else None
        for hint in hints
    }


def _words(actions: ActionType) -> str | None:
    """The names of the actions; all updates together are UPDATE."""
    if actions & ActionType.UPDATE != ActionType.UPDATE:
        return actions.name
    others = actions & ~ActionType.UPDATE
    return f"{others.name}|UPDATE" if others else "UPDATE"
