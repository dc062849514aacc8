"""What SIGUSR2 compares and dumps."""

from __future__ import annotations

import logging
import random

import pytest

from scheduler.app.assembly import assemble, connect
from scheduler.app.configuration import all_plugins, read_config
from scheduler.app.debugger import CacheDebugger, debugger_of, differences
from scheduler.app.pod_resources import PodResources
from scheduler.client import kinds
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from tests.builders import node, pod


@pytest.fixture
def scheduler():
    """Two nodes, a pod on one of them, a pod that waits, and one that a node is in prospect for."""
    gates, registry = FeatureGates(), all_plugins()
    config = read_config("", gates=gates, registry=registry)
    cluster = MemoryCluster(
        [
            node("a").capacity(cpu="4", memory="8Gi").build(),
            node("b").build(),
            pod("placed").uid("1").cpu("500m").on("a").build(),
            pod("waiting").uid("2").scheduler("berth").build(),
            pod("promised").uid("3").scheduler("berth").nominated("b").build(),
        ]
    )
    made = assemble(
        config, registry=registry, gates=gates, writer=MemoryWriter(cluster), random_source=random.Random(1)
    )
    connect(made, cluster)
    cluster.sync()
    return made


@pytest.mark.parametrize(
    ("actual", "cached", "missed", "redundant"),
    [
        ([], [], [], []),
        (["b", "a"], ["a", "b"], [], []),
        (["b", "a", "c"], ["a"], ["b", "c"], []),
        (["a"], ["c", "b", "a"], [], ["b", "c"]),
    ],
)
def test_differences_go_both_ways(actual, cached, missed, redundant):
    assert differences(actual, cached) == (missed, redundant)


def test_caches_that_agree_are_not_complained_of(scheduler, caplog):
    caplog.set_level(logging.INFO)
    debugger = CacheDebugger(scheduler, nodes=["a", "b"], pods=["1", "2", "3", "theirs"], others={"theirs"})
    assert debugger.compare()
    assert caplog.messages == []


def test_mismatches_are_named(scheduler, caplog):
    caplog.set_level(logging.INFO)
    assert not CacheDebugger(scheduler, nodes=["a", "c"], pods=["1", "3", "4"]).compare()
    assert caplog.messages == [
        "Cache mismatch: missedNodes=['c'] redundantNodes=['b']",
        "Cache mismatch: missedPods=['4'] redundantPods=['2']",
    ]


def test_nodes_and_queue_are_dumped(scheduler, caplog):
    caplog.set_level(logging.INFO)
    CacheDebugger(scheduler, nodes=["a", "b"], pods=["1", "2", "3"]).run()
    nodes, queue = caplog.messages
    assert nodes.startswith("Dump of cached NodeInfo:\nNode name: a\nRequested Resources: cpu=500 ")
    assert "Allocatable Resources: cpu=4000 memory=8589934592 " in nodes
    assert "Scheduled Pods(number: 1):\nname: placed, namespace: default, uid: 1, phase: , nominated node: " in nodes
    assert "Nominated Pods(number: 1):\nname: promised, namespace: default, uid: 3, phase: , nominated node: b" in nodes
    assert queue.startswith("Dump of scheduling queue: active:2; backoff:0; unschedulable:0; gated:0\n")
    assert "name: waiting, namespace: default, uid: 2" in queue


def test_it_compares_with_what_the_informers_have(scheduler, caplog):
    """By then: the caches are fed by the same informers, and so can only be behind."""
    cluster = MemoryCluster([node("a").build(), node("new").build(), pod("theirs").uid("9").scheduler("x").build()])
    resources = PodResources(scheduler)
    cluster.informer(kinds.PODS).add_handler(resources.pod)
    cluster.informer(kinds.NODES)
    cluster.sync()
    caplog.set_level(logging.INFO)
    assert not debugger_of(scheduler, cluster, resources).compare()
    assert caplog.messages == [
        "Cache mismatch: missedNodes=['new'] redundantNodes=['b']",
        "Cache mismatch: missedPods=[] redundantPods=['1', '2', '3']",
    ]
