"""NodePorts."""

from __future__ import annotations

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import SKIP, Code, unschedulable
from scheduler.plugins.node_ports import NodePorts
from tests.builders import info, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, verdicts

PLUGIN = NodePorts()
TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")


def test_pods_without_host_ports_are_skipped():
    plain = pod("a").container(ports=[{"containerPort": 80}])
    assert PLUGIN.pre_filter(cycle_of(state([node("n")]), plain)) is SKIP


def test_ports_of_plain_init_containers_are_not_host_ports():
    ports = [{"hostPort": 80, "containerPort": 80}]
    initial = pod("a").init_container(ports=ports)
    assert PLUGIN.pre_filter(cycle_of(state([node("n")]), initial)) is SKIP
    sidecar = pod("a").init_container(ports=ports, restartPolicy="Always")
    assert PLUGIN.pre_filter(cycle_of(state([node("n")]), sidecar)) is None


CONFLICTS = [
    (pod("p").host_port(80), pod("q").host_port(80), True),
    (pod("p").host_port(80), pod("q").host_port(81), False),
    (pod("p").host_port(80), pod("q").host_port(80, "UDP"), False),
    (pod("p").host_port(80, address="10.0.0.1"), pod("q").host_port(80, address="10.0.0.2"), False),
    (pod("p").host_port(80, address="10.0.0.1"), pod("q").host_port(80, address="10.0.0.1"), True),
    (pod("p").host_port(80, address="10.0.0.1"), pod("q").host_port(80), True),
    (pod("p").host_port(80), pod("q").host_port(80, address="10.0.0.1"), True),
    (pod("p").host_port(80, address="0.0.0.0"), pod("q").host_port(80), True),
    (pod("p").host_port(80, address="::"), pod("q").host_port(80, address="10.0.0.1"), False),
    (pod("p").host_port(80, protocol=""), pod("q").host_port(80), True),
    (pod("p").host_port(1).host_port(80), pod("q").host_port(80).host_port(2), True),
    (pod("p").host_port(80, "UDP", "10.0.0.1"), pod("q").host_port(80, "UDP", "10.0.0.1"), True),
    (pod("p").host_port(81).host_port(80, "UDP"), pod("q").host_port(81).host_port(82, "UDP"), True),
    (
        pod("p").host_port(80, address="10.0.0.9").host_port(80, address="0.0.0.0"),
        pod("q").host_port(80, address="10.0.0.1"),
        True,
    ),
    (pod("p").host_port(80, "UDP", "10.0.0.1"), pod("q").host_port(80, address="0.0.0.0"), False),
    (pod("p").host_port(80, "UDP", "10.0.0.1"), pod("q").host_port(80).host_port(80, "UDP"), True),
    (
        pod("p").host_port(80, address="10.0.0.1").host_port(80, address="10.0.0.2").host_port(90, address="10.0.0.2"),
        pod("q").host_port(81, address="10.0.0.1").host_port(82, address="10.0.0.2"),
        False,
    ),
    (
        pod("p").host_port(80, address="10.0.0.1").host_port(80, address="10.0.0.2").host_port(90, address="10.0.0.2"),
        pod("q").host_port(81, address="10.0.0.1").host_port(90, address="10.0.0.2"),
        True,
    ),
    (
        pod("p").init_container(ports=[{"hostPort": 80, "containerPort": 80}], restartPolicy="Always"),
        pod("q").host_port(80),
        True,
    ),
]
NAMES = [
    "same",
    "other port",
    "other protocol",
    "other address",
    "same address",
    "address against all",
    "all against address",
    "0.0.0.0 is all addresses",
    ":: is an address like others",
    "TCP by default",
    "one of several",
    "same by UDP",
    "the first of two",
    "one address of two is all",
    "all addresses by another protocol",
    "all addresses by both protocols",
    "several that all differ",
    "several of which one is the same",
    "of a sidecar",
]


@pytest.mark.parametrize(("wanted", "running", "conflict"), CONFLICTS, ids=NAMES)
def test_a_node_where_a_port_is_taken_is_turned_down(wanted, running, conflict):
    cluster = state([node("n"), node("empty")], [running.on("n")])
    assert verdicts(PLUGIN, cycle_of(cluster, wanted)) == {"n": TAKEN if conflict else None, "empty": None}


def test_a_port_is_free_again_when_its_pod_goes():
    cluster = state([node("n")], [pod("q").host_port(80).on("n").uid("q")])
    cluster.remove_pod("q")
    assert verdicts(PLUGIN, cycle_of(cluster, pod("p").host_port(80))) == {"n": None}


def test_ports_of_the_pod_itself_do_not_conflict():
    twice = pod("p").host_port(80).host_port(80)
    assert verdicts(PLUGIN, cycle_of(state([node("n")]), twice)) == {"n": None}


def test_filtering_fails_where_pre_filter_is_disabled():
    answer = filtered(PLUGIN, cycle_of(state([node("n")]), pod("p")))["n"]
    assert answer is not None
    assert answer.code is Code.ERROR
    assert answer.message == 'reading "PreFilterNodePorts" from cycleState: not found'


class TestHints:
    def test_events(self):
        assert events(PLUGIN.events_to_register()) == {"AssignedPod DELETE": "after_pod_deletion", "Node ADD": None}

    @pytest.mark.parametrize(("wanted", "running", "conflict"), CONFLICTS, ids=NAMES)
    def test_a_pod_that_frees_a_wanted_port_helps(self, wanted, running, conflict):
        hint = PLUGIN.after_pod_deletion(info(wanted), info(running.on("n")), None)
        assert hint is (QueueingHint.QUEUE if conflict else QueueingHint.SKIP)

    def test_a_pod_that_had_no_node_does_not_help(self):
        wanted = info(pod("p").host_port(80))
        assert PLUGIN.after_pod_deletion(wanted, info(pod("q").host_port(80)), None) is QueueingHint.SKIP

    def test_a_pod_without_host_ports_does_not_help(self):
        wanted = info(pod("p").host_port(80))
        assert PLUGIN.after_pod_deletion(wanted, info(pod("q").on("n")), None) is QueueingHint.SKIP

    def test_a_pod_that_was_nominated_helps(self):
        wanted, gone = info(pod("p").host_port(80)), info(pod("q").host_port(80).nominated("n"))
        assert PLUGIN.after_pod_deletion(wanted, gone, None) is QueueingHint.QUEUE


def test_in_a_trial_a_port_is_free_once_any_of_its_holders_goes():
    """As in kube-scheduler, where a node's ports are a set while evictions are tried."""
    cluster = state([node("n")], [pod(name).host_port(80).on("n") for name in "ab"])
    a, b = cluster.pods.on_node("n")
    cycle = cycle_of(cluster, pod("p").host_port(80))
    PLUGIN.pre_filter(cycle)
    with cluster.what_if() as trial:
        cycle.trial = trial
        assert filtered(PLUGIN, cycle) == {"n": TAKEN}
        trial.remove(a)
        assert filtered(PLUGIN, cycle) == {"n": None}
        trial.restore(a)
        assert filtered(PLUGIN, cycle) == {"n": TAKEN}
        trial.remove(a)
        trial.remove(b)
        trial.add(info(pod("nominated").host_port(80), cluster), "n")
        assert filtered(PLUGIN, cycle) == {"n": TAKEN}
