"""VolumeBinding as a whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.client.errors import ApiError
from scheduler.config.args.volume_binding import VolumeBindingArgs
from scheduler.framework.interface import PreBindPlugin, PreScorePlugin, ReservePlugin, ScorePlugin
from scheduler.framework.status import SKIP, PluginError, error, unresolvable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.plugins.volumebinding.plugin import REASONS, UNBOUND, VolumeBinding, make
from tests.builders import PodBuilder, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, raw_scores, verdicts
from tests.plugins.storage import capacity, claim, csi_driver, handle, put, storage_class, uses, volume

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState
    from scheduler.framework.cycle import Cycle

NODES = [node("a"), node("b")]
NODE_CONFLICT, BIND_CONFLICT, NO_SPACE, MISSING = (unresolvable(text) for text in REASONS.values())


def using(*claims: str) -> PodBuilder:
    return pod("p").set("spec.volumes", uses(*claims))


def plugin_on(cluster: ClusterState, **fields: Any) -> VolumeBinding:
    return make(None, handle(cluster, **fields))


def asked(*objects: Any, pod: PodBuilder | None = None, **fields: Any) -> tuple[VolumeBinding, Cycle]:
    """A plugin, and a cycle in which it has filtered a pod that uses the claim c."""
    cluster = put(state(NODES), *objects)
    plugin, cycle = plugin_on(cluster, **fields), cycle_of(cluster, pod or using("c"))
    assert plugin.pre_filter(cycle) is None
    filtered(plugin, cycle)
    return plugin, cycle


def test_has_the_extension_points_of_kube_scheduler() -> None:
    for point in (PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
        assert issubclass(VolumeBinding, point)


class TestPodsWithoutClaims:
    cluster = state(NODES)
    plugin = plugin_on(cluster)

    @pytest.mark.parametrize("incoming", [pod("p"), pod("p").volume("v", emptyDir={}, gcePersistentDisk={})])
    async def test_are_skipped_but_scored_0(self, incoming: PodBuilder) -> None:
        cycle = cycle_of(self.cluster, incoming)
        assert self.plugin.pre_filter(cycle) is SKIP
        assert self.plugin.pre_score(cycle, cycle.nodes) is None
        assert raw_scores(self.plugin, cycle) == {"a": 0, "b": 0}
        assert self.plugin.epoch(cycle) is None
        assert self.plugin.reserve(cycle, "a") is None
        assert self.plugin.pre_bind_pre_flight(cycle, "a") is SKIP
        assert await self.plugin.pre_bind(cycle, "a") is None
        self.plugin.unreserve(cycle, "a")


class TestWithoutPreFilter:
    cluster = state(NODES)
    plugin = plugin_on(cluster)

    def test_all_points_fail(self) -> None:
        cycle = cycle_of(self.cluster, pod("p"))
        assert set(filtered(self.plugin, cycle).values()) == {error("not found")}
        assert self.plugin.pre_score(cycle, cycle.nodes) == error("not found")
        with pytest.raises(PluginError, match="not found"):
            self.plugin.score(cycle, cycle.nodes)
        assert self.plugin.reserve(cycle, "a") == error("not found")
        assert self.plugin.pre_bind_pre_flight(cycle, "a") == error("not found")
        self.plugin.unreserve(cycle, "a")


class TestPreFilter:
    @pytest.mark.parametrize(
        ("objects", "expected"),
        [
            ([], unresolvable('persistentvolumeclaim "c" not found')),
            ([claim("c", deleted=True)], unresolvable('persistentvolumeclaim "c" is being deleted')),
            ([claim("c"), storage_class(mode="Immediate")], unresolvable(UNBOUND)),
            ([claim("c"), storage_class(mode=None)], error('VolumeBindingMode not set for StorageClass "wait"')),
            ([claim("c"), storage_class()], None),
            ([claim("c", volume="v")], None),
        ],
    )
    def test_answers(self, objects: list[Any], expected: Any) -> None:
        cluster = put(state(NODES), *objects)
        assert plugin_on(cluster).pre_filter(cycle_of(cluster, using("c"))) == expected


class TestFilter:
    @pytest.mark.parametrize(
        ("objects", "expected"),
        [
            ([claim("c", volume="v"), volume("v", node="a")], {"a": None, "b": NODE_CONFLICT}),
            ([claim("c", volume="v")], {"a": MISSING, "b": MISSING}),
            ([claim("c"), storage_class(provisioner=""), volume("v", node="b")], {"a": BIND_CONFLICT, "b": None}),
            (
                [claim("c"), storage_class(), csi_driver(capacity=True), capacity("x", "9Gi", host="a")],
                {"a": None, "b": NO_SPACE},
            ),
        ],
    )
    def test_answers(self, objects: list[Any], expected: Any) -> None:
        cluster = put(state(NODES), *objects)
        assert verdicts(plugin_on(cluster), cycle_of(cluster, using("c"))) == expected

    def test_several_reasons_come_in_one_order(self) -> None:
        objects = [claim("c"), claim("d", volume="v"), volume("v", node="elsewhere"), storage_class(provisioner="")]
        cluster = put(state(NODES), *objects)
        found = verdicts(plugin_on(cluster), cycle_of(cluster, using("c", "d")))
        assert found["a"] == unresolvable(*NODE_CONFLICT.reasons, *BIND_CONFLICT.reasons)

    def test_errors_are_counted(self) -> None:
        metrics = SchedulerMetrics()
        selector = {"matchExpressions": [{"key": "k", "operator": "Bad"}]}
        cluster = put(state(NODES), claim("c", selector=selector), storage_class(), volume("v"))
        found = verdicts(plugin_on(cluster, metrics=metrics), cycle_of(cluster, using("c")))
        assert {status.code.name for status in found.values() if status is not None} == {"ERROR"}
        assert metrics.volume_scheduling_stage_error.labels("predicate").value == 2


class TestScore:
    def test_nodes_with_more_to_spare_are_better(self) -> None:
        volumes = [volume("tight", size="5Gi", node="a"), volume("roomy", size="50Gi", node="b")]
        plugin, cycle = asked(claim("c"), storage_class(), *volumes)
        assert plugin.pre_score(cycle, cycle.nodes) is None
        assert raw_scores(plugin, cycle) == {"a": 0, "b": 90}

    def test_nodes_that_did_not_pass_get_0(self) -> None:
        plugin, cycle = asked(claim("c"), storage_class(provisioner=""), volume("v", size="50Gi", node="b"))
        assert raw_scores(plugin, cycle) == {"a": 0, "b": 90}

    def test_bound_claims_score_0(self) -> None:
        plugin, cycle = asked(claim("c", volume="v"), volume("v"))
        assert raw_scores(plugin, cycle) == {"a": 0, "b": 0}

    def test_nothing_is_kept_from_one_attempt_to_the_next(self) -> None:
        plugin, cycle = asked(claim("c"), storage_class())
        again = cycle_of(cycle.state, using("c"))
        plugin.pre_filter(again)
        assert plugin.epoch(cycle) == plugin.epoch(cycle) != plugin.epoch(again)

    def test_without_a_curve_nothing_is_scored(self) -> None:
        cluster = put(state(NODES), claim("c"), storage_class())
        plugin = make(VolumeBindingArgs(), handle(cluster))
        cycle = cycle_of(cluster, using("c"))
        assert plugin.pre_score(cycle, cycle.nodes) is SKIP


class TestReserve:
    def test_a_volume_is_promised_to_one_pod_only(self) -> None:
        plugin, cycle = asked(claim("c"), claim("d"), storage_class(provisioner=""), volume("v", node="a"))
        assert plugin.planned(cycle, "a") == {"c": "v"}
        assert plugin.planned(cycle, "b") == {}
        assert plugin.reserve(cycle, "a") is None
        assert plugin.pre_bind_pre_flight(cycle, "a") is None
        other = cycle_of(cycle.state, using("d"))
        assert verdicts(plugin, other) == {"a": BIND_CONFLICT, "b": BIND_CONFLICT}
        plugin.unreserve(cycle, "a")
        assert verdicts(plugin, cycle_of(cycle.state, using("d")))["a"] is None

    def test_a_claim_that_is_being_provisioned_holds_its_pods_to_the_node(self) -> None:
        plugin, cycle = asked(claim("c"), storage_class())
        assert plugin.planned(cycle, "a") == {"c": "provision"}
        assert plugin.reserve(cycle, "a") is None
        assert verdicts(plugin, cycle_of(cycle.state, using("c"))) == {"a": None, "b": BIND_CONFLICT}

    def test_nothing_is_to_be_done_for_bound_claims(self) -> None:
        plugin, cycle = asked(claim("c", volume="v"), volume("v"))
        assert plugin.reserve(cycle, "a") is None
        assert plugin.pre_bind_pre_flight(cycle, "a") is SKIP

    def test_what_changed_meanwhile_is_an_error_and_nothing_stays_assumed(self) -> None:
        metrics = SchedulerMetrics()
        plugin, cycle = asked(
            claim("c"), claim("d"), storage_class(), volume("v"), pod=using("c", "d"), metrics=metrics
        )
        assert plugin.planned(cycle, "a") == {"c": "v", "d": "provision"}
        put(cycle.state, claim("d", version="2"))
        answer = plugin.reserve(cycle, "a")
        assert answer == error('"default/d" is out of sync (stored: 2, assume: 1)')
        assert [*cycle.state.assumed_objects] == []
        assert metrics.volume_scheduling_stage_error.labels("assume").value == 1


class Refusing:
    async def update_volume(self, volume: Any) -> Any:
        raise ApiError(409, "Conflict", "it was changed")

    async def update_claim(self, claim: Any) -> Any:
        raise AssertionError("it is not reached")


async def test_a_failure_to_bind_is_an_error_that_is_counted() -> None:
    metrics = SchedulerMetrics()
    plugin, cycle = asked(claim("c"), storage_class(), volume("v"), volume_writer=Refusing(), metrics=metrics)
    cycle.state.assume(cycle.pod, "a")
    assert plugin.reserve(cycle, "a") is None
    assert await plugin.pre_bind(cycle, "a") == error("it was changed")
    assert metrics.volume_scheduling_stage_error.labels("bind").value == 1


class Silent:
    """Never answers."""

    async def update_volume(self, volume: Any) -> Any:
        await asyncio.Event().wait()

    update_claim = update_volume


async def test_a_pod_that_is_preempted_while_its_volumes_are_bound_counts_as_a_failure() -> None:
    metrics = SchedulerMetrics()
    plugin, cycle = asked(claim("c"), storage_class(), volume("v"), volume_writer=Silent(), metrics=metrics)
    cycle.state.assume(cycle.pod, "a")
    assert plugin.reserve(cycle, "a") is None
    work = asyncio.create_task(plugin.pre_bind(cycle, "a"))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert metrics.volume_scheduling_stage_error.labels("bind").value == 1


def test_volumes_may_be_bound_beside_the_work_of_other_plugins() -> None:
    assert plugin_on(state()).parallel


def test_events() -> None:
    assert events(plugin_on(state()).events_to_register()) == {
        "storage.k8s.io/StorageClass ADD|UPDATE": "after_class_change",
        "PersistentVolumeClaim ADD|UPDATE": "after_claim_change",
        "PersistentVolume ADD|UPDATE": None,
        "Node ADD|UPDATE_NODE_LABEL": None,
        "storage.k8s.io/CSINode ADD|UPDATE": "after_csi_node_change",
        "storage.k8s.io/CSIDriver UPDATE": "after_csi_driver_update",
        "storage.k8s.io/CSIStorageCapacity ADD|UPDATE": "after_capacity_change",
    }
