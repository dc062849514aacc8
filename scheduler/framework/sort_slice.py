"""Sorting as Go's sort.Slice does it, for where kube-scheduler sorts what it can't always tell apart.

That sort is not stable: of items with equal keys the way in which it works decides. It is a pattern-defeating quicksort
(Go's sort/zsortfunc.go); up to 12 items it is an insertion sort, which is stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

_FEW: Final = 12
"""Up to so many items are sorted by insertion."""
_LONG: Final = 50
"""From so many items on more care is taken: for the pivot, and of what is nearly sorted."""
_SHIFTS: Final = 5
"""After so many items out of place a range no longer counts as nearly sorted."""
_WORD: Final = 2**64 - 1


def sort_slice(items: Sequence[T], key: Callable[[T], Any]) -> list[T]:
    """The items sorted by their keys, those with equal keys in the order in which Go leaves them."""
    keys = [key(item) for item in items]
    count = len(items)
    if count <= _FEW or len(set(keys)) == count or all(keys[i - 1] <= keys[i] for i in range(1, count)):
        return sorted(items, key=key)
    work = _Work(keys)
    work.sort(0, count, count.bit_length())
    return [items[place] for place in work.places]


class _Work:
    """Keys that are being sorted, and the places that they had at first. Ranges are half open."""

    __slots__ = ("keys", "places")

    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        self.places = list(range(len(keys)))

    def swap(self, i: int, j: int) -> None:
        keys, places = self.keys, self.places
        keys[i], keys[j] = keys[j], keys[i]
        places[i], places[j] = places[j], places[i]

    def sort(self, start: int, end: int, bad_pivots: int) -> None:
        """Sort a range; after so many bad pivots by another way, that does without."""
        balanced = partitioned = True
        while end - start > _FEW:
            if not bad_pivots:
                self.by_heap(start, end)
                return
            if not balanced:
                self.scatter(start, end)
                bad_pivots -= 1
            pivot, rising = self.pivot(start, end)
            if rising is False:
                self.reverse(start, end)
                pivot, rising = start + end - 1 - pivot, True
            if balanced and partitioned and rising and self.was_nearly_sorted(start, end):
                return
            if start and self.keys[start - 1] >= self.keys[pivot]:
                start = self.split_off_equals(start, end, pivot)
                continue
            middle, partitioned = self.partition(start, end, pivot)
            left, right = middle - start, end - middle
            balanced = min(left, right) >= (end - start) // 8
            if left < right:
                self.sort(start, middle, bad_pivots)
                start = middle + 1
            else:
                self.sort(middle + 1, end, bad_pivots)
                end = middle
        self.by_insertion(start, end)

    def by_insertion(self, start: int, end: int) -> None:
        for i in range(start + 1, end):
            self.sink(i, start)

    def sink(self, i: int, lowest: int) -> None:
        """Move an item down to where it belongs, but no further than to `lowest`."""
        while i > lowest and self.keys[i] < self.keys[i - 1]:
            self.swap(i, i - 1)
            i -= 1

    def by_heap(self, start: int, end: int) -> None:
        size = end - start
        for root in range((size - 1) // 2, -1, -1):
            self.sift(start, root, size)
        for last in range(size - 1, -1, -1):
            self.swap(start, start + last)
            self.sift(start, 0, last)

    def sift(self, first: int, root: int, size: int) -> None:
        """Let an item sink in the heap that begins at `first`."""
        keys = self.keys
        while (child := 2 * root + 1) < size:
            if child + 1 < size and keys[first + child] < keys[first + child + 1]:
                child += 1
            if not keys[first + root] < keys[first + child]:
                return
            self.swap(first + root, first + child)
            root = child

    def pivot(self, start: int, end: int) -> tuple[int, bool | None]:
        """Where a good pivot is; whether the samples rise, None for some do and some don't."""
        quarter = (end - start) // 4
        samples = [start + quarter, start + 2 * quarter, start + 3 * quarter]
        turns: list[int] = []
        if end - start >= _LONG:
            samples = [self.median([i - 1, i, i + 1], turns) for i in samples]
        chosen = self.median(samples, turns)
        return chosen, {0: True, 12: False}.get(len(turns))

    def median(self, places: list[int], turns: list[int]) -> int:
        """The middle one of three; each comparison that finds a wrong order is noted in `turns`."""
        for i in (0, 1, 0):
            if self.keys[places[i + 1]] < self.keys[places[i]]:
                turns.append(i)
                places[i], places[i + 1] = places[i + 1], places[i]
        return places[1]

    def reverse(self, start: int, end: int) -> None:
        self.keys[start:end] = self.keys[start:end][::-1]
        self.places[start:end] = self.places[start:end][::-1]

    def scatter(self, start: int, end: int) -> None:
        """Swap three items of the middle with others, that are picked at random but always the same."""
        size = end - start
        state, mask = size, (1 << size.bit_length()) - 1
        middle = start + size // 4 * 2
        for i in range(middle - 1, middle + 2):
            state ^= state << 13 & _WORD
            state ^= state >> 7
            state ^= state << 17 & _WORD
            other = state & mask
            self.swap(i, start + (other - size if other >= size else other))

    def was_nearly_sorted(self, start: int, end: int) -> bool:
        """Put a few items that are out of place into theirs; whether that was all there was to do."""
        keys = self.keys
        i = start + 1
        for _ in range(_SHIFTS):
            while i < end and keys[i] >= keys[i - 1]:
                i += 1
            if i == end:
                return True
            if end - start < _LONG:
                return False
            self.swap(i, i - 1)
            if i - start >= 2:
                self.sink(i - 1, 0)
            if end - i >= 2:
                self.rise(i + 1, end)
        return False

    def rise(self, i: int, end: int) -> None:
        """Move the item before `i` up to where it belongs."""
        while i < end and self.keys[i] < self.keys[i - 1]:
            self.swap(i, i - 1)
            i += 1

    def split_off_equals(self, start: int, end: int, pivot: int) -> int:
        """Gather what is equal to the pivot, which is the least; where the rest begins."""
        self.swap(start, pivot)
        keys, i, j = self.keys, start + 1, end - 1
        while True:
            while i <= j and keys[start] >= keys[i]:
                i += 1
            while i <= j and keys[start] < keys[j]:
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def partition(self, start: int, end: int, pivot: int) -> tuple[int, bool]:
        """Move what is less than the pivot before it; where that is then, and whether nothing had to be moved."""
        self.swap(start, pivot)
        keys, i, j = self.keys, start + 1, end - 1
        untouched = True
        while True:
            while i <= j and keys[i] < keys[start]:
                i += 1
            while i <= j and keys[j] >= keys[start]:
                j -= 1
            if i > j:
                self.swap(j, start)
                return j, untouched
            self.swap(i, j)
            i, j, untouched = i + 1, j - 1, False
