"""VolumeRestrictions as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import SKIP, Code, error, unresolvable, unschedulable
from scheduler.plugins.volumerestrictions.plugin import REASON_DISK, REASON_READ_WRITE_ONCE_POD, make
from tests.builders import PodBuilder, info, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, verdicts
from tests.plugins.storage import claim, handle, put, uses

DISK = {"gcePersistentDisk": {"pdName": "d"}}
PLUGIN = make(None, handle(state()))


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).set("spec.volumes", uses(*claims))


def alone(name: str, namespace: str = "default") -> Any:
    return claim(name, namespace=namespace, accessModes=["ReadWriteOncePod"])


class TestPreFilter:
    def test_skips_pods_without_volumes(self) -> None:
        assert PLUGIN.pre_filter(cycle_of(state([node("n")]), pod("p"))) is SKIP

    def test_a_claim_that_does_not_exist_ends_the_attempt(self) -> None:
        answer = PLUGIN.pre_filter(cycle_of(state([node("n")]), using("p", "x")))
        assert answer == unresolvable('persistentvolumeclaim "x" not found')

    def test_the_claim_of_an_ephemeral_volume_is_not_looked_for(self) -> None:
        assert PLUGIN.pre_filter(cycle_of(state([node("n")]), pod("p").volume("v", ephemeral={}))) is SKIP

    @pytest.mark.parametrize("mode", ["ReadWriteOnce", "ReadWriteOncePod"])
    def test_skips_pods_whose_claims_nobody_uses(self, mode: str) -> None:
        cluster = put(state([node("n")]), claim("c", accessModes=[mode]))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("p", "c"))) is SKIP

    def test_skips_shared_claims_that_others_use(self) -> None:
        cluster = put(state([node("n")], [using("other", "c").on("n")]), claim("c"))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("p", "c"))) is SKIP

    def test_a_claim_of_the_same_name_elsewhere_is_another_one(self) -> None:
        cluster = put(state([node("n")], [using("other", "c").namespace("away").on("n")]), alone("c"))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("p", "c"))) is SKIP

    def test_pods_of_nodes_that_do_not_exist_do_not_count(self) -> None:
        cluster = put(state([node("n")], [using("other", "c").on("gone")]), alone("c"))
        assert PLUGIN.pre_filter(cycle_of(cluster, using("p", "c"))) is SKIP


class TestClaimsForOnePod:
    cluster = put(state([node("a"), node("b")], [using("other", "c").on("a")]), alone("c"))

    def test_in_use_anywhere_means_no_node_until_the_user_goes(self) -> None:
        refusal = unschedulable(REASON_READ_WRITE_ONCE_POD)
        assert verdicts(PLUGIN, cycle_of(self.cluster, using("p", "c"))) == {"a": refusal, "b": refusal}

    def test_taking_the_user_away_frees_it(self) -> None:
        cycle = cycle_of(self.cluster, using("p", "c"))
        assert PLUGIN.pre_filter(cycle) is None
        (other,) = self.cluster.pods
        with self.cluster.what_if() as trial:
            trial.remove(other)
            assert filtered(PLUGIN, cycle) == {"a": None, "b": None}
        assert None not in filtered(PLUGIN, cycle).values()

    def test_a_pod_that_is_added_takes_it(self) -> None:
        cluster = put(state([node("a")]), alone("c"))
        cycle = cycle_of(cluster, using("p", "c").volume("d", **DISK))
        assert PLUGIN.pre_filter(cycle) is None
        with cluster.what_if() as trial:
            trial.add(info(using("nominated", "c"), cluster), "a")
            assert filtered(PLUGIN, cycle) == {"a": unschedulable(REASON_READ_WRITE_ONCE_POD)}

    def test_preemption_counts_claims_by_their_name_alone(self) -> None:
        stranger = using("stranger", "c").namespace("away").on("b")
        cluster = put(state([node("a"), node("b")], [using("other", "c").on("a"), stranger]), alone("c"))
        cycle = cycle_of(cluster, using("p", "c"))
        assert PLUGIN.pre_filter(cycle) is None
        away = next(each for each in cluster.pods if each.namespace == "away")
        with cluster.what_if() as trial:
            trial.remove(away)
            assert filtered(PLUGIN, cycle) == {"a": None, "b": None}


class TestDisks:
    cluster = state([node("a"), node("b")], [pod("other").volume("d", **DISK).on("a")])

    def test_only_the_node_with_the_disk_is_refused(self) -> None:
        cycle = cycle_of(self.cluster, pod("p").volume("mine", **DISK))
        assert verdicts(PLUGIN, cycle) == {"a": unschedulable(REASON_DISK), "b": None}

    def test_other_disks_are_no_trouble(self) -> None:
        cycle = cycle_of(self.cluster, pod("p").volume("mine", gcePersistentDisk={"pdName": "other"}))
        assert set(verdicts(PLUGIN, cycle).values()) == {None}

    def test_the_disk_is_told_of_before_the_claim(self) -> None:
        holder = using("holder", "c").on("b")
        cluster = put(state([node("a"), node("b")], [pod("o").volume("d", **DISK).on("a"), holder]), alone("c"))
        cycle = cycle_of(cluster, using("p", "c").volume("mine", **DISK))
        assert verdicts(PLUGIN, cycle) == {
            "a": unschedulable(REASON_DISK),
            "b": unschedulable(REASON_READ_WRITE_ONCE_POD),
        }


def test_without_pre_filter_filtering_fails() -> None:
    answer = filtered(PLUGIN, cycle_of(state([node("n")]), pod("p")))["n"]
    assert answer == error('cannot read "PreFilterVolumeRestrictions" from cycleState')
    assert answer.code is Code.ERROR


class TestHints:
    def test_events(self) -> None:
        assert events(PLUGIN.events_to_register()) == {
            "AssignedPod DELETE": "after_pod_deletion",
            "Node ADD": None,
            "PersistentVolumeClaim ADD": "after_claim_added",
        }

    @pytest.mark.parametrize(
        ("gone", "expected"),
        [
            (pod("o").volume("d", **DISK), QueueingHint.QUEUE),
            (using("o", "c"), QueueingHint.QUEUE),
            (using("o", "other"), QueueingHint.SKIP),
            (pod("o").volume("d", gcePersistentDisk={"pdName": "x"}), QueueingHint.SKIP),
            (using("o", "c").namespace("away"), QueueingHint.SKIP),
            (pod("o"), QueueingHint.SKIP),
        ],
    )
    def test_a_pod_that_goes_must_have_held_what_this_one_wants(self, gone: PodBuilder, expected: QueueingHint) -> None:
        mine = info(using("p", "c").volume("mine", **DISK))
        assert PLUGIN.after_pod_deletion(mine, info(gone.on("n")), None) is expected

    @pytest.mark.parametrize(
        ("added", "expected"),
        [
            (claim("c"), QueueingHint.QUEUE),
            (claim("other"), QueueingHint.SKIP),
            (claim("c", namespace="away"), QueueingHint.SKIP),
        ],
    )
    def test_a_claim_that_comes_must_be_one_of_the_pods(self, added: Any, expected: QueueingHint) -> None:
        assert PLUGIN.after_claim_added(info(using("p", "c")), None, added) is expected
