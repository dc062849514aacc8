"""Workloads scaled, and pods for workloads that have none yet."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.objects import PersistentVolumeClaim
from scheduler.app.whatif.pods import DELETION_COST
from scheduler.app.whatif.scale import Scale, make_missing_pods
from scheduler.app.whatif.workloads import Workload, workload_of
from scheduler.app.whatif.world import ChangeError, World
from tests.app.whatif.worlds import nodes_of, read, world
from tests.builders import PodBuilder, node, pod

NOW = 1_767_312_000.0  # 2026-01-02


def web(name: str, where: str = "n1") -> PodBuilder:
    return pod(name).on(where).owned_by("ReplicaSet", "web-5d").label({"pod-template-hash": "5d", "app": "web"})


def ready(since: str) -> dict[str, Any]:
    return {"type": "Ready", "status": "True", "lastTransitionTime": since}


def workload(kind: str, name: str = "web", **spec: Any) -> Workload:
    version = {"Job": "batch/v1"}.get(kind, "apps/v1")
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": {"template": template, **spec}}
    made = workload_of(value, "file")
    assert made is not None
    return made


class TestMore:
    def test_they_are_like_the_newest_one(self) -> None:
        old = web("web-5d-a").cpu("1").set("metadata.creationTimestamp", "2026-01-01T00:00:00Z")
        new = web("web-5d-b").cpu("2").set("metadata.creationTimestamp", "2026-01-01T01:00:00Z")
        changed = world(new, old)
        assert Scale("Deployment", "", "web", 4).apply(changed) == "scaled Deployment default/web from 2 to 4"
        assert nodes_of(changed) == {"web-5d-b": "n1", "web-5d-a": "n1", "web-5d-new-1": "", "web-5d-new-2": ""}
        made = changed.pods["default", "web-5d-new-1"]
        assert made.spec.containers[0].resources.requests["cpu"] == "2"
        assert made.metadata.uid != changed.pods["default", "web-5d-b"].metadata.uid

    def test_a_deployment_is_found_by_its_replica_set(self) -> None:
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": "d", "controller": True}
        meta = {"name": "odd", "namespace": "default", "ownerReferences": [owner]}
        replica_set = read({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta})
        changed = world(replica_set, pod("odd-1").on("n1").owned_by("ReplicaSet", "odd"))
        assert Scale("Deployment", "", "shop", 2).apply(changed) == "scaled Deployment default/shop from 1 to 2"

    def test_without_a_pod_they_are_as_the_template_says(self) -> None:
        changed = World([], [workload("Deployment", replicas=3)])
        Scale("Deployment", "", "web", 2).apply(changed)
        assert nodes_of(changed) == {"web-new-1": "", "web-new-2": ""}
        assert changed.pods["default", "web-new-1"].metadata.labels == {"app": "web"}

    def test_a_stateful_set_goes_on_counting(self) -> None:
        changed = world(pod("db-0").on("n1").owned_by("StatefulSet", "db"))
        Scale("StatefulSet", "", "db", 3).apply(changed)
        assert list(nodes_of(changed)) == ["db-0", "db-1", "db-2"]
        labels = changed.pods["default", "db-2"].metadata.labels
        assert labels["apps.kubernetes.io/pod-index"] == "2"
        assert labels["statefulset.kubernetes.io/pod-name"] == "db-2"

    def test_and_its_pods_have_claims_of_their_own(self) -> None:
        first = pod("db-0").on("n1").owned_by("StatefulSet", "db")
        claim = read(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data-db-0", "namespace": "default"},
                "spec": {"volumeName": "pv-1", "storageClassName": "fast"},
            }
        )
        changed = world(first.volume("data", persistentVolumeClaim={"claimName": "data-db-0"}), claim)
        Scale("StatefulSet", "", "db", 2).apply(changed)
        (volume,) = changed.pods["default", "db-1"].spec.volumes
        assert volume.persistent_volume_claim is not None
        assert volume.persistent_volume_claim.claim_name == "data-db-1"
        made = changed.of(PersistentVolumeClaim)["default", "data-db-1"]
        assert (made.spec.volume_name, made.spec.storage_class_name) == ("", "fast")

    def test_claims_of_generic_ephemeral_volumes_are_the_new_pods_own(self) -> None:
        template = {"spec": {"storageClassName": "fast"}}
        like = web("web-5d-a").volume("scratch", ephemeral={"volumeClaimTemplate": template})
        changed = world(like)
        Scale("Deployment", "", "web", 2).apply(changed)
        claim = changed.of(PersistentVolumeClaim)["default", "web-5d-new-1-scratch"]
        made = changed.pods["default", "web-5d-new-1"]
        assert [owner.uid for owner in claim.metadata.owner_references] == [made.metadata.uid]


class TestFewer:
    def left(self, *pods: PodBuilder, kind: str = "Deployment", name: str = "web", to: int = 1) -> list[str]:
        changed = world(*pods, now=NOW)
        Scale(kind, "", name, to).apply(changed)
        return list(nodes_of(changed))

    def test_pods_without_a_node_go_first(self) -> None:
        assert self.left(web("a").cpu("1"), web("b", "")) == ["a"]

    def test_then_pods_that_do_not_run(self) -> None:
        running = web("a").set("status.phase", "Running")
        assert self.left(web("b").set("status.phase", "Pending"), running) == ["a"]

    def test_then_pods_that_are_not_ready(self) -> None:
        assert self.left(web("a").condition("Ready", "True"), web("b").condition("Ready", "False")) == ["a"]

    def test_then_the_cheapest_to_delete(self) -> None:
        dear = web("a").merge("metadata.annotations", {DELETION_COST: "10"})
        assert self.left(dear, web("b").merge("metadata.annotations", {DELETION_COST: "-1"})) == ["a"]
        assert self.left(dear, web("b").merge("metadata.annotations", {DELETION_COST: "none"})) == ["a"]

    def test_then_those_with_most_of_their_kind_beside_them(self) -> None:
        assert self.left(web("a", "n1"), web("b", "n2"), web("c", "n2"), to=2)[0] == "a"

    def test_then_the_youngest(self) -> None:
        old, young = web("z", "n1"), web("b", "n2")
        path = "metadata.creationTimestamp"
        assert self.left(old.set(path, "2025-12-01T00:00:00Z"), young.set(path, "2026-01-01T23:00:00Z")) == ["z"]

    def test_and_of_ready_ones_the_one_that_was_ready_last(self) -> None:
        old, young = web("z", "n1"), web("b", "n2")
        path = "status.conditions"
        pods = old.set(path, [ready("2025-12-01T00:00:00Z")]), young.set(path, [ready("2026-01-01T23:00:00Z")])
        assert self.left(*pods) == ["z"]

    def test_of_those_that_are_about_as_old_by_uid(self) -> None:
        pods = [
            web(name, f"n{name}").uid(uid).set("metadata.creationTimestamp", created)
            for name, uid, created in (("a", "2", "2026-01-01T00:00:00Z"), ("b", "1", "2026-01-01T00:10:00Z"))
        ]
        assert self.left(*pods) == ["a"]

    def test_a_stateful_set_loses_the_highest_number(self) -> None:
        pods = [pod(f"db-{number}").on("n1").owned_by("StatefulSet", "db") for number in (10, 2, 9)]
        assert self.left(*pods, kind="StatefulSet", name="db", to=2) == ["db-2", "db-9"]

    def test_to_none(self) -> None:
        assert self.left(web("a"), web("b"), to=0) == []

    def test_pods_that_are_ending_are_not_counted(self) -> None:
        changed = world(web("a"), web("b").terminating())
        assert Scale("Deployment", "", "web", 1).apply(changed) == "scaled Deployment default/web from 1 to 1"


class TestNames:
    CLUSTER = (
        web("a").namespace("shop"),
        web("b").namespace("bank"),
        pod("c").namespace("bank").owned_by("Job", "load"),
    )

    def test_the_only_one_of_its_name_needs_no_namespace(self) -> None:
        assert Scale("Job", "", "load", 1).apply(world(*self.CLUSTER)) == "scaled Job bank/load from 1 to 1"

    def test_default_goes_first(self) -> None:
        changed = world(*self.CLUSTER, web("d"))
        assert Scale("Deployment", "", "web", 1).apply(changed) == "scaled Deployment default/web from 1 to 1"

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (Scale("Deployment", "", "web", 1), "several of Deployment web: bank/web, shop/web; say which"),
            (Scale("Deployment", "", "wep", 1), "there is no Deployment wep with pods or a template; did you mean web"),
            (Scale("Deployment", "shp", "web", 1), "no Deployment shp/web .*; did you mean shop/web"),
            (Scale("StatefulSet", "", "db", 1), "no StatefulSet db with pods or a template; there is none at all"),
            (Scale("Deployment", "shop", "web", -1), "can't have -1 pods"),
        ],
    )
    def test_others_are_refused_with_a_hint(self, change: Scale, problem: str) -> None:
        with pytest.raises(ChangeError, match=problem):
            change.apply(world(*self.CLUSTER))


class TestMissingPods:
    def made(self, *workloads: Workload, objects: World | None = None) -> tuple[World, list[str]]:
        changed = World((objects or world()).objects(), workloads)
        return changed, make_missing_pods(changed)

    def test_a_deployment_gets_its_replicas(self) -> None:
        changed, told = self.made(workload("Deployment", replicas=2))
        assert list(nodes_of(changed)) == ["web-new-1", "web-new-2"]
        assert told == ["Made 2 pods of Deployment default/web, which has none yet."]

    def test_one_without_a_number_gets_one(self) -> None:
        assert len(self.made(workload("Deployment"))[0].pods) == 1

    def test_a_workload_that_has_pods_is_left_alone(self) -> None:
        changed, told = self.made(workload("Deployment", replicas=5), objects=world(web("web-5d-a")))
        assert list(nodes_of(changed)) == ["web-5d-a"]
        assert told == []

    def test_a_daemon_set_gets_one_for_each_node(self) -> None:
        changed, _ = self.made(workload("DaemonSet", "agent"), objects=world(node("n1"), node("n2")))
        assert list(nodes_of(changed)) == ["agent-n1", "agent-n2"]
        affinity = changed.pods["default", "agent-n2"].spec.affinity
        assert affinity is not None
        assert affinity.node_affinity is not None
        required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
        assert required is not None
        assert [field.values for term in required.node_selector_terms for field in term.match_fields] == [("n2",)]

    def test_a_stateful_set_gets_claims(self) -> None:
        template = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
        changed, _ = self.made(workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=[template]))
        assert list(changed.of(PersistentVolumeClaim)) == [("default", "data-db-0"), ("default", "data-db-1")]
        (volume,) = changed.pods["default", "db-1"].spec.volumes
        assert volume.persistent_volume_claim is not None
        assert volume.persistent_volume_claim.claim_name == "data-db-1"

    def test_what_another_workload_controls_gets_nothing(self) -> None:
        value = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": "web-5d",
                "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": True}],
            },
            "spec": {"replicas": 2, "template": {"spec": {"containers": []}}},
        }
        owned = workload_of(value, "file")
        assert owned is not None
        assert self.made(owned)[1] == []
