"""Which CSI volumes a pod's volumes amount to: by driver and handle, so that the same volume is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.plugins.nodevolumelimits.volumes import VolumeError, attachable
from tests.builders import info, pod, state
from tests.plugins.storage import DRIVER, claim, put, storage_class, uses, volume

if TYPE_CHECKING:
    from scheduler.plugins.nodevolumelimits.volumes import Volumes
    from tests.builders import PodBuilder

EBS = "ebs.csi.aws.com"
EBS_DISK = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
FILE = {"azureFile": {"shareName": "s"}}


def counted(of: PodBuilder, *objects: Any, has_csi_node: bool = True, is_new: bool = True) -> Volumes:
    return attachable(info(of), put(state(), *objects).objects, has_csi_node=has_csi_node, is_new=is_new)


def using(*claims: str) -> PodBuilder:
    return pod("p").set("spec.volumes", uses(*claims))


def refused(of: PodBuilder, *objects: Any, **how: bool) -> VolumeError:
    with pytest.raises(VolumeError) as caught:
        counted(of, *objects, **how)
    return caught.value


def csi(name: str, handle: str, driver: str = DRIVER) -> Any:
    return volume(name, csi={"driver": driver, "volumeHandle": handle})


class TestClaims:
    def test_a_bound_one_is_its_volume(self) -> None:
        assert counted(using("c"), claim("c", volume="v"), csi("v", "h")) == {(DRIVER, "h"): DRIVER}

    def test_two_of_one_volume_are_one(self) -> None:
        objects = claim("a", volume="v"), claim("b", volume="w"), csi("v", "h"), csi("w", "h")
        assert counted(using("a", "b"), *objects) == {(DRIVER, "h"): DRIVER}

    def test_the_same_handle_of_two_drivers_is_two(self) -> None:
        objects = claim("a", volume="v"), claim("b", volume="w"), csi("v", "h"), csi("w", "h", EBS)
        assert counted(using("a", "b"), *objects) == {(DRIVER, "h"): DRIVER, (EBS, "h"): EBS}

    def test_one_without_a_volume_is_what_its_class_will_make(self) -> None:
        (found,) = counted(using("c"), claim("c"), storage_class()).items()
        (driver, handle), by = found
        assert driver == by == DRIVER
        assert "default/c" in handle

    def test_what_does_not_exist_yet_has_no_handle_of_anything_that_does(self) -> None:
        objects = claim("new"), storage_class(), claim("old", volume="v"), csi("v", "default/new")
        assert len(counted(using("new", "old"), *objects)) == 2

    def test_a_volume_that_is_gone_counts_by_the_class(self) -> None:
        assert len(counted(using("c"), claim("c", volume="gone"), storage_class())) == 1

    @pytest.mark.parametrize("objects", [[claim("c", None)], [claim("c", "")], [claim("c", "gone")]])
    def test_without_a_class_nobody_knows(self, objects: list[Any]) -> None:
        assert counted(using("c"), *objects) == {}

    @pytest.mark.parametrize("source", [{"hostPath": {"path": "/x"}}, {"nfs": {"server": "s", "path": "/"}}])
    def test_a_volume_of_no_driver_does_not_count(self, source: dict[str, Any]) -> None:
        assert counted(using("c"), claim("c", volume="v"), volume("v", **source)) == {}

    @pytest.mark.parametrize("source", [{"driver": "", "volumeHandle": "h"}, {"driver": DRIVER, "volumeHandle": ""}])
    def test_a_driver_or_handle_that_is_empty_does_not_count(self, source: dict[str, str]) -> None:
        assert counted(using("c"), claim("c", volume="v"), volume("v", csi=source)) == {}


class TestMissingClaims:
    def test_a_new_pod_waits_for_its_claim(self) -> None:
        problem = refused(using("c"))
        assert problem.missing
        assert str(problem) == 'looking up PVC default/c: persistentvolumeclaim "c" not found'

    def test_a_pod_that_runs_is_counted_without_it(self) -> None:
        objects = claim("c", volume="v"), csi("v", "h")
        assert counted(using("gone", "c"), *objects, is_new=False) == {(DRIVER, "h"): DRIVER}

    @pytest.mark.parametrize("is_new", [True, False])
    def test_one_without_a_name_never_comes(self, is_new: bool) -> None:
        problem = refused(using(""), is_new=is_new)
        assert (str(problem), problem.missing) == ("PersistentVolumeClaim had no name", False)

    def test_a_claim_of_another_namespace_is_another_one(self) -> None:
        assert refused(using("c"), claim("c", volume="v", namespace="other"), csi("v", "h")).missing


class TestEphemeralVolumes:
    own = pod("p").uid("p-uid").volume("data", ephemeral={})

    def test_are_the_claims_named_after_the_pod(self) -> None:
        objects = claim("p-data", volume="v", owner="p-uid"), csi("v", "h")
        assert counted(self.own, *objects) == {(DRIVER, "h"): DRIVER}

    @pytest.mark.parametrize("is_new", [True, False])
    def test_a_claim_of_that_name_that_is_somebody_elses_is_refused(self, is_new: bool) -> None:
        problem = refused(self.own, claim("p-data", owner="another"), is_new=is_new)
        assert not problem.missing
        assert str(problem) == "PVC default/p-data was not created for pod default/p (pod is not owner)"


class TestVolumesFromBeforeThereWasADriver:
    """They are the driver's where it is there; a node without a CSINode has none."""

    @pytest.mark.parametrize(("has_csi_node", "found"), [(True, {(EBS, "vol-1"): EBS}), (False, {})])
    def test_written_into_the_pod(self, has_csi_node: bool, found: Volumes) -> None:
        assert counted(pod("p").volume("v", **EBS_DISK), has_csi_node=has_csi_node) == found

    @pytest.mark.parametrize(("has_csi_node", "found"), [(True, {(EBS, "vol-1"): EBS}), (False, {})])
    def test_claimed(self, has_csi_node: bool, found: Volumes) -> None:
        objects = claim("c", volume="v"), volume("v", **EBS_DISK)
        assert counted(using("c"), *objects, has_csi_node=has_csi_node) == found

    @pytest.mark.parametrize(("has_csi_node", "drivers"), [(True, [EBS]), (False, [])])
    def test_to_be_provisioned(self, has_csi_node: bool, drivers: list[str]) -> None:
        objects = claim("c"), storage_class(provisioner="kubernetes.io/aws-ebs")
        assert list(counted(using("c"), *objects, has_csi_node=has_csi_node).values()) == drivers

    def test_either_way_it_is_the_same_volume(self) -> None:
        both = pod("p").set("spec.volumes", [*uses("c"), {"name": "inline", **EBS_DISK}])
        assert counted(both, claim("c", volume="v"), csi("v", "vol-1", EBS)) == {(EBS, "vol-1"): EBS}

    def test_drivers_that_the_scheduler_does_not_translate_do_not_count(self) -> None:
        assert counted(pod("p").volume("v", **FILE)) == {}
        assert counted(using("c"), claim("c", volume="v"), volume("v", **FILE)) == {}
        assert counted(using("c"), claim("c"), storage_class(provisioner="kubernetes.io/azure-file")) == {}

    def test_one_in_the_pod_that_can_not_be_translated_is_a_problem(self) -> None:
        problem = refused(pod("p").volume("v", awsElasticBlockStore={"volumeID": "aws://zone/disk"}))
        assert not problem.missing
        assert str(problem).startswith("converting volume(v) from inline to csi: failed to translate")

    def test_a_claimed_one_is_left_out(self) -> None:
        """As by kube-scheduler, which logs it."""
        source = {"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}}
        assert counted(using("c"), claim("c", volume="v"), volume("v", **source)) == {}


@pytest.mark.parametrize("source", [{"emptyDir": {}}, {"secret": {}}, {"csi": {"driver": DRIVER}}, {"iscsi": {}}])
def test_other_volumes_are_not_attached(source: dict[str, Any]) -> None:
    assert counted(pod("p").volume("v", **source)) == {}
