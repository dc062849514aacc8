"""Quantities ("100m", "1.5Gi", "2e3"): texts to amounts, as apimachinery parses them.

Source: k8s.io/apimachinery/pkg/api/resource/quantity.go, suffix.go.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scheduler.api.amount import (
    BINARY_SI,
    DECIMAL_EXPONENT,
    DECIMAL_SI,
    MILLI,
    NANO,
    Quantity,
    QuantityError,
    sum_of,
)
from scheduler.api.int64 import MAX_INT64, fits64, parse_int64, wrap32

__all__ = ["ZERO", "Quantity", "QuantityError", "milli_value", "parse", "rounded_to_milli", "sum_of", "value"]

ZERO: Final = Quantity(0, 0, big=False, form=DECIMAL_SI)

_SUFFIXES: Final = {
    "": (10, 0, DECIMAL_SI),
    "n": (10, -9, DECIMAL_SI),
    "u": (10, -6, DECIMAL_SI),
    "m": (10, -3, DECIMAL_SI),
    "k": (10, 3, DECIMAL_SI),
    "M": (10, 6, DECIMAL_SI),
    "G": (10, 9, DECIMAL_SI),
    "T": (10, 12, DECIMAL_SI),
    "P": (10, 15, DECIMAL_SI),
    "E": (10, 18, DECIMAL_SI),
    "Ki": (2, 10, BINARY_SI),
    "Mi": (2, 20, BINARY_SI),
    "Gi": (2, 30, BINARY_SI),
    "Ti": (2, 40, BINARY_SI),
    "Pi": (2, 50, BINARY_SI),
    "Ei": (2, 60, BINARY_SI),
}

# The number may lack digits on either side of the point, or altogether. The sign and the digits that may
# follow the letters are checked with the suffix.
_QUANTITY: Final = re.compile(r"([+-]?)(0*)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_EXPONENT: Final = re.compile(r"[eE](.+)", re.DOTALL)

_FORMAT_WRONG: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NUMERIC_WRONG: Final = "unable to parse numeric part of quantity"
_SUFFIX_WRONG: Final = "unable to parse quantity's suffix"

# What strings.TrimSpace takes away.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_MAX_TEXT: Final = 1024
_MAX_DIGITS: Final = 18


@lru_cache(maxsize=16_384)
def parse(text: str) -> Quantity:
    """Return the quantity in ``text``, with white space around it allowed as in JSON.

    Raises QuantityError with apimachinery's message if it is none.
    """
    text = text.strip(_SPACE)
    if len(text) > _MAX_TEXT:
        raise QuantityError(f"a quantity of {len(text)} characters is out of range")
    if text == "0":
        return Quantity(0, 0, big=False, form=DECIMAL_SI, text=text)
    match = _QUANTITY.fullmatch(text) if text else None
    if match is None:
        raise QuantityError(_FORMAT_WRONG)
    sign, zeros, whole, fraction, suffix = match.groups()
    fraction = fraction or ""
    base, exponent, form = _interpreted(suffix)
    negative = sign == "-"
    quantity = _small(text, whole or "0", fraction, base, exponent, form, negative=negative)
    if quantity is not None:
        return quantity
    if not zeros and not whole and not fraction:
        raise QuantityError(_NUMERIC_WRONG)
    return _big(int(whole + fraction or "0"), -len(fraction), base, exponent, form, negative=negative)


@lru_cache(maxsize=16_384)
def milli_value(text: str) -> int:
    """Return the quantity in ``text`` in thousandths, rounded up (``Quantity.MilliValue``)."""
    return parse(text).milli_value()


@lru_cache(maxsize=16_384)
def value(text: str) -> int:
    """Return the quantity in ``text`` in whole units, rounded up (``Quantity.Value``)."""
    return parse(text).value()


@lru_cache(maxsize=4_096)
def rounded_to_milli(text: str) -> str:
    """Return the text that the API server stores for a quantity: rounded away from zero to thousandths."""
    return str(parse(text).round_up(MILLI))


def _interpreted(suffix: str) -> tuple[int, int, str]:
    """Return ``(base, exponent, format)`` of a suffix (``suffixHandler.interpret``)."""
    known = _SUFFIXES.get(suffix)
    if known is not None:
        return known
    exponent = _EXPONENT.fullmatch(suffix)
    number = parse_int64(exponent[1]) if exponent else None
    if number is None:
        raise QuantityError(_SUFFIX_WRONG)
    return 10, wrap32(number), DECIMAL_EXPONENT


def _small(
    text: str, whole: str, fraction: str, base: int, exponent: int, form: str, *, negative: bool
) -> Quantity | None:
    """Return the int64 representation, or None if the number has too many digits for it."""
    if base == 10:
        precision, scale, mantissa = _MAX_DIGITS - len(whole) - len(fraction), exponent, 1
    elif fraction:
        return None
    else:
        precision, scale, mantissa = 15 - len(whole) - exponent * 3 // 10 - 1, 0, 1 << exponent
    scale = wrap32(scale - len(fraction))
    if precision < 0 or scale < NANO:
        return None
    digits = whole + fraction
    number = int(digits)
    if not fits64(number * mantissa):
        return None
    if base == 2:
        canonical = number & 7 != 0
    else:
        canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    unscaled = -number * mantissa if negative else number * mantissa
    return Quantity(unscaled, scale, big=False, form=form, text=text if canonical else "")


def _big(number: int, scale: int, base: int, exponent: int, form: str, *, negative: bool) -> Quantity:
    """Return the big representation: at least a nano, and at most 2**63 - 1 with a binary suffix."""
    if base == 2:
        number <<= exponent
    else:
        scale = wrap32(scale + exponent)
    amount = Quantity(number, scale, big=True, form=form).round_up(NANO) if number else None
    if amount is None:
        return Quantity(0, scale, big=True, form=form)
    unscaled, scale = amount.unscaled, amount.scale
    if base == 2:
        if unscaled > MAX_INT64 * 10**-NANO:
            unscaled, scale = MAX_INT64, 0
        elif unscaled < 10**-NANO:
            form = DECIMAL_SI
    return Quantity(-unscaled if negative else unscaled, scale, big=True, form=form)
