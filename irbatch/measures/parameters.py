"""The kinds of parameter a measure may have; gains and discounts, and how to name one's own.

A gain is the worth of a document of some grade; a discount is what it is divided by at some rank.
Both appear by name in a measure, ``DCG(gain=exp, discount=ln)@10``, so that a result always says
which were used.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.scan import Weighting
from irbatch.errors import InputError
from irbatch.runtime.numbers import DECIMAL, is_whole, missed_limit

GainMap = tuple[tuple[float, float], ...]

EXPONENT_LIMIT = 1023  # 2.0**1024 overflows float64


def _exponential(grades: Floats) -> Floats:
    if grades.size and grades.max() > EXPONENT_LIMIT:
        problem = f"gain=exp: 2^{grades.max():g} overflows; use gain=linear or a gain map"
        raise InputError(problem, source="measures", value=float(grades.max()))
    return np.exp2(grades) - 1.0


GAINS: dict[str, Callable[[Floats], Floats]] = {
    "linear": np.copy,
    "exp": _exponential,
    "binary": lambda grades: (grades > 0).astype(np.float64),
    "triangular": lambda grades: grades * (grades + 1.0) / 2.0,
}
"""Gain functions by name: grades float64 (levels,) to gains of the same shape.

``linear`` is the grade itself, ``exp`` 2^grade - 1, ``binary`` 1 for every grade above 0,
``triangular`` the sum of 1 … grade.
"""

DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": lambda rank: math.log2(rank + 1),
    "ln": lambda rank: math.log(rank + 1),
    "log10": lambda rank: math.log10(rank + 1),
    "jk2": lambda rank: max(1.0, math.log2(rank)),
    "rank": float,
    "none": lambda rank: 1.0,
}
"""Discounts by name: what the gain at a rank (from 1) is divided by.

``log2`` is the field's log2(rank + 1); ``jk2`` is the original of Järvelin & Kekäläinen (2002)
with base 2, log2(rank) and no discount before rank 2; see also `find_discount`.
"""

CATALOGUED = frozenset(GAINS), frozenset(DISCOUNTS)
"""Names of gains and of discounts that users have not defined."""


def find_discount(name: str) -> Callable[[int], float] | None:
    """Return the discount of a name: one of `DISCOUNTS`, or Järvelin & Kekäläinen's of any base.

    ``jk10`` is log10(rank), and no discount before rank 10. None of any other name.
    """
    if name in DISCOUNTS:
        return DISCOUNTS[name]
    base = re.fullmatch(r"jk([1-9][0-9]{0,8})", name)
    return _original(int(base[1])) if base and base[1] != "1" else None


@functools.lru_cache(maxsize=64)
def _original(base: int) -> Callable[[int], float]:
    return lambda rank: max(1.0, math.log(rank) / math.log(base))


def define_gain(name: str, gain: Callable[[Floats], Floats]) -> None:
    """Name a gain function of your own, for ``nDCG(gain=NAME)``.

    Args:
        name: a word, not in use yet.
        gain: grades float64 ``(levels,)``, all >= 0, to gains of the same shape, finite and >= 0.

    Raises:
        InputError: if the name is not a word, or is defined already.

    >>> define_gain("squared", lambda grades: grades**2)
    """
    _claim(name, GAINS.get)
    GAINS[name] = gain


def define_discount(name: str, divisor: Callable[[int], float]) -> None:
    """Name a discount of your own, for ``nDCG(discount=NAME)``.

    Args:
        name: a word, not in use yet.
        divisor: rank (from 1) to the positive number a gain at that rank is divided by.

    Raises:
        InputError: as `define_gain`.

    >>> define_discount("sqrt", lambda rank: rank**0.5)
    """
    _claim(name, find_discount)
    DISCOUNTS[name] = divisor


def _claim(name: str, find: Callable[[str], object]) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"{name!r} is not a word that could stand in a measure's name", value=name)
    if find(name) is not None:
        raise InputError(f"{name!r} is defined already", value=name)


@functools.lru_cache(maxsize=256)
def make_weighting(gain: str | GainMap, discount: str, rel: float | None) -> Weighting:
    """Build what a scan needs; grades that no pair of the gain names keep themselves as gains."""

    def gains(grades: Floats) -> Floats:
        if isinstance(gain, str):
            values = np.asarray(GAINS[gain](grades), np.float64)
        else:
            mapped = dict(gain)
            values = np.array([mapped.get(grade, grade) for grade in grades.tolist()], np.float64)
        if values.shape != grades.shape:
            shapes = f"{values.shape} from grades of {grades.shape}"
            raise InputError(f"gain {gain!r} made an array of shape {shapes}", source="measures")
        if (bad := ~(np.isfinite(values) & (values >= 0))).any():
            problem = f"gain {gain!r} of grade {grades[bad][0]:g} is {values[bad][0]:g}"
            problem += "; a gain is finite and not negative"
            raise InputError(problem, source="measures", value=float(values[bad][0]))
        return values if rel is None else np.where(grades >= rel, values, 0.0)

    return Weighting(gains, functools.partial(divisors_of, discount))


def divisors_of(discount: str, ranks: int) -> Floats:
    """Tabulate a discount for so many ranks or more: float64; NumPy's log2 is not trec_eval's."""
    n = 1 << max(ranks - 1, 127).bit_length()
    divisor = find_discount(discount) or DISCOUNTS[discount]
    table = _tables.get(divisor, np.empty(0))
    if table.size < n:
        more = np.fromiter(map(divisor, range(table.size + 1, n + 1)), np.float64)
        if (bad := ~(np.isfinite(more) & (more > 0))).any():
            place = int(np.argmax(bad))
            value, rank = float(more[place]), table.size + place + 1
            problem = f"discount {discount!r} is {value:g} at rank {rank}; it must be positive"
            raise InputError(problem, source="measures", value=value)
        table = np.append(table, more)
        table.flags.writeable = False
        _tables[divisor] = table
    return table[:n]


_tables: dict[Callable[[int], float], Floats] = {}  # as long as any that was asked for


class Parameter:
    """A parameter of a measure: its value when not given, and which values it takes.

    `check` returns a value as it is kept, or raises ValueError saying what would be one. `options`
    are the words that it takes, if only these. The kinds below are typed as Any, so that they can
    stand as defaults in the signatures of formulas.
    """

    def __init__(
        self, default: Any, check: Callable[[Any], Any], options: Collection[str] = ()
    ) -> None:
        self.default, self.check, self.options = default, check, options


def Number(default: float | None, *, whole: bool = False, **limits: float) -> Any:
    """Return a numeric parameter.

    Args:
        default: its value when not given.
        limits: of ``above`` and ``below``, exclusive, and ``least`` and ``most``, inclusive.
        whole: whether it is a whole number.
    """

    def check(value: Any) -> float:
        if (problem := missed_limit(value, **limits)) is not None:
            raise ValueError(problem)
        if whole and float(value) % 1:
            raise ValueError("a whole number")
        return float(value) + 0.0  # -0.0 is 0.0

    return Parameter(default, check)


def Choice(default: str, options: Collection[str]) -> Any:
    """Return a parameter that is one of some words, `options`, of which one is the default."""

    def check(value: Any) -> str:
        if isinstance(value, str) and value in options:
            return value
        raise ValueError("one of " + ", ".join(options))

    return Parameter(default, check, options)


def Flag(default: bool) -> Any:
    """Return a parameter that is true or false, also as a word, ``"True"``."""

    def check(value: Any) -> bool:
        if isinstance(value, bool | np.bool_) or value in ("True", "False"):
            return bool(value) if not isinstance(value, str) else value == "True"
        raise ValueError("True or False")

    return Parameter(default, check)


def Gain(default: str = "linear") -> Any:
    """Return the gain parameter: the name of a gain function, or a map of grades to gains."""
    return Parameter(default, _check_gain)


def _check_gain(value: Any) -> object:
    """Return a name or sorted (grade, gain) pairs."""
    if isinstance(value, str) and value in GAINS:
        return value
    pairs = value.items() if isinstance(value, Mapping) else value
    if isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise ValueError("one of " + ", ".join(GAINS) + ", or a map {grade:gain}")
    try:
        number = Number(None).check
        gains = sorted((number(grade), number(gain)) for grade, gain in pairs)
        if len(dict(gains)) < len(gains) or any(g < 0 and gain for g, gain in gains):
            raise ValueError
        return tuple((grade, gain) for grade, gain in gains if grade >= 0)
    except (TypeError, ValueError):
        raise ValueError("a map of grades to gains, such as {1:3,2:9}") from None


def Discount(default: str = "log2") -> Any:
    """Return the discount parameter: the name of a discount, or ``jk`` and a base."""

    def check(value: Any) -> str:
        if isinstance(value, str) and find_discount(value) is not None:
            return value
        raise ValueError("one of " + ", ".join(DISCOUNTS) + ", or jk and a base, such as jk10")

    return Parameter(default, check, DISCOUNTS)


def Points(default: tuple[float, ...], **limits: float) -> Any:
    """Return a parameter of several different numbers in any order; `limits` as for `Number`."""
    number = Number(None, whole=False, **limits)

    def check(value: Any) -> tuple[float, ...]:
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ValueError("several numbers, such as {0.25,0.5,0.75}")
        try:
            numbers = tuple(map(number.check, value))
        except (TypeError, ValueError) as problem:
            raise ValueError(f"several numbers, each of them {problem}") from None
        if not numbers or len(set(numbers)) < len(numbers):
            raise ValueError("several numbers, each once, such as {0.25,0.5,0.75}")
        return tuple(sorted(numbers))

    return Parameter(default, check)


def Word(default: str = "") -> Any:
    """Return a parameter that is some name, which must be given; digits are a whole number's."""

    def check(value: Any) -> str:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value) if isinstance(value, str) or is_whole(value) else ""
        plain = text == text.strip() and not set(text) & set(",=@(){}'\"")
        if not text or not plain or (re.fullmatch(DECIMAL, text) and not text.isdecimal()):
            raise ValueError("a name without any of , = @ ( ) { } and quotes")
        return text

    return Parameter(default, check)


REL = Number(None, least=0.0)
MAX_GRADE = Number(4.0, above=0.0)
"""The highest grade of the scale, which no file need have a document of; higher ones are errors."""

GRADED: dict[str, Parameter] = {"gain": Gain(), "discount": Discount(), "rel": REL}
UNDISCOUNTED: dict[str, Parameter] = {"gain": GRADED["gain"], "rel": REL}
