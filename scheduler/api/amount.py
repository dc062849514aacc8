"""Amounts of resources with the arithmetic of apimachinery, its overflows included.

A quantity is ``unscaled * 10**scale``. Like ``resource.Quantity`` it has two representations, one limited to
an int64 and one of any size ("big"), and which one a text gets decides how ``value`` and ``milli_value``
behave beyond 2**63 and for negative fractions. Source: k8s.io/apimachinery/pkg/api/resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.int64 import MIN_INT64, fits64, low64, truncating_divmod, wrap32, wrap64

if TYPE_CHECKING:
    from collections.abc import Iterable

DECIMAL_SI: Final = "DecimalSI"
BINARY_SI: Final = "BinarySI"
DECIMAL_EXPONENT: Final = "DecimalExponent"

NANO: Final = -9
MILLI: Final = -3

_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = {1: "Ki", 2: "Mi", 3: "Gi", 4: "Ti", 5: "Pi", 6: "Ei"}

_UNCHECKED_EXPONENTS = frozenset({1, 2, 3, 6, 9})

# 10**scale is computed for no larger scale than this: beyond lies only input that wants to exhaust memory.
_MAX_SHIFT = 20_000


class QuantityError(ValueError):
    """A text is not a quantity, or an amount is too far out of range to be computed with."""


class Quantity:
    """An exact decimal amount. Immutable; equal and ordered by amount."""

    __slots__ = ("_text", "big", "format", "scale", "unscaled")

    def __init__(self, unscaled: int, scale: int, *, big: bool, form: str, text: str = "") -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.big = big
        self.format = form
        self._text = text

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def value(self) -> int:
        """Return the amount in whole units, rounded up, as ``Quantity.Value`` does."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """Return the amount in thousandths, rounded up, as ``Quantity.MilliValue`` does."""
        return self.scaled_value(MILLI)

    def scaled_value(self, scale: int) -> int:
        """Return the amount in units of ``10**scale`` as an int64.

        Rounds away from zero in the int64 representation and up in the big one. What doesn't fit wraps,
        or is 0 in the former, except for the exponents that ``positiveScaleInt64`` multiplies at once.
        """
        if self.big:
            return self._scaled_big(self.scale - scale)
        if self.scale < scale:
            return _divided_away_from_zero(self.unscaled, scale - self.scale)
        exponent = wrap32(self.scale - scale)
        product = _multiplied(self.unscaled, exponent)
        if product is None:
            return wrap64(self.unscaled * int(10**exponent)) if exponent in _UNCHECKED_EXPONENTS else 0
        return product

    def _scaled_big(self, shift: int) -> int:
        if shift == 0:
            return low64(self.unscaled)
        if shift > 0:
            factor = 10**shift if shift <= 18 else MIN_INT64
            return wrap64(low64(self.unscaled) * factor)
        if self.unscaled < 2**63 - 1 and -shift < 19:
            quotient, remainder = truncating_divmod(low64(self.unscaled), 10**-shift)
            return quotient + 1 if remainder else quotient
        quotient, remainder = divmod(self.unscaled, _power_of_ten(-shift)) if self.unscaled else (0, 0)
        return wrap64(low64(quotient) + 1) if remainder else low64(quotient)

    def round_up(self, scale: int) -> Quantity:
        """Return the amount as a multiple of ``10**scale``, rounded away from zero (``Quantity.RoundUp``)."""
        if self.big:
            rounded = _rescaled_away_from_zero(self.unscaled, self.scale, scale)
        elif self.scale >= scale:
            return self
        else:
            rounded = _divided_away_from_zero(self.unscaled, scale - self.scale)
        return Quantity(rounded, scale, big=self.big, form=self.format)

    def __add__(self, other: Quantity) -> Quantity:
        form = self.format if self.unscaled else other.format
        if not self.big and not other.big:
            if other.unscaled == 0:
                return Quantity(self.unscaled, self.scale, big=False, form=form)
            if self.unscaled == 0:
                return Quantity(other.unscaled, other.scale, big=False, form=form)
            added = _added(self, other)
            if added is not None:
                return Quantity(added, min(self.scale, other.scale), big=False, form=form)
        scale = min(self.scale, other.scale)
        mine = self.unscaled * _power_of_ten(self.scale - scale)
        theirs = other.unscaled * _power_of_ten(other.scale - scale)
        return Quantity(mine + theirs, scale, big=True, form=form)

    def compare(self, other: Quantity) -> int:
        """Return -1, 0 or 1 as this amount is less than, equal to or greater than the other."""
        if self.scale == other.scale:
            return (self.unscaled > other.unscaled) - (self.unscaled < other.unscaled)
        if self.sign != other.sign or self.sign == 0:
            return (self.sign > other.sign) - (self.sign < other.sign)
        # The number of digits before the point settles it, or bounds the power of ten below.
        mine, theirs = _magnitude(self), _magnitude(other)
        if mine != theirs:
            return self.sign if mine > theirs else -self.sign
        scale = min(self.scale, other.scale)
        a = self.unscaled * _power_of_ten(self.scale - scale)
        b = other.unscaled * _power_of_ten(other.scale - scale)
        return (a > b) - (a < b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __hash__(self) -> int:
        unscaled, exponent = _without_factors(self.unscaled, 10)
        return hash((unscaled, self.scale + exponent if unscaled else 0))

    def __str__(self) -> str:
        """Return the canonical text, or the text that was parsed where that is canonical enough for Go."""
        return self._text or self._canonical()

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def _canonical(self) -> str:
        if self.unscaled == 0:
            return "0"
        if self.format == BINARY_SI and not _MINUS_1024 < self < _PLUS_1024:
            whole = self.round_up(0)
            if whole == self:
                mantissa = whole.unscaled * _power_of_ten(whole.scale)
                mantissa, exponent = _without_factors(mantissa, 1024)
                return f"{mantissa}{_BINARY_SUFFIXES.get(exponent, '')}"
        mantissa, exponent = _without_factors(self.unscaled, 10)
        exponent += self.scale
        mantissa *= 10 ** (exponent % 3)
        exponent -= exponent % 3
        if self.format == DECIMAL_EXPONENT:
            return f"{mantissa}e{exponent}" if exponent else str(mantissa)
        return f"{mantissa}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def sum_of(quantities: Iterable[Quantity]) -> Quantity:
    """Return the exact sum, added up in order; zero if there are none."""
    total = Quantity(0, 0, big=False, form=DECIMAL_SI)
    for quantity in quantities:
        total = total + quantity
    return total


_PLUS_1024 = Quantity(1024, 0, big=False, form=DECIMAL_SI)
_MINUS_1024 = Quantity(-1024, 0, big=False, form=DECIMAL_SI)


def _power_of_ten(exponent: int) -> int:
    if exponent > _MAX_SHIFT:
        raise QuantityError(f"an amount with {exponent} decimal digits is out of range")
    return int(10**exponent)


def _magnitude(quantity: Quantity) -> int:
    return len(str(abs(quantity.unscaled))) + quantity.scale


def _multiplied(unscaled: int, exponent: int) -> int | None:
    """Return ``unscaled * 10**exponent``, or None if it overflows an int64 (``positiveScaleInt64``)."""
    if unscaled == 0 or exponent <= 0:
        return unscaled
    if exponent > 18:
        return None
    product = unscaled * int(10**exponent)
    return product if fits64(product) else None


def _divided_away_from_zero(unscaled: int, exponent: int) -> int:
    """Return ``unscaled / 10**exponent`` (``negativeScaleInt64``)."""
    if unscaled == 0 or exponent > 18:
        return (unscaled > 0) - (unscaled < 0)
    quotient = -(-abs(unscaled) // int(10**exponent))
    return -quotient if unscaled < 0 else quotient


def _added(a: Quantity, b: Quantity) -> int | None:
    """Return the sum in units of the smaller scale, or None if it overflows (``int64Amount.Add``)."""
    scale = min(a.scale, b.scale)
    mine, theirs = _multiplied(a.unscaled, a.scale - scale), _multiplied(b.unscaled, b.scale - scale)
    if mine is None or theirs is None:
        return None
    return mine + theirs if fits64(mine + theirs) else None


def _rescaled_away_from_zero(unscaled: int, scale: int, new_scale: int) -> int:
    """Return ``unscaled * 10**scale`` in units of ``10**new_scale`` (``inf.Dec.Round`` with RoundUp)."""
    if scale >= new_scale or unscaled == 0:
        return unscaled * _power_of_ten(scale - new_scale) if unscaled else 0
    digits = new_scale - scale
    if digits > len(str(abs(unscaled))):
        return 1 if unscaled > 0 else -1
    quotient = -(-abs(unscaled) // _power_of_ten(digits))
    return -quotient if unscaled < 0 else quotient


def _without_factors(number: int, factor: int) -> tuple[int, int]:
    """Return ``(rest, times)`` with ``number == rest * factor**times`` and the largest possible ``times``."""
    times = 0
    while number and number % factor == 0:
        number //= factor
        times += 1
    return number, times
