"""Objects by kind, namespace and name."""

from __future__ import annotations

import msgspec

from scheduler.api.objects import Service
from scheduler.cache.objects import ObjectStore


def service(name: str, namespace: str = "default") -> Service:
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}}, Service)


def test_finds_objects_by_namespace_and_name():
    store = ObjectStore()
    items = [service("a"), service("b"), service("a", "other")]
    for item in items:
        store.set("Service", item)
    assert store.get("Service", "default", "a") is items[0]
    assert store.get("Service", "default", "c") is None
    assert store.get("ReplicaSet", "default", "a") is None
    assert list(store.in_namespace("Service", "default")) == items[:2]
    assert list(store.all("Service")) == items


def test_a_newer_object_takes_the_place_of_the_old():
    store = ObjectStore()
    store.set("Service", service("a"))
    newer = service("a")
    store.set("Service", newer)
    assert list(store.all("Service")) == [newer]


def test_the_version_of_a_kind_moves_with_its_objects_only():
    store = ObjectStore()
    versions = [store.version("Service")]
    store.set("Service", service("a"))
    versions.append(store.version("Service"))
    store.remove("Service", "default", "a")
    versions.append(store.version("Service"))
    store.remove("Service", "default", "a")
    assert len(set(versions)) == 3
    assert store.version("Service") == versions[-1]
    assert store.version("ReplicaSet") == 0


def test_tells_which_objects_changed_since_a_version():
    store = ObjectStore()
    store.set("Service", service("a"))
    version = store.version("Service")
    assert store.changes("Service", version) == []
    store.set("Service", service("b"))
    store.remove("Service", "default", "a")
    assert store.changes("Service", version) == [("default", "b"), ("default", "a")]
    assert store.changes("Service", 0) == [("default", "a"), ("default", "b"), ("default", "a")]
    assert store.changes("ReplicaSet", 0) == []


def test_changes_of_long_ago_are_forgotten():
    store = ObjectStore()
    for _ in range(70_000):
        store.set("Service", service("a"))
    assert store.changes("Service", 0) is None
    assert store.changes("Service", store.version("Service") - 1) == [("default", "a")]


def test_listeners_hear_of_each_change_of_their_kind():
    store = ObjectStore()
    heard = []
    store.listen("Service", heard.append)
    store.set("Service", service("a"))
    store.set("ReplicaSet", service("a"))
    store.remove("Service", "default", "a")
    store.remove("Service", "default", "a")
    assert heard == [("default", "a"), ("default", "a")]
