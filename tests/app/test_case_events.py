"""The hints of all plugins about the events of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.case_events import hints_of
from scheduler.app.profiles import build_profiles
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.handle import Handle
from scheduler.plugins.node_name import NodeName
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod, state

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo


class NoBinder:
    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        raise AssertionError(f"{namespace}/{name} ({uid}) was to be bound to {node}")


def heard(old: Any, new: Any, waiting: Any = None) -> dict[str, dict[str, str]]:
    """By event: what the plugins of the default profile say about a change, for a pod that waits."""
    cluster = state()
    gates = FeatureGates()
    handle = Handle(cluster, NoBinder(), gates.enabled)
    (profile,) = build_profiles(default_config(feature_gates=gates), IN_TREE, handle, source="").values()
    change = tuple(None if item is None else item.build() for item in (old, new))
    entry: PodInfo = cluster.info((waiting or pod("p").uid("target")).build())
    (events,) = hints_of(cluster, profile, entry, [change])  # type: ignore[list-item]
    return {event["event"]: event["hints"] for event in events}


TARGET = pod("p").uid("target")


@pytest.mark.parametrize(
    ("old", "new", "events"),
    [
        (None, node("n"), ["NodeAdd"]),
        (node("n"), None, ["NodeDelete"]),
        (node("n"), node("n").label(a="b"), ["NodeUpdateNodeLabel"]),
        (node("n"), node("n"), []),
        (None, pod("q").on("n"), ["AssignedPodAdd"]),
        (pod("q").on("n"), None, ["AssignedPodDelete"]),
        (pod("q").nominated("n"), None, ["AssignedPodDelete"]),
        (pod("q"), None, []),
        (None, pod("q"), []),
        (pod("q").on("n"), pod("q").on("n").label(a="b"), ["AssignedPodUpdatePodLabel"]),
        (pod("q"), pod("q").label(a="b"), ["UnscheduledPodUpdatePodLabel"]),
        (TARGET, TARGET.label(a="b"), ["TargetPodUpdatePodLabel"]),
    ],
)
def test_a_change_is_the_cluster_events_that_the_handlers_make_of_it(old: Any, new: Any, events: list[str]) -> None:
    assert list(heard(old, new)) == events


def test_every_plugin_that_asked_for_such_events_answers() -> None:
    answers = heard(None, node("n").capacity(cpu="1"), TARGET.cpu("2"))["NodeAdd"]
    assert answers["NodeResourcesFit"] == "QueueSkip"
    assert answers["NodeName"] == "Queue"
    assert "DefaultPreemption" not in answers


def test_a_pod_that_changed_itself_is_asked_about_as_it_is_now() -> None:
    answers = heard(TARGET, TARGET.tolerates("node.kubernetes.io/unschedulable"))["TargetPodUpdatePodToleration"]
    assert answers["NodeUnschedulable"] == "Queue"


def test_a_hint_that_fails_is_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no")

    hints = [EventHint(EventResource.NODE, ActionType.ADD, fails)]
    monkeypatch.setattr(NodeName, "events_to_register", lambda _self: hints)
    assert heard(None, node("n"))["NodeAdd"]["NodeName"] == "Queue"
