"""What selects a pod's like, if it has no constraints of its own."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api import objects
from scheduler.cache.state import ClusterState
from scheduler.plugins.podtopologyspread.default_selector import default_selector, selector_version
from tests.builders import expression, info, pod

WEB = pod("p").label(app="web", tier="front")


def cluster(*items: tuple[str, str, dict], namespace: str = "default") -> ClusterState:
    state = ClusterState()
    for kind, name, selector in items:
        document = {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}
        state.set_object(kind, msgspec.convert(document, getattr(objects, kind)))
    return state


def selector_text(state: ClusterState, built) -> str:
    return str(default_selector(info(built, state).shape, state.objects))


@pytest.mark.parametrize(
    ("what", "items", "built", "selector"),
    [
        ("nothing selects it", [], WEB, ""),
        ("a service", [("Service", "s", {"app": "web"})], WEB, "app=web"),
        ("a service of other pods", [("Service", "s", {"app": "db"})], WEB, ""),
        ("a service without selector", [("Service", "s", {})], WEB, ""),
        (
            "two services",
            [("Service", "s", {"app": "web"}), ("Service", "t", {"tier": "front"})],
            WEB,
            "app=web,tier=front",
        ),
        (
            "its replica set and a service",
            [("Service", "s", {"tier": "front"}), ("ReplicaSet", "r", {"matchLabels": {"app": "web"}})],
            WEB.owned_by("ReplicaSet", "r"),
            "app=web,tier=front",
        ),
        (
            "its stateful set, with expressions",
            [("StatefulSet", "r", {"matchExpressions": [expression("app", "Exists")]})],
            WEB.owned_by("StatefulSet", "r"),
            "app",
        ),
        (
            "its replication controller",
            [("ReplicationController", "r", {"app": "web"})],
            WEB.owned_by("ReplicationController", "r", "v1"),
            "app=web",
        ),
        (
            "its stateful set and a service",
            [("Service", "s", {"tier": "front"}), ("StatefulSet", "r", {"matchLabels": {"app": "web"}})],
            WEB.owned_by("StatefulSet", "r"),
            "app=web,tier=front",
        ),
        (
            "its replication controller and a service",
            [("Service", "s", {"tier": "front"}), ("ReplicationController", "r", {"app": "web"})],
            WEB.owned_by("ReplicationController", "r", "v1"),
            "app=web,tier=front",
        ),
        (
            "one service of three",
            [("Service", name, {"app": name}) for name in ("web", "db", "cache")],
            WEB,
            "app=web",
        ),
        (
            "a replica set that does not parse",
            [("Service", "s", {"app": "web"}), ("ReplicaSet", "r", {"matchExpressions": [expression("a", "Near")]})],
            WEB.owned_by("ReplicaSet", "r"),
            "app=web",
        ),
        ("a controller that is gone", [], WEB.owned_by("ReplicaSet", "r"), ""),
        (
            "a controller of another group",
            [("ReplicaSet", "r", {"matchLabels": {"app": "web"}})],
            WEB.owned_by("ReplicaSet", "r", "example.com/v1"),
            "",
        ),
    ],
)
def test_services_and_controller_together(what, items, built, selector):
    assert selector_text(cluster(*items), built) == selector


def test_objects_of_other_namespaces_do_not_count():
    assert selector_text(cluster(("Service", "s", {"app": "web"}), namespace="other"), WEB) == ""


def test_the_version_moves_with_services_and_controllers():
    state = cluster()
    shape = info(WEB.owned_by("ReplicaSet", "r"), state).shape
    seen = {selector_version(shape, state.objects)}
    for kind in ("Service", "ReplicaSet"):
        document = {"metadata": {"name": "r", "namespace": "default"}}
        state.set_object(kind, msgspec.convert(document, getattr(objects, kind)))
        seen.add(selector_version(shape, state.objects))
    assert len(seen) == 3
