"""Label keys, label values and the texts of field errors."""

from __future__ import annotations

import pytest

from scheduler.api.validation import aggregate, invalid, label_key_problems, label_value_problems, not_supported


@pytest.mark.parametrize(
    "key", ["simple", "1234", "example.com/Uppercase_Is_OK_123", "a" * 63, f"{'a' * 253}/{'b' * 63}", "1.2.3.4/5678"]
)
def test_a_valid_key_has_no_problems(key: str) -> None:
    assert label_key_problems(key) == ()


@pytest.mark.parametrize(
    ("key", "beginnings"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("-x", ["name part must consist of alphanumeric characters"]),
        ("/x", ["prefix part must be non-empty"]),
        ("Example.com/x", ["prefix part a lowercase RFC 1123 subdomain"]),
        (f"{'a' * 254}/x", ["prefix part must be no more than 253 bytes"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("x\n", ["name part must consist of"]),
    ],
)
def test_an_invalid_key_is_told_all_its_problems(key: str, beginnings: list[str]) -> None:
    problems = label_key_problems(key)
    assert len(problems) == len(beginnings)
    assert all(p.startswith(b) for p, b in zip(problems, beginnings, strict=True))


@pytest.mark.parametrize("value", ["", "simple", "a.b_c-d", "a" * 63])
def test_a_valid_value_has_no_problems(value: str) -> None:
    assert label_value_problems(value) == ()


def test_an_invalid_value_is_told_the_rule() -> None:
    assert label_value_problems("-1") == (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    )


def test_lengths_are_counted_in_bytes() -> None:
    assert "must be no more than 63 bytes" in label_value_problems("\u00e9" * 32)


def test_field_errors_read_as_gos() -> None:
    assert invalid("a.b", "x", "is bad") == 'a.b: Invalid value: "x": is bad'
    assert invalid("a.b", (), "is bad") == "a.b: Invalid value: null: is bad"
    assert invalid("a.b", ("x", "y"), "is bad") == 'a.b: Invalid value: ["x","y"]: is bad'
    assert not_supported("a", "x", ("y", "z")) == 'a: Unsupported value: "x": supported values: "y", "z"'


def test_an_aggregate_names_each_problem_once() -> None:
    assert aggregate(["a", "a"]) == "a"
    assert aggregate(["a", "b", "a"]) == "[a, b]"
