"""Quantities against apimachinery's own answers (golden_quantities.json) and against exact fractions."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.api.quantity import (
    ZERO,
    Quantity,
    QuantityError,
    milli_value,
    parse,
    rounded_to_milli,
    sum_of,
    value,
)

GOLDEN = json.loads((Path(__file__).parent / "golden_quantities.json").read_text())
VALID = [row for row in GOLDEN["quantities"] if "error" not in row]
# Parsing takes white space around a quantity away, as decoding JSON does in Go; the golden table is of bare texts.
INVALID = [row for row in GOLDEN["quantities"] if "error" in row and row["input"] == row["input"].strip()]

UNITS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
}


@st.composite
def quantities(draw: st.DrawFn, *, signed: bool = True) -> tuple[str, Fraction]:
    """A text with at most nano precision whose amount fits an int64 in thousandths, and that amount."""
    whole, fraction = draw(st.integers(0, 7_999)), draw(st.integers(0, 999))
    sign = draw(st.sampled_from(["", "+", "-"] if signed else [""]))
    suffix = draw(st.sampled_from([s for s in UNITS if s not in ("n", "u")]))
    amount = Fraction(whole * 1000 + fraction, 1000) * UNITS[suffix]
    return f"{sign}{whole}.{fraction:03}{suffix}", -amount if sign == "-" else amount


def exact(quantity: Quantity) -> Fraction:
    return quantity.unscaled * Fraction(10) ** quantity.scale


def test_values_signs_and_texts_are_apimachinerys() -> None:
    for row in VALID:
        quantity = parse(row["input"])
        got = (quantity.value(), quantity.milli_value(), quantity.sign, str(quantity))
        assert got == (row["value"], row["milli"], row["sign"], row["text"]), row["input"]


def test_rounding_to_milli_is_apimachinerys() -> None:
    for row in VALID:
        assert rounded_to_milli(row["input"]) == row["rounded"], row["input"]


@pytest.mark.parametrize("row", INVALID, ids=lambda row: repr(row["input"]))
def test_what_is_no_quantity_is_refused_with_apimachinerys_message(row: dict[str, str]) -> None:
    with pytest.raises(QuantityError) as caught:
        parse(row["input"])
    assert str(caught.value) == row["error"]


def test_sums_and_comparisons_are_apimachinerys() -> None:
    for row in GOLDEN["pairs"]:
        a, b = parse(row["a"]), parse(row["b"])
        total = a + b
        got = (total.value(), total.milli_value(), str(total), a.compare(b))
        assert got == (row["value"], row["milli"], row["text"], row["cmp"]), (row["a"], row["b"])


@pytest.mark.parametrize("text", [" 1Gi", "1Gi ", "\t1Gi\n", "\u00a01Gi"])
def test_white_space_around_a_quantity_is_ignored(text: str) -> None:
    assert value(text) == 2**30


@given(quantities())
def test_a_parsed_amount_is_exact(case: tuple[str, Fraction]) -> None:
    text, amount = case
    assert exact(parse(text)) == amount


@given(quantities(signed=False))
def test_values_are_rounded_up(case: tuple[str, Fraction]) -> None:
    text, amount = case
    assert value(text) == math.ceil(amount)
    assert milli_value(text) == math.ceil(amount * 1000)


@given(quantities(), quantities())
def test_addition_and_order_are_those_of_fractions(a: tuple[str, Fraction], b: tuple[str, Fraction]) -> None:
    x, y = parse(a[0]), parse(b[0])
    assert exact(x + y) == a[1] + b[1]
    assert (x < y, x <= y, x == y) == (a[1] < b[1], a[1] <= b[1], a[1] == b[1])
    if x == y:
        assert hash(x) == hash(y)


@given(quantities())
def test_the_canonical_text_parses_to_the_same_amount(case: tuple[str, Fraction]) -> None:
    quantity = parse(case[0])
    assert parse(str(quantity)) == quantity


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    with suppress(QuantityError):
        parse(text).value()


def test_a_sum_is_rounded_once() -> None:
    assert sum_of([parse("100m"), parse("100m")]).value() == 1
    assert sum_of([]) == ZERO


@pytest.mark.parametrize("text", ["9" * 2000, "1e20000000000000000000000"])
def test_texts_that_want_to_exhaust_memory_are_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse(text)


def test_amounts_that_are_too_far_apart_can_be_compared_but_not_added() -> None:
    huge = parse("1e2000000000")
    assert huge > parse("1")
    with pytest.raises(QuantityError, match="out of range"):
        _ = huge + parse("1")
