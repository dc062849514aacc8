"""The plugin: its extension points (pkg/scheduler/framework/plugins/volumebinding/volume_binding.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.claims import is_fully_bound
from scheduler.cache.assumed import OutOfSyncError
from scheduler.config.args.volume_binding import VolumeBindingArgs
from scheduler.config.features import FeatureGates
from scheduler.framework import names
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler.framework.object_changes import ObjectChanges
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable
from scheduler.plugins.volumebinding import hints, prebind
from scheduler.plugins.volumebinding.assumed import CLAIM, VOLUME, AssumedVolumes
from scheduler.plugins.volumebinding.binder import (
    BIND_CONFLICT,
    FIRST_ERROR,
    NO_SPACE,
    NODE_CONFLICT,
    VOLUME_MISSING,
    Findings,
    PodVolumes,
    VolumeBinder,
)
from scheduler.plugins.volumebinding.claims import ClassError, claim_names, pod_claims, problem_of
from scheduler.plugins.volumebinding.prebind import Reservation
from scheduler.plugins.volumebinding.scoring import scorer
from scheduler.plugins.volumebinding.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
REASONS: Final = {
    NODE_CONFLICT: "node(s) didn't match PersistentVolume's node affinity",
    BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    NO_SPACE: "node(s) did not have enough free storage",
    VOLUME_MISSING: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_NOT_PREPARED: Final = "not found"


class _State:
    """What is kept of a pod from PreFilter on; `findings` is None for pods without claims."""

    __slots__ = ("all_bound", "epoch", "findings", "reservation")

    def __init__(self, findings: Findings | None) -> None:
        self.findings = findings
        self.epoch = object()
        self.all_bound = False
        self.reservation: Reservation | None = None


class VolumeBinding(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin, EnqueueExtensions
):
    """Sends pods where their volumes are, or can be; reserves these, and has them bound before the pod is."""

    name = names.VOLUME_BINDING
    sees_labels = False
    hints_see_labels = False
    parallel = True
    per_cycle = False
    feasible_only = True
    may_fail = True
    bounded = True

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._cluster = handle.state
        self._within = args.bind_timeout_seconds
        self._writer = handle.volume_writer
        self._failures = handle.metrics.volume_scheduling_stage_error
        self._volumes = AssumedVolumes(handle.state)
        self._topology = Topology(handle.state)
        self._binder = VolumeBinder(handle.state, self._volumes, self._topology)
        self._changes = ObjectChanges(handle.state.objects, (VOLUME, CLAIM))
        self._score = scorer(args.shape) if args.shape else None

    # filter

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without claims; claims that are not to follow the pod must be bound by now."""
        if not _has_claims(cycle.shape):
            cycle.data[self.name] = _State(None)
            return SKIP
        pod, objects = cycle.pod, self._cluster.objects
        problem = problem_of(pod, objects)
        if problem:
            return unresolvable(problem)
        try:
            claims = pod_claims(pod, self._volumes, objects)
        except ClassError as refusal:
            return error(str(refusal))
        if claims.immediate:
            return unresolvable(UNBOUND)
        self._topology.refresh()
        cycle.data[self.name] = _State(Findings(claims, cycle.nodes.size))
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Of pods without claims, which can share what is kept of them: nothing in it will ever change twice."""
        return not _has_claims(cycle.shape)

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Volumes of bound claims first; then volumes for the others, found or made."""
        state: _State | None = cycle.data.get(self.name)
        if state is None:
            return np.full(len(nodes), FIRST_ERROR, np.uint32)
        findings = state.findings
        if findings is None:
            return None
        before = findings.failed
        self._binder.look_at(findings, nodes.rows)
        if findings.failed > before:
            self._failures.labels("predicate").inc(findings.failed - before)
        codes = findings.codes[nodes.rows]
        return codes if codes.any() else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """All reasons at once, in kube-scheduler's order."""
        if code >= FIRST_ERROR:
            state: _State | None = cycle.data.get(self.name)
            errors = [_NOT_PREPARED] if state is None or state.findings is None else state.findings.errors
            return error(errors[code - FIRST_ERROR])
        return unresolvable(*(text for bit, text in REASONS.items() if code & bit))

    def can_fail(self, cycle: Cycle) -> bool:
        """Only if something could not be looked up or read."""
        state: _State | None = cycle.data.get(self.name)
        return state is None or (state.findings is not None and bool(state.findings.errors))

    # score

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Skips no pod, not even one without volumes, which gets 0 everywhere, unless there is no curve to score by."""
        del feasible
        if self._score is None:
            return SKIP
        return None if self.name in cycle.data else error(_NOT_PREPARED)

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """Where there is no curve, or nothing to score by it."""
        return self._score is None or not _has_claims(cycle.shape)

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """How well the storage is used on the nodes that passed the filter."""
        state: _State | None = cycle.data.get(self.name)
        if state is None:
            raise PluginError(f'running Score plugins: plugin "{self.name}" failed with: {_NOT_PREPARED}')
        scores = np.zeros(len(nodes), np.int64)
        findings = state.findings
        if self._score is None or findings is None or not (findings.static or findings.dynamic):
            return scores
        known: dict[tuple[int, ...], int] = {}
        for place, row in enumerate(nodes.indices.tolist()):
            if row < len(findings.known) and findings.fits(row):
                key = findings.key(row)
                score = known.get(key)
                if score is None:
                    score = known[key] = self._score(findings.on(row))
                scores[place] = score
        return scores

    def score_key(self, cycle: Cycle) -> Hashable:
        """The same for all pods without claims."""
        return None if _has_claims(cycle.shape) else ()

    def epoch(self, cycle: Cycle) -> Hashable:
        """Nothing is kept of pods with volumes."""
        state: _State | None = cycle.data.get(self.name)
        return None if state is None or state.findings is None else state.epoch

    def epoch_settled(self, cycle: Cycle) -> bool:
        """Of pods without claims."""
        return not _has_claims(cycle.shape)

    # reserve

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """Assume what is to be bound and made, so that no other pod is promised the same."""
        state: _State | None = cycle.data.get(self.name)
        if state is None:
            return error(_NOT_PREPARED)
        plan = self._plan(state, node)
        if plan is None or self._is_bound(cycle):
            state.all_bound = True
            return None
        reservation = Reservation()
        try:
            for claim, volume in plan.static:
                reservation.volumes.append((claim, self._volumes.bind(volume, claim)))
            for claim, _ in plan.dynamic:
                reservation.claims.append(self._volumes.provision(claim, node))
        except OutOfSyncError as problem:
            reservation.revert(self._volumes)
            self._failures.labels("assume").inc()
            return error(str(problem))
        state.reservation = reservation
        return None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Take back what was assumed and has not come true."""
        del node
        state: _State | None = cycle.data.get(self.name)
        if state is not None and state.reservation is not None:
            state.reservation.revert(self._volumes)

    def planned(self, cycle: Cycle, node: str) -> dict[str, str]:
        """What a node has for the pod: the names of claims with that of a volume, or "provision"."""
        state: _State | None = cycle.data.get(self.name)
        plan = None if state is None else self._plan(state, node)
        if plan is None:
            return {}
        static = {claim.metadata.name: volume.metadata.name for claim, volume in plan.static}
        return static | {claim.metadata.name: "provision" for claim, _ in plan.dynamic}

    # bind

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:
        """Skip pods all of whose claims are bound."""
        del node
        state: _State | None = cycle.data.get(self.name)
        if state is None:
            return error(_NOT_PREPARED)
        return SKIP if state.all_bound else None

    async def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """Write what was reserved, and wait until it is bound."""
        state: _State = cycle.data[self.name]
        if state.all_bound:
            return None
        assert state.reservation is not None
        assert self._writer is not None
        binding = prebind.VolumeBinding(
            cycle.pod,
            node,
            state.reservation,
            state=self._cluster,
            volumes=self._volumes,
            writer=self._writer,
        )
        bound = False
        try:
            await binding.run(self._changes, self._within)
            bound = True
        except Exception as problem:
            return error(str(problem))
        finally:
            if not bound:  # also where the pod is preempted meanwhile
                self._failures.labels("bind").inc()
        return None

    def events_to_register(self) -> Sequence[EventHint]:
        """Classes, claims, volumes, nodes, and what CSI drivers publish."""
        return hints.EVENTS

    def _plan(self, state: _State, node: str) -> PodVolumes | None:
        row = self._cluster.nodes.rows.get(node)
        findings = state.findings
        if findings is None or row is None or row >= len(findings.known) or not findings.fits(row):
            return None
        return findings.on(row)

    def _is_bound(self, cycle: Cycle) -> bool:
        pod = cycle.pod
        claims = (self._volumes.claim(pod.namespace, name) for _, name in claim_names(pod))
        return all(claim is not None and is_fully_bound(claim) for claim in claims)


def _has_claims(shape: PodShape) -> bool:
    needs = shape.volumes
    return needs is not None and bool(needs.claims or needs.ephemeral)


def make(args: Any, handle: Handle) -> VolumeBinding:
    """The plugin with its arguments; None means the defaults."""
    return VolumeBinding(args if args is not None else VolumeBindingArgs().defaulted(FeatureGates()), handle)
