"""Writes a pod's annotations, after everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.client.errors import ApiError
from scheduler.client.http import MERGE_PATCH
from scheduler.client.kinds import PODS
from scheduler.client.slots import Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.client.http import Session
    from scheduler.client.slots import Slots

__all__ = ["AnnotationWriter"]


class _Metadata(msgspec.Struct):
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata


class AnnotationWriter:
    """Patches annotations of pods by what they have. ``within`` is in seconds."""

    def __init__(self, session: Session, slots: Slots, *, within: float) -> None:
        self._session = session
        self._slots = slots
        self._within = within

    async def annotate_pod(
        self, namespace: str, name: str, uid: str, change: Callable[[Mapping[str, str]], Mapping[str, str | None]]
    ) -> bool:
        """Change the annotations of a pod, bound or not; whether anything was written.

        ``change`` leads from those that the pod has to those to set (None for one to remove); it must be quick.
        False if ``change`` has nothing to write, and if the pod is gone or was replaced. It is not tried again. Raises
        ApiError or TransportError.
        """
        path = PODS.path(namespace, name)
        try:
            async with self._slots.slot(Rank.EVENT):
                answer = await self._session.request("GET", path, within=self._within)
            metadata = msgspec.json.decode(answer, type=_Pod).metadata
            changed = change(metadata.annotations or {}) if metadata.uid == uid else {}
            if not changed:
                return False
            body = msgspec.json.encode({"metadata": {"uid": uid, "annotations": changed}})
            async with self._slots.slot(Rank.EVENT):
                await self._session.request("PATCH", path, body=body, content_type=MERGE_PATCH, within=self._within)
        except ApiError as error:
            if error.is_not_found or error.is_replaced:
                return False
            raise
        return True
