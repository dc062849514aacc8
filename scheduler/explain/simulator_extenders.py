"""What extenders said of a pod, as kube-scheduler-simulator writes it (simulator/scheduler/extender/resultstore).

Under each extender's URL stands what it answered, in the form of k8s.io/kube-scheduler/extender/v1/types.go, scores
already times its weight and ten. Nodes that it let pass are given by name, as it gives them itself where it is capable
of a cache of nodes; calls that failed are not told of.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec resolves annotations at run time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.client.extender.interface import VictimUIDs  # noqa: TC001 - likewise
from scheduler.framework.extenders import Refused  # noqa: TC001 - likewise
from scheduler.framework.recorder import BIND
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scheduler.explain.views import Decision
    from scheduler.framework.extenders import ExtenderCalls

FILTER: Final = "extender-filter-result"
PRIORITIZE: Final = "extender-prioritize-result"
PREEMPT: Final = "extender-preempt-result"
EXTENDER_BIND: Final = "extender-bind-result"
KEYS: Final = (FILTER, PRIORITIZE, PREEMPT, EXTENDER_BIND)

_OK: Final = str(Code.SUCCESS)


class Heard(msgspec.Struct, frozen=True):
    """What extenders said in an attempt that its record does not tell, by their names."""

    refused: Mapping[str, Refused] = {}
    preempted: Mapping[str, Mapping[str, VictimUIDs]] = {}

    @property
    def size(self) -> int:
        """How many names of nodes and pods it holds."""
        refused = sum(len(one.failed) + len(one.unresolvable) for one in self.refused.values())
        victims = (victims for nodes in self.preempted.values() for victims in nodes.values())
        return refused + sum(1 + len(one.uids) for one in victims)


NOTHING: Final = Heard()


def heard(calls: ExtenderCalls) -> Heard:
    """What to keep of an attempt's calls."""
    return Heard(calls.refused, calls.preempted) if calls.refused or calls.preempted else NOTHING


class ExtenderResults:
    """The values for one decision. `names` are those of the profile's extenders."""

    def __init__(self, decision: Decision, names: Collection[str], heard: Heard) -> None:
        self._heard = heard
        self._columns = [column for column in decision.feasible.columns if column.plugin in names]
        self._places = {name: place for place, name in enumerate(decision.feasible.names)}
        bound = [step for step in decision.steps if step.point == BIND and step.code == _OK]
        self._bound = [step.plugin for step in bound if step.plugin in names]

    def __bool__(self) -> bool:
        """Whether any extender said anything."""
        return bool(self._heard.refused or self._heard.preempted or self._columns or self._bound)

    def of_node(self, name: str) -> Iterator[object]:
        """The parts of the values that are about one node, each once for an extender; a name stands for itself."""
        for refused in self._heard.refused.values():
            reasons = [of[name] for of in (refused.failed, refused.unresolvable) if name in of]
            yield {name: "".join(reasons)} if reasons else name
        if name in self._places:
            for column in self._columns:
                yield {"Host": name, "Score": column.weighted[self._places[name]]}
        for nodes in self._heard.preempted.values():
            if name in nodes:
                yield {name: _victims(nodes[name])}

    def values(self, nodes: Collection[str]) -> dict[str, object]:
        """The values by key, with these nodes only; none at all where no extender was asked."""
        if not self:
            return {}
        chosen = set(nodes)
        scored = [name for name in self._places if name in chosen]
        return {
            FILTER: self._filtered(chosen),
            PRIORITIZE: {
                column.plugin: [{"Host": name, "Score": column.weighted[self._places[name]]} for name in scored]
                for column in self._columns
            },
            PREEMPT: {
                extender: {
                    "NodeNameToMetaVictims": {name: _victims(one) for name, one in found.items() if name in chosen}
                }
                for extender, found in self._heard.preempted.items()
            },
            EXTENDER_BIND: {extender: {"Error": ""} for extender in self._bound},
        }

    def _filtered(self, chosen: Collection[str]) -> dict[str, Any]:
        """What each let pass are the nodes that fit in the end, and those that the ones after it turned down."""
        found: dict[str, Any] = {}
        kept = [name for name in self._places if name in chosen]
        for extender, refused in reversed(list(self._heard.refused.items())):
            failed = {name: reason for name, reason in refused.failed.items() if name in chosen}
            unresolvable = {name: reason for name, reason in refused.unresolvable.items() if name in chosen}
            found[extender] = {
                "Nodes": None,
                "NodeNames": kept,
                "FailedNodes": failed,
                "FailedAndUnresolvableNodes": unresolvable,
                "Error": "",
            }
            kept = [*kept, *sorted({*failed, *unresolvable}.difference(kept))]
        return found


def _victims(victims: VictimUIDs) -> dict[str, Any]:
    return {"Pods": [{"UID": uid} for uid in victims.uids], "NumPDBViolations": victims.pdb_violations}
