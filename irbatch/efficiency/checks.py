"""Checks of what a record is told: numbers that measure something, texts, whole numbers."""

from __future__ import annotations

import math
from typing import Any

from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import number_problem

__all__ = ["check_count", "check_quantity", "check_text", "is_number", "of_system", "refuse"]


def of_system(system: object) -> str:
    """Say whose record is wrong, for errors."""
    return f"record of {shown(system)}"


def refuse(source: str, field: str, problem: str, value: object) -> InputError:
    """Return the error that names whose field is wrong, and what is wrong with it."""
    return InputError(f"{field} {problem}", source=source, value=value)


def is_number(value: object) -> bool:
    """Tell whether a value is a number, which truth values are not here."""
    return not isinstance(value, bool) and number_problem(value) is None


def check_quantity(source: str, field: str, value: Any) -> float | None:
    """Return a measured number as a float; None where nothing was measured.

    Raises:
        InputError: for what is no number, negative or not finite.
    """
    if value is None:
        return None
    if not is_number(value):
        raise refuse(source, field, f"is {shown(value)}, which is not a number", value)
    number = float(value)
    if not math.isfinite(number):
        raise refuse(source, field, f"is {shown(value)}, which is not finite", value)
    if number < 0:
        raise refuse(source, field, f"is {shown(value)}, which is negative", value)
    return number


def check_count(source: str, field: str, value: Any, least: int) -> int | None:
    """Return a whole number that is large enough; None where there is none.

    Raises:
        InputError: for anything else.
    """
    number = check_quantity(source, field, value)
    if number is None:
        return None
    if not number.is_integer() or number < least:
        problem = f"is {shown(value)}, which is no whole number from {least} on"
        raise refuse(source, field, problem, value)
    return int(number)


def check_text(source: str, field: str, value: Any) -> None:
    """Check a text, which may be missing but not empty.

    Raises:
        InputError: for anything else.
    """
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise refuse(source, field, f"is {shown(value)}, which is no text", value)
