"""The end of a case that asks for it: the binding cycle on a node, with stand-ins for API server and controllers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from scheduler.api.claims import BIND_COMPLETED, SELECTED_NODE
from scheduler.api.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
)
from scheduler.api.storage import PersistentVolumeSpec, VolumeNodeAffinity
from scheduler.framework.binding import run_bind, run_pre_bind, run_pre_flights
from scheduler.framework.reservation import run_reserve, run_unreserve
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cache.state import ClusterState
    from scheduler.cycle.algorithm import Decision
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status

BEHAVIORS: Final = (
    "binds",
    "lags",
    "dawdles",
    "outruns",
    "resets",
    "misplaces",
    "loses",
    "forgets",
    "refuses",
    "unbindable",
)
"""What the controllers do about a volume or claim that was written.

They bind it, or make a volume and bind that; that may lag, be it that what was written is heard of at once (dawdles),
or that all but the new volume is (outruns). They undo what was written; bind it out of the node's reach;
or the claim is lost meanwhile, the pod is, or the API server refuses the write, or to bind the pod.
"""

_VOLUME: Final = "PersistentVolume"
_CLAIM: Final = "PersistentVolumeClaim"
_LAG: Final = 0.05
_REFUSAL: Final = "the server says no"
_WRITTEN: Final = "1000"
_BOUND: Final = "1001"
"""Resource versions beyond those of cases."""


def end_of(profile: Profile, decision: Decision, writers: CaseWriters) -> dict[str, Any]:
    """How the binding cycle ends on the first of the best nodes, and its writes, which stay in the state."""
    state, pod = decision.cycle.state, decision.cycle.pod
    node = min(state.nodes.name(row) for row in decision.best.tolist())
    state.assume(pod, node)
    try:
        status = asyncio.run(_bind(profile, decision, node))
    finally:
        run_unreserve(profile.reserve, decision.cycle, node)
        if state.is_assumed(pod.uid):
            state.forget(pod.uid)
    found: dict[str, Any] = {"node": node, "code": str(Code.SUCCESS), "writes": writers.writes}
    if status is not None:
        found |= {"code": str(status.code), "plugin": status.plugin, "reasons": list(status.reasons)}
    return found


async def _bind(profile: Profile, decision: Decision, node: str) -> Status | None:
    cycle = decision.cycle
    status = run_reserve(profile.reserve, cycle, node)
    if status is not None:
        return status
    status, active = run_pre_flights(profile.pre_bind, cycle, node)
    if status is not None and status.code is not Code.SKIP:
        return status
    status = await run_pre_bind(active, cycle, node)
    return status if status is not None else await run_bind(profile.bind, cycle, node)


class CaseWriters:
    """Takes what is written for the one pod of a case, and does what the volume controllers would."""

    def __init__(self, state: ClusterState, behavior: str) -> None:
        self._state = state
        self._behavior = behavior
        self.writes: list[str] = []

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Take down that the pod was to be bound."""
        del uid
        self.writes.append(f"bind {namespace}/{name} to {node}")
        if self._behavior == "unbindable":
            raise RuntimeError(_REFUSAL)

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """A volume was reserved for a claim."""
        reference = volume.spec.claim_ref
        assert reference is not None
        self.writes.append(f"volume {volume.metadata.name} for {reference.namespace}/{reference.name}")
        written = replace(volume, metadata=replace(volume.metadata, resource_version=_WRITTEN))
        self._answer(self._bind_static, written)
        return written

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """A claim was given the node that a volume is to be made for."""
        meta = claim.metadata
        self.writes.append(f"claim {meta.namespace}/{meta.name} on {meta.annotations.get(SELECTED_NODE, '')}")
        written = replace(claim, metadata=replace(meta, resource_version=_WRITTEN))
        self._answer(self._provision, written)
        return written

    def _answer(self, act: Any, written: PersistentVolume | PersistentVolumeClaim) -> None:
        if self._behavior == "refuses":
            raise RuntimeError(_REFUSAL)
        if self._behavior == "forgets":
            for uid in tuple(self._state.assumed):
                self._state.forget(uid)
        elif self._behavior == "lags":
            _later(act, written)
        else:
            act(written)

    def _bind_static(self, volume: PersistentVolume) -> None:
        reference = volume.spec.claim_ref
        assert reference is not None
        claim = self._state.objects.get(_CLAIM, reference.namespace, reference.name)
        if self._behavior == "resets":
            volume = replace(volume, spec=replace(volume.spec, claim_ref=None))
        elif self._behavior == "misplaces":
            volume = replace(volume, spec=replace(volume.spec, node_affinity=_OUT_OF_REACH))
        self._state.set_object(_VOLUME, volume)
        if self._behavior == "loses":
            self._state.remove_object(_CLAIM, reference.namespace, reference.name)
        elif self._behavior == "dawdles":
            _later(self._complete, claim, volume.metadata.name)
        elif self._behavior != "resets" and claim is not None:
            self._complete(claim, volume.metadata.name)

    def _provision(self, claim: PersistentVolumeClaim) -> None:
        meta = claim.metadata
        if self._behavior == "resets":
            left = {key: text for key, text in meta.annotations.items() if key != SELECTED_NODE}
            self._state.set_object(_CLAIM, replace(claim, metadata=replace(meta, annotations=left)))
        elif self._behavior == "loses":
            self._state.remove_object(_CLAIM, meta.namespace, meta.name)
        else:
            name = f"made-{meta.name}"
            affinity = _OUT_OF_REACH if self._behavior == "misplaces" else None
            made = PersistentVolume(
                metadata=ObjectMeta(name=name, uid="uid-made", resource_version=_BOUND),
                spec=PersistentVolumeSpec(node_affinity=affinity),
            )
            self._make(claim, made)

    def _make(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """A volume was made for a claim."""
        name = volume.metadata.name
        if self._behavior == "outruns":
            _later(self._state.set_object, _VOLUME, volume)
            self._complete(claim, name)
        elif self._behavior == "dawdles":
            self._state.set_object(_CLAIM, claim)
            _later(self._state.set_object, _VOLUME, volume)
            _later(self._complete, claim, name)
        else:
            self._state.set_object(_VOLUME, volume)
            self._complete(claim, name)

    def _complete(self, claim: PersistentVolumeClaim, volume: str) -> None:
        annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
        bound = replace(
            claim,
            metadata=replace(claim.metadata, annotations=annotations, resource_version=_BOUND),
            spec=replace(claim.spec, volume_name=volume),
        )
        self._state.set_object(_CLAIM, bound)


def _later(act: Callable[..., Any], *what: Any) -> None:
    asyncio.get_running_loop().call_later(_LAG, act, *what)


_OUT_OF_REACH: Final = VolumeNodeAffinity(
    required=NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="nowhere", operator="In", values=("x",)),)),
        )
    )
)
