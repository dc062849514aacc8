"""What becomes of a pod whose attempt failed: queue, event, condition, nomination."""

from __future__ import annotations

import pytest

from scheduler.client.memory import MemoryWriter
from scheduler.client.status import StatusPatch
from scheduler.cycle.outcome import SCHEDULER_ERROR, UNSCHEDULABLE, Failure, error
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Filter

NO_ROOM = "0/1 nodes are available: 1 no room."
CONDITION = {"type": "PodScheduled", "status": "False", "reason": UNSCHEDULABLE, "message": NO_ROOM}


def refusal(message=NO_ROOM, nominated=""):
    return Failure(UNSCHEDULABLE, message, frozenset({"A"}), nominated_node=nominated)


class SlowWriter(MemoryWriter):
    """Keeps what is to be written to a pod's status until it is asked to go on."""

    pending = None

    def patch_pod_status(self, namespace, name, uid, *, conditions=(), nominated_node_name=None):
        self.pending = StatusPatch.of(namespace, name, uid, conditions, nominated_node_name)

    def pending_status(self, uid):
        del uid
        return self.pending

    def write(self):
        patch, self.pending = self.pending, None
        super().patch_pod_status(
            patch.namespace,
            patch.name,
            patch.uid,
            conditions=list(patch.conditions.values()),
            nominated_node_name=patch.nominated_node_name,
        )


class Desk:
    """A pod that was popped, and the handler that hears that its attempt failed."""

    def __init__(self, builder=None, writer=MemoryWriter):
        self.rig = Rig(Filter("A"), writer=writer)
        self.rig.put(node("n"))
        self.builder = builder or pod("p")
        self.rig.put(self.builder)
        self.entry = self.rig.queue.pop()

    def fail(self, failure, **more):
        profile = self.rig.scheduler.profiles[PROFILE]
        self.rig.scheduler.failures.handle(profile, self.entry, failure, 0.0, **more)


class TestQueue:
    def test_a_rejected_pod_waits_for_those_who_rejected_it(self):
        desk = Desk()
        desk.fail(refusal())
        assert desk.rig.where("p") == "unschedulable"
        assert desk.rig.queue.get("default", "p").rejectors == {"A"}

    def test_a_failed_one_is_tried_again(self):
        desk = Desk()
        desk.fail(error("boom"))
        assert desk.rig.where("p") == "backoff"

    def test_it_comes_back_as_the_api_server_knows_it_now(self):
        desk = Desk()
        desk.rig.put(pod("p").label(x="y"))
        desk.fail(refusal())
        assert desk.rig.queue.get("default", "p").pod.shape.labels == {"x": "y"}

    def test_a_pod_that_is_gone_does_not_come_back(self):
        desk = Desk()
        desk.rig.delete(desk.builder)
        desk.fail(refusal())
        assert desk.rig.where("p") == ""
        assert desk.rig.notes() == [NO_ROOM]

    def test_nor_does_one_that_somebody_else_bound_and_its_condition_is_left_alone(self):
        desk = Desk()
        desk.rig.cluster.bind("default", "p", desk.entry.pod.uid, "n")
        desk.fail(refusal())
        assert desk.rig.where("p") == ""
        assert desk.rig.condition("p").status == "True"

    def test_of_a_pod_that_was_replaced_nothing_is_said(self):
        desk = Desk()
        desk.rig.delete(desk.builder)
        desk.rig.put(pod("p").uid("another"))
        desk.fail(refusal())
        assert desk.rig.notes() == []
        assert desk.rig.condition("p") is None
        assert len(desk.rig.queue.in_flight) == 0

    def test_a_pod_that_is_in_the_queue_already_stays_as_it_is(self):
        desk = Desk()
        desk.fail(refusal())
        desk.fail(refusal())
        assert desk.rig.where("p") == "unschedulable"


class TestEvent:
    def test_it_is_a_warning_about_the_pod(self):
        desk = Desk()
        desk.fail(refusal())
        event = desk.rig.cluster.events[0]
        assert (event.type, event.reason, event.action, event.note) == (
            "Warning",
            "FailedScheduling",
            "Scheduling",
            NO_ROOM,
        )
        regarding = event.regarding
        assert (regarding.kind, regarding.namespace, regarding.name, regarding.uid) == (
            "Pod",
            "default",
            "p",
            desk.entry.pod.uid,
        )
        assert event.reporting_controller == PROFILE

    @pytest.mark.parametrize(
        ("message", "note"),
        [
            ("x" * 1024, "x" * 1024),
            ("x" * 1025, "x" * 1020 + " ..."),
            ("ü" * 513, "ü" * 510 + " ..."),
        ],
    )
    def test_its_note_is_cut_to_what_the_api_takes_and_the_condition_is_not(self, message, note):
        desk = Desk()
        desk.fail(refusal(message))
        assert desk.rig.notes() == [note]
        assert desk.rig.condition("p").message == message

    def again(self, desk, failure):
        desk.rig.scheduler.queue.activate([("default", "p")])
        desk.entry = desk.rig.queue.pop()
        desk.fail(failure)

    def test_another_verdict_on_a_pod_that_did_not_change_is_a_repetition_and_its_note_is_lost(self):
        desk = Desk(pod("p").set("status.conditions", [CONDITION]))
        desk.fail(refusal())
        self.again(desk, refusal("else"))
        assert desk.rig.notes() == [NO_ROOM]

    def test_it_is_an_event_of_its_own_after_a_write_even_if_that_is_not_heard_of_yet(self, monkeypatch):
        desk = Desk()
        monkeypatch.setattr(desk.rig.cluster, "patch_pod_status", lambda *_, **__: None)
        desk.fail(refusal("one"))
        self.again(desk, refusal("two"))
        assert desk.rig.notes() == ["one", "two"]


class TestWhatIsBeingWritten:
    def desk(self):
        writers = []

        def make(cluster):
            writers.append(SlowWriter(cluster))
            return writers[0]

        desk = Desk(pod("p").set("status.conditions", [CONDITION]), writer=make)
        return desk, writers[0]

    def test_a_verdict_is_written_that_differs_from_it_though_not_from_what_was_there_before(self):
        desk, writer = self.desk()
        desk.fail(refusal("passing"))
        desk.fail(refusal())
        writer.write()
        assert desk.rig.condition("p").message == NO_ROOM

    def test_the_same_is_not_written_again(self):
        desk, writer = self.desk()
        desk.fail(refusal("passing", nominated="n"))
        under_way = writer.pending
        desk.fail(refusal("passing", nominated="n"))
        assert writer.pending is under_way

    def test_a_nomination_is_taken_back(self):
        desk, writer = self.desk()
        desk.fail(refusal(nominated="n"))
        desk.fail(refusal(nominated=""))
        assert writer.pending.nominated_node_name == ""


class TestCondition:
    @pytest.mark.parametrize(("failure", "reason"), [(refusal(), UNSCHEDULABLE), (error(NO_ROOM), SCHEDULER_ERROR)])
    def test_it_says_why(self, failure, reason):
        desk = Desk(pod("p").set("metadata.generation", 3))
        desk.fail(failure)
        condition = desk.rig.condition("p")
        assert (condition.status, condition.reason, condition.message, condition.observed_generation) == (
            "False",
            reason,
            NO_ROOM,
            3,
        )

    def version(self, desk):
        return desk.rig.pod("p").metadata.resource_version

    def known(self, **fields):
        return pod("p").set(
            "status.conditions", [{**CONDITION, "lastTransitionTime": "2026-01-01T00:00:00Z", **fields}]
        )

    def test_one_that_says_the_same_is_not_written_again(self):
        desk = Desk(self.known())
        before = self.version(desk)
        desk.fail(refusal())
        assert self.version(desk) == before

    def test_not_even_for_a_newer_generation(self):
        desk = Desk(self.known(observedGeneration=1).set("metadata.generation", 2))
        before = self.version(desk)
        desk.fail(refusal())
        assert self.version(desk) == before

    def test_another_message_does_not_change_the_time_of_transition(self):
        desk = Desk(self.known(message="else"))
        desk.fail(refusal())
        condition = desk.rig.condition("p")
        assert (condition.message, condition.last_transition_time) == (NO_ROOM, "2026-01-01T00:00:00Z")

    def test_it_stands_beside_conditions_of_other_types(self):
        other = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        desk = Desk(pod("p").set("status.conditions", [other]))
        desk.fail(refusal())
        conditions = desk.rig.pod("p").status.conditions
        assert {each.type: each.status for each in conditions} == {"Ready": "True", "PodScheduled": "False"}

    def test_one_that_says_the_same_is_written_with_another_nomination(self):
        desk = Desk(self.known())
        desk.fail(refusal(nominated="n"))
        assert desk.rig.pod("p").status.nominated_node_name == "n"
        assert desk.rig.condition("p").message == NO_ROOM

    def test_nor_is_one_where_nothing_is_said_of_the_nomination(self):
        desk = Desk(self.known().nominated("n"))
        before = self.version(desk)
        desk.fail(refusal(nominated=None))
        assert self.version(desk) == before
        assert desk.rig.pod("p").status.nominated_node_name == "n"

    def test_another_status_does(self):
        desk = Desk(self.known(status="True"))
        desk.fail(refusal())
        assert desk.rig.condition("p").last_transition_time > "2026-01-01T00:00:00Z"


class TestNomination:
    @pytest.mark.parametrize(
        ("before", "said", "after"),
        [
            ("old", "", ""),
            ("old", None, "old"),
            ("old", "new", "new"),
            ("", "new", "new"),
            ("", None, ""),
        ],
        ids=["clear", "leave", "change", "set", "none"],
    )
    def test_it_is_written_and_kept_as_the_failure_says(self, before, said, after):
        desk = Desk(pod("p").nominated(before))
        desk.fail(refusal(nominated=said))
        assert desk.rig.pod("p").status.nominated_node_name == after
        assert desk.rig.state.nominations.node_of(desk.entry.pod.uid) == after

    @pytest.mark.parametrize(("said", "written"), [("", ""), ("asked", None), ("new", "new")])
    def test_one_that_was_asked_for_and_is_not_heard_of_yet_counts_as_the_pods(self, said, written, monkeypatch):
        desk, patches = Desk(), []
        monkeypatch.setattr(desk.rig.cluster, "patch_pod_status", lambda *_, **what: patches.append(what))
        desk.fail(refusal(nominated=said), nominated_to="asked")
        assert [patch["nominated_node_name"] for patch in patches] == [written]

    def test_one_that_only_this_process_knows_of_is_taken_back_if_nothing_is_said(self):
        desk = Desk()
        desk.rig.state.nominations.add(desk.entry.pod, "old")
        desk.fail(refusal(nominated=None))
        assert len(desk.rig.state.nominations) == 0

    def test_a_pod_that_somebody_else_bound_holds_none(self):
        desk = Desk()
        desk.rig.cluster.bind("default", "p", desk.entry.pod.uid, "n")
        desk.fail(refusal(nominated="new"))
        assert len(desk.rig.state.nominations) == 0

    def test_a_pod_that_is_gone_holds_none(self):
        desk = Desk(pod("p").nominated("old"))
        desk.rig.delete(desk.builder)
        desk.fail(refusal(nominated="new"))
        assert len(desk.rig.state.nominations) == 0


@pytest.mark.parametrize(("failure", "result"), [(refusal(), "unschedulable"), (error("boom"), "error")])
def test_attempts_are_counted_by_how_they_ended(failure, result):
    desk = Desk()
    desk.fail(failure)
    assert desk.rig.metrics.schedule_attempts.labels(result, PROFILE).value == 1
