"""Kernels that read numbers: decimal text to float64, correctly rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from irbatch.array_types import Bytes
from irbatch.runtime.kernels import inlined_kernel, kernel
from irbatch.runtime.ragged import PLACES

UNKNOWN = -1  # a whole number that is none
NO_EXPONENT = 1 << 20
DIGITS = 18  # as many as int64 holds
EXACT_POWERS = 22  # powers of ten up to this are exact in float64
POWERS = np.array([float(10**power) for power in range(EXACT_POWERS + 1)])

SPACE, PLUS, MINUS, POINT, ZERO, NINE = b" +-.09"
LOWER_E, UPPER_E = b"eE"


@inlined_kernel
def parse_plain(text: Bytes, at: int) -> tuple[Any, int]:
    """Convert a number without an exponent; return it, or NaN, and where it ends."""
    negative = text[at & PLACES] == MINUS
    whole, power, digits, at = _read_decimal(text, at + negative)
    if text[at & PLACES] > SPACE or digits == 0 or digits > DIGITS:
        return np.nan, at
    value = _scale(whole, power)
    return -value if negative else value, at


@inlined_kernel
def _read_decimal(text: Bytes, at: int) -> tuple[int, int, int, int]:
    """Read digits, perhaps with a point: as whole * 10^power, how many they are, their end.

    What ends a column ends its digits, too: they need not be counted on the way.
    """
    first = at
    whole, at = _read_digits(text, at, 0)
    if text[at & PLACES] != POINT:
        return whole, 0, at - first, at
    point = at
    whole, at = _read_digits(text, at + 1, whole)
    return whole, point + 1 - at, at - first - 1, at


@kernel
def _read_digits(text: Bytes, at: int, whole: int) -> tuple[int, int]:
    """Append digits to a whole number; return it and where they end."""
    c = text[at & PLACES]
    while c >= ZERO and c <= NINE:
        whole = whole * 10 + (int(c) - ZERO)
        at += 1
        c = text[at & PLACES]
    return whole, at


@kernel
def parse_whole(text: Bytes, start: int, stop: int) -> int:
    """Convert a whole number; UNKNOWN where it is not one, or long."""
    if stop - start > DIGITS - 1:
        return UNKNOWN
    rank = 0
    for i in range(start, stop):
        if text[i] < ZERO or text[i] > NINE:
            return UNKNOWN
        rank = rank * 10 + (int(text[i]) - ZERO)
    return rank


@kernel
def parse_number(text: Bytes, start: int, stop: int) -> Any:
    """Convert a decimal number, correctly rounded; NaN where it isn't sure to be."""
    negative = text[start] == MINUS
    first = start + (negative or text[start] == PLUS)
    whole, power, digits, at = _read_decimal(text, first)
    if digits == 0:
        return np.nan
    if digits > DIGITS:  # those in front that are zeros don't count
        while text[first] == ZERO or text[first] == POINT:
            digits -= text[first] == ZERO
            first += 1
    if digits > DIGITS:
        return np.nan
    if at < stop:
        exponent = _parse_exponent(text, at, stop)
        if exponent == NO_EXPONENT:
            return np.nan
        power += exponent
    value = _scale(whole, power)
    return -value if negative else value


@kernel
def _parse_exponent(text: Bytes, start: int, stop: int) -> int:
    """Convert ``e-05`` and the like; NO_EXPONENT where it is not one, or long."""
    at = start + 1
    down = at < stop and text[at] == MINUS
    if down or (at < stop and text[at] == PLUS):
        at += 1
    if (text[start] != LOWER_E and text[start] != UPPER_E) or at == stop or stop - at > 4:
        return NO_EXPONENT
    exponent = 0
    while at < stop:
        if text[at] < ZERO or text[at] > NINE:
            return NO_EXPONENT
        exponent = exponent * 10 + (int(text[at]) - ZERO)
        at += 1
    return -exponent if down else exponent


@kernel
def _scale(whole: int, power: int) -> Any:
    """Return whole * 10^power, correctly rounded; NaN where it isn't sure to be."""
    if whole == 0:
        return 0.0
    if power > EXACT_POWERS or power < -EXACT_POWERS:
        return np.nan
    high = float(whole)
    if whole <= 9007199254740992:
        return high * POWERS[power] if power >= 0 else high / POWERS[-power]
    if power > 0:
        return np.nan
    # The quotient in two parts: of what float64 holds of the number, and of what that leaves.
    divisor = POWERS[-power]
    low = float(whole - int(high))
    quotient = high / divisor
    # Dekker's product: quotient * divisor = product + error, exactly.
    product = quotient * divisor
    split = 134217729.0 * quotient
    quotient_high = split - (split - quotient)
    quotient_low = quotient - quotient_high
    split = 134217729.0 * divisor
    divisor_high = split - (split - divisor)
    divisor_low = divisor - divisor_high
    error = quotient_low * divisor_low - (
        ((product - quotient_high * divisor_high) - quotient_low * divisor_high)
        - quotient_high * divisor_low
    )
    correction = ((high - product) - error + low) / divisor
    value = quotient + correction
    left = (quotient - value) + correction
    # Near the middle between two numbers, what was lost in the correction could decide.
    if value + left * 1.000001 != value:
        return np.nan
    return value
