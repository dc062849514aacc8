"""What of a growing list matches, found out once for each item, and only of those that may match."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from scheduler.api.selectors import Label


class Labelled(Protocol):
    """Whoever has labels."""

    @property
    def labels(self) -> Mapping[str, str]:
        """By key."""


T = TypeVar("T")
W = TypeVar("W", bound=Labelled)


class Roll(Generic[T, W]):
    """What has been made, in that order, and whether an item matches somebody.

    `label_of` says which label all have that an item matches, None if there need not be one. `epoch` moves on when some
    of it is dropped, and places change.
    """

    __slots__ = ("_anywhere", "_by_label", "_label_of", "epoch", "items", "matches")

    def __init__(self, matches: Callable[[T, W], bool], label_of: Callable[[T], Label | None]) -> None:
        self.matches = matches
        self._label_of = label_of
        self.items: list[T] = []
        self.epoch = 0
        self._by_label: dict[Label, list[int]] = {}
        self._anywhere: list[int] = []
        """Places in `items`, ascending: by label, and of those that need none."""

    def add(self, item: T) -> None:
        """One more."""
        label = self._label_of(item)
        (self._anywhere if label is None else self._by_label.setdefault(label, [])).append(len(self.items))
        self.items.append(item)

    def renew(self, items: Iterable[T]) -> None:
        """Drop all but these."""
        self.items, self._by_label, self._anywhere = [], {}, []
        for item in items:
            self.add(item)
        self.epoch += 1

    def candidates(self, who: W, first: int) -> list[T]:
        """The items from place `first` on that may match, in their order."""
        places = self._anywhere[bisect_left(self._anywhere, first) :]
        for label in who.labels.items():
            found = self._by_label.get(label)
            if found is not None:
                places += found[bisect_left(found, first) :]
        places.sort()
        return [self.items[place] for place in places]


class Found(Generic[T]):
    """What of a roll matches somebody, as far as it was gone through: what is made later is all that is still asked.

    Where all was asked anew after each new item, the first pod of each template cost as many matches as there are
    templates, for each of these.
    """

    __slots__ = ("_epoch", "_items", "_seen", "_version")

    def __init__(self) -> None:
        self._items: list[T] = []
        self._epoch = -1
        self._version: Hashable = None
        self._seen = 0

    def of(self, roll: Roll[T, W], who: W, version: Hashable = None) -> list[T]:
        """The items that match; read only. Another `version` than before means that the answers may have changed."""
        if roll.epoch != self._epoch or version != self._version:
            self._items, self._seen, self._epoch, self._version = [], 0, roll.epoch, version
        if self._seen < len(roll.items):
            self._items += [item for item in roll.candidates(who, self._seen) if roll.matches(item, who)]
            self._seen = len(roll.items)
        return self._items
