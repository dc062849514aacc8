"""NodeDeclaredFeatures."""

from __future__ import annotations

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import SKIP, Code, unresolvable
from scheduler.plugins.node_declared_features import NodeDeclaredFeatures, make
from tests.builders import info, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, handle, verdicts

PLUGIN = NodeDeclaredFeatures(enabled=True)
REFUSED = unresolvable("node(s) didn't match Pod's required features")

RESTART = "RestartAllContainersOnContainerExits"
USER_NAMESPACE = "UserNamespacesHostNetworkSupport"
MOUNTS = "VolumeBindMountOptions"
RULES = [{"action": "RestartAllContainers"}]
OPTIONS = [{"name": "data", "bindMountOptions": ["noexec"]}]
HOST = pod("p").set("spec.hostNetwork", True)


@pytest.mark.parametrize(
    ("incoming", "feature"),
    [
        (pod("p").container(restartPolicyRules=RULES), RESTART),
        (pod("p").init_container(restartPolicyRules=RULES), RESTART),
        (HOST.set("spec.hostUsers", False), USER_NAMESPACE),
        (pod("p").container(volumeMounts=OPTIONS), MOUNTS),
        (pod("p").init_container(volumeMounts=OPTIONS), MOUNTS),
    ],
)
def test_a_pod_goes_where_the_feature_that_it_needs_is_declared(incoming, feature):
    cluster = state([node("with").features(feature, "Unknown"), node("without").features("Unknown")])
    assert verdicts(PLUGIN, cycle_of(cluster, incoming)) == {"with": None, "without": REFUSED}


@pytest.mark.parametrize(
    "incoming",
    [
        pod("p"),
        pod("p").container(restartPolicyRules=[{"action": "Restart"}]),
        HOST,
        HOST.set("spec.hostUsers", True),
        pod("p").set("spec.hostUsers", False),
        pod("p").container(volumeMounts=[{"name": "data"}]),
    ],
    ids=["plain", "other rule", "host network", "host users", "user namespace alone", "mount"],
)
def test_a_pod_that_needs_nothing_is_skipped(incoming):
    assert PLUGIN.pre_filter(cycle_of(state([node("n")]), incoming)) is SKIP


def test_all_needed_features_must_be_declared():
    both = HOST.set("spec.hostUsers", False).container(restartPolicyRules=RULES)
    nodes = [
        node("none"),
        node("one").features(RESTART),
        node("two").features(RESTART, USER_NAMESPACE),
        node("more").features(RESTART, USER_NAMESPACE, MOUNTS),
    ]
    expected = {"none": REFUSED, "one": REFUSED, "two": None, "more": None}
    assert verdicts(PLUGIN, cycle_of(state(nodes), both)) == expected


def test_without_its_feature_gate_it_does_nothing():
    cluster = state([node("n")])
    plugin = make(None, handle(cluster, gates={"NodeDeclaredFeatures": False}))
    cycle = cycle_of(cluster, pod("p").container(restartPolicyRules=RULES))
    assert plugin.pre_filter(cycle) is SKIP
    assert plugin.filter(cycle, cycle.nodes) is None
    assert plugin.events_to_register() == []


def test_filtering_fails_where_pre_filter_is_disabled():
    answer = filtered(PLUGIN, cycle_of(state([node("n")]), pod("p")))["n"]
    assert answer is not None
    assert answer.code is Code.ERROR
    assert answer.message == 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'


class TestHints:
    def test_events(self):
        assert events(PLUGIN.events_to_register()) == {
            "Node ADD|UPDATE_NODE_DECLARED_FEATURE": "after_node_change",
            "TargetPod UPDATE": "after_pod_update",
        }

    @pytest.mark.parametrize(
        ("old", "new", "hint"),
        [
            (None, node("n"), QueueingHint.QUEUE),
            (None, node("n").features("A"), QueueingHint.QUEUE),
            (node("n"), node("n").features("A"), QueueingHint.QUEUE),
            (node("n").features("A"), node("n"), QueueingHint.QUEUE),
            (node("n").features("A"), node("n").features("A").label(x="y"), QueueingHint.SKIP),
        ],
        ids=["new", "new and declaring", "declares more", "declares less", "same"],
    )
    def test_node_change(self, old, new, hint):
        assert PLUGIN.after_node_change(info(pod("p")), old and old.build(), new.build()) is hint

    def test_pod_update(self):
        plain, labelled, needy = info(pod("p")), info(pod("p").label(a="b")), info(HOST.set("spec.hostUsers", False))
        assert PLUGIN.after_pod_update(plain, plain, labelled) is QueueingHint.SKIP
        assert PLUGIN.after_pod_update(needy, needy, plain) is QueueingHint.QUEUE
        assert PLUGIN.after_pod_update(plain, plain, needy) is QueueingHint.QUEUE
