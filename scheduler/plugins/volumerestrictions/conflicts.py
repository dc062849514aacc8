"""Volumes written into pods that can't be on one node twice (volumerestrictions/volume_restrictions.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.api.objects import Volume


def conflict(wanted: Iterable[Volume], used: Iterable[Volume]) -> bool:
    """Whether any of the wanted volumes is the same as one in use, and may not be shared with it."""
    held = tuple(used)
    return any(_same(volume, other) for volume in wanted for other in held)


def _same(a: Volume, b: Volume) -> bool:
    return _same_gce(a, b) or _same_ebs(a, b) or _same_iscsi(a, b) or _same_rbd(a, b)


def _same_gce(a: Volume, b: Volume) -> bool:
    one, other = a.gce_persistent_disk, b.gce_persistent_disk
    if one is None or other is None:
        return False
    return one.pd_name == other.pd_name and not (one.read_only and other.read_only)


def _same_ebs(a: Volume, b: Volume) -> bool:
    """An EBS volume is not shared even by those that only read."""
    one, other = a.aws_elastic_block_store, b.aws_elastic_block_store
    return one is not None and other is not None and one.volume_id == other.volume_id


def _same_iscsi(a: Volume, b: Volume) -> bool:
    one, other = a.iscsi, b.iscsi
    if one is None or other is None:
        return False
    return one.iqn == other.iqn and not (one.read_only and other.read_only)


def _same_rbd(a: Volume, b: Volume) -> bool:
    """The same image in the same pool, of clusters that have a monitor in common."""
    one, other = a.rbd, b.rbd
    if one is None or other is None:
        return False
    same = (one.pool, one.image) == (other.pool, other.image) and not set(one.monitors).isdisjoint(other.monitors)
    return same and not (one.read_only and other.read_only)
