"""What amounts do beyond an int64 and below zero, where the two representations differ."""

from __future__ import annotations

from scheduler.api.amount import BINARY_SI, DECIMAL_EXPONENT, DECIMAL_SI, MILLI, Quantity


def small(unscaled: int, scale: int = 0) -> Quantity:
    return Quantity(unscaled, scale, big=False, form=DECIMAL_SI)


def big(unscaled: int, scale: int = 0) -> Quantity:
    return Quantity(unscaled, scale, big=True, form=DECIMAL_SI)


def test_a_negative_fraction_rounds_away_from_zero_if_small_and_up_if_big() -> None:
    assert small(-15, -1).value() == -2
    assert big(-15 * 10**18, -19).value() == -1


def test_go_rounds_a_big_negative_fraction_up_twice_where_it_counts_in_int64() -> None:
    assert big(-15, -1).value() == 0


def test_a_small_amount_that_overflows_wraps_or_is_0() -> None:
    assert small(10, 18).value() == 0
    assert small(9223372036854776, 3).value() == 9223372036854776000 - 2**64


def test_a_big_amount_that_overflows_wraps() -> None:
    assert big(2**64 + 5).value() == 5
    assert big(2**63 - 1).milli_value() == -1000


def test_a_sum_that_does_not_fit_becomes_big() -> None:
    total = small(2**63 - 1) + small(1)
    assert (total.big, total.unscaled) == (True, 2**63)


def test_a_sum_takes_the_format_of_the_first_amount_that_is_not_zero() -> None:
    binary = Quantity(2048, 0, big=False, form=BINARY_SI)
    assert str(small(0) + binary) == "2Ki"
    assert str(binary + small(2048)) == "4Ki"
    assert str(small(2048) + binary) == "4096"


def test_a_canonical_text_has_the_largest_suffix_without_a_fraction() -> None:
    assert str(small(1500, MILLI)) == "1500m"
    assert str(small(1_000_000)) == "1M"
    assert str(Quantity(1536, 0, big=False, form=BINARY_SI)) == "1536"
    assert str(Quantity(3 * 2**20, 0, big=False, form=BINARY_SI)) == "3Mi"
    assert str(Quantity(12_000, 0, big=False, form=DECIMAL_EXPONENT)) == "12e3"


def test_rounding_up_leaves_coarser_amounts_alone() -> None:
    assert small(5).round_up(MILLI) == small(5)
    assert small(1_0001, -4).round_up(MILLI) == small(1001, -3)
    assert small(-1_0001, -4).round_up(MILLI) == small(-1001, -3)


def test_amounts_compare_by_value_whatever_their_scale() -> None:
    assert small(1) == small(1000, -3) == big(10**9, -9)
    assert len({small(1), small(1000, -3), big(10**9, -9), small(0), small(0, -3)}) == 2
    assert small(-1) < small(0) < small(1, -9) < small(1, 2_000_000_000)
    assert small(1) != 1


def test_a_quantity_is_shown_as_its_text() -> None:
    assert repr(small(1500, MILLI)) == "Quantity('1500m')"
