from __future__ import annotations

import pytest

from scheduler.config import errors
from scheduler.config.duration import Duration
from scheduler.config.errors import ConfigError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (errors.invalid("a.b", 3, "too small"), "a.b: Invalid value: 3: too small"),
        (errors.invalid("a", "x", "odd"), 'a: Invalid value: "x": odd'),
        (errors.invalid("a", True, "odd"), "a: Invalid value: true: odd"),
        (errors.invalid("a", 2.0, "odd"), "a: Invalid value: 2: odd"),
        (errors.invalid("a", None, "odd"), "a: Invalid value: null: odd"),
        (errors.invalid("a", [{"b": 1}], "odd"), 'a: Invalid value: [{"b":1}]: odd'),
        (errors.invalid("a", Duration.of_seconds(90), "odd"), 'a: Invalid value: "1m30s": odd'),
        (errors.required("a"), "a: Required value"),
        (errors.required("a", "say which"), "a: Required value: say which"),
        (errors.duplicate("a[1]", "x"), 'a[1]: Duplicate value: "x"'),
        (errors.forbidden("a", "not now"), "a: Forbidden: not now"),
        (errors.not_supported("a", "x", ("y", "z")), 'a: Unsupported value: "x": supported values: "y", "z"'),
        (errors.unknown_field("a.bolb", ("blob",)), 'unknown field "a.bolb", did you mean "blob"?'),
        (errors.unknown_field("a.other", ("blob",)), 'unknown field "a.other"'),
        (errors.plain("no good"), "no good"),
        (errors.plain("no good", "a"), "a: no good"),
    ],
)
def test_errors_read_as_those_of_apimachinery(error, text):
    assert str(error) == text


def test_a_config_error_lists_each_error_once_with_its_source():
    error = ConfigError("file.yaml", [errors.required("a"), errors.required("a"), errors.required("b")])
    assert str(error) == "file.yaml: a: Required value\nfile.yaml: b: Required value"
    assert len(error.errors) == 2


def test_closest_ignores_case_and_stays_silent_without_a_likeness():
    assert errors.closest("SCORE", ["score", "filter"]) == 'did you mean "score"?'
    assert errors.closest("xyz", ["score", "filter"]) == ""


def test_child_joins_paths_and_starts_one():
    assert errors.child("a[0]", "b", "c") == "a[0].b.c"
    assert errors.child("", "b") == "b"
