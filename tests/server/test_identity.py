from __future__ import annotations

from scheduler.server.identity import ANONYMOUS, User


def test_anonymous_is_not_authenticated():
    assert User("system:anonymous", ("system:unauthenticated",)) == ANONYMOUS


def test_users_can_be_keys_whatever_is_known_of_them():
    assert len({User("a", extra={"x": ("1",)}), User("a", extra={"x": ("1",)}), User("b")}) == 2
