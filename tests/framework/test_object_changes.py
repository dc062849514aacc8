"""Waiting for objects to change."""

from __future__ import annotations

import asyncio

import msgspec

from scheduler.api.objects import PersistentVolume, Service
from scheduler.cache.objects import ObjectStore
from scheduler.framework.object_changes import ObjectChanges

LONG = 60.0
NAMES = frozenset({("", "v")})


async def test_a_change_of_a_named_object_of_one_of_the_kinds_wakes_all_who_wait() -> None:
    store = ObjectStore()
    changes = ObjectChanges(store, ["PersistentVolume", "PersistentVolumeClaim"])
    waiting = [asyncio.create_task(changes.wait(LONG, NAMES)) for _ in range(2)]
    await asyncio.sleep(0)
    store.set("Service", msgspec.convert({"metadata": {"name": "v"}}, Service))
    store.set("PersistentVolume", msgspec.convert({"metadata": {"name": "another"}}, PersistentVolume))
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    store.set("PersistentVolume", msgspec.convert({"metadata": {"name": "v"}}, PersistentVolume))
    await asyncio.wait_for(asyncio.gather(*waiting), 10)


async def test_without_a_change_it_ends_with_the_time() -> None:
    await asyncio.wait_for(ObjectChanges(ObjectStore(), ["PersistentVolume"]).wait(0.001, NAMES), 10)


async def test_nobody_is_kept_who_no_longer_waits() -> None:
    store = ObjectStore()
    changes = ObjectChanges(store, ["PersistentVolume"])
    task = asyncio.create_task(changes.wait(LONG, NAMES))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    store.set("PersistentVolume", msgspec.convert({"metadata": {"name": "v"}}, PersistentVolume))
    assert task.cancelled()


async def test_the_objects_know_of_it_only_while_somebody_waits() -> None:
    store = ObjectStore()
    changes = ObjectChanges(store, ["PersistentVolume"])
    assert not any(store._listeners.values())
    await changes.wait(0.001, NAMES)
    assert not any(store._listeners.values())
