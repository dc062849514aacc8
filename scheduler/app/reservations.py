"""What the Reserve plugins would hold for a pod on each of its best nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.explain.record import ReservationRecord
from scheduler.framework.reservation import run_reserve, run_unreserve
from scheduler.framework.status import Code
from scheduler.plugins.volumebinding.plugin import VolumeBinding

if TYPE_CHECKING:
    from scheduler.cycle.algorithm import Decision
    from scheduler.framework.profile import Profile


def reservations(profile: Profile, decision: Decision) -> dict[str, ReservationRecord]:
    """By node; empty for pods that have nothing to reserve. Whatever is reserved is given back."""
    spec = decision.cycle.shape.pod.spec
    if not spec.volumes and not spec.resource_claims:
        return {}
    nodes = decision.cycle.state.nodes
    return {name: _on(profile, decision, name) for name in sorted(nodes.name(row) for row in decision.best.tolist())}


def _on(profile: Profile, decision: Decision, node: str) -> ReservationRecord:
    cycle = decision.cycle
    refusal = run_reserve(profile.reserve, cycle, node)
    try:
        if refusal is not None:
            return ReservationRecord(str(refusal.code), refusal.plugin, refusal.reasons)
        volumes: dict[str, str] = {}
        for plugin in profile.reserve:
            if isinstance(plugin, VolumeBinding):
                volumes |= plugin.planned(cycle, node)
        return ReservationRecord(str(Code.SUCCESS), volumes=volumes)
    finally:
        run_unreserve(profile.reserve, cycle, node)
