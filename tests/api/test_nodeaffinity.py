"""Node selectors and affinity against component-helpers' own answers (golden_selectors.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.api.decode import decode_as
from scheduler.api.nodeaffinity import (
    PreferredSchedulingTerms,
    compile_node_selector,
    compile_strict_node_selector,
    preferred_scheduling_terms,
    required_node_affinity,
)
from scheduler.api.objects import Affinity, NodeSelector, PreferredSchedulingTerm
from scheduler.api.selectors import SelectorError

GOLDEN = json.loads((Path(__file__).parent / "golden_selectors.json").read_text())["nodes"]


def node_selector(*terms: dict[str, Any]) -> NodeSelector:
    return decode_as(NodeSelector, {"nodeSelectorTerms": list(terms)})


def affinity(*terms: dict[str, Any]) -> Affinity:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return decode_as(Affinity, {"nodeAffinity": required})


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def preferred(row: dict[str, Any]) -> PreferredSchedulingTerms:
    terms = [
        PreferredSchedulingTerm(weight=weight, preference=term)
        for weight, term in zip(row["weights"], node_selector(*row["terms"]).node_selector_terms, strict=False)
    ]
    return preferred_scheduling_terms(terms)


def test_required_affinity_matches_what_component_helpers_match() -> None:
    for row in GOLDEN:
        required = required_node_affinity(row["nodeSelector"], affinity(*row["terms"]))
        got = [required.matches(node["labels"], node["name"]) for node in row["nodes"]]
        assert got == row["want"]["matches"], row


def test_terms_that_do_not_parse_have_component_helpers_messages() -> None:
    rows = [row for row in GOLDEN if "error" in row["want"]]
    assert len(rows) > 20
    for row in rows:
        with pytest.raises(SelectorError) as caught:
            compile_strict_node_selector(node_selector(*row["terms"]))
        assert str(caught.value) == row["want"]["error"], row


def test_preferred_terms_score_as_component_helpers() -> None:
    rows = [row for row in GOLDEN if "preferredError" not in row["want"]]
    assert len(rows) > 40
    for row in rows:
        terms = preferred(row)
        got = [terms.score(node["labels"], node["name"]) for node in row["nodes"]]
        assert got == row["want"]["scores"], row


def test_preferred_terms_that_do_not_parse_are_refused_with_component_helpers_message() -> None:
    rows = [row for row in GOLDEN if "preferredError" in row["want"]]
    assert len(rows) > 15
    for row in rows:
        with pytest.raises(SelectorError) as caught:
            preferred(row)
        assert str(caught.value) == row["want"]["preferredError"], row


def test_a_pod_without_affinity_fits_every_node() -> None:
    assert required_node_affinity({}, None).matches({}, "n1")


def test_no_terms_and_empty_terms_match_nothing() -> None:
    assert not compile_node_selector(node_selector()).matches({"a": "1"}, "n1")
    assert not compile_node_selector(node_selector({})).matches({"a": "1"}, "n1")


def test_node_selector_and_affinity_must_both_match() -> None:
    required = required_node_affinity({"disk": "ssd"}, affinity(expression("zone", "Exists")))
    assert required.matches({"disk": "ssd", "zone": "a"}, "n1")
    assert not required.matches({"disk": "ssd"}, "n1")
    assert not required.matches({"zone": "a"}, "n1")


def test_a_term_that_does_not_parse_matches_nothing_but_leaves_the_others() -> None:
    selector = compile_node_selector(node_selector(expression("a", "Gt", "-1"), expression("b", "Exists")))
    assert not selector.matches({"a": "5"}, "n1")
    assert selector.matches({"b": ""}, "n1")
    assert selector.problems[0].startswith("nodeSelectorTerms[0].matchExpressions[0].values[0][a]: Invalid value")


def test_a_label_that_is_no_integer_is_neither_greater_nor_less() -> None:
    for operator in ("Gt", "Lt"):
        selector = compile_node_selector(node_selector(expression("a", operator, "5")))
        assert not selector.matches({"a": "x"}, "n1")
        assert not selector.matches({}, "n1")


def test_a_field_is_the_nodes_name() -> None:
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    selector = compile_node_selector(node_selector(named))
    assert selector.matches({}, "n1")
    assert not selector.matches({}, "n2")


def test_compiled_terms_can_be_keys() -> None:
    one = required_node_affinity({"a": "1"}, affinity(expression("b", "In", "x")))
    other = required_node_affinity({"a": "1"}, affinity(expression("b", "In", "x")))
    assert {one: True}[other]
