"""Berth on a real API server: pods that ask for it get a node, and what it tells of them."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

import pytest

from e2e.berth import Berth, dumps, events, families, get, placements, pod
from e2e.controlplane import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

SCRAPER = "scraper"
#: Metrics of kube-scheduler that must be there after some pods were scheduled and some not.
ESSENTIAL = frozenset(
    f"scheduler_{name}"
    for name in (
        "schedule_attempts_total",
        "scheduling_attempt_duration_seconds",
        "scheduling_algorithm_duration_seconds",
        "pod_scheduling_sli_duration_seconds",
        "pod_scheduling_attempts",
        "pending_pods",
        "queued_entities",
        "queue_incoming_pods_total",
        "unschedulable_pods",
        "framework_extension_point_duration_seconds",
        "plugin_execution_duration_seconds",
        "plugin_evaluation_total",
        "event_handling_duration_seconds",
        "cache_size",
        "goroutines",
    )
)


@pytest.fixture(scope="module")
def scheduler(control_plane: ControlPlane, rights: None) -> Iterator[Berth]:
    with Berth(control_plane) as running:
        yield running


@pytest.fixture(scope="module")
def token(control_plane: ControlPlane) -> str:
    """A token of a ServiceAccount that may read metrics, and nothing else."""
    api, group = control_plane.api, "rbac.authorization.k8s.io"
    metadata = {"name": SCRAPER}
    paths = ["/metrics", "/metrics/resources", "/configz"]
    subject = {"kind": "ServiceAccount", "name": SCRAPER, "namespace": "default"}
    api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "namespace": "default"}})
    rule = {"nonResourceURLs": paths, "verbs": ["get"]}
    api.apply({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": [rule]})
    api.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": SCRAPER},
            "subjects": [subject],
        }
    )
    return control_plane.service_account_token("default", SCRAPER)


def all_bound(control_plane: ControlPlane, namespace: str, number: int) -> dict[str, str]:
    def bound() -> dict[str, str]:
        found = placements(control_plane, namespace)
        return found if len(found) == number and all(found.values()) else {}

    return wait_until(f"all {number} pods of {namespace} are bound", bound)


def test_pods_made_through_the_api_get_nodes(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    control_plane.api.create_all(pod(f"web-{number}", emptied, cpu="3") for number in range(6))
    found = all_bound(control_plane, emptied, 6)
    assert sorted(found.values()) == sorted(nodes * 2)


def test_pods_made_with_kubectl_get_nodes(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    control_plane.kubectl(
        "apply", "-f", "-", stdin=dumps([pod(f"web-{number}", emptied, cpu="5") for number in range(3)])
    )
    control_plane.kubectl(
        "wait", "--for=condition=PodScheduled", "--timeout=30s", "-n", emptied, "pods", "--all"
    )  # fmt: skip
    assert set(placements(control_plane, emptied).values()) == set(nodes)


def test_pods_of_other_schedulers_are_left_alone(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    control_plane.api.create(pod("theirs-0", emptied, scheduler="default-scheduler"))
    control_plane.api.create(pod("ours-0", emptied))
    wait_until("our pod is bound", lambda: placements(control_plane, emptied)["ours-0"])
    assert placements(control_plane, emptied)["theirs-0"] == ""
    assert events(control_plane, emptied, "theirs-0") == []


def test_a_bound_pod_has_one_event_that_says_so(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    created = control_plane.api.create(pod("web-0", emptied))
    node = all_bound(control_plane, emptied, 1)["web-0"]
    (event,) = wait_until("the event is there", lambda: events(control_plane, emptied, "web-0"))
    assert (event["type"], event["reason"], event["action"]) == ("Normal", "Scheduled", "Binding")
    assert event["note"] == f"Successfully assigned {emptied}/web-0 to {node}"
    assert event["reportingController"] == "berth"
    assert event["reportingInstance"].startswith("berth-")
    assert event["regarding"]["kind"] == "Pod"
    assert event["regarding"]["uid"] == created["metadata"]["uid"]


def test_a_pod_waits_for_room_and_is_bound_when_there_is_some(
    control_plane: ControlPlane, scheduler: Berth, add_nodes: Callable[..., list[str]], emptied: str
) -> None:
    add_nodes(1, cpu="1")
    control_plane.api.create(pod("large-0", emptied, cpu="3"))
    wait_until("the pod was turned down", lambda: events(control_plane, emptied, "large-0"))
    (roomy,) = add_nodes(1, cpu="4")
    assert all_bound(control_plane, emptied, 1) == {"large-0": roomy}


def test_a_gated_pod_is_bound_once_its_gates_are_gone(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    control_plane.api.create(pod("gated-0", emptied, schedulingGates=[{"name": "example.com/quota"}]))
    control_plane.api.create(pod("free-0", emptied))
    wait_until("the other pod is bound", lambda: placements(control_plane, emptied)["free-0"])
    assert placements(control_plane, emptied)["gated-0"] == ""
    path = f"/api/v1/namespaces/{emptied}/pods/gated-0"
    control_plane.api.patch(path, {"spec": {"schedulingGates": None}}, kind="merge")
    all_bound(control_plane, emptied, 2)


def test_the_caches_agree_with_the_api_server(
    control_plane: ControlPlane, scheduler: Berth, nodes: list[str], emptied: str
) -> None:
    control_plane.api.create(pod("web-0", emptied))
    control_plane.api.create(pod("large-0", emptied, cpu="100"))
    wait_until(
        "both pods were tried", lambda: len({e["regarding"]["name"] for e in events(control_plane, emptied)}) == 2
    )

    def dumped() -> bool:
        # Pods of other tests that go may just have woken the one that fits nowhere.
        scheduler.signal(signal.SIGUSR2)
        return "unschedulable:1" in scheduler.log

    wait_until("the queue was dumped, with the pod that fits nowhere", dumped)
    assert "Dump of scheduling queue" in scheduler.log
    assert f"name: web-0, namespace: {emptied}" in scheduler.log
    assert "Cache mismatch" not in scheduler.log


def test_metrics_are_for_those_who_may_read_them(scheduler: Berth, token: str) -> None:
    assert scheduler.get("/metrics")[0] == 403
    assert scheduler.get("/metrics", token="nonsense")[0] == 401
    assert scheduler.get("/metrics", token=token)[0] == 200
    assert scheduler.get("/flagz", token=token)[0] == 403
    assert scheduler.get("/livez") == (200, "ok")


def test_the_configuration_is_shown(scheduler: Berth, token: str) -> None:
    status, text = scheduler.get("/configz", token=token)
    assert status == 200
    assert '"schedulerName":"berth"' in text


def test_requests_of_all_pods_are_shown_whoever_schedules_them(
    control_plane: ControlPlane, scheduler: Berth, token: str, nodes: list[str], emptied: str
) -> None:
    control_plane.api.create(pod("ours-0", emptied, cpu="200m"))
    control_plane.api.create(pod("theirs-0", emptied, scheduler="default-scheduler", cpu="300m"))
    node = wait_until("our pod is bound", lambda: placements(control_plane, emptied)["ours-0"])
    labels = f'namespace="{emptied}",node="{node}",pod="ours-0",priority="0",resource="cpu",scheduler="berth"'

    def shown() -> str:
        text = scheduler.get("/metrics/resources", token=token)[1]
        return text if labels in text and "theirs-0" in text else ""

    text = wait_until("both pods are in the metrics", shown)
    assert f'kube_pod_resource_request{{{labels},unit="cores"}} 0.2\n' in text
    assert (
        f'kube_pod_resource_request{{namespace="{emptied}",node="",pod="theirs-0",priority="0",resource="cpu",'
        f'scheduler="default-scheduler",unit="cores"}} 0.3\n' in text
    )


def test_metrics_are_those_of_kube_scheduler(
    control_plane: ControlPlane,
    scheduler: Berth,
    token: str,
    nodes: list[str],
    emptied: str,
) -> None:
    process = control_plane.start_kube_scheduler()
    try:
        # Kubernetes measures plugins in one cycle of ten only, and hints at one event of ten while a pod waits.
        for name, of in (("ours", "berth"), ("theirs", "default-scheduler")):
            control_plane.api.create(pod(f"{name}-large", emptied, scheduler=of, cpu="100"))
            control_plane.api.create_all(pod(f"{name}-{n}", emptied, scheduler=of, cpu="1m") for n in range(60))
        wait_until(
            "all were tried", lambda: len({e["regarding"]["name"] for e in events(control_plane, emptied)}) == 122
        )
        for name in ("ours", "theirs"):
            for number in range(60):
                control_plane.api.delete(f"/api/v1/namespaces/{emptied}/pods/{name}-{number}", grace=0)
        port = next(part.removeprefix("--secure-port=") for part in process.command if "--secure-port" in part)

        def shown() -> tuple[dict[str, str], dict[str, str]]:
            theirs = families(get(port, "/metrics", token)[1])
            return families(scheduler.get("/metrics", token=token)[1]), theirs

        def alike() -> bool:
            ours, theirs = shown()
            return {name for name in ours if name.startswith("scheduler_")} <= set(theirs)

        # What kube-scheduler measures it drops where too much comes at once, so it is asked for a little again.
        for number in range(100, 110):
            with contextlib.suppress(TimeoutError):
                wait_until("kube-scheduler shows what Berth shows", alike, timeout=3.0, interval=0.5)
            if alike():
                break
            more = f"theirs-{number}"
            control_plane.api.create(pod(more, emptied, scheduler="default-scheduler", cpu="1m"))
            wait_until(
                "it was bound",
                lambda more=more: more in {e["regarding"]["name"] for e in events(control_plane, emptied)},
            )
            control_plane.api.delete(f"/api/v1/namespaces/{emptied}/pods/{more}", grace=0)
        ours, theirs = shown()
    finally:
        control_plane.stop_component("kube-scheduler")
    own = {name: kind for name, kind in ours.items() if name.startswith("scheduler_")}
    assert own == {name: theirs.get(name) for name in own}
    assert set(theirs) >= ESSENTIAL
    assert set(ours) >= ESSENTIAL
    assert set(ours) >= {"rest_client_requests_total", "kubernetes_feature_enabled", "process_cpu_seconds_total"}


def test_nothing_that_berth_needed_was_refused(scheduler: Berth, token: str) -> None:
    text = scheduler.get("/metrics", token=token)[1]
    assert 'rest_client_requests_total{code="201"' in text
    assert 'code="403"' not in text
    assert "forbidden" not in scheduler.log.lower()
    assert "Traceback" not in scheduler.log
