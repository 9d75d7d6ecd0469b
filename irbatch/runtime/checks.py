"""Checks of arguments that are one value: a whole number, a number within limits, a choice.

What is wrong is told as ``name=value must be …``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.runtime.numbers import (
    LARGEST_WHOLE,
    NUMBER_ERRORS,
    as_floats,
    grade_problem,
    is_real,
    is_whole,
    number_problem,
)


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number of Python or NumPy within limits, both inclusive, as an int."""
    if is_whole(value) and value >= least and (most is None or value <= most):
        return int(value)
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InputError(f"{name}={shown(value)} must be a whole number {limits}", value=value)


def check_number(name: str, value: object, **limits: float) -> float:
    """Return a finite real number within limits, see `missed_limit`, as a float."""
    wanted = missed_limit(value, **limits)
    if wanted is not None:
        raise InputError(f"{name}={shown(value)} must be {wanted}", value=value)
    return float(value)  # type: ignore[arg-type]


def missed_limit(
    value: object,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
) -> str | None:
    """Say what a value should be, such as ``a number above 0``; None if it is that."""
    if not is_real(value):
        return "a number"
    try:
        number = float(value)
    except OverflowError:
        return "a number that float64 can hold"
    if not math.isfinite(number):
        return "a finite number"
    if number <= above:
        return f"a number above {above:g}"
    if number < least:
        return f"a number of at least {least:g}"
    if number >= below:
        return f"a number below {below:g}"
    return f"a number of at most {most:g}" if number > most else None


def check_choice(name: str, value: object, options: Iterable[Any]) -> None:
    """Refuse a value that is not one of the options."""
    plain = value is None or isinstance(value, str | int | float)  # not an array of answers
    if not plain or not any(value is each or value == each for each in options):
        choices = ", ".join(map(repr, options))
        raise InputError(f"{name}={shown(value)} must be one of {choices}", value=value)


def keywords_of(function: Any) -> list[str]:
    """Name the arguments of a function, or a method, that are given by keyword alone."""
    code = function.__code__
    return [*code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]]


# What other tools call these, for those who are used to it.
MEANT = {
    "metrics": "measures",
    "metric": "measures",
    "k": "cutoffs",
    "ks": "cutoffs",
    "topk": "cutoffs",
    "top_k": "cutoffs",
}


def check_keywords(function: Any, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse keywords that a public function passes on and nothing takes, as Python itself does.

    Raises:
        TypeError: naming the function, and the nearest keyword or else those that there are.
    """
    for each in given:
        if each in known:
            continue
        owner = getattr(function, "__self__", None)  # of a method
        kind = owner if isinstance(owner, type) else type(owner)
        name = function.__name__ if owner is None else f"{kind.__name__}.{function.__name__}"
        code = function.__code__
        named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        there = [*named[owner is not None :], *known]
        meant = MEANT.get(each)
        known_as = f"; did you mean {meant}?" if meant in there else ""
        hint = known_as or did_you_mean(each, there) or f"; there are: {', '.join(there)}"
        raise TypeError(f"{name}() got an unexpected keyword argument {each!r}{hint}")


def read_numbers(
    what: str, values: Collection[Any], names: Iterable[tuple[Any, Any]], **fields: Any
) -> Floats:
    """Return numbers as float64 ``(n,)``, read-only; `names` are the query and document of each.

    Raises:
        InputError: naming the first that is not a number, or as a grade not exact, with the fields
            given.
    """
    try:
        numbers = as_floats(values)
        # The largest grade may have been rounded to it.
        sure = np.abs(numbers) < LARGEST_WHOLE if what == "grade" else ~np.isnan(numbers)
        sound = bool(sure.all())
    except NUMBER_ERRORS:
        sound = False
    if not sound:
        rows = ((*name, value) for name, value in zip(names, values, strict=False))
        for error in number_errors(what, rows, **fields):
            raise error
    return numbers


def number_errors(
    what: str, rows: Iterable[tuple[Any, Any, Any]], **fields: Any
) -> Iterator[InputError]:
    """Find values that are not numbers, called `what`, in rows of query, document and value."""
    problem_of = grade_problem if what == "grade" else number_problem
    for query, document, value in rows:
        if problem := problem_of(value):
            message = f"{what} {problem}"
            yield InputError(message, query=query, document=document, value=value, **fields)
