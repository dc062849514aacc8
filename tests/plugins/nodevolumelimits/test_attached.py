"""How many volumes each node has and may have, whatever changed since the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.plugins.nodevolumelimits.attached import NO_LIMIT, AttachedVolumes
from tests.builders import PodBuilder, info, node, pod, state
from tests.plugins.storage import DRIVER, attachment, claim, csi_node, put, storage_class, uses, volume

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState

OTHER = "other.example.com"


def using(name: str, *claims: str) -> PodBuilder:
    return pod(name).uid(name).set("spec.volumes", uses(*claims))


def bound(number: int) -> list[Any]:
    """Claims c0, c1, ... with volumes v0, v1, ... and handles h0, h1, ..."""
    found = []
    for i in range(number):
        found += [claim(f"c{i}", volume=f"v{i}"), volume(f"v{i}", csi={"driver": DRIVER, "volumeHandle": f"h{i}"})]
    return found


def cluster(*pods: PodBuilder, limits: dict[str, int | None] | None = None) -> ClusterState:
    """A node "n" of ten volumes at most."""
    limits = {DRIVER: 10} if limits is None else limits
    return put(state([node("n")], [each.on("n") for each in pods]), csi_node("n", limits), *bound(4))


def told(attached: AttachedVolumes, cluster: ClusterState, driver: str = DRIVER) -> dict[str, Any]:
    """What is known of each node, by name."""
    attached.refresh()
    columns = attached.driver(driver)
    return {
        name: (
            bool(attached.has_csi_node[row]),
            bool(attached.has_limits[row]),
            bool(columns.installed[row]),
            None if columns.limit[row] == NO_LIMIT else int(columns.limit[row]),
            int(columns.used[row]),
            attached.problems.get(row, ""),
        )
        for name, row in cluster.nodes.rows.items()
    }


def used(attached: AttachedVolumes, cluster: ClusterState, name: str = "n") -> int:
    attached.refresh()
    return int(attached.driver(DRIVER).used[cluster.nodes.rows[name]])


class TestLimits:
    @pytest.mark.parametrize(
        ("limits", "expected"),
        [
            ({DRIVER: 3}, (True, True, True, 3, 1, "")),
            ({DRIVER: 0}, (True, True, True, 0, 1, "")),
            ({DRIVER: None}, (True, False, True, None, 0, "")),
            ({OTHER: 2}, (True, True, False, None, 1, "")),
            ({}, (True, False, False, None, 0, "")),
        ],
        ids=["a limit", "none at all may come", "no limit", "another driver's limit", "no driver"],
    )
    def test_are_what_the_csi_node_says(self, limits: dict[str, int | None], expected: Any) -> None:
        """Where there is no limit of any driver, nothing needs to be counted."""
        made = cluster(using("p", "c0"), limits=limits)
        assert told(AttachedVolumes(made), made) == {"n": expected}

    def test_without_a_csi_node_there_are_none(self) -> None:
        made = put(state([node("n")], [using("p", "c0").on("n")]), *bound(1))
        assert told(AttachedVolumes(made), made) == {"n": (False, False, False, None, 0, "")}

    def test_a_driver_that_is_taken_from_the_node_leaves_nothing_behind(self) -> None:
        made = cluster(using("p", "c0"))
        attached = AttachedVolumes(made)
        assert told(attached, made)["n"] == (True, True, True, 10, 1, "")
        put(made, csi_node("n", {OTHER: 1}))
        assert told(attached, made)["n"] == (True, True, False, None, 1, "")
        made.remove_object("CSINode", "", "n")
        assert told(attached, made)["n"] == (False, False, False, None, 0, "")


class TestHolders:
    def test_are_the_nodes_whose_pods_have_a_volume(self) -> None:
        made = cluster(using("p", "c0"), using("q", "c0", "c1"))
        attached = AttachedVolumes(made)
        attached.refresh()
        assert attached.holders((DRIVER, "h0")) == attached.holders((DRIVER, "h1")) == {made.nodes.rows["n"]}
        assert attached.holders((DRIVER, "h2")) == set()

    def test_an_attachment_alone_makes_no_holder(self) -> None:
        """It counts, and a pod that wants the volume counts it again: as in kube-scheduler."""
        made = put(cluster(), attachment("a", "n", "v2"))
        attached = AttachedVolumes(made)
        assert used(attached, made) == 1
        assert attached.holders((DRIVER, "h2")) == set()

    def test_leave_with_their_last_pod(self) -> None:
        made = cluster(using("p", "c0"), using("q", "c0"))
        attached = AttachedVolumes(made)
        for name, holders in (("p", 1), ("q", 0)):
            made.remove_pod(name)
            attached.refresh()
            assert len(attached.holders((DRIVER, "h0"))) == holders


class TestChanges:
    """Each is followed, and only by the nodes that it concerns."""

    def test_pods_come_and_go(self) -> None:
        made = cluster()
        attached = AttachedVolumes(made)
        assert used(attached, made) == 0
        made.set_pod(info(using("p", "c0", "c1").on("n"), made))
        assert used(attached, made) == 2
        made.remove_pod("p")
        assert used(attached, made) == 0

    def test_a_claim_comes_after_its_pod(self) -> None:
        made = cluster(using("p", "late"))
        attached = AttachedVolumes(made)
        assert used(attached, made) == 0
        put(made, claim("late", volume="v0"))
        assert used(attached, made) == 1

    def test_a_claim_is_bound_to_a_volume_that_is_there_already(self) -> None:
        made = put(cluster(using("p", "c0"), using("q", "new")), claim("new"), storage_class())
        attached = AttachedVolumes(made)
        assert used(attached, made) == 2
        put(made, claim("new", volume="v0"))
        assert used(attached, made) == 1

    def test_a_class_comes_late(self) -> None:
        made = put(cluster(using("p", "new")), claim("new"))
        attached = AttachedVolumes(made)
        assert used(attached, made) == 0
        put(made, storage_class())
        assert used(attached, made) == 1

    def test_attachments_come_move_and_go(self) -> None:
        made = put(cluster(), csi_node("m", {DRIVER: 1}))
        made.set_node(node("m").build())
        attached = AttachedVolumes(made)
        put(made, attachment("a", "n", "v0"))
        assert (used(attached, made, "n"), used(attached, made, "m")) == (1, 0)
        put(made, attachment("a", "m", "v0"))
        assert (used(attached, made, "n"), used(attached, made, "m")) == (0, 1)
        made.remove_object("VolumeAttachment", "", "a")
        assert (used(attached, made, "n"), used(attached, made, "m")) == (0, 0)

    def test_a_row_that_is_used_again_knows_nothing_of_the_node_before(self) -> None:
        made = cluster(using("p", "c0"))
        attached = AttachedVolumes(made)
        row = made.nodes.rows["n"]
        assert used(attached, made) == 1
        made.remove_pod("p")
        made.remove_node("n")
        made.set_node(node("next").build())
        assert made.nodes.rows["next"] == row
        assert told(attached, made) == {"next": (False, False, False, None, 0, "")}

    def test_more_nodes_than_there_were_rows(self) -> None:
        made = cluster(using("p", "c0"))
        attached = AttachedVolumes(made)
        attached.refresh()
        many = 4 * made.nodes.capacity
        for number in range(many):
            made.set_node(node(f"more{number}").build())
        assert used(attached, made) == 1
        assert np.count_nonzero(attached.driver(DRIVER).used) == 1
        assert len(attached.has_limits) >= many


class TestProblems:
    def test_a_node_whose_volumes_cannot_be_counted_says_why(self) -> None:
        made = put(cluster(pod("p").uid("p").volume("data", ephemeral={})), claim("p-data", owner="another"))
        attached = AttachedVolumes(made)
        reason = "PVC default/p-data was not created for pod default/p (pod is not owner)"
        assert told(attached, made)["n"] == (True, True, True, 10, 0, reason)

    def test_it_is_over_once_its_cause_is_gone(self) -> None:
        made = put(cluster(pod("p").uid("p").volume("data", ephemeral={})), claim("p-data", owner="another"))
        attached = AttachedVolumes(made)
        attached.refresh()
        put(made, claim("p-data", volume="v0", owner="p"))
        assert told(attached, made)["n"] == (True, True, True, 10, 1, "")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("pod"), st.integers(0, 5), st.sampled_from("nm"), st.integers(0, 3)),
        st.tuples(st.just("gone"), st.integers(0, 5)),
        st.tuples(st.just("claim"), st.integers(0, 3), st.sampled_from(["", "v0", "v1", "v9"])),
        st.tuples(st.just("unclaim"), st.integers(0, 3)),
        st.tuples(st.just("volume"), st.integers(0, 1), st.sampled_from([DRIVER, OTHER])),
        st.tuples(st.just("class"), st.sampled_from([DRIVER, OTHER])),
        st.tuples(
            st.just("limits"), st.sampled_from("nm"), st.sampled_from([{}, {DRIVER: 2}, {OTHER: 1, DRIVER: None}])
        ),
        st.tuples(st.just("attach"), st.integers(0, 2), st.sampled_from("nm"), st.integers(0, 1)),
        st.tuples(st.just("detach"), st.integers(0, 2)),
        st.tuples(st.just("node"), st.sampled_from("nm")),
        st.tuples(st.just("look")),
    ),
    max_size=25,
)


@given(steps)
def test_what_is_followed_step_by_step_is_what_is_counted_anew(steps: list[Any]) -> None:
    made = state([node("n"), node("m")])
    attached = AttachedVolumes(made)
    for step in steps:
        apply(made, attached, *step)
    for driver in (DRIVER, OTHER):
        assert told(attached, made, driver) == told(AttachedVolumes(made), made, driver)
    fresh = AttachedVolumes(made)
    fresh.refresh()
    for name in ("h0", "h1"):
        assert attached.holders((DRIVER, name)) == fresh.holders((DRIVER, name))


def apply(made: ClusterState, attached: AttachedVolumes, what: str, *values: Any) -> None:
    match what, values:
        case "pod", (number, on, name):
            made.set_pod(info(using(f"p{number}", f"c{name}").on(on), made))
        case "gone", (number,):
            made.remove_pod(f"p{number}")
        case "claim", (name, bound_to):
            put(made, claim(f"c{name}", volume=bound_to))
        case "unclaim", (name,):
            made.remove_object("PersistentVolumeClaim", "default", f"c{name}")
        case "volume", (number, driver):
            put(made, volume(f"v{number}", csi={"driver": driver, "volumeHandle": f"h{number}"}))
        case "class", (driver,):
            put(made, storage_class(provisioner=driver))
        case "limits", (on, limits):
            put(made, csi_node(on, limits))
        case "attach", (number, on, name):
            put(made, attachment(f"a{number}", on, f"v{name}"))
        case "detach", (number,):
            made.remove_object("VolumeAttachment", "", f"a{number}")
        case "node", (name,):
            made.set_node(node(name).label(touched="yes").build())
        case _:
            attached.refresh()
