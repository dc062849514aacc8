"""YAML read line by line says what the parser of all YAML says, or leaves the text to it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler.app import yaml_text
from scheduler.app.yaml_lines import Unusual, line_documents
from scheduler.app.yaml_text import YamlError, documents, plain_scalar

KUBECTL = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      example.com/a: '{"b": 1}'
      example.com/script: |
        first

        second
    labels: {}
    name: p
    uid: 3f0e
  spec:
    containers:
    - args:
      - --port=80
      - "on"
      image: registry.example:5000/a:1
      resources:
        requests: {cpu: 100m}
    hostNetwork: false
    priority: 0
  status:
    conditions:
    - lastProbeTime: null
      message: '0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are
        available: 3 No preemption victims found.'
      reason: Unschedulable
      type: PodScheduled
    - reason: two words that go
        on below
kind: List
metadata:
  resourceVersion: ""
"""


def whole(text: str) -> tuple[list[Any], Any]:
    """What the parser of all YAML says, and how it ends."""
    return _told(yaml_text._documents, text)


def read(text: str) -> tuple[list[Any], Any]:
    """What comes of trying line by line first."""
    return _told(documents, text)


def _told(reader: Any, text: str) -> tuple[list[Any], Any]:
    found = []
    try:
        for each in reader(text):
            found.append(each)  # noqa: PERF402 - what came before an error counts
    except YamlError as problem:
        return found, (problem.detail, problem.line, problem.column)
    return found, None


def by_lines(text: str) -> list[Any]:
    """What is read line by line, with no parser for anything else."""

    def no_parser(text: str) -> Any:
        raise AssertionError(f"given to the parser: {text!r}")

    return [value for _, value in line_documents(text, plain_scalar, no_parser)]


class TestLines:
    def test_maps_and_lists(self) -> None:
        text = "a: 1\nb:\n  c: x\n  d:\n  - 1\n  - e: yes\n    f: null\n  -   g: ''\n      h: {}\ni: []\n"
        inner = {"c": "x", "d": [1, {"e": True, "f": None}, {"g": "", "h": {}}]}
        assert by_lines(text) == [{"a": 1, "b": inner, "i": []}]

    def test_a_key_without_a_value_is_null(self) -> None:
        assert by_lines("a:\nb:\n  c:\nd:\n") == [{"a": None, "b": {"c": None}, "d": None}]

    def test_comments_and_empty_lines_say_nothing(self) -> None:
        assert by_lines("# x\n\na:\n# y\n  b: 1\n\n  # z\n  c: 2\n") == [{"a": {"b": 1, "c": 2}}]

    def test_documents(self) -> None:
        assert by_lines("---\na: 1\n---\n- b\n---\n") == [{"a": 1}, ["b"], None]
        assert by_lines("\n") == []

    def test_quoted_texts(self) -> None:
        assert by_lines("a: 'it''s'\n\"b c\": \"1\"\n'd': '#'\n") == [{"a": "it's", "b c": "1", "d": "#"}]

    def test_values_are_objects_of_their_own(self) -> None:
        first, second = by_lines("- a: {}\n- a: {}\n")[0]
        assert first["a"] is not second["a"]


class TestTheParserOfAllYaml:
    def test_it_gets_the_entries_that_are_more_than_a_line(self) -> None:
        given: list[str] = []

        def parse(text: str) -> Any:
            given.append(text)
            return yaml.safe_load(text)

        assert list(line_documents(KUBECTL, plain_scalar, parse)) == whole(KUBECTL)[0]
        assert [text.split(":")[0] for text in given] == ["example.com/script", "requests", "message", "reason"]

    @pytest.mark.parametrize(
        "text",
        [
            "a: &x 1\nb: *x\n",
            "a: 1",
            "a: 1\r\n",
            "a: b\u2028c\n",
            "a: 1\n  b: 2\n",
            "a:\n    b: 1\n  c: 2\n",
            "- a\nb: 1\n",
            "a: 1\n- b\n",
            "text\n",
            "a: 'open\nb: 1\n",
            "%YAML 1.1\n---\na: 1\n",
            "<<: {a: 1}\n",
            "? a\n: b\n",
            "a: 1\n...\n",
        ],
    )
    def test_it_gets_the_whole_of_what_is_unusual(self, text: str) -> None:
        def parse(text: str) -> Any:
            return yaml_text._only_value(text)

        with pytest.raises((Unusual, YamlError)):
            list(line_documents(text, plain_scalar, parse))
        assert read(text) == whole(text)

    def test_documents_before_the_unusual_one_come_once(self) -> None:
        text = "a: 1\n---\nb: &x 1\nc: *x\n"
        assert read(text) == ([(1, {"a": 1}), (3, {"b": 1, "c": 1})], None)

    def test_an_error_is_told_with_its_place(self) -> None:
        text = "a: 1\n---\nb: 1\nc: [1\n"
        found, problem = read(text)
        assert found == [(1, {"a": 1})]
        assert problem[1:] == (5, 1)


SIMPLE = ("", "x", "yes", "1", "0755", "1e3", "long " * 30, "é ü", "http://a:80/b", "null", "~", ".inf", "trail ")
SIGNS = ("a: b", "multi\nline\n", "it's", '"', "#c", "{}", "[x", "- a", "*a", "&b", "a\tb", "\u2028x", "|", "'")
WORDS = st.sampled_from([*SIMPLE, *SIGNS])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS.filter(lambda word: word not in ("null", "~")), inner)
    ),
    max_leaves=12,
)
LINES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "  ", "  ", "    ", " "]),
    st.sampled_from(["", "", "", "- ", "-   "]),
    st.sampled_from(["", "a: ", "b: ", "c:", "x.y/z: ", "'q': ", "on: ", "1: "]),
    st.sampled_from(
        ["", "", "1", "text", "'q'", "{}", "[a, b]", "|", ">-", "*x", "&x 1", "# c", "v # c", "'open", "--- "]
    ),
) | st.sampled_from(["---", "", "# c", "   # c", "...", "--- a"])


@given(st.lists(VALUES, max_size=2), st.booleans(), st.sampled_from([40, 1000]))
def test_whatever_is_dumped_is_read_alike(values: list[Any], starts: bool, width: int) -> None:
    text = yaml.safe_dump_all(values, explicit_start=starts, width=width, allow_unicode=True)
    assert repr(read(text)) == repr(whole(text))


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\n", "\n", ""]))
def test_any_lines_are_read_alike(lines: list[str], end: str) -> None:
    text = "\n".join(lines) + end
    assert repr(read(text)) == repr(whole(text))
