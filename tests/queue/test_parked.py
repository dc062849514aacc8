"""Pods that wait for something to change, in groups."""

from __future__ import annotations

from scheduler.queue.parked import ParkedPods
from tests.builders import pod
from tests.queue.entries import entry


def groups(parked):
    return sorted(sorted(waiting.pod.name for waiting in members.values()) for members in parked.groups())


def parked_of(*entries):
    parked = ParkedPods(lambda entry: entry.pod.shape)
    for waiting in entries:
        parked.add(waiting)
    return parked


def test_pods_alike_that_were_turned_down_alike_are_one_group():
    assert groups(parked_of(entry("a", plugins=["X"]), entry("b", plugins=["X"]))) == [["a", "b"]]


def test_other_plugins_shapes_gates_and_profiles_make_other_groups():
    parked = parked_of(
        entry("a", plugins=["X"]),
        entry("b", plugins=["Y"]),
        entry("c", plugins=["X"], pod=pod("c").cpu("1")),
        entry("d", plugins=["X"], gating_plugin="X"),
        entry("e", pending_plugins=frozenset({"X"})),
    )
    assert groups(parked) == [["a"], ["b"], ["c"], ["d"], ["e"]]


def test_what_pods_must_have_in_common_is_for_others_to_say():
    parked = ParkedPods(lambda entry: entry.pod.shape.body)
    for index in "12":
        parked.add(entry(f"a{index}", plugins=["X"], pod=pod(f"a{index}").label(index=index)))
    assert groups(parked) == [["a1", "a2"]]


def test_whether_a_pod_is_new_is_told():
    parked = parked_of()
    assert parked.add(entry("a", plugins=["X"]))
    assert not parked.add(entry("a", plugins=["Y"]))
    assert len(parked) == 1
    assert groups(parked) == [["a"]]


def test_pods_can_be_found_and_taken_out():
    first = entry("a", plugins=["X"])
    parked = parked_of(first, entry("b", plugins=["X"]))
    assert parked.get(("default", "a")) is first
    assert parked.remove(("default", "a")) is first
    assert parked.remove(("default", "a")) is None
    assert parked.get(("default", "a")) is None
    assert [waiting.pod.name for waiting in parked] == ["b"]
    parked.remove(("default", "b"))
    assert groups(parked) == []


def test_a_pod_is_found_in_its_old_group_though_its_entry_changed():
    first = entry("a", plugins=["X"])
    parked = parked_of(first)
    first.unschedulable_plugins = frozenset({"Y"})
    parked.add(first)
    assert groups(parked) == [["a"]]
