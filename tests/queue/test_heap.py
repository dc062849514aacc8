"""The heap that the queues are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.queue.heap import PodHeap
from tests.queue.entries import entry


def heap_of(*entries):
    heap = PodHeap(lambda waiting: waiting.timestamp)
    for waiting in entries:
        heap.push(waiting)
    return heap


def drain(heap):
    names = []
    while (waiting := heap.pop()) is not None:
        names.append(waiting.pod.name)
    return names


def test_the_smallest_key_comes_first_and_equal_ones_in_the_order_of_their_coming():
    assert drain(heap_of(entry("a", 3), entry("b", 1), entry("c", 3), entry("d", 2))) == ["b", "d", "a", "c"]


def test_an_empty_heap_gives_nothing():
    heap = heap_of()
    assert (heap.pop(), heap.peek(), len(heap)) == (None, None, 0)


def test_looking_does_not_take():
    heap = heap_of(entry("a"))
    assert heap.peek() is heap.get(("default", "a"))
    assert len(heap) == 1


def test_any_entry_can_be_taken_out():
    heap = heap_of(entry("a", 1), entry("b", 2), entry("c", 3))
    assert heap.remove(("default", "b")).pod.name == "b"
    assert heap.remove(("default", "b")) is None
    assert drain(heap) == ["a", "c"]


def test_an_entry_whose_key_changed_is_placed_anew():
    first = entry("a", 1)
    heap = heap_of(first, entry("b", 2))
    first.timestamp = 3
    heap.push(first)
    assert len(heap) == 2
    assert drain(heap) == ["b", "a"]


def test_an_entry_can_come_back():
    heap = heap_of(entry("a", 1), entry("b", 2))
    heap.remove(("default", "a"))
    heap.push(entry("a", 3))
    assert drain(heap) == ["b", "a"]


def test_removed_entries_do_not_pile_up():
    heap = heap_of(*(entry(f"p{i}", i) for i in range(500)))
    for i in range(1, 500):
        heap.remove(("default", f"p{i}"))
    assert len(heap._items) < 100
    assert drain(heap) == ["p0"]


@given(st.lists(st.tuples(st.sampled_from(["push", "pop", "remove"]), st.integers(0, 9), st.integers(0, 5))))
def test_it_behaves_as_a_sorted_list(steps):
    heap, model, sequence = heap_of(), {}, 0
    for action, number, key in steps:
        name = ("default", f"p{number}")
        if action == "push":
            sequence += 1
            model[name] = (key, sequence)
            heap.push(entry(f"p{number}", key))
        elif action == "remove":
            removed = heap.remove(name)
            assert (removed is None) == (model.pop(name, None) is None)
        else:
            expected = min(model, key=model.get, default=None)
            popped = heap.pop()
            assert (popped.name if popped else None) == expected
            model.pop(expected, None)
        assert len(heap) == len(model)
        assert {waiting.name for waiting in heap} == set(model)
