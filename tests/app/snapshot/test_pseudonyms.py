"""Other names for all that has one."""

from __future__ import annotations

from scheduler.app.snapshot.pseudonyms import NODE, POD, ZONE, Collected


def collected(kind: str, *names: str) -> Collected:
    found = Collected()
    for name in names:
        assert found.name(kind, name) == name
    return found


def test_they_go_in_the_order_of_the_real_ones() -> None:
    names = [f"n{number}" for number in (3, 10, 1, 22, 9, 2, 11, 5, 4, 7, 8)]
    pseudonyms = collected(NODE, *names).pseudonyms()
    given = [pseudonyms.name(NODE, name) for name in sorted(names)]
    assert given == sorted(given)
    assert given[0] == "node-01"


def test_the_same_name_of_another_kind_has_another_one() -> None:
    found = collected(NODE, "a")
    found.name(POD, "a")
    pseudonyms = found.pseudonyms()
    assert (pseudonyms.name(NODE, "a"), pseudonyms.name(POD, "a")) == ("node-1", "pod-1")


def test_no_name_stays_none() -> None:
    assert collected(NODE, "a").pseudonyms().name(NODE, "") == ""


def test_names_made_of_others_are_made_of_their_pseudonyms() -> None:
    found = Collected()
    found.made_of("claim", "data-db-0", ("template", "data"), ("", "-"), (POD, "db-0"))
    found.made_of(POD, "db-0", ("set", "db"), ("", "-0"))
    assert found.pseudonyms().name("claim", "data-db-0") == "template-1-set-1-0"


def test_zones_do_not_look_as_if_they_were_made_of_parts() -> None:
    assert collected(ZONE, "a").pseudonyms().name(ZONE, "a") == "zone1"


def test_numbers_that_are_compared_stay() -> None:
    found = collected("value", "7")
    found.number("generation")
    pseudonyms = found.pseudonyms()
    assert pseudonyms.keeps("generation", "7")
    assert pseudonyms.keeps("generation", "-7")
    assert not pseudonyms.keeps("generation", "x7")
    assert not pseudonyms.keeps("other", "7")


def test_a_list_for_those_whose_names_they_are() -> None:
    pseudonyms = collected(NODE, "b", "a").pseudonyms()
    assert pseudonyms.by_kind() == {NODE: {"a": "node-1", "b": "node-2"}}
    assert pseudonyms.counts() == {NODE: 2}
