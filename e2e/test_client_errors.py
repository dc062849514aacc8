"""What Berth makes of requests that fail, beside what kube-scheduler makes of the same failures at the same places."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from e2e.controlplane import wait_until
from e2e.faults import CUT_AFTER, CUT_BEFORE, Refusal
from e2e.provisioner import ProvisionerStandIn
from e2e.rivals import DRIVER, LOCAL, MADE, OURS, THEIRS, URGENT, Stage, behind_proxy, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.controlplane import ControlPlane
    from e2e.faults import Fault, FaultyApiServer

NOT_FOUND = Refusal(code=404, reason="NotFound", message='pods "it" not found')
FORBIDDEN = Refusal(code=403, reason="Forbidden", message='pods "it" is forbidden: not on a Monday')
CONFLICT = Refusal(code=409, reason="Conflict", message='Operation cannot be fulfilled on pods "it": it has changed')
INTERNAL = Refusal(code=500, reason="InternalError", message="Internal error occurred: etcdserver: leader changed")
UNAVAILABLE = Refusal(code=503, reason="ServiceUnavailable", message="the server is going down")
TIMEOUT = Refusal(code=504, reason="Timeout", message="Timeout: request did not complete within the allotted timeout")
BUSY = Refusal(code=429, reason="TooManyRequests", message="Too many requests, please try again later.")
WAIT = Refusal(code=429, reason="TooManyRequests", message=BUSY.message, retry_after="1")
BUSY_PAGE = Refusal(code=429, page="Too many requests, please try again later.")
WAIT_PAGE = Refusal(code=429, page=BUSY_PAGE.page, retry_after="1")
GATEWAY = Refusal(code=502, page="<html>Bad Gateway</html>")
GATEWAY_TIMEOUT = Refusal(code=504, page="<html>Gateway Timeout</html>")


@pytest.fixture(scope="module")
def proxies(contested: ControlPlane) -> Iterator[dict[str, FaultyApiServer]]:
    with behind_proxy(contested, OURS) as (ours, _), behind_proxy(contested, THEIRS) as (theirs, _):
        yield {OURS: ours, THEIRS: theirs}


@pytest.fixture
def stages(contested: ControlPlane, proxies: dict[str, FaultyApiServer]) -> Iterator[dict[str, Stage]]:
    """Stages for one case that is played alone."""
    with staged(contested, proxies, ["alone"]) as made:
        yield made["alone"]


def bind_one(stage: Stage, outcome: Refusal | str, times: int) -> None:
    stage.fail("POST */namespaces/NAMESPACE/pods/it/binding", outcome=outcome, times=times)
    stage.create(stage.pod("it"))


def node_of(stage: Stage) -> str:
    return str(stage.read("it")["spec"].get("nodeName", ""))


def nomination_of(stage: Stage) -> str:
    return str(stage.read("it")["status"].get("nominatedNodeName", ""))


def told_when_bound(stage: Stage, *others: str) -> dict[str, Any]:
    """All that can be seen of the pod, and of others, once it is bound."""
    wait_until(f"{stage.scheduler}: it is bound", partial(node_of, stage))
    stage.wait_event("it", "Scheduled")
    names = ("it", *others)
    return {
        "events": {name: stage.events(name) for name in names},
        "history": {name: stage.history(name) for name in names},
        "binds": binds(stage),
    }


def binds(stage: Stage) -> int:
    return stage.proxy.answers(f"POST */namespaces/{stage.namespace}/pods/it/binding").count(201)


AT_BIND: dict[str, tuple[Refusal | str, int]] = {
    "conflict": (CONFLICT, 1),
    "not found": (NOT_FOUND, 1),
    "forbidden": (FORBIDDEN, 1),
    "throttled, with a time to wait": (WAIT, 2),
    "throttled, without a Status": (WAIT_PAGE, 1),
    "throttled, without a time to wait": (BUSY, 1),
    "throttled, without both": (BUSY_PAGE, 1),
    "internal error": (INTERNAL, 3),
    "internal error to the end": (INTERNAL, 4),
    "unavailable": (UNAVAILABLE, 1),
    "a gateway's page": (GATEWAY, 1),
    "a gateway's page to the end": (GATEWAY, 4),
}


#: Answers from which it can't be told whether the pod was bound, and whether it was.
LOST_AT_BIND: dict[str, Refusal | str] = {
    "timeout": TIMEOUT,
    "timeout of a gateway": GATEWAY_TIMEOUT,
    "timeout, after it took effect": replace(TIMEOUT, done=True),
    "internal error, after it took effect": replace(INTERNAL, done=True),
    "cut, before it took effect": CUT_BEFORE,
    "cut, after it took effect": CUT_AFTER,
}


@pytest.fixture(scope="module")
def at_bind(contested: ControlPlane, proxies: dict[str, FaultyApiServer]) -> Iterator[dict[str, dict[str, Stage]]]:
    """A pod on each stage, all at the same time."""
    with staged(contested, proxies, [*AT_BIND, *LOST_AT_BIND]) as made:
        for case, stages in made.items():
            outcome, times = AT_BIND.get(case) or (LOST_AT_BIND[case], 1)
            for stage in stages.values():
                bind_one(stage, outcome, times)
        yield made


@pytest.mark.parametrize("case", AT_BIND)
def test_a_bind_that_is_refused(at_bind: dict[str, dict[str, Stage]], case: str) -> None:
    told = {name: told_when_bound(stage) for name, stage in at_bind[case].items()}
    assert told[OURS] == told[THEIRS]
    assert told[OURS]["binds"] == 1


@pytest.mark.parametrize("case", LOST_AT_BIND)
def test_a_bind_whose_answer_is_lost_is_no_failure_for_berth_as_it_is_for_kube_scheduler(
    at_bind: dict[str, dict[str, Stage]], case: str
) -> None:
    ours, theirs = at_bind[case][OURS], at_bind[case][THEIRS]
    ours.wait_event("it", "Scheduled")
    theirs.wait_event("it", "FailedScheduling")
    wait_until("it is bound", partial(node_of, theirs))
    assert [event["reason"] for event in ours.events("it")] == ["Scheduled"]
    assert [state["node"] for state in ours.history("it")] == ["", "NODE"]
    assert (binds(ours), binds(theirs)) == (1, 1)


#: What the API server answers, how often, and whether the condition is written in the end.
AT_STATUS: dict[str, tuple[Refusal, int, bool]] = {
    "conflict": (CONFLICT, 3, True),
    "conflict to the end": (CONFLICT, 4, False),
    "internal error": (INTERNAL, 1, True),
    "forbidden": (FORBIDDEN, 1, False),
    "not found": (NOT_FOUND, 1, False),
    "throttled": (WAIT, 1, True),
    "throttled, without a time to wait": (BUSY, 1, False),
}


LOST_AT_STATUS: dict[str, Refusal | str] = {"timeout": TIMEOUT, "cut": CUT_BEFORE}


def conditions_of(stage: Stage) -> list[dict[str, Any]]:
    return list(stage.read("it")["status"].get("conditions", ()))


def turn_down(stage: Stage, outcome: Refusal | str, times: int) -> Fault:
    """A pod that fits nowhere, whose condition can't be written."""
    fault = stage.fail("PATCH */namespaces/NAMESPACE/pods/it/status", outcome=outcome, times=times)
    stage.create(stage.pod("it", units="3"))
    return fault


def make_room(stage: Stage) -> None:
    """Let the pod fit."""
    status = {"status": {"allocatable": {stage.resource: "3"}}}
    stage.cluster.api.patch(f"/api/v1/nodes/{stage.node}/status", status, kind="merge")


@pytest.fixture(scope="module")
def at_status(
    contested: ControlPlane, proxies: dict[str, FaultyApiServer]
) -> Iterator[dict[str, list[tuple[Stage, Fault]]]]:
    """A pod on each stage, all at the same time."""
    with staged(contested, proxies, [*AT_STATUS, *LOST_AT_STATUS]) as made:
        started = {}
        for case, stages in made.items():
            outcome, times, _ = AT_STATUS.get(case) or (LOST_AT_STATUS[case], 1, False)
            started[case] = [(stage, turn_down(stage, outcome, times)) for stage in stages.values()]
        yield started


@pytest.mark.parametrize("case", AT_STATUS)
def test_a_condition_that_cannot_be_written(at_status: dict[str, list[tuple[Stage, Fault]]], case: str) -> None:
    written = AT_STATUS[case][2]
    for stage, fault in at_status[case]:
        stage.wait_event("it", "FailedScheduling")
        wait_until("the condition was tried", fault.spent)
        if written:
            wait_until("the condition is there", partial(conditions_of, stage))
        make_room(stage)
    ours, theirs = (told_when_bound(stage) for stage, _ in at_status[case])
    assert ours == theirs
    assert len(ours["history"]["it"]) == 2 + written


@pytest.mark.parametrize("case", LOST_AT_STATUS)
def test_a_condition_whose_write_got_no_answer_is_written_again_by_berth_only(
    at_status: dict[str, list[tuple[Stage, Fault]]], case: str
) -> None:
    (ours, _), (theirs, fault) = at_status[case]
    wait_until("the condition is there", partial(conditions_of, ours))
    theirs.wait_event("it", "FailedScheduling")
    wait_until("the condition was tried", fault.spent)
    assert conditions_of(theirs) == []
    for stage in (ours, theirs):
        make_room(stage)
    assert told_when_bound(ours)["events"] == told_when_bound(theirs)["events"]


VOLUME = ("PUT */persistentvolumes/NAMESPACE", "PATCH */persistentvolumes/NAMESPACE")
CLAIM = (
    "PUT */namespaces/NAMESPACE/persistentvolumeclaims/data",
    "PATCH */namespaces/NAMESPACE/persistentvolumeclaims/data",
)
AT_VOLUMES: dict[str, tuple[str, Refusal]] = {
    "conflict at the volume": (LOCAL, CONFLICT),
    "not found at the volume": (LOCAL, NOT_FOUND),
    "forbidden at the volume": (LOCAL, FORBIDDEN),
    "internal error at the volume": (LOCAL, INTERNAL),
    "throttled at the volume": (LOCAL, WAIT),
    "conflict at the claim": (MADE, CONFLICT),
    "a gateway's page at the claim": (MADE, GATEWAY),
    "unavailable for a second at the claim": (MADE, replace(UNAVAILABLE, retry_after="1")),
}
LOST_AT_VOLUMES = {"cut, before it took effect": CUT_BEFORE, "cut, after it took effect": CUT_AFTER}


def volume(stage: Stage) -> dict[str, Any]:
    """A local volume of the stage's node, of a class of its own."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [stage.node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": stage.namespace},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": LOCAL,
            "local": {"path": "/mnt"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }


def use_volume(stage: Stage, storage_class: str, outcome: Refusal | str) -> None:
    """A pod whose claim is to be bound to the node's volume, or to one that is to be made."""
    stage.fail(*(VOLUME if storage_class == LOCAL else CLAIM), outcome=outcome)
    if storage_class == LOCAL:
        stage.create(volume(stage))
    claimed = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    stage.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": stage.namespace},
            "spec": {"storageClassName": storage_class, **claimed},
        }
    )
    if storage_class == LOCAL:
        path = f"/api/v1/persistentvolumes/{stage.namespace}"
        wait_until("it is available", lambda: stage.cluster.api.get(path)["status"].get("phase") == "Available")
    stage.create(stage.pod("it", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]))


@pytest.fixture(scope="module")
def at_volumes(contested: ControlPlane, proxies: dict[str, FaultyApiServer]) -> Iterator[dict[str, dict[str, Stage]]]:
    """A pod on each stage, all at the same time."""
    with staged(contested, proxies, [*AT_VOLUMES, *LOST_AT_VOLUMES]) as made, ProvisionerStandIn(contested.api, DRIVER):
        for case, stages in made.items():
            storage_class, outcome = AT_VOLUMES.get(case) or (LOCAL, LOST_AT_VOLUMES[case])
            for stage in stages.values():
                use_volume(stage, storage_class, outcome)
        yield made


@pytest.mark.parametrize("case", AT_VOLUMES)
def test_a_volume_that_cannot_be_bound(at_volumes: dict[str, dict[str, Stage]], case: str) -> None:
    told = {name: told_when_bound(stage) for name, stage in at_volumes[case].items()}
    ours, theirs = told[OURS], told[THEIRS]
    assert ours["events"] == theirs["events"]
    assert ours["binds"] == theirs["binds"] == 1
    # kube-scheduler takes the nomination back only if it has heard of it before the attempt fails.
    assert without_nominations(ours) == without_nominations(theirs)
    refused = [state for state in ours["history"]["it"] if failed(state)]
    assert [state["nominated"] for state in refused[:1]] == ([""] if len(ours["events"]["it"]) > 1 else [])


def failed(state: dict[str, Any]) -> bool:
    return any(one["status"] == "False" for one in state["conditions"])


def without_nominations(told: dict[str, Any]) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = []
    for state in told["history"]["it"]:
        plain = {key: value for key, value in state.items() if key != "nominated"}
        if plain not in states:
            states.append(plain)
    return states


@pytest.mark.parametrize("case", LOST_AT_VOLUMES)
def test_a_volume_whose_write_got_no_answer_is_written_again(
    at_volumes: dict[str, dict[str, Stage]], case: str
) -> None:
    told = {name: told_when_bound(stage) for name, stage in at_volumes[case].items()}
    assert told[OURS]["history"]["it"][-1] == told[THEIRS]["history"]["it"][-1]
    for one in told.values():
        assert [event["reason"] for event in one["events"]["it"]] == ["FailedScheduling", "Scheduled"]
        assert one["binds"] == 1


AT_EVICTION: dict[str, tuple[str, Refusal | str, int]] = {
    "conflict at the condition": ("PATCH", CONFLICT, 1),
    "internal error at the condition": ("PATCH", INTERNAL, 3),
    "internal error at the condition to the end": ("PATCH", INTERNAL, 4),
    "forbidden at the condition": ("PATCH", FORBIDDEN, 1),
    "throttled at the condition": ("PATCH", BUSY, 1),
    "conflict at the deletion": ("DELETE", CONFLICT, 1),
    "forbidden at the deletion": ("DELETE", FORBIDDEN, 1),
    "internal error at the deletion": ("DELETE", INTERNAL, 1),
    "throttled at the deletion": ("DELETE", WAIT, 1),
    "cut at the condition": ("PATCH", CUT_AFTER, 1),
    "cut at the deletion, before it took effect": ("DELETE", CUT_BEFORE, 1),
}


def preempt(stage: Stage, method: str, outcome: Refusal | str, times: int) -> None:
    """A pod that needs all of the node, on which there is another one that matters less."""
    path = "*/namespaces/NAMESPACE/pods/victim"
    pattern = f"PATCH {path}/status" if method == "PATCH" else f"DELETE {path}"
    stage.create(stage.pod("victim", nodeName=stage.node))
    stage.fail(pattern, outcome=outcome, times=times)
    stage.create(stage.pod("it", units="2", priorityClassName=URGENT))


@pytest.mark.parametrize(("method", "outcome", "times"), AT_EVICTION.values(), ids=AT_EVICTION.keys())
def test_an_eviction_that_fails(stages: dict[str, Stage], method: str, outcome: Refusal | str, times: int) -> None:
    told = {}
    for name, stage in stages.items():  # one after the other: a deletion wakes pods of both
        preempt(stage, method, outcome, times)
        told[name] = told_when_bound(stage, "victim")
    assert told[OURS] == told[THEIRS]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_victim_that_is_said_to_be_gone_is_left_alone_and_waited_for(stages: dict[str, Stage], method: str) -> None:
    told = {}
    for name, stage in stages.items():
        preempt(stage, method, NOT_FOUND, 1)
        stage.wait_event("it", "FailedScheduling")
        wait_until("it is nominated", partial(nomination_of, stage))
        stage.delete("victim")
        told[name] = told_when_bound(stage, "victim")
    assert told[OURS] == told[THEIRS]
    assert [event["reason"] for event in told[OURS]["events"]["victim"]] == []


def test_an_eviction_whose_answer_is_lost_makes_room_and_is_not_told(stages: dict[str, Stage]) -> None:
    for stage in stages.values():
        preempt(stage, "DELETE", CUT_AFTER, 1)
        told = told_when_bound(stage, "victim")
        assert told["events"]["victim"] == []
        assert told["history"]["victim"][-1]["deleted"]
        assert told["binds"] == 1
