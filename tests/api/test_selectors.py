"""Label selectors against apimachinery's own answers (golden_selectors.json), and what is particular to ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.api.decode import decode_as
from scheduler.api.objects import LabelSelector, LabelSelectorRequirement
from scheduler.api.selectors import (
    EQUALS,
    EVERYTHING,
    GREATER_THAN,
    IN,
    NOTHING,
    Requirement,
    Selector,
    SelectorError,
    compile_label_selector,
    new_requirement,
    selector_from_set,
)

GOLDEN = json.loads((Path(__file__).parent / "golden_selectors.json").read_text())["labels"]


def compiled(selector: dict[str, Any] | None) -> Selector:
    return compile_label_selector(None if selector is None else decode_as(LabelSelector, selector))


def test_selectors_match_what_apimachinerys_match() -> None:
    rows = [row for row in GOLDEN if "error" not in row["want"]]
    assert len(rows) > 40
    for row in rows:
        selector = compiled(row["selector"])
        got = {
            "matches": [selector.matches(labels) for labels in row["labels"]],
            "empty": selector.empty,
            "text": str(selector),
        }
        assert got == row["want"], row


def test_selectors_that_do_not_parse_have_apimachinerys_message() -> None:
    rows = [row for row in GOLDEN if "error" in row["want"]]
    assert len(rows) > 15
    for row in rows:
        with pytest.raises(SelectorError) as caught:
            compiled(row["selector"])
        assert str(caught.value) == row["want"]["error"], row


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert compile_label_selector(None) is NOTHING
    assert compile_label_selector(LabelSelector()) is EVERYTHING
    assert not NOTHING.matches({"a": "b"})
    assert EVERYTHING.matches({})
    assert (NOTHING.empty, EVERYTHING.empty) == (False, True)


def test_equal_selectors_are_one_key_whatever_the_order_of_their_keys() -> None:
    one = LabelSelector(match_labels={"a": "1", "b": "2"})
    other = LabelSelector(match_labels={"b": "2", "a": "1"})
    assert compile_label_selector(one) == compile_label_selector(other)
    assert len({compile_label_selector(one), compile_label_selector(other)}) == 1
    assert NOTHING != EVERYTHING


def test_more_requirements_narrow_a_selector() -> None:
    wider = compile_label_selector(LabelSelector(match_labels={"app": "web"}))
    narrower = wider.with_requirements([new_requirement("hash", IN, ("x",))])
    assert wider.matches({"app": "web"})
    assert not narrower.matches({"app": "web"})
    assert narrower.matches({"app": "web", "hash": "x"})


def test_a_selector_for_nothing_stays_so_with_more_requirements() -> None:
    assert NOTHING.with_requirements([Requirement("a", EQUALS, ("b",))]) is NOTHING


def test_a_set_of_labels_is_matched_without_validation() -> None:
    selector = selector_from_set({"-not valid-": "-1"})
    assert selector.matches({"-not valid-": "-1", "other": "x"})
    assert not selector.matches({"-not valid-": "1"})
    assert selector_from_set({}).empty


def test_an_empty_value_differs_from_no_label() -> None:
    selector = compile_label_selector(LabelSelector(match_labels={"a": ""}))
    assert selector.matches({"a": ""})
    assert not selector.matches({})


def test_an_unknown_operator_is_named() -> None:
    selector = LabelSelector(match_expressions=(LabelSelectorRequirement(key="a", operator="Gt", values=("1",)),))
    with pytest.raises(SelectorError, match=r'^"Gt" is not a valid label selector operator$'):
        compile_label_selector(selector)


def test_a_bad_requirement_lists_all_its_problems_with_their_paths() -> None:
    with pytest.raises(SelectorError) as caught:
        new_requirement("-", GREATER_THAN, ("x",), "spec.terms[0]")
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "spec.terms[0].key",
        "spec.terms[0].values[0]",
    ]
    assert str(caught.value).startswith("[spec.terms[0].key: Invalid value: ")


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        ({"matchLabels": {"app": "web"}}, ("app", "web")),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, ("app", "web")),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, None),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, None),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}], "matchLabels": {"tier": "a"}}, ("tier", "a")),
        ({}, None),
        (None, None),
    ],
)
def test_a_label_that_all_have_which_it_matches_is_told(wanted, label) -> None:
    assert compiled(wanted).label == label
