"""Who an object belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.api.meta import ObjectMeta, OwnerReference


def controller_of(meta: ObjectMeta) -> OwnerReference | None:
    """The owner that manages an object, None for a bare one (metav1.GetControllerOf: the first that says so)."""
    return next((owner for owner in meta.owner_references if owner.controller), None)
