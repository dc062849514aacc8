"""Profiles that change while the scheduler runs: by SchedulerProfiles, and with the configuration file."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from e2e.berth import ROOT, Berth, events, placements, pod
from e2e.controlplane import wait_until
from e2e.controlplane.api import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

CRD = yaml.safe_load((ROOT / "charts" / "berth" / "crds" / "schedulerprofiles.yaml").read_text())
PROFILES = "/apis/berth.dev/v1alpha1/schedulerprofiles"
DEFINITION = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD['metadata']['name']}"
FLAG = "--scheduler-profiles"
PACKING = {
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
        }
    ],
    "plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 100}]}},
}
pytestmark = pytest.mark.usefixtures("rights")


@pytest.fixture
def defined(control_plane: ControlPlane) -> Iterator[None]:
    """The resource is installed, and there are none of it after the test."""
    control_plane.api.apply(CRD)
    wait_until("the resource to be served", lambda: served(control_plane))
    yield
    for one in control_plane.api.list(PROFILES):
        control_plane.api.delete(f"{PROFILES}/{one['metadata']['name']}")


def served(cluster: ControlPlane) -> bool:
    try:
        cluster.api.list(PROFILES)
    except ApiError:
        return False
    return True


def put(cluster: ControlPlane, name: str, **spec: Any) -> None:
    """Create or change a SchedulerProfile."""
    body = {"apiVersion": "berth.dev/v1alpha1", "kind": "SchedulerProfile", "metadata": {"name": name}}
    cluster.api.apply({**body, "spec": {"schedulerName": "berth", **spec}})


def status(cluster: ControlPlane, name: str) -> dict[str, Any]:
    """Its status, once the scheduler has told about the generation that there is."""

    def told() -> dict[str, Any] | None:
        found = cluster.api.get(f"{PROFILES}/{name}")
        current = found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]
        return found["status"] if current else None

    found = wait_until(f"the status of {name}", told)
    assert found is not None
    return found


def conditions(cluster: ControlPlane, name: str) -> dict[str, tuple[str, str, str]]:
    """Status, reason and message of each condition."""
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in status(cluster, name)["conditions"]}


def place(cluster: ControlPlane, namespace: str, name: str) -> str:
    """The node that a new pod is put on."""
    cluster.api.create(pod(name, namespace, cpu="500m"))
    return str(wait_until(f"pod {name} to be bound", lambda: placements(cluster, namespace)[name]))


@pytest.fixture
def half_full(control_plane: ControlPlane, emptied: str, add_nodes: Callable[..., list[str]]) -> tuple[str, str, str]:
    """A namespace, a node that has a pod already, and an empty one."""
    full, empty = add_nodes(2, cpu="4")
    taken = pod("taken", emptied, cpu="2", nodeName=full)
    control_plane.api.create(taken)
    return emptied, full, empty


@pytest.mark.usefixtures("defined")
class TestSchedulerProfiles:
    def test_weights_change_at_once_and_back_when_it_is_deleted(
        self, control_plane: ControlPlane, half_full: tuple[str, str, str]
    ) -> None:
        namespace, full, empty = half_full
        with Berth(control_plane, FLAG) as berth:
            assert place(control_plane, namespace, "spread-1") == empty
            put(control_plane, "packing", **PACKING)
            assert conditions(control_plane, "packing") == {
                "Accepted": ("True", "Valid", "generation 1 is valid"),
                "Active": ("True", "Running", 'profile "berth" is this one'),
            }
            assert place(control_plane, namespace, "packed-1") == full
            told = wait_until("its event", lambda: events(control_plane, "default", "packing"))
            assert [event["reason"] for event in told] == ["ProfileAccepted"]
            found = control_plane.api.get(f"{PROFILES}/packing")["metadata"]
            assert "finalizers" not in found
            assert "annotations" not in found
            control_plane.api.delete(f"{PROFILES}/packing")
            wait_until("the file's profile to be back", lambda: "is now the one of the configuration" in berth.log)
            assert place(control_plane, namespace, "spread-2") == empty

    def test_an_invalid_change_names_the_field_and_changes_nothing(
        self, control_plane: ControlPlane, half_full: tuple[str, str, str]
    ) -> None:
        namespace, full, _ = half_full
        with Berth(control_plane, FLAG):
            put(control_plane, "packing", **PACKING)
            assert conditions(control_plane, "packing")["Active"][0] == "True"
            put(control_plane, "packing", plugins={"score": {"enabled": [{"name": "NodeResourceFit", "weight": 3}]}})
            told = conditions(control_plane, "packing")
            assert told["Accepted"][:2] == ("False", "Invalid")
            assert told["Accepted"][2].startswith(
                'spec.plugins.score.enabled[0].name: Invalid value: "NodeResourceFit"'
            )
            assert told["Active"][:2] == ("True", "LastAccepted")
            assert place(control_plane, namespace, "packed-1") == full
        with Berth(control_plane, FLAG, name="successor"):
            assert place(control_plane, namespace, "packed-2") == full

    def test_the_older_of_two_stays(self, control_plane: ControlPlane) -> None:
        with Berth(control_plane, FLAG):
            put(control_plane, "one", **PACKING)
            status(control_plane, "one")
            put(control_plane, "two", mode="Shadow")
            put(control_plane, "three", percentageOfNodesToScore=50)
            assert conditions(control_plane, "two")["Accepted"][0] == "True"
            assert conditions(control_plane, "three")["Accepted"] == (
                "False",
                "Conflict",
                'spec.schedulerName: SchedulerProfile "one", which is older, is about profile "berth"',
            )
            control_plane.api.delete(f"{PROFILES}/one")
            wait_until("the newer to take its place", lambda: conditions(control_plane, "three")["Active"][0] == "True")

    def test_a_change_can_be_tried_in_shadow_first(
        self, control_plane: ControlPlane, half_full: tuple[str, str, str]
    ) -> None:
        namespace, full, empty = half_full
        with Berth(control_plane, FLAG):
            put(control_plane, "trial", mode="Shadow", **PACKING)
            assert conditions(control_plane, "trial")["Shadowing"][:2] == ("True", "Comparing")
            assert place(control_plane, namespace, "spread-1") == empty
            found = wait_until("the comparison", lambda: status(control_plane, "trial")["shadow"]["examples"])
            assert (found[0]["pod"], found[0]["chosen"]) == (f"{namespace}/spread-1", empty)
            assert (found[0]["verdict"], found[0]["best"]) == ("Elsewhere", [full])
            shadow = status(control_plane, "trial")["shadow"]
            assert (shadow["compared"], shadow["different"]) == (1, 1)
            assert shadow["differences"][0] == {"plugin": "NodeResourcesFit", "decisions": 1}

    def test_of_a_resource_that_is_of_another_scheduler_no_notice_is_taken(self, control_plane: ControlPlane) -> None:
        with Berth(control_plane, FLAG):
            put(control_plane, "foreign", schedulerName="another")
            put(control_plane, "ours")
            status(control_plane, "ours")
            assert "status" not in control_plane.api.get(f"{PROFILES}/foreign")

    def test_the_schema_refuses_what_can_be_told_at_once(self, control_plane: ControlPlane) -> None:
        put(control_plane, "one")
        for spec, place in (
            ({"schedulerName": "other"}, "spec.schedulerName"),
            ({"shadow": {"samplePercentage": 5}}, "spec.shadow"),
            ({"percentageOfNodesToScore": 101}, "spec.percentageOfNodesToScore"),
            ({"mode": "Dry"}, "spec.mode"),
        ):
            with pytest.raises(ApiError, match=place):
                put(control_plane, "one", **spec)

    def test_signals_stop_the_process_as_ever(self, control_plane: ControlPlane) -> None:
        with Berth(control_plane, FLAG) as berth:
            put(control_plane, "one")
            status(control_plane, "one")
            berth.signal(signal.SIGTERM)
            assert berth.wait() == 0


def test_without_the_resource_the_scheduler_runs_on_and_says_so_once(
    control_plane: ControlPlane, half_full: tuple[str, str, str]
) -> None:
    namespace, _, empty = half_full
    if served(control_plane):
        control_plane.api.delete(DEFINITION)
        wait_until("the resource to be gone", lambda: not served(control_plane))
    with Berth(control_plane, FLAG, name="without") as berth:
        assert place(control_plane, namespace, "spread-1") == empty
        assert berth.log.count("SchedulerProfiles are not installed") == 1


def test_a_changed_file_is_taken_up_and_a_bad_one_is_not(
    control_plane: ControlPlane, half_full: tuple[str, str, str]
) -> None:
    namespace, full, empty = half_full
    file = control_plane.directory / "followed.yaml"
    with Berth(control_plane, name="followed") as berth:
        given = yaml.safe_load(file.read_text())
        assert place(control_plane, namespace, "spread-1") == empty
        replace(file, {**given, "profiles": [{"schedulerName": "berth", **PACKING}], "parallelism": 8})
        wait_until("the file to be taken up", lambda: "followed.yaml is in force; changed profiles: berth" in berth.log)
        assert "takes effect at the next start only: parallelism" in berth.log
        assert place(control_plane, namespace, "packed-1") == full
        replace(file, {**given, "profiles": [{"schedulerName": "berth", "plugin": {}}]})
        wait_until("the file to be refused", lambda: "followed.yaml is refused" in berth.log)
        assert 'unknown field "profiles[0].plugin", did you mean "plugins"?' in berth.log
        assert place(control_plane, namespace, "packed-2") == full


def replace(file: Any, content: dict[str, Any]) -> None:
    """Put another file in its place, as editors and kubelets do."""
    new = file.with_suffix(".new")
    new.write_text(yaml.safe_dump(content))
    new.rename(file)
