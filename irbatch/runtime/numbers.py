"""Numbers: which values are some, checks of arguments, conversions to float64.

`struct` reads Python numbers into float64 as fast as CPython can. What is wrong with an argument is
told as ``name=value must be …``.
"""

from __future__ import annotations

import functools
import math
import struct
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np

from irbatch.array_types import Floats, NDArray
from irbatch.errors import InputError, did_you_mean, keyword, shown

# What `as_floats` raises for values that float64 cannot stand for; NumPy only warns of some.
NUMBER_ERRORS = (struct.error, OverflowError, TypeError, ValueError, Warning)

# How a decimal number is written, as a regular expression: ASCII digits alone. Digits match in one
# way only: time is linear where what follows them does not match.
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

LARGEST_WHOLE = 2**53  # above it float64 no longer tells neighbouring whole numbers apart


@functools.lru_cache(maxsize=4096)
def _packer(count: int) -> Callable[..., bytes]:
    return struct.Struct(f"{count}d").pack


def pack_floats(values: Collection[object]) -> bytes:
    """Convert a collection of real numbers to the bytes of a float64 array.

    `struct` takes whatever is a real number (ints, floats, NumPy scalars) and rejects text and
    None, where NumPy's own conversions would parse the one and make NaN of the other; it then
    raises one of `NUMBER_ERRORS`. With one starred argument it is also the fastest.
    """
    return _packer(len(values))(*values)


def as_floats(values: Collection[object]) -> Floats:
    """Convert a collection of real numbers: float64 ``(n,)``, read-only.

    Raises:
        One of `NUMBER_ERRORS`: if a value is not a real number.
    """
    return np.frombuffer(pack_floats(values))


def is_real(value: object) -> TypeGuard[float]:
    """Tell real numbers of Python and NumPy from all else, truth values too."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whole numbers of Python and NumPy from all else, truth values too."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell what float64 can stand for from all else: no NaN, truth values or text."""
    return not isinstance(value, bool) and number_problem(value) is None


def number_problem(value: object) -> str | None:
    """Say why a value is not a real number: ``'abc' is not a number``; None if it is one."""
    if isinstance(value, int) and value.bit_length() > 1024:
        # Python refuses to print numbers of more than a few thousand digits.
        digits = repr(value) if value.bit_length() < 10_000 else f"of {value.bit_length()} bits"
        return f"{digits} overflows float64"
    try:
        if isinstance(value, int | float | np.integer | np.floating):
            number = float(value)
        else:
            with warnings.catch_warnings():  # which makes Python show again what it has shown
                warnings.simplefilter("ignore")  # NumPy warns of masked values: they become NaN
                (number,) = struct.unpack("d", struct.pack("d", value))
    except NUMBER_ERRORS:
        number = math.nan
    is_other = isinstance(value, np.complexfloating) or (
        isinstance(value, np.ndarray) and value.ndim
    )
    if math.isnan(number) or is_other:
        return f"{shown(value)} is not a number"
    return None


def grade_problem(value: object) -> str | None:
    """Say why a value is not a grade: it is not a number, or beyond 2^53; None if it is one."""
    problem = number_problem(value)
    if problem is None and abs(value if is_whole(value) else float(value)) > LARGEST_WHOLE:  # type: ignore[arg-type]
        return f"{shown(value)} is beyond 2^53, where grades are no longer exact"
    return problem


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers of an array without NaN, ascending.

    As `numpy.unique`, whose first call imports numpy.ma, which takes longer than small evaluations.
    """
    ordered = np.sort(values, axis=None)
    is_new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def powers(base: float, count: int) -> Floats:
    """Tabulate base^0 … base^(count - 1) by repeated multiplication, as trec_eval does."""
    factors = np.full(count, base)
    factors[:1] = 1.0
    return np.multiply.accumulate(factors)


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number of Python or NumPy within limits, both inclusive, as an int."""
    if is_whole(value) and value >= least and (most is None or value <= most):
        return int(value)
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InputError(f"{keyword(name, value)} must be a whole number {limits}", value=value)


def check_number(name: str, value: object, **limits: float) -> float:
    """Return a finite real number within limits, see `missed_limit`, as a float."""
    limit = missed_limit(value, **limits)
    if limit is not None:
        raise InputError(f"{keyword(name, value)} must be {limit}", value=value)
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
    """Reject a value that is not one of the options."""
    plain = value is None or isinstance(value, str | int | float)  # not an array of answers
    if not plain or value not in options:
        choices = ", ".join(map(repr, options))
        raise InputError(f"{keyword(name, value)} must be one of {choices}", value=value)


def check_keywords(function: Any, keywords: Iterable[str], accepted: Collection[str]) -> None:
    """Reject keywords that a public function passes on and nothing takes, as Python itself does.

    Raises:
        TypeError: naming the function, and the nearest keyword or else those that there are.
    """
    for word in keywords:
        if word not in accepted:
            code = getattr(function, "__wrapped__", function).__code__
            own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            hint = did_you_mean(word, [*own, *accepted]) or f"; there are: {', '.join(accepted)}"
            name = function.__qualname__
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}{hint}")


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
