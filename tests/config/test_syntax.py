from __future__ import annotations

import pytest

from scheduler.config.syntax import (
    is_extended_resource,
    label_key_problems,
    label_value_problems,
    subdomain_problems,
)

PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"


@pytest.mark.parametrize("key", ["a", "A_b.c-d", "example.com/a", "a" * 63, "1"])
def test_label_keys(key):
    assert label_key_problems(key) == []


@pytest.mark.parametrize(
    ("key", "starts"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("-a", ["name part must consist of"]),
        ("a\n", ["name part must consist of"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("/a", ["prefix part must be non-empty"]),
        ("A/a", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("x" * 254 + "/a", ["prefix part must be no more than 253 bytes"]),
    ],
)
def test_what_is_no_label_key(key, starts):
    problems = label_key_problems(key)
    assert [problem[: len(start)] for problem, start in zip(problems, starts, strict=True)] == starts


def test_label_values_may_be_empty_but_not_end_in_a_dash():
    assert label_value_problems("") == []
    assert label_value_problems("a_b") == []
    assert label_value_problems("a" * 64) == ["must be no more than 63 bytes"]
    (problem,) = label_value_problems("a-")
    assert problem.startswith("a valid label must be an empty string or consist of")
    assert problem.endswith(f"regex used for validation is '({PART})?')")


def test_subdomains_are_lowercase():
    assert subdomain_problems("a.b-c.d") == []
    assert len(subdomain_problems("A.b")) == 1


@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("nvidia.com/gpu", True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("sub.kubernetes.io/x", False),
        ("requests.example.com/x", False),
        ("x" * 250 + ".a/b", False),
    ],
)
def test_extended_resources_have_a_domain_of_their_own(name, extended):
    assert is_extended_resource(name) is extended
