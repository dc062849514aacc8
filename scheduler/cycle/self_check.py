"""The debug switch by which each decision is taken again, on a state rebuilt from scratch with empty caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.cache.rebuild import copy_pod, rebuild
from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.framework.cycle import Cycle
from scheduler.framework.scoring import detailed_scores
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.algorithm import Decision
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status


class SelfCheckError(Exception):
    """A decision differs from the one that a full evaluation comes to: what is kept from cycle to cycle is wrong."""

    def __init__(self, pod: str, plugin: str, node: str, kept: object, rebuilt: object) -> None:
        where = f"plugin {plugin}, node {node}" if node else plugin
        super().__init__(
            f"self-check of pod {pod}: {where}: {kept} from the state as kept, {rebuilt} from a rebuilt one"
        )
        self.plugin = plugin
        self.node = node
        self.kept = kept
        self.rebuilt = rebuilt


def check(profile: Profile, pod: PodInfo, decision: Decision) -> None:
    """Decide again from scratch; raises SelfCheckError, which names the first difference.

    Compared are, by the names of nodes: why each was turned down and by whom, the feasible ones, the scores plugin by
    plugin, the totals, and the best.
    """
    twin = rebuild(decision.cycle.state)
    percentage = decision.percentage
    algorithm = Algorithm(twin, percentage_of_nodes_to_score=percentage or 0, all_nodes=percentage is None)
    algorithm.next_start = decision.start
    fresh = profile.on(twin)
    begun: list[Decision] = []
    copy = copy_pod(pod, twin.shapes)
    cycle = Cycle(copy, twin, fresh.name)
    cycle.extenders = decision.cycle.extenders.replay()
    try:
        algorithm.decide(fresh, copy, cycle=cycle, observe=begun.append)
    except FitError:
        pass
    except PluginError as problem:
        raise SelfCheckError(pod.key, "outcome", "", "a decision", f"error {problem}") from problem
    _compare(pod.key, profile, decision, fresh, begun[0])


def _compare(pod: str, profile: Profile, kept: Decision, fresh: Profile, rebuilt: Decision) -> None:
    def same(plugin: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            raise SelfCheckError(pod, plugin, "", ours, theirs)

    same("PreFilter", kept.pre_filter, rebuilt.pre_filter)
    _compare_statuses(pod, _statuses(kept), _statuses(rebuilt))
    same("feasible nodes", sorted(_names(kept, kept.feasible)), sorted(_names(rebuilt, rebuilt.feasible)))
    # A single feasible node is scored only where somebody asked for details.
    if kept.totals is not None and rebuilt.totals is not None and profile.score:
        same("skipped at PreScore", kept.pre_score_skipped, rebuilt.pre_score_skipped)
        ours, theirs = _scores(profile, kept), _scores(fresh, rebuilt)
        for plugin, nodes in theirs.items():
            _compare_numbers(pod, plugin, ours.get(plugin, {}), nodes)
        _compare_numbers(pod, "total", _totals(kept), _totals(rebuilt))
    same("best nodes", sorted(_names(kept, kept.best)), sorted(_names(rebuilt, rebuilt.best)))
    same("nodes looked at", kept.evaluated, rebuilt.evaluated)


def _compare_statuses(pod: str, kept: Mapping[str, Status], rebuilt: Mapping[str, Status]) -> None:
    for node in sorted({*kept, *rebuilt}):
        ours, theirs = kept.get(node), rebuilt.get(node)
        if ours != theirs:
            plugin = next(status.plugin for status in (theirs, ours) if status is not None)
            raise SelfCheckError(pod, plugin, node, ours, theirs)


def _compare_numbers(pod: str, plugin: str, kept: Mapping[str, Any], rebuilt: Mapping[str, Any]) -> None:
    for node in sorted({*kept, *rebuilt}):
        if kept.get(node) != rebuilt.get(node):
            raise SelfCheckError(pod, plugin, node, kept.get(node), rebuilt.get(node))


def _names(decision: Decision, rows: Any) -> list[str]:
    table = decision.cycle.state.nodes
    return [table.name(row) for row in rows.tolist()]


def _statuses(decision: Decision) -> dict[str, Status]:
    table = decision.cycle.state.nodes
    return {table.name(row): status for row, status in decision.rejections.statuses().items()}


def _scores(profile: Profile, decision: Decision) -> dict[str, dict[str, tuple[int, int]]]:
    """(raw, weighted) by plugin and node. A plugin that was skipped is not among them."""
    nodes = _names(decision, decision.feasible)
    return {
        scores.name: dict(zip(nodes, zip(scores.raw.tolist(), scores.weighted.tolist(), strict=True), strict=True))
        for scores in detailed_scores(profile, decision.cycle, decision.pre_score_skipped)
    }


def _totals(decision: Decision) -> dict[str, int]:
    if decision.totals is None:
        return {}
    return dict(zip(_names(decision, decision.feasible), decision.totals.tolist(), strict=True))
