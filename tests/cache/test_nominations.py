"""Pods with a node in prospect."""

from __future__ import annotations

from scheduler.cache.nominations import Nominations
from tests.builders import info, pod

P, Q = info(pod("p")), info(pod("q"))


def test_a_pod_is_nominated_to_one_node_at_a_time():
    nominations = Nominations()
    nominations.add(P, "a")
    nominations.add(Q, "a")
    nominations.add(P, "b")
    assert nominations.on_node("a") == [Q]
    assert (nominations.node_of(P.uid), nominations.nodes(), len(nominations)) == ("b", ["a", "b"], 2)


def test_an_empty_name_takes_the_nomination_back():
    nominations = Nominations()
    nominations.add(P, "a")
    nominations.add(P, "")
    assert (nominations.node_of(P.uid), nominations.nodes(), len(nominations)) == ("", [], 0)


def test_the_version_moves_with_every_change_and_no_other_call():
    nominations = Nominations()
    versions = [nominations.version]
    for change in (lambda: nominations.add(P, "a"), lambda: nominations.remove(P.uid)):
        change()
        versions.append(nominations.version)
    nominations.remove(P.uid)
    assert len(set(versions)) == 3
    assert nominations.version == versions[-1]
