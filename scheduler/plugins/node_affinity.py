"""NodeAffinity: spec.nodeSelector, and required and preferred node affinity of the pod and of the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.api.nodeaffinity import (
    CompiledNodeSelector,
    compile_strict_node_selector,
    preferred_scheduling_terms,
    required_node_affinity,
)
from scheduler.api.selectors import SelectorError
from scheduler.cache.changes import Change
from scheduler.cache.shapes import PinnedShape
from scheduler.framework import names
from scheduler.framework.arithmetic import normalize
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    NodeNames,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from scheduler.framework.node_match import PreferredMatch, RequiredMatch, SelectorMatch
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from scheduler.api.objects import Node, NodeSelector, Pod
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.config.args.node_affinity import NodeAffinityArgs
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

NAME: Final = names.NODE_AFFINITY
REASON_POD: Final = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT: Final = "pod affinity terms conflict"

_encode = msgspec.msgpack.Encoder().encode

_ENFORCED: Final = 1
_POD: Final = 2


def named_nodes(required: NodeSelector | None) -> frozenset[str] | None:
    """The nodes that the terms name by metadata.name; None if some term leaves the name open, or there is no term."""
    if required is None or not required.node_selector_terms:
        return None
    found: set[str] = set()
    for term in required.node_selector_terms:
        lists = [
            set(field.values) for field in term.match_fields if field.key == "metadata.name" and field.operator == "In"
        ]
        if not lists:
            return None
        found |= set.intersection(*lists)
    return frozenset(found)


class Wishes:
    """The node affinity of a shape, compiled.

    `required` and `preferred` are its vector forms; `preferred` is None without preferred terms. `problem` says what of
    the latter does not parse. `answer` is what PreFilter says if the plugin has anything to do. Those with equal keys
    come to the same.
    """

    __slots__ = ("affinity", "answer", "key", "preferred", "problem", "required")

    def __init__(self, pod: Pod) -> None:
        spec = pod.spec
        own = spec.affinity.node_affinity if spec.affinity is not None else None
        self.key = _encode((spec.node_selector, own))
        self.affinity = required_node_affinity(spec.node_selector, spec.affinity)
        self.required = RequiredMatch(self.affinity)
        self.answer: Status | NodeNames | None = None
        self.preferred: PreferredMatch | None = None
        self.problem = ""
        if own is None:
            return
        wanted = named_nodes(own.required_during_scheduling_ignored_during_execution)
        if wanted is not None:
            self.answer = NodeNames(wanted) if wanted else unresolvable(REASON_CONFLICT)
        if own.preferred_during_scheduling_ignored_during_execution:
            try:
                terms = preferred_scheduling_terms(own.preferred_during_scheduling_ignored_during_execution)
                self.preferred = PreferredMatch(terms)
            except SelectorError as problem:
                self.problem = str(problem)


def wishes(shape: PodShape) -> Wishes:
    """The compiled node affinity of a shape."""
    known: Wishes | None = shape.memo.get(NAME)
    if known is None:
        known = shape.memo[NAME] = Wishes(shape.pod)
    return known


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go.

    `added` and `added_preferred` are the profile's addedAffinity.
    """

    name = NAME
    sees_labels = False
    hints_see_labels = False
    depends = Change.LABELS
    normalizes = True
    by_highest = True

    def __init__(self, added: CompiledNodeSelector | None, added_preferred: PreferredMatch | None) -> None:
        self._added = added
        self._added_match = SelectorMatch(added) if added is not None else None
        self._added_preferred = added_preferred

    def pre_filter(self, cycle: Cycle) -> Status | NodeNames | None:
        """Skips pods without required affinity; restricts the nodes where all terms name some."""
        own = wishes(cycle.shape)
        if own.required.everything and self._added is None:
            return SKIP
        return own.answer

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape, and the node that this is pinned to."""
        return not isinstance(cycle.shape, PinnedShape)

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 where the profile's affinity does not match, else 2 where the pod's does not."""
        codes = np.zeros(len(nodes), np.uint8)
        own = wishes(cycle.shape).required
        if not own.everything:
            codes[~own.mask(nodes)] = _POD
        if self._added_match is not None:
            codes[~self._added_match.mask(nodes)] = _ENFORCED
        return codes if codes.any() else None

    def code_at(self, cycle: Cycle, row: int) -> int:
        """The same of one node."""
        node = cycle.state.nodes.objects[row]
        if node is None:  # it has gone
            return _POD
        if self._added is not None and not self._added.matches(*_labels(node)):
            return _ENFORCED
        own = wishes(cycle.shape)
        return 0 if own.required.everything or own.affinity.matches(*_labels(node)) else _POD

    def filter_key(self, cycle: Cycle) -> Hashable:
        """Node selector and affinity."""
        return wishes(cycle.shape).key

    def status(self, cycle: Cycle, code: int) -> Status:
        """Whose affinity did not match."""
        del cycle
        return unresolvable(REASON_ENFORCED if code == _ENFORCED else REASON_POD)

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Skips where nothing is preferred; terms that do not parse fail the attempt."""
        del feasible
        own = wishes(cycle.shape)
        if own.problem:
            return error(own.problem)
        return SKIP if own.preferred is None and self._added_preferred is None else None

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """The sum of the weights of all matching terms, the profile's and the pod's."""
        own = wishes(cycle.shape)
        if own.problem:
            raise PluginError(f'running Score plugins: plugin "{NAME}" failed with: {own.problem}')
        total = np.zeros(len(nodes), np.int64)
        for preferred in (self._added_preferred, own.preferred):
            if preferred is not None:
                total += preferred.score(nodes)
        return total

    def score_key(self, cycle: Cycle) -> Hashable:
        """Node selector and affinity."""
        return wishes(cycle.shape).key

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        """The best node gets 100."""
        del cycle
        return normalize(scores)

    def normalizer(self, cycle: Cycle) -> Callable[[Scores], Scores]:
        """The same in each cycle."""
        del cycle
        return normalize

    def events_to_register(self) -> Sequence[EventHint]:
        """New nodes, and nodes with other labels."""
        return [EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, self.after_node_change)]

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        """The node matches, and did not before (or was not there)."""
        if self._added is not None and not self._added.matches(new.metadata.labels, new.metadata.name):
            return QueueingHint.SKIP
        own = wishes(pod.shape)
        if not _matches(own, new):
            return QueueingHint.SKIP
        return QueueingHint.QUEUE if old is None or not own.affinity.matches(*_labels(old)) else QueueingHint.SKIP


def _labels(node: Node) -> tuple[dict[str, str], str]:
    return node.metadata.labels, node.metadata.name


def _matches(own: Wishes, node: Node) -> bool:
    """Whether the node matches, or terms that do not parse leave it in doubt."""
    selector, terms = own.affinity
    if own.affinity.matches(*_labels(node)):
        return True
    selected = selector is None or selector.matches(node.metadata.labels)
    return selected and terms is not None and bool(terms.problems)


def make(args: NodeAffinityArgs, handle: Handle) -> NodeAffinity:
    """The plugin. Raises ValueError if a term of addedAffinity does not parse."""
    del handle
    added, preferred = None, None
    affinity = args.added_affinity
    if affinity is not None:
        required = affinity.required_during_scheduling_ignored_during_execution
        terms = affinity.preferred_during_scheduling_ignored_during_execution
        at = "requiredDuringSchedulingIgnoredDuringExecution"
        try:
            if required is not None:
                added = compile_strict_node_selector(required)
            at = "preferredDuringSchedulingIgnoredDuringExecution"
            if terms:
                preferred = PreferredMatch(preferred_scheduling_terms(terms))
        except SelectorError as problem:
            raise ValueError(f"parsing addedAffinity.{at}: {problem}") from problem
    return NodeAffinity(added, preferred)
