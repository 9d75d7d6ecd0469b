"""Checks of the fields of a record: numbers that measure something, texts, whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import is_number

Part = TypeVar("Part")


def of_system(system: object) -> str:
    """Name the record of a system, for errors."""
    return f"record of {shown(system)}"


def only_known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None."""
    return {name: value for name, value in values.items() if value is not None}


def refuse(source: str, field: str, problem: str, value: object) -> InputError:
    """Return the error that names a field, and what is wrong with it."""
    return InputError(f"{field} {problem}", source=source, value=value)


def read_quantity(source: str, field: str, value: Any) -> float:
    """Return a measured number as a float: finite, from 0 on."""
    number = float(value) if is_number(value) else None
    if number is not None and math.isfinite(number) and number >= 0:
        return number
    what = "negative" if number is not None and number < 0 else "not finite"
    if number is None:
        what = "a text, not a number" if isinstance(value, str) else "not a number"
    raise refuse(source, field, f"is {shown(value)}, which is {what}", value)


def check_quantity(source: str, field: str, value: Any) -> float | None:
    """Return a measured number as `read_quantity` does; None for None."""
    return None if value is None else read_quantity(source, field, value)


def check_count(source: str, field: str, value: Any, least: int) -> int | None:
    """Return a whole number that is large enough; None for None."""
    if value is None:
        return None
    number = read_quantity(source, field, value)
    if not number.is_integer() or number < least:
        problem = f"is {shown(value)}, which is no whole number from {least} on"
        raise refuse(source, field, problem, value)
    return int(number)


def require(source: str, **values: Any) -> None:
    """Refuse None."""
    for name, value in values.items():
        if value is None:
            raise refuse(source, name, "is missing", None)


def part_of_record(source: str, place: str, kind: Callable[..., Part], values: Any) -> Part:
    """Make a part of a record of its fields; errors name the record, and the part's place."""
    try:
        return kind(**values)
    except InputError as problem:
        raise refuse(source, f"{place}:", problem.message, problem.value) from None


def check_text(source: str, field: str, value: Any) -> None:
    """Refuse what is neither None nor a text with characters in it."""
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise refuse(source, field, f"is {shown(value)}, which is no text", value)


def check_fields(
    record: Any,
    source: str,
    *,
    texts: Iterable[str] = (),
    counts: Mapping[str, int],
    quantities: Iterable[str],
) -> None:
    """Check fields of a frozen record, counts with their least; set its numbers as Python's own."""
    for name in texts:
        check_text(source, name, getattr(record, name))
    for name, least in counts.items():
        object.__setattr__(record, name, check_count(source, name, getattr(record, name), least))
    for name in quantities:
        object.__setattr__(record, name, check_quantity(source, name, getattr(record, name)))
