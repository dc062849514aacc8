"""NodeResourcesFit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.cache.nodes import NodeView
from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
from scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from scheduler.plugins.noderesources.fit import Fit, make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, handle, raw_scores, verdicts

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState
    from tests.builders import PodBuilder

GPU, NIC, HUGE = "example.com/gpu", "other.example/nic", "hugepages-2Mi"


def fit(cluster: ClusterState | None = None, **arguments: object) -> Fit:
    args = msgspec.convert(arguments, NodeResourcesFitArgs) if arguments else NodeResourcesFitArgs()
    return make(args, handle(cluster or state()))


def verdict(cluster: ClusterState, incoming: PodBuilder, **arguments: object) -> Status | None:
    """The verdict on the node "n"."""
    return verdicts(fit(cluster, **arguments), cycle_of(cluster, incoming))["n"]


NODE = node("n").capacity({GPU: "2", "ephemeral-storage": "10Gi"}, cpu="4", memory="8Gi", pods="3")
RUNNING = pod("q").cpu("3").memory("6Gi").requests({GPU: "1", "ephemeral-storage": "6Gi"}).on("n")
CLUSTER = state([NODE], [RUNNING])


class TestFilter:
    @pytest.mark.parametrize(
        ("incoming", "expected"),
        [
            (pod("p"), None),
            (pod("p").cpu("1").memory("2Gi").requests({GPU: "1"}), None),
            (pod("p").cpu("1001m"), unschedulable("Insufficient cpu")),
            (pod("p").cpu("4"), unschedulable("Insufficient cpu")),
            (pod("p").cpu("4001m"), unresolvable("Insufficient cpu")),
            (pod("p").memory("3Gi"), unschedulable("Insufficient memory")),
            (pod("p").requests({"ephemeral-storage": "5Gi"}), unschedulable("Insufficient ephemeral-storage")),
            (pod("p").requests({GPU: "2"}), unschedulable(f"Insufficient {GPU}")),
            (pod("p").requests({GPU: "3"}), unresolvable(f"Insufficient {GPU}")),
            (pod("p").requests({HUGE: "2Mi"}), unresolvable(f"Insufficient {HUGE}")),
            (pod("p").requests({"storage": "9Ti"}), None),
            (
                pod("p").requests({GPU: "2", "ephemeral-storage": "5Gi"}).memory("3Gi").cpu("2"),
                unschedulable(
                    "Insufficient cpu",
                    "Insufficient memory",
                    "Insufficient ephemeral-storage",
                    f"Insufficient {GPU}",
                ),
            ),
            (pod("p").cpu("9").memory("3Gi"), unresolvable("Insufficient cpu", "Insufficient memory")),
        ],
        ids=[
            "nothing",
            "just what is left",
            "more than is left",
            "as much as there is",
            "more than there is",
            "memory",
            "ephemeral storage",
            "extended",
            "more than there is of it",
            "not there",
            "not counted",
            "several, in order",
            "one of them can't be helped",
        ],
    )
    def test_what_is_requested_must_be_left(self, incoming, expected):
        assert verdict(CLUSTER, incoming) == expected

    def test_the_number_of_pods_comes_first_and_can_be_helped(self):
        full = state([NODE.capacity(cpu="4", pods="1")], [pod("q").on("n")])
        assert verdict(full, pod("p")) == unschedulable("Too many pods")
        assert verdict(full, pod("p").cpu("5")) == unresolvable("Too many pods", "Insufficient cpu")

    def test_a_node_that_does_not_say_how_many_pods_takes_none(self):
        cluster = state([node("n").set("status.allocatable", {"cpu": "4"})])
        assert verdict(cluster, pod("p").cpu("1")) == unschedulable("Too many pods")

    def test_what_is_not_requested_may_be_overcommitted(self):
        over = state([NODE], [pod("q").cpu("40").on("n")])
        assert verdict(over, pod("p").cpu("0").memory("1Gi")) is None
        assert verdict(over, pod("p").cpu("1m")) == unschedulable("Insufficient cpu")

    def test_the_largest_init_container_counts(self):
        initial = pod("p").cpu("1").init_container(resources={"requests": {"cpu": "2"}})
        assert verdict(CLUSTER, initial) == unschedulable("Insufficient cpu")

    def test_pod_level_requests_count(self):
        whole = pod("p").cpu("1").set("spec.resources", {"requests": {"cpu": "2"}})
        assert verdict(CLUSTER, whole) == unschedulable("Insufficient cpu")

    def test_room_is_back_when_a_pod_goes(self):
        cluster = state([NODE], [RUNNING.uid("q")])
        cluster.remove_pod("q")
        assert verdict(cluster, pod("p").cpu("4")) is None


class TestIgnoredResources:
    WANTED = pod("p").requests({GPU: "9", NIC: "9", HUGE: "2Mi"})

    @pytest.mark.parametrize(
        ("arguments", "names"),
        [
            ({}, [GPU, HUGE, NIC]),
            ({"ignoredResources": [GPU]}, [HUGE, NIC]),
            ({"ignoredResourceGroups": ["other.example"]}, [GPU, HUGE]),
            ({"ignoredResources": [HUGE, "cpu"], "ignoredResourceGroups": [HUGE]}, [GPU, HUGE, NIC]),
        ],
        ids=["none", "by name", "by group", "only extended ones can be"],
    )
    def test_are_not_checked(self, arguments, names):
        reasons = [f"Insufficient {name}" for name in names]
        assert verdict(CLUSTER, self.WANTED, **arguments) == unresolvable(*reasons)

    def test_profiles_with_other_arguments_do_not_share_what_they_work_out(self):
        cycle = cycle_of(CLUSTER, pod("p").requests({GPU: "9"}))
        assert verdicts(fit(CLUSTER, ignoredResources=[GPU]), cycle)["n"] is None
        assert verdicts(fit(CLUSTER), cycle)["n"] == unresolvable(f"Insufficient {GPU}")


class TestDeviceClasses:
    def test_a_resource_that_a_class_stands_for_is_checked_only_where_the_node_has_some(self):
        cluster = state([NODE, node("without").capacity(cpu="4")])
        plugin = fit(cluster)
        cycle = cycle_of(cluster, pod("p").requests({GPU: "3"}))
        short = unresolvable(f"Insufficient {GPU}")
        assert verdicts(plugin, cycle) == {"n": short, "without": short}
        before = plugin.epoch(cycle)
        spec = DeviceClassSpec(extended_resource_name=GPU)
        cluster.set_object("DeviceClass", DeviceClass(metadata=ObjectMeta(name="gpus"), spec=spec))
        assert plugin.epoch(cycle) != before
        assert verdicts(plugin, cycle) == {"n": short, "without": None}

    def test_classes_do_not_matter_to_pods_without_extended_resources(self):
        cluster = state([NODE])
        cycle = cycle_of(cluster, pod("p").cpu("1"))
        before = fit(cluster).epoch(cycle)
        cluster.set_object("DeviceClass", DeviceClass(metadata=ObjectMeta(name="gpus")))
        assert fit(cluster).epoch(cycle) == before


class TestCodes:
    @pytest.mark.parametrize(("count", "dtype"), [(1, np.uint8), (6, np.uint8), (7, np.uint16), (20, np.uint32)])
    def test_are_as_small_as_the_number_of_resources_allows(self, count, dtype):
        incoming = pod("p").requests({f"example.com/r{number:02}": "1" for number in range(count)})
        cycle = cycle_of(CLUSTER, incoming)
        plugin = fit(CLUSTER)
        answer = verdicts(plugin, cycle)["n"]
        assert plugin.filter(cycle, cycle.nodes).dtype == dtype
        assert answer.reasons == tuple(f"Insufficient example.com/r{number:02}" for number in range(count))

    def test_62_resources_can_be_told_apart_and_more_fail_the_attempt(self):
        requests = {f"example.com/r{number:02}": "1" for number in range(62)}
        assert len(verdict(CLUSTER, pod("p").requests(requests)).reasons) == 62
        cycle = cycle_of(CLUSTER, pod("p").requests({**requests, "example.com/one-more": "1"}))
        answer = fit(CLUSTER).pre_filter(cycle)
        assert answer.code is Code.ERROR
        assert answer.message == "the pod requests 63 resources, and at most 62 can be checked"


def test_every_node_that_is_looked_at_fails_where_pre_filter_is_disabled():
    cycle = cycle_of(CLUSTER, pod("p"))
    plugin = fit(CLUSTER)
    assert plugin.can_fail(cycle)
    assert set(filtered(plugin, cycle).values()) == {
        error('error reading "PreFilterNodeResourcesFit" from cycleState: not found')
    }


STRATEGY = {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]}


class TestScore:
    def test_counts_defaults_for_what_is_not_requested(self):
        cluster = state([node("n").capacity(cpu="1", memory="1000Mi")], [pod("q").on("n")])
        assert raw_scores(fit(), cycle_of(cluster, pod("p"))) == {"n": (80 + 60) // 2}

    def test_an_explicit_zero_is_no_missing_request(self):
        cluster = state([node("n").capacity(cpu="1", memory="1000Mi")])
        assert raw_scores(fit(), cycle_of(cluster, pod("p").cpu("0").memory("0"))) == {"n": 100}

    def test_pod_level_requests_of_the_incoming_pod_do_not_count(self):
        cluster = state([node("n").capacity(cpu="1", memory="1000Mi")])
        whole = pod("p").set("spec.resources", {"requests": {"cpu": "900m", "memory": "900Mi"}})
        assert raw_scores(fit(), cycle_of(cluster, whole)) == {"n": (90 + 80) // 2}

    def test_no_pod_is_skipped(self):
        cycle = cycle_of(CLUSTER, pod("p"))
        assert fit().pre_score(cycle, cycle.nodes) is None

    def test_an_extended_resource_counts_for_pods_that_request_it(self):
        resources = [{"name": "cpu", "weight": 1}, {"name": GPU, "weight": 3}]
        plugin = fit(scoringStrategy={**STRATEGY, "resources": resources})
        cluster = state([node("n").capacity({GPU: "4"}, cpu="1")])
        assert raw_scores(plugin, cycle_of(cluster, pod("p").cpu("500m"))) == {"n": 50}
        assert raw_scores(plugin, cycle_of(cluster, pod("p").cpu("500m").requests({GPU: "1"}))) == {
            "n": (50 + 3 * 75) // 4
        }

    def test_the_strategy_can_be_chosen(self):
        most = fit(scoringStrategy={**STRATEGY, "type": "MostAllocated"})
        cluster = state([node("n").capacity(cpu="1", memory="1Gi")])
        assert raw_scores(most, cycle_of(cluster, pod("p").cpu("500m").memory("256Mi"))) == {"n": 37}


def test_events_are_those_of_the_hints():
    assert set(events(fit().events_to_register()).values()) == {
        "after_pod_deletion",
        "after_node_change",
        "after_device_class_change",
        "after_pod_scale_down",
        "after_own_scale_down",
    }


RESOURCES = ["cpu", "memory", "ephemeral-storage", GPU, NIC]
amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 6))


def scalar_verdict(asked: dict[str, int], have: dict[str, int], taken: dict[str, int], room: int) -> Status | None:
    """One node, resource by resource."""
    reasons = [] if room > 0 else ["Too many pods"]
    code = Code.UNSCHEDULABLE
    for name in RESOURCES:
        amount = asked.get(name, 0)
        if amount and amount > have.get(name, 0) - taken.get(name, 0):
            reasons.append(f"Insufficient {name}")
            if amount > have.get(name, 0):
                code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return Status(code, tuple(reasons)) if reasons else None


def as_text(amount: dict[str, int]) -> dict[str, str]:
    return {name: str(number) for name, number in amount.items()}


@settings(max_examples=150, deadline=None)
@given(asked=amounts, rows=st.lists(st.tuples(amounts, amounts, st.integers(0, 2)), min_size=1, max_size=5))
def test_vectors_agree_with_one_node_at_a_time(asked, rows):
    cluster = state()
    expected = {}
    for number, (have, taken, pods) in enumerate(rows):
        name = f"n{number}"
        cluster.set_node(node(name).capacity({**as_text(have), "pods": str(pods)}).build())
        cluster.set_pod(cluster.info(pod(f"q{number}").requests(as_text(taken)).on(name).build()))
        expected[name] = scalar_verdict(asked, have, taken, pods - 1)
    cycle = cycle_of(cluster, pod("p").requests(as_text(asked)))
    plugin = fit(cluster)
    assert verdicts(plugin, cycle) == expected
    last = plugin.filter(cycle, NodeView(cluster.nodes, np.array([len(rows) - 1])))
    answer = plugin.status(cycle, int(last[0])) if last is not None and last[0] else None
    assert answer == expected[f"n{len(rows) - 1}"]


AMOUNTS = st.one_of(st.integers(0, 10), st.integers(0, 1 << 40), st.integers(0, (1 << 63) - 1))


class TestOneNodeAlone:
    """It is reckoned with in plain integers; whatever there is on the nodes, that makes no difference."""

    @given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), min_size=3, max_size=3), st.data())
    def test_verdicts_and_scores_are_those_among_others(self, amounts, data):
        cluster = state([node("a"), node("b"), node("c")])
        table = cluster.nodes
        for row, (has_cpu, has_memory, cpu, memory) in enumerate(amounts):
            table.allocatable[:2, row] = has_cpu, has_memory
            table.requested[:2, row] = table.nonzero[:, row] = cpu, memory
            table.pod_count[row] = data.draw(st.sampled_from([0, 110]))
        strategy = data.draw(st.sampled_from(["LeastAllocated", "MostAllocated"]))
        plugin = fit(cluster, scoringStrategy={"type": strategy, "resources": [{"name": "cpu"}, {"name": "memory"}]})
        cycle = cycle_of(cluster, pod("p").cpu("100m").memory("1Mi"))
        verdicts(plugin, cycle)  # each node is asked alone there, and compared
        raw_scores(plugin, cycle)
