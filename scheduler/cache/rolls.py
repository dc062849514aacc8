"""What of a growing list matches, found out once for each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")
W = TypeVar("W")


class Roll(Generic[T, W]):
    """What has been made, in that order, and whether an item matches somebody.

    `epoch` moves on when some of it is dropped, and places change.
    """

    __slots__ = ("epoch", "items", "matches")

    def __init__(self, matches: Callable[[T, W], bool]) -> None:
        self.matches = matches
        self.items: list[T] = []
        self.epoch = 0

    def renew(self, items: list[T]) -> None:
        """Drop all but these."""
        self.items = items
        self.epoch += 1


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
            self._items += [item for item in roll.items[self._seen :] if roll.matches(item, who)]
            self._seen = len(roll.items)
        return self._items
