from __future__ import annotations

import pytest

from scheduler.config.document import parse_document
from scheduler.config.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 2.5, null, true]\n", {"a": 1, "b": ["x", 2.5, None, True]}),
        ('{"a": {"b": "c"}}', {"a": {"b": "c"}}),
        ("{a: b}", {"a": "b"}),
        ("", None),
        ("---\na: 1\n---\n", {"a": 1}),
        ("a: 2026-01-02", {"a": "2026-01-02"}),
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        (b"a: 1", {"a": 1}),
        ("[1e3, 2.0, 1.5, -1E2, 1e, 010, 0x1F]", [1000, 2, 1.5, -100, "1e", 8, 31]),
        (b"\xef\xbb\xbfa: 1", {"a": 1}),
    ],
)
def test_yaml_and_json_become_plain_values(text, value):
    assert parse_document(text, source="f") == value


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "a: 1\nb: {c: 1, c: 2}\na: 3\n",
            ['line 3: key "a" already set in map', 'line 2: key "c" already set in map'],
        ),
        ('{"a": {"b": 1, "b": 2}, "c": 1, "c": 1}', ['duplicate field "b"', 'duplicate field "c"']),
        ("a: {b: {c: 1, c: 1}}\na: 1\n", ['line 2: key "a" already set in map', 'line 1: key "c" already set in map']),
        ("1: a\n", ["line 1: key 1 is not a string"]),
        ("a: 1\n---\nb: 1\n", ["holds 2 documents where one is expected"]),
        (b"a: \xff", ["not UTF-8: invalid start byte at byte 3"]),
        ("[" * 100_000, ["not a configuration: nested too deeply"]),
        ('{"a":' * 100_000, ["not a configuration: nested too deeply"]),
    ],
)
def test_what_is_ambiguous_or_broken_is_refused(text, messages):
    with pytest.raises(ConfigError) as caught:
        parse_document(text, source="f")
    assert [str(error) for error in caught.value.errors] == messages


@pytest.mark.parametrize("text", ["a: [", "a: !!python/object:os.system {}", "{a", "a: *nowhere"])
def test_what_is_no_yaml_is_refused_with_its_place(text):
    with pytest.raises(ConfigError, match=r"f: not YAML: (.|\n)*line 1") as caught:
        parse_document(text, source="f")
    assert caught.value.source == "f"


@pytest.mark.parametrize("text", ["a: " + "1" * 5000, '{"a": ' + "1" * 5000 + "}"])
def test_numbers_beyond_reason_are_refused(text):
    with pytest.raises(ConfigError, match="not a configuration: Exceeds the limit"):
        parse_document(text, source="f")
