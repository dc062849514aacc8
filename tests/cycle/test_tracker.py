"""The pods that wait to be scheduled."""

from __future__ import annotations

from scheduler.cycle.tracker import UnscheduledPods
from tests.builders import info, pod


def test_pods_are_found_by_uid_and_name():
    pods, first = UnscheduledPods(), info(pod("a"))
    pods.set(first)
    assert pods.get(first.uid) is first
    assert pods.has_name("default", "a")
    assert list(pods) == [first]
    assert len(pods) == 1


def test_a_newer_record_takes_the_place_of_the_old_one():
    pods = UnscheduledPods()
    pods.set(info(pod("a")))
    newer = info(pod("a").label(x="y"))
    pods.set(newer)
    assert list(pods) == [newer]


def test_the_last_record_of_a_pod_that_is_gone_is_told():
    pods, first = UnscheduledPods(), info(pod("a"))
    pods.set(first)
    assert pods.remove(first.uid) is first
    assert pods.remove(first.uid) is None
    assert not pods.has_name("default", "a")


def test_a_pod_that_was_replaced_leaves_its_name_to_the_other():
    pods, first, second = UnscheduledPods(), info(pod("a")), info(pod("a").uid("another"))
    pods.set(first)
    pods.set(second)
    pods.remove(first.uid)
    assert pods.has_name("default", "a")
    assert pods.get("another") is second
