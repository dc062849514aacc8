from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import Pod
from scheduler.metrics.resources import pod_resource_metrics, pod_total


def pod(**parts):
    parts = {"metadata": {"namespace": "ns", "name": "a"}, **parts}
    return msgspec.convert(parts, Pod)


def container(restart_policy=None, requests=None, limits=None):
    parts = {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}}
    return {**parts, "restartPolicy": restart_policy} if restart_policy else parts


def shown(*pods, **options):
    return b"".join(pod_resource_metrics(pods, **options)).decode()


def test_labels_and_units_are_kube_schedulers():
    requests = {
        "cpu": "1500m",
        "memory": "1Gi",
        "ephemeral-storage": "10",
        "storage": "3",
        "hugepages-2Mi": "4Mi",
        "attachable-volumes-aws-ebs": "2",
        "nvidia.com/gpu": "1",
    }
    spec = {"nodeName": "n", "schedulerName": "berth", "priority": 7, "containers": [container(None, requests)]}
    lines = shown(pod(spec=spec, status={"phase": "Running"})).splitlines()
    assert lines[0].startswith("# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on ")
    assert lines[1] == "# TYPE kube_pod_resource_request gauge"
    head = 'kube_pod_resource_request{namespace="ns",node="n",pod="a",priority="7",'
    assert lines[2:] == [
        head + 'resource="attachable-volumes-aws-ebs",scheduler="berth",unit="integer"} 2',
        head + 'resource="cpu",scheduler="berth",unit="cores"} 1.5',
        head + 'resource="ephemeral-storage",scheduler="berth",unit="bytes"} 10',
        head + 'resource="hugepages-2Mi",scheduler="berth",unit="bytes"} 4.194304e+06',
        head + 'resource="memory",scheduler="berth",unit="bytes"} 1.073741824e+09',
        head + 'resource="nvidia.com/gpu",scheduler="berth",unit=""} 1',
        head + 'resource="storage",scheduler="berth",unit="bytes"} 3',
    ]


def test_limits_are_a_family_of_their_own():
    text = shown(pod(spec={"containers": [container(None, {"cpu": "1"}, {"cpu": "2"})]}))
    assert 'kube_pod_resource_request{namespace="ns",node="",pod="a",priority="",resource="cpu"' in text
    assert text.endswith(
        'kube_pod_resource_limit{namespace="ns",node="",pod="a",priority="",resource="cpu",'
        'scheduler="",unit="cores"} 2\n'
    )
    assert text.count("# TYPE") == 2


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_finished_pod_is_left_out_unless_it_never_had_a_node(phase):
    spec = {"containers": [container(None, {"cpu": "1"})]}
    assert shown(pod(spec={**spec, "nodeName": "n"}, status={"phase": phase})) == ""
    assert shown(pod(spec=spec, status={"phase": phase})) != ""


def test_amounts_of_zero_are_left_out():
    assert shown(pod(spec={"containers": [container(None, {"cpu": "0"})]})) == ""


def test_pieces_make_one_family_with_one_head():
    pods = [pod(spec={"containers": [container(None, {"cpu": "1"})]}) for _ in range(5)]
    pieces = list(pod_resource_metrics(pods, pods_per_chunk=2))
    assert len(pieces) == 3
    assert b"".join(pieces).count(b"# HELP") == 1
    assert b"".join(pieces) == b"".join(pod_resource_metrics(pods))


INIT = {"cpu": "5"}
SIDECAR = {"cpu": "2"}
MAIN = {"cpu": "1", "memory": "8"}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container(None, MAIN), container(None, MAIN)]}, "2"),
        ({"containers": [container(None, MAIN)], "initContainers": [container(None, INIT)]}, "5"),
        ({"containers": [container(None, MAIN)], "initContainers": [container("Always", SIDECAR)]}, "3"),
        (
            {
                "containers": [container(None, MAIN)],
                "initContainers": [container("Always", SIDECAR), container(None, INIT)],
            },
            "7",
        ),
        ({"containers": [container(None, MAIN)], "resources": {"requests": {"cpu": "9"}}}, "9"),
        ({"containers": [container(None, MAIN)], "resources": {"limits": {"cpu": "9"}}}, "1"),
        ({"containers": [container(None, MAIN)], "overhead": {"cpu": "250m"}}, "1250m"),
    ],
)
def test_requests_add_up_as_the_kubelet_reserves_them(spec, cpu):
    assert str(pod_total(pod(spec=spec), "request")["cpu"]) == cpu


def test_overhead_counts_for_limits_that_are_set_only():
    spec = {"containers": [container(None, None, {"cpu": "1"})], "overhead": {"cpu": "1", "memory": "5"}}
    total = pod_total(pod(spec=spec), "limit")
    assert {name: str(amount) for name, amount in total.items()} == {"cpu": "2"}


def test_pod_level_limits_replace_the_containers():
    spec = {
        "containers": [container(None, None, {"cpu": "1", "nvidia.com/gpu": "1"})],
        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "nvidia.com/gpu": "8"}},
    }
    total = pod_total(pod(spec=spec), "limit")
    assert {name: str(amount) for name, amount in total.items()} == {"cpu": "4", "nvidia.com/gpu": "1"}
