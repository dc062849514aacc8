"""Berth and kube-scheduler beside each other with the same HTTP extenders: placements, messages, and what is sent."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import Berth, configuration, events, placements, pod
from e2e.controlplane import wait_until
from e2e.controlplane.process import free_port
from tests.fakes.extender import FakeExtender, keeping, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from e2e.controlplane import ControlPlane

BOTH = {"ours": "berth", "theirs": "default-scheduler"}
URGENT = "urgent"
OWN = ("name", "uid", "resourceVersion", "creationTimestamp")
"""What two pods that are alike differ in."""


def resource(name: str) -> str:
    """The extended resource by which a pod interests one extender and no other."""
    return f"example.com/{name}"


def managed(name: str, url: str, **fields: Any) -> dict[str, Any]:
    """An extender for pods that ask for its resource."""
    resources = [{"name": resource(name), "ignoredByScheduler": True}]
    return {"urlPrefix": url, "managedResources": resources, "httpTimeout": "5s", **fields}


@pytest.fixture(scope="module")
def extender() -> Iterator[FakeExtender]:
    with FakeExtender() as running:
        yield running


@pytest.fixture(scope="module")
def nowhere() -> str:
    """A URL at which nobody listens."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def nodes(control_plane: ControlPlane) -> Iterator[list[str]]:
    """Three nodes, the first larger than the others, that are there before the schedulers are."""
    names = control_plane.add_nodes(1, prefix="large", cpu="8") + control_plane.add_nodes(2, prefix="small", cpu="4")
    yield names
    for name in names:
        control_plane.api.delete(f"/api/v1/nodes/{name}")


@pytest.fixture(scope="module")
def schedulers(
    control_plane: ControlPlane, rights: None, nodes: list[str], extender: FakeExtender, nowhere: str
) -> Iterator[Berth]:
    extenders = [
        managed("optional", nowhere, filterVerb="filter", prioritizeVerb="prioritize", weight=1, ignorable=True),
        managed("names", extender.url, filterVerb="filter", nodeCacheCapable=True),
        managed("whole", f"{extender.url}/", filterVerb="filter"),
        managed("scores", extender.url, prioritizeVerb="prioritize", weight=5, nodeCacheCapable=True),
        managed("second", extender.url, prioritizeVerb="second", weight=1, nodeCacheCapable=True),
        managed("required", nowhere, filterVerb="filter"),
        managed("slow", extender.url, filterVerb="slow", httpTimeout="200ms", nodeCacheCapable=True),
        managed("binds", extender.url, bindVerb="bind"),
        managed("victims-by-uid", extender.url, preemptVerb="preempt", nodeCacheCapable=True),
        managed("victims", extender.url, preemptVerb="preempt"),
    ]
    control_plane.start_kube_scheduler({"extenders": extenders})
    with Berth(control_plane, config=configuration(extenders=extenders)) as berth:
        yield berth
    control_plane.stop_component("kube-scheduler")


@pytest.fixture
def ask(
    control_plane: ControlPlane, schedulers: Berth, emptied: str, extender: FakeExtender
) -> Iterator[Callable[..., dict[str, Any]]]:
    """Create one pod for each scheduler, that interests these extenders, and say what became of them.

    They have no token: its volume has a name made up by the API server.
    """

    def both(*names: str, cpu: str = "100m", of: Collection[str] = tuple(BOTH), **spec: Any) -> dict[str, Any]:
        amount = {"cpu": cpu} | {resource(name): "1" for name in names}
        container = {"name": "app", "image": "registry.example.com/app:v1"}
        container["resources"] = {"requests": amount, "limits": amount}
        for own in of:
            made = pod(
                own, emptied, scheduler=BOTH[own], containers=[container], automountServiceAccountToken=False, **spec
            )
            made["metadata"]["labels"] = {"app": "same"}
            control_plane.api.create(made)
        return {own: outcome(control_plane, emptied, own) for own in of}

    extender.asked.clear()
    yield both
    extender.answers.clear()


def outcome(control_plane: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    """Node, first event and condition of a pod, without what differs from pod to pod."""

    def found() -> dict[str, Any] | None:
        told = events(control_plane, namespace, name)
        one = control_plane.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        conditions = [each for each in one["status"].get("conditions", ()) if each["type"] == "PodScheduled"]
        if not told or not conditions:
            return None
        event = {key: told[0].get(key, "") for key in ("type", "reason", "action", "note")}
        event["note"] = event["note"].replace(name, "the pod")
        condition = {key: value for key, value in conditions[0].items() if key != "lastTransitionTime"}
        return {"node": one["spec"].get("nodeName", ""), "event": event, "condition": condition}

    return wait_until(f"what became of {name}", found)


@pytest.fixture
def full(control_plane: ControlPlane, schedulers: Berth, nodes: list[str], emptied: str) -> dict[str, str]:
    """A pod on each node that leaves no room for another; their uids by node."""
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    control_plane.api.apply({**kind, "metadata": {"name": URGENT}, "value": 1000})
    uids = {}
    for place, node in enumerate(nodes):
        cpu = "7" if place == 0 else "3"
        made = pod(f"old-{place}", emptied, cpu=cpu, nodeName=node, terminationGracePeriodSeconds=0)
        uids[node] = control_plane.api.create(made)["metadata"]["uid"]
    return uids


def of_pods(extender: FakeExtender, verb: str) -> dict[str, Any]:
    """The first request about each pod, with what the two pods differ in left out."""
    requests = {}
    for request in extender.requests(verb):
        name = request["Pod"]["metadata"]["name"]
        for field in OWN:
            request["Pod"]["metadata"].pop(field, None)
        request["Pod"]["spec"].pop("schedulerName", None)
        request["Pod"]["status"] = {}
        for key in ("NodeNames", "Nodes"):
            if request.get(key) is not None:
                (request[key] if key == "NodeNames" else request[key]["items"]).sort(key=str)
        requests.setdefault(name, request)
    return requests


@pytest.mark.parametrize("name", ["names", "whole"])
def test_nodes_that_an_extender_keeps_out_are_not_taken(
    name: str, ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["filter"] = keeping(lambda node: node == nodes[1])
    found = ask(name)
    assert found["ours"] == found["theirs"]
    assert found["ours"]["node"] == nodes[1]


@pytest.mark.parametrize("unresolvable", [False, True])
@pytest.mark.parametrize("name", ["names", "whole"])
def test_a_pod_that_an_extender_lets_in_nowhere_is_told_why(
    name: str, unresolvable: bool, ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["filter"] = keeping(lambda _: False, "not on a Monday", unresolvable=unresolvable)
    found = ask(name)
    assert found["ours"] == found["theirs"]
    assert found["ours"]["event"]["note"].startswith("0/3 nodes are available: 3 not on a Monday.")


def test_a_pod_that_is_turned_down_without_a_word_is_told_nothing(
    ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["filter"] = {"NodeNames": []}
    found = ask("names")
    assert found["ours"] == found["theirs"]


@pytest.mark.parametrize(
    "answer",
    [
        {"Error": "out of order"},
        {"NodeNames": ["elsewhere"]},
        500,
        b"",
        b"<html>",
        b'{"NodeNames": [',
        FakeExtender.CUT,
        {"NodeNames": "all"},
    ],
    ids=["an error", "a strange node", "a refusal", "nothing", "no JSON", "half an answer", "a cut", "a wrong type"],
)
def test_what_goes_wrong_with_an_extender_is_said_in_the_same_words(
    answer: Any, ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["filter"] = answer
    found = ask("names")
    assert found["ours"] == found["theirs"]
    assert found["ours"]["condition"]["reason"] == "SchedulerError"


@pytest.mark.parametrize("name", ["required", "slow"])
def test_an_extender_that_cannot_be_reached_fails_the_attempt(
    name: str, ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    never = threading.Event()
    extender.answers["slow"] = lambda request: never.wait(1.0) or keeping(lambda _: True)(request)
    found = ask(name)
    assert found["ours"] == found["theirs"]
    assert found["ours"]["condition"]["reason"] == "SchedulerError"


def test_an_ignorable_extender_that_cannot_be_reached_is_done_without(
    ask: Callable[..., dict[str, Any]], nodes: list[str]
) -> None:
    found = ask("optional")
    assert found["ours"]["node"] in nodes
    assert found["theirs"]["node"] in nodes


def test_scores_of_extenders_decide(
    ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["prioritize"] = lambda request: [
        {"Host": node, "Score": 10 * (node != nodes[0])} for node in names_of(request)
    ]
    extender.answers["second"] = lambda request: [{"host": nodes[2], "score": 10}]
    found = ask("scores", "second")
    assert found["ours"] == found["theirs"]
    assert found["ours"]["node"] == nodes[2]


def test_an_extender_binds_in_place_of_the_plugins(
    control_plane: ControlPlane,
    ask: Callable[..., dict[str, Any]],
    nodes: list[str],
    extender: FakeExtender,
) -> None:
    def bind(request: dict[str, Any]) -> dict[str, Any]:
        target = {"apiVersion": "v1", "kind": "Node", "name": request["Node"]}
        namespace, name = request["PodNamespace"], request["PodName"]
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        control_plane.api.request("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body)
        return {}

    extender.answers["bind"] = bind
    found = ask("binds")
    assert found["ours"]["event"]["reason"] == found["theirs"]["event"]["reason"] == "Scheduled"
    assert found["ours"]["condition"] == found["theirs"]["condition"]
    asked = {request["PodName"]: request for request in extender.requests("bind")}
    assert asked["ours"].keys() == asked["theirs"].keys()
    assert {name: request["Node"] for name, request in asked.items()} == {
        name: result["node"] for name, result in found.items()
    }


def test_a_bind_that_an_extender_fails_to_do_is_said_in_the_same_words(
    ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["bind"] = {"Error": "the node is shy"}
    found = ask("binds")
    assert found["ours"] == found["theirs"]
    assert found["ours"]["condition"]["message"] == "the node is shy"


@pytest.mark.parametrize("name", ["names", "whole"])
def test_extenders_are_sent_the_same_pods_and_nodes(
    name: str, ask: Callable[..., dict[str, Any]], nodes: list[str], extender: FakeExtender
) -> None:
    extender.answers["filter"] = keeping(lambda _: True)
    ask(name)
    requests = of_pods(extender, "filter")
    assert requests["ours"] == requests["theirs"]
    assert sorted(names_of(requests["ours"])) == sorted(nodes)


def test_nodes_that_an_extender_sends_back_are_scored_as_if_they_were_empty(
    control_plane: ControlPlane,
    ask: Callable[..., dict[str, Any]],
    nodes: list[str],
    extender: FakeExtender,
    emptied: str,
) -> None:
    large = nodes[0]
    control_plane.api.create(pod("occupant-0", emptied, cpu="5", nodeName=large))
    extender.answers["filter"] = keeping(lambda _: True)
    assert {own: found["node"] for own, found in ask("whole", cpu="1").items()} == {"ours": large, "theirs": large}


@pytest.mark.parametrize("name", ["victims", "victims-by-uid"])
def test_an_extender_that_spares_all_victims_is_asked_and_told_of_alike(
    name: str, ask: Callable[..., dict[str, Any]], full: dict[str, str], extender: FakeExtender
) -> None:
    extender.answers["preempt"] = {"NodeNameToMetaVictims": {}}
    found = ask(name, cpu="2", priorityClassName=URGENT)
    assert found["ours"] == found["theirs"]
    assert found["ours"]["event"]["note"].startswith("0/3 nodes are available: 3 Insufficient cpu. preemption: ")
    requests = of_pods(extender, "preempt")
    assert requests["ours"] == requests["theirs"]
    assert set(requests["ours"]["NodeNameToMetaVictims" if name.endswith("uid") else "NodeNameToVictims"]) == set(full)


@pytest.mark.parametrize("name", ["victims", "victims-by-uid"])
@pytest.mark.parametrize("own", BOTH)
def test_the_victims_that_an_extender_names_make_room(
    name: str,
    own: str,
    control_plane: ControlPlane,
    ask: Callable[..., dict[str, Any]],
    nodes: list[str],
    full: dict[str, str],
    extender: FakeExtender,
    emptied: str,
) -> None:
    chosen = nodes[1]
    victims = {"Pods": [{"UID": full[chosen]}], "NumPDBViolations": 0}
    extender.answers["preempt"] = {"NodeNameToMetaVictims": {chosen: victims}}
    ask(name, cpu="2", of=[own], priorityClassName=URGENT)
    expected = {own: chosen, "old-0": nodes[0], "old-2": nodes[2]}
    wait_until("the pod is where its victim was", lambda: placements(control_plane, emptied) == expected)
