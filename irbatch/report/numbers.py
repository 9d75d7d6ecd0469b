"""Numbers as people see them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

import numpy as np

from irbatch.errors import InputError, join_words
from irbatch.runtime.numbers import is_whole

NOTHING = "–"  # what is shown of NaN
WORDY = 1e15  # numbers from here on, whose decimals float64 has not, are written with an exponent
HUGE = 1e9  # quantities from here on are written with an exponent
LEAST_P_DECIMALS, MOST_P_DECIMALS = 3, 12
MORE = 5  # decimals that tell a bound from 0
MOST_DIGITS = 17  # of a float64


def check_digits(digits: int) -> None:
    """Reject a number of decimals that is not a whole number from 0 to 17."""
    if not is_whole(digits) or not 0 <= digits <= MOST_DIGITS:
        problem = f"decimals are a whole number from 0 to {MOST_DIGITS}, not {digits!r}"
        raise InputError(problem, source="digits", value=digits)


def is_best(values: Sequence[float]) -> list[bool]:
    """Tell which of a column's values are the highest, to the last bit; a single value is not.

    >>> is_best([0.25, 0.5, math.nan, 0.5])
    [False, True, False, True]
    """
    highest = max((value for value in values if not math.isnan(value)), default=math.nan)
    return [len(values) > 1 and value == highest for value in values]


def best_first(values: Iterable[float], sign: int) -> list[int]:
    """Return the places of a column's values, the best first, NaN last; `sign` as `Measure.sign`.

    >>> best_first([0.25, math.nan, 0.5], 1), best_first([0.25, math.nan, 0.5], 0)
    ([2, 0, 1], [0, 1, 2])
    """
    return np.argsort(-np.array([*values]) * (sign or math.nan), kind="stable").tolist()


def show(value: float, digits: int) -> str:
    """Write a mean: a fixed number of decimals; no sign before what is rounded to zero."""
    text = _write(value, digits)
    return text if text.strip("-0.") else text.removeprefix("-")


def show_change(value: float, digits: int) -> str:
    """Write a difference with its sign, which even one that is rounded to zero keeps."""
    return _write(value, digits, "+") if value else _write(0.0, digits)


def show_percent(share: float) -> str:
    """Write a share with its sign as per cent."""
    shown = show_change(100 * share, 1)
    return f"{shown}%" if math.isfinite(share) else shown


def show_interval(low: float, high: float, digits: int, signed: bool = False) -> str:
    """Write both bounds; nothing where there are none.

    A bound of a difference keeps a digit that tells it from 0, where a few more decimals have one.

    >>> show_interval(0.00002, 0.31, 4, signed=True), show_interval(-0.2, 0.0, 2, signed=True)
    ('[+0.00002, +0.3100]', '[-0.20, 0.00]')
    """
    if math.isnan(low) or math.isnan(high):
        return NOTHING
    bounds = []
    for bound in (low, high):
        enough = (decimals for decimals in range(digits, digits + MORE) if round(bound, decimals))
        bounds.append(show_change(bound, next(enough, digits)) if signed else show(bound, digits))
    return f"[{', '.join(bounds)}]"


def show_quantity(value: float) -> str:
    """Write a number with a unit: four significant digits, thousands apart.

    >>> [show_quantity(value) for value in (0, 8.3125, 0.0123, 1234.56, 9.9999e8, 1.5e9, 1.234e-7)]
    ['0', '8.312', '0.0123', '1,235', '1e+09', '1.5e+09', '1.234e-07']
    """
    if not math.isfinite(value):
        return _write(value, 0)
    text = f"{value or 0.0:.4g}"
    short = "e-" not in text and abs(float(text)) < HUGE
    return f"{Decimal(text):,f}" if short else f"{value:.4g}"


def show_levels(levels: Collection[float | None]) -> str:
    """Write how sure intervals are: ``"95%"``; nothing where it isn't known of one.

    >>> show_levels([0.05, 0.1])
    '95% and 90%'
    """
    known_levels = [level for level in dict.fromkeys(levels) if level is not None]
    if len(known_levels) < len(set(levels)):
        return ""
    return join_words([f"{100 * (1 - level):g}%" for level in sorted(known_levels)])


def show_p(p: float, level: float) -> str:
    """Write a p-value: three decimals, more where rounding would move it across the level.

    What would be rounded to zero is written as less than the smallest number it could be.

    >>> [show_p(p, 0.05) for p in (0.25, 0.0496, 0.0501, 0.0004, 0.0, 1.0)]
    ['0.250', '0.0496', '0.050', '<0.001', '<0.001', '1.000']
    """
    if math.isnan(p):
        return NOTHING
    decimals = LEAST_P_DECIMALS
    while decimals < MOST_P_DECIMALS and _misleads(p, level, decimals):
        decimals += 1
    least: float = 10**-decimals
    return f"<{least:.{decimals}f}" if p < least else f"{p:.{decimals}f}"


def _misleads(p: float, level: float, decimals: int) -> bool:
    """Tell whether a p-value and the level, as far as they are shown, compare otherwise."""
    least: float = 10**-decimals
    if p < least:
        return least > level
    return (float(f"{p:.{decimals}f}") < level) != (p < level)


def _write(value: float, digits: int, plus: str = "") -> str:
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return f"{plus}∞" if value > 0 else "-∞"
    return f"{value:{plus}.{digits}{'f' if abs(value) < WORDY else 'e'}}"
