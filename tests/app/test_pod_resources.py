"""The pods behind /metrics/resources."""

from __future__ import annotations

import random

import pytest

from scheduler.app.assembly import assemble, connect
from scheduler.app.configuration import all_plugins, read_config
from scheduler.app.pod_resources import PodResources
from scheduler.client import kinds
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.metrics.resources import pod_resource_metrics
from tests.builders import node, pod

PODS = [
    pod("placed").uid("1").cpu("500m").on("a").priority(3).scheduler("berth"),
    pod("ours").uid("2").cpu("2").memory("1Gi").scheduler("berth").priority(0),
    pod("theirs").uid("3").cpu("300m").scheduler("default-scheduler").priority(0),
]


@pytest.fixture
def cluster():
    return MemoryCluster([node("a").build(), *(one.build() for one in PODS)])


@pytest.fixture
def resources(cluster):
    gates, registry = FeatureGates(), all_plugins()
    config = read_config("", gates=gates, registry=registry)
    scheduler = assemble(
        config, registry=registry, gates=gates, writer=MemoryWriter(cluster), random_source=random.Random(1)
    )
    connect(scheduler, cluster)
    made = PodResources(scheduler)
    cluster.informer(kinds.PODS).add_handler(made.pod)
    cluster.sync()
    return made


def lines(text):
    return sorted(line for line in b"".join(text).decode().splitlines() if not line.startswith("#"))


def test_records_say_what_the_pods_themselves_would(cluster, resources):
    assert lines(resources.text()) == lines(pod_resource_metrics([one.build() for one in PODS]))


def test_pods_of_other_schedulers_are_kept_until_they_are_bound_or_gone(cluster, resources):
    assert resources.others == {"3"}
    cluster.put(PODS[2].on("a").build())
    assert resources.others == frozenset()
    assert 'node="a",pod="theirs"' in "".join(lines(resources.text()))
    cluster.put(pod("more").uid("4").scheduler("default-scheduler").build())
    cluster.delete(kinds.PODS, "default", "more")
    assert resources.others == frozenset()


def test_a_pod_shows_up_once_whatever_becomes_of_it(cluster, resources):
    cluster.put(PODS[1].on("a").build())
    found = [line for line in lines(resources.text()) if 'pod="ours"' in line and 'resource="cpu"' in line]
    assert found == [
        'kube_pod_resource_request{namespace="default",node="a",pod="ours",priority="0",resource="cpu",'
        'scheduler="berth",unit="cores"} 2'
    ]
