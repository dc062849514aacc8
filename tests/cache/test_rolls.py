"""What of a growing list matches."""

from __future__ import annotations

from scheduler.cache.rolls import Found, Roll


class Wanting:
    """Wants multiples of a number."""

    def __init__(self, number, **labels):
        self.number = number
        self.labels = labels


class Asking:
    """A roll of numbers that notes which of them were asked about. What is above 10 is only for those who have its tens
    among their labels."""

    def __init__(self, *items):
        self.asked = []
        self.roll = Roll(self.matches, lambda item: ("tens", str(item // 10)) if item > 10 else None)
        for item in items:
            self.roll.add(item)

    def matches(self, item, who):
        self.asked.append((item, who.number))
        return item % who.number == 0


def test_each_item_is_asked_about_once():
    asking, twos = Asking(1, 2, 4), Wanting(2)
    found = Found()
    assert found.of(asking.roll, twos) == [2, 4]
    asking.roll.add(6)
    assert found.of(asking.roll, twos) == [2, 4, 6]
    assert found.of(asking.roll, twos) == [2, 4, 6]
    assert asking.asked == [(1, 2), (2, 2), (4, 2), (6, 2)]


def test_everybody_has_answers_of_their_own():
    asking = Asking(2, 3)
    assert (Found().of(asking.roll, Wanting(2)), Found().of(asking.roll, Wanting(3))) == ([2], [3])


def test_what_needs_a_label_is_not_asked_about_for_those_without_it():
    asking, found = Asking(24, 2, 36, 22), Found()
    assert found.of(asking.roll, Wanting(2, tens="2")) == [24, 2, 22]
    assert asking.asked == [(24, 2), (2, 2), (22, 2)]
    assert Found().of(asking.roll, Wanting(2)) == [2]
    assert Found().of(asking.roll, Wanting(2, tens="3", color="red")) == [2, 36]


def test_nor_is_what_comes_later():
    asking, found, who = Asking(), Found(), Wanting(2, tens="2")
    for item, matching in ((22, [22]), (36, [22]), (4, [22, 4]), (21, [22, 4]), (28, [22, 4, 28])):
        asking.roll.add(item)
        assert found.of(asking.roll, who) == matching
    assert [item for item, _ in asking.asked] == [22, 4, 21, 28]


def test_where_items_are_dropped_those_that_are_left_are_gone_through_anew():
    asking, found, who = Asking(2, 22, 4, 24), Found(), Wanting(2, tens="2")
    found.of(asking.roll, who)
    asking.roll.renew([4, 24])
    assert found.of(asking.roll, who) == [4, 24]


def test_with_another_version_all_are_asked_about_anew():
    asking, found, twos = Asking(2, 3), Found(), Wanting(2)
    found.of(asking.roll, twos, "a")
    asking.asked.clear()
    assert found.of(asking.roll, twos, "a") == [2]
    assert asking.asked == []
    assert found.of(asking.roll, twos, "b") == [2]
    assert asking.asked == [(2, 2), (3, 2)]
