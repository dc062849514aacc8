"""A cluster to ask why not, and the same cluster with a change applied to its manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from scheduler.app.profiles import build_profiles
from scheduler.app.simulation import Simulation
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.explain.steps import in_one_go
from scheduler.explain.whynot import explain
from scheduler.explain.whynot.bench import Bench, whole
from scheduler.explain.whynot.search import search
from scheduler.framework.handle import Handle
from scheduler.plugins.registry import IN_TREE
from tests.builders import info, state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import Node, Pod
    from scheduler.app.decisions import PodDecision
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.explain.views import WhyNot
    from scheduler.explain.whynot.change import Change
    from scheduler.explain.whynot.search import Found
    from scheduler.framework.profile import Profile

GATES = FeatureGates()


class Cluster:
    """Nodes, assigned pods and other objects; builders or what they build."""

    def __init__(self, nodes: Sequence[Any], pods: Sequence[Any] = (), objects: Sequence[Any] = ()) -> None:
        self.nodes: list[Node] = [item.build() if hasattr(item, "build") else item for item in nodes]
        self.pods: list[Pod] = [item.build() if hasattr(item, "build") else item for item in pods]
        self.objects = list(objects)
        self.state: ClusterState = state(self.nodes, self.pods)
        for item in self.objects:
            self.state.set_object(type(item).__name__, item)
        handle: Any = Handle(self.state, None, GATES.enabled)  # type: ignore[arg-type]
        profiles = build_profiles(default_config(feature_gates=GATES), IN_TREE, handle)
        self.profile: Profile = profiles["default-scheduler"]

    def info(self, pod: Any) -> PodInfo:
        """The record of a pod that waits."""
        return info(pod, self.state)

    def why_not(self, pod: Any) -> WhyNot:
        """The answer for a pod that fits nowhere, which is the same once it was sent to somebody."""
        answer = explain(self.state, self.profile, self.info(pod))
        assert answer is not None
        assert msgspec.json.decode(msgspec.json.encode(answer), type=type(answer)) == answer
        return answer

    def found(self, pod: Any) -> list[Found]:
        """What was found to help, as changes."""
        return in_one_go(search(Bench(self.state, self.profile, self.info(pod)), 6))

    async def placed(self, pod: Pod, change: Change) -> PodDecision:
        """What becomes of the pod in the ordinary simulation of this cluster with the change applied."""
        gone = set() if change.evicts else {old.uid for old in change.gone}
        others = {(kind, item.metadata.namespace, item.metadata.name) for kind, item in change.objects}
        objects: list[Any] = [
            item
            for item in self.objects
            if (type(item).__name__, item.metadata.namespace, item.metadata.name) not in others
        ]
        objects += [item for _, item in change.objects]
        objects += [change.nodes.get(node.metadata.name, same)(node) for node in self.nodes]
        objects += change.new
        objects += [old for old in self.pods if old.metadata.uid not in gone]
        objects += [_there(new) for new in change.come]
        config = default_config(feature_gates=GATES)
        simulation = Simulation(
            [*objects, change.edited(pod)], config, registry=IN_TREE, gates=GATES, takes_all=True, seed=0
        )
        decisions = {decision.pod: decision for decision in await simulation.run()}
        return decisions[f"{pod.metadata.namespace}/{pod.metadata.name}"]


def _there(pod: PodInfo) -> Pod:
    """A pod that comes with a change, on its node."""
    known = whole(pod)
    return replace(known, spec=replace(known.spec, node_name=pod.node_name))


def same(node: Node) -> Node:
    """The node as it is."""
    return replace(node)
