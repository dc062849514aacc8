"""Writes volumes and claims: only if they are still the versions that were decided on, and once only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.decode import decode_as
from scheduler.client.http import MERGE_PATCH
from scheduler.client.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES

if TYPE_CHECKING:
    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
    from scheduler.client.http import Session
    from scheduler.client.kinds import Resource, T

__all__ = ["VolumeWriter"]


class VolumeWriter:
    """Patches of what the scheduler decides about; all else of an object stays as it is.

    A patch has the resource version as its precondition, so an object that has changed since is a conflict, as it is
    for kube-scheduler, which writes objects whole. ``within`` is in seconds.
    """

    def __init__(self, session: Session, *, within: float) -> None:
        self._session = session
        self._within = within

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write reference and annotations of a volume; see ``interface.Writer.update_volume``."""
        reference = volume.spec.claim_ref
        fields = {} if reference is None else _without_empty(msgspec.to_builtins(reference))
        return await self._patch(PERSISTENT_VOLUMES, volume, {"spec": {"claimRef": fields}} if fields else {})

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write annotations of a claim; see ``interface.Writer.update_claim``."""
        return await self._patch(PERSISTENT_VOLUME_CLAIMS, claim, {})

    async def _patch(self, resource: Resource[T], obj: T, more: dict[str, Any]) -> T:
        meta = obj.metadata
        known = {"uid": meta.uid, "resourceVersion": meta.resource_version, "annotations": meta.annotations}
        body = msgspec.json.encode({"metadata": known, **more})
        path = resource.path(meta.namespace, meta.name)
        answer = await self._session.request("PATCH", path, body=body, content_type=MERGE_PATCH, within=self._within)
        return decode_as(resource.type, answer)


def _without_empty(fields: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in fields.items() if text}
