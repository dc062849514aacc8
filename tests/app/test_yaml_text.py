"""YAML means what it means to kubectl."""

from __future__ import annotations

import pytest

from scheduler.app.yaml_text import YamlError, documents


def value(text: str) -> object:
    """The value of a text with one document."""
    ((_, found),) = documents(text)
    return found


class TestPlainScalars:
    @pytest.mark.parametrize("text", ["true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y"])
    def test_words_for_true(self, text: str) -> None:
        assert value(text) is True

    @pytest.mark.parametrize("text", ["false", "no", "NO", "off", "Off", "n", "N"])
    def test_words_for_false(self, text: str) -> None:
        assert value(text) is False

    @pytest.mark.parametrize("text", ["~", "null", "Null", "NULL", "---"])
    def test_words_for_null(self, text: str) -> None:
        assert value(text) is None

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("12", 12),
            ("-3", -3),
            ("+3", 3),
            ("1_000", 1000),
            ("0755", 0o755),
            ("0o755", 0o755),
            ("0x1F", 31),
            ("0b101", 5),
            ("-0b101", -5),
            ("0", 0),
            ("18446744073709551615", 2**64 - 1),
        ],
    )
    def test_integers(self, text: str, number: int) -> None:
        found = value(text)
        assert found == number
        assert isinstance(found, int)

    @pytest.mark.parametrize(
        ("text", "number"),
        [("0.5", 0.5), (".5", 0.5), ("1e-3", 0.001), ("1e21", 1e21), ("18446744073709551616", 2.0**64), ("08", 8)],
    )
    def test_other_numbers(self, text: str, number: float) -> None:
        assert value(text) == number

    @pytest.mark.parametrize(("text", "number"), [("1e3", 1000), ("2.0", 2), ("09", 9)])
    def test_whole_numbers_are_integers_as_in_json(self, text: str, number: int) -> None:
        assert repr(value(text)) == str(number)

    @pytest.mark.parametrize(
        "text", ["22:22", "2026-01-01", "2026-01-01T00:00:00Z", "1Gi", "100m", "yES", "1.2.3", "0xZ", "--", "0_b1x"]
    )
    def test_everything_else_is_text(self, text: str) -> None:
        assert value(f"- {text}") == [text]

    @pytest.mark.parametrize("text", ['"yes"', "'yes'", "!!str yes", "|-\n  yes"])
    def test_what_is_quoted_or_tagged_is_text(self, text: str) -> None:
        assert value(f"a: {text}") == {"a": "yes"}

    @pytest.mark.parametrize("text", [".inf", "-.inf", ".nan"])
    def test_numbers_that_json_lacks_are_refused(self, text: str) -> None:
        with pytest.raises(YamlError, match="no number that JSON has") as caught:
            value(f"a:\n  b: {text}")
        assert (caught.value.line, caught.value.column) == (2, 6)


class TestMappings:
    def test_keys_become_texts(self) -> None:
        assert value("{1: a, on: b, 1.5: c, x: d}") == {"1": "a", "true": "b", "1.5": "c", "x": "d"}

    def test_the_last_of_equal_keys_counts(self) -> None:
        assert value("a: 1\na: 2") == {"a": 2}

    def test_merge_keys_give_what_is_not_there(self) -> None:
        text = "base: &base {a: 1, b: 1}\nmore: &more {b: 2, c: 2}\nit: {<<: [*base, *more], a: 0}"
        found = value(text)
        assert isinstance(found, dict)
        assert found["it"] == {"a": 0, "b": 1, "c": 2}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{[1]: a}", "a key must be a text"),
            ("{null: a}", "a key must be a text"),
            ("{<<: 1}", "map merge requires map or sequence of maps"),
            ("a: *b", "anchor 'b' is not known here"),
            ("a: &a [*a]", "of a value that contains itself"),
        ],
    )
    def test_what_json_can_not_hold_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(YamlError, match=message):
            value(text)


class TestDocuments:
    def test_each_tells_where_it_begins(self) -> None:
        assert list(documents("# first\na: 1\n---\nb: 2\n---\n# nothing\n---\nc: 3\n")) == [
            (2, {"a": 1}),
            (4, {"b": 2}),
            (7, None),
            (8, {"c": 3}),
        ]

    def test_anchors_end_with_their_document(self) -> None:
        with pytest.raises(YamlError, match="not known here"):
            list(documents("a: &x 1\n---\nb: *x\n"))

    def test_nothing_is_no_document(self) -> None:
        assert list(documents("# only a comment\n")) == []


class TestHostileTexts:
    def test_what_is_not_yaml_is_refused_with_its_place(self) -> None:
        with pytest.raises(YamlError) as caught:
            value("a: 1\nb: [1, 2\nc: 3\n")
        assert caught.value.line == 3

    def test_nested_aliases_do_not_fill_the_memory(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
        with pytest.raises(YamlError, match="aliases repeat too much"):
            value("\n".join(lines))

    @pytest.mark.parametrize("depth", [800, 100_000])
    def test_depth_is_limited(self, depth: int) -> None:
        with pytest.raises(YamlError, match=r"nested too deeply|maximum nesting depth"):
            value("[" * depth + "]" * depth)

    def test_control_characters_are_refused(self) -> None:
        with pytest.raises(YamlError, match=r"control characters are not allowed|special characters"):
            value("a: \x01")
