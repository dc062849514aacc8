"""LowPrice: cheap nodes first; nodes that are kept for one namespace take no pods of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from scheduler.framework.arithmetic import normalize
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions
from scheduler.framework.per_node import NodeFilterPlugin, NodeInfoView, NodeScorePlugin
from scheduler.framework.registry import arguments
from scheduler.framework.status import Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import Node
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Scores

KEPT_FOR = "example.com/kept-for"


class Args(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The plugin's part of the configuration: which label has the price, and what a node without it costs."""

    label: str = "example.com/price"
    price_if_absent: Annotated[int, msgspec.Meta(ge=0)] = 100


class LowPrice(NodeFilterPlugin, NodeScorePlugin, EnqueueExtensions):
    """Looks at one node at a time, and only at those that all filters before it let pass."""

    name = "LowPrice"
    normalizes = True

    def __init__(self, args: Args) -> None:
        self.args = args

    def filter_node(self, cycle: Cycle, node: NodeInfoView) -> Status | None:
        namespace = node.annotations.get(KEPT_FOR, cycle.pod.namespace)
        return None if namespace == cycle.pod.namespace else unresolvable(f"node(s) were kept for {namespace}")

    def score_node(self, cycle: Cycle, node: NodeInfoView) -> int:
        del cycle  # what the pod is like does not matter
        price = node.labels.get(self.args.label, "")
        return int(price) if price.isdecimal() else self.args.price_if_absent

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        del cycle
        return normalize(scores, reverse=True)

    def events_to_register(self) -> Sequence[EventHint]:
        changes = ActionType.ADD | ActionType.UPDATE_NODE_ANNOTATION
        return [EventHint(EventResource.NODE, changes, self.after_node_change)]

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        del old
        fits = new.metadata.annotations.get(KEPT_FOR, pod.namespace) == pod.namespace
        return QueueingHint.QUEUE if fits else QueueingHint.SKIP


def make(args: Any, handle: Handle) -> LowPrice:
    """The entry point: Berth calls this for each profile that enables the plugin."""
    del handle  # the cluster's state and the API, for plugins that need them
    return LowPrice(arguments(args, Args))
