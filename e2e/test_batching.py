"""What Berth and kube-scheduler count of opportunistic batching, after the same pods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from e2e.berth import Berth, events, get, pod
from e2e.controlplane import wait_until

if TYPE_CHECKING:
    from e2e.controlplane import ControlPlane

READER = "batching"
COUNTED = (
    "scheduler_batch_attempts_total",
    "scheduler_batch_cache_flushed_total",
    "scheduler_batch_rescore_attempts_total",
    "scheduler_get_node_hint_duration_seconds_count",
    "scheduler_store_schedule_results_duration_seconds_count",
)


def counted(port: int | str, token: str, profile: str) -> dict[str, float]:
    """The samples of these metrics, without the profile's name."""
    text = get(port, "/metrics", token)[1].replace(f'profile="{profile}"', "profile")
    samples = re.findall(r"^(\w+)(\{\S*\}) (\S+)$", text, re.MULTILINE)
    return {name + labels: float(value) for name, labels, value in samples if name in COUNTED}


def token_for_metrics(control_plane: ControlPlane) -> str:
    api, group = control_plane.api, "rbac.authorization.k8s.io"
    metadata = {"name": READER}
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    subject = {"kind": "ServiceAccount", "name": READER, "namespace": "default"}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": READER}
    api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "namespace": "default"}})
    api.apply({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": [rule]})
    api.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": role,
            "subjects": [subject],
        }
    )
    return control_plane.service_account_token("default", READER)


def test_with_the_default_arguments_the_same_is_counted(
    control_plane: ControlPlane, rights: None, nodes: list[str], emptied: str
) -> None:
    token = token_for_metrics(control_plane)
    process = control_plane.start_kube_scheduler()
    try:
        port = next(part.removeprefix("--secure-port=") for part in process.command if "--secure-port" in part)
        with Berth(control_plane) as berth:
            for own, scheduler in (("ours", "berth"), ("theirs", "default-scheduler")):
                made = [pod(f"{own}-{number}", emptied, scheduler=scheduler, cpu="10m") for number in range(5)]
                made.append(pod(f"{own}-large", emptied, scheduler=scheduler, cpu="100"))
                made.append(pod(f"{own}-lone", emptied, scheduler=scheduler, nodeSelector={"none": "such"}))
                hostname = {"kubernetes.io/hostname": nodes[0]}
                made.append(pod(f"{own}-at-home", emptied, scheduler=scheduler, nodeSelector=hostname))
                control_plane.api.create_all(made)
            wait_until("all were tried", lambda: len(events(control_plane, emptied)) == 16)
            ours, theirs = counted(berth.port, token, "berth"), counted(port, token, "default-scheduler")
    finally:
        control_plane.stop_component("kube-scheduler")
    assert ours == theirs
    assert ours['scheduler_batch_attempts_total{profile,result="no_hint"}'] == 8
    assert ours['scheduler_batch_cache_flushed_total{profile,reason="pod_not_batchable"}'] == 5
    assert ours['scheduler_batch_cache_flushed_total{profile,reason="empty_list"}'] == 1
