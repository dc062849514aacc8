"""What of a growing list matches."""

from __future__ import annotations

from scheduler.cache.rolls import Found, Roll


class Asking:
    """A roll of numbers that notes which of them were asked about, for whoever wants multiples of a number."""

    def __init__(self):
        self.asked = []
        self.roll = Roll(self.matches)

    def matches(self, item, who):
        self.asked.append((item, who))
        return item % who == 0


def test_each_item_is_asked_about_once():
    asking = Asking()
    found = Found()
    asking.roll.items += [1, 2, 4]
    assert found.of(asking.roll, 2) == [2, 4]
    asking.roll.items.append(6)
    assert found.of(asking.roll, 2) == [2, 4, 6]
    assert found.of(asking.roll, 2) == [2, 4, 6]
    assert asking.asked == [(1, 2), (2, 2), (4, 2), (6, 2)]


def test_everybody_has_answers_of_their_own():
    asking = Asking()
    asking.roll.items += [2, 3]
    assert (Found().of(asking.roll, 2), Found().of(asking.roll, 3)) == ([2], [3])


def test_where_items_are_dropped_those_that_are_left_are_gone_through_anew():
    asking = Asking()
    found = Found()
    asking.roll.items += [2, 3, 4]
    found.of(asking.roll, 2)
    asking.roll.renew([3, 4])
    assert found.of(asking.roll, 2) == [4]


def test_with_another_version_all_are_asked_about_anew():
    asking = Asking()
    found = Found()
    asking.roll.items += [2, 3]
    found.of(asking.roll, 2, "a")
    asking.asked.clear()
    assert found.of(asking.roll, 2, "a") == [2]
    assert asking.asked == []
    assert found.of(asking.roll, 2, "b") == [2]
    assert asking.asked == [(2, 2), (3, 2)]
