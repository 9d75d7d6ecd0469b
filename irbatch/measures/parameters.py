"""The kinds of parameter a measure may have, and what values each takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from irbatch.measures.gains import DISCOUNTS, GAINS, find_discount
from irbatch.runtime.numbers import DECIMAL, is_whole, missed_limit

_NUMBER = re.compile(DECIMAL)


@dataclass(frozen=True)
class Number:
    """A numeric parameter.

    Args:
        default: its value when not given.
        above, below: limits, exclusive.
        least, most: limits, inclusive.
        whole: whether it is a whole number.
    """

    default: float | None
    above: float = -math.inf
    least: float = -math.inf
    below: float = math.inf
    most: float = math.inf
    whole: bool = False

    def check(self, value: object) -> float:
        """Return the value, or raise ValueError saying what would be one."""
        limits = {"above": self.above, "least": self.least, "below": self.below, "most": self.most}
        if (wanted := missed_limit(value, **limits)) is not None:
            raise ValueError(wanted)
        if self.whole and float(value) % 1:  # type: ignore[arg-type]
            raise ValueError("a whole number")
        return float(value) + 0.0  # type: ignore[arg-type]  # -0.0 is 0.0


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of some words.

    Args:
        default: its value when not given.
        options: the words; a mapping's keys are read anew at each check.
    """

    default: str
    options: tuple[str, ...] | Mapping[str, object]

    def check(self, value: object) -> str:
        """Return the word, or raise ValueError listing the words."""
        if isinstance(value, str) and value in self.options:
            return value
        raise ValueError("one of " + ", ".join(self.options))


@dataclass(frozen=True)
class Flag:
    """A parameter that is true or false, also as a word, ``"True"``."""

    default: bool

    def check(self, value: object) -> bool:
        """Return it as a bool, or raise ValueError."""
        if isinstance(value, bool | np.bool_) or value in ("True", "False"):
            return bool(value) if not isinstance(value, str) else value == "True"
        raise ValueError("True or False")


@dataclass(frozen=True)
class Gain:
    """The gain parameter: the name of a gain function, or a map of grades to gains."""

    default: str = "linear"

    def check(self, value: object) -> object:
        """Return a name or sorted (grade, gain) pairs, or raise ValueError."""
        if isinstance(value, str) and value in GAINS:
            return value
        pairs = value.items() if isinstance(value, Mapping) else value
        if isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
            raise ValueError("one of " + ", ".join(GAINS) + ", or a map {grade:gain}")
        try:
            numbers = Number(None)
            found = tuple(sorted((numbers.check(g), numbers.check(v)) for g, v in pairs))
            if len({grade for grade, _ in found}) < len(found):
                raise ValueError("one gain a grade")
            if any(grade < 0 and gain != 0 for grade, gain in found):
                raise ValueError("gains of grades of 0 or more")
            return tuple((grade, gain) for grade, gain in found if grade >= 0)
        except (TypeError, ValueError):
            raise ValueError("a map of grades to gains, such as {1:3,2:9}") from None


@dataclass(frozen=True)
class Discount:
    """The discount parameter: the name of a discount, or ``jk`` and a base."""

    default: str = "log2"
    options: Mapping[str, object] = field(default_factory=lambda: DISCOUNTS)

    def check(self, value: object) -> str:
        """Return the name, or raise ValueError listing the names."""
        if isinstance(value, str) and find_discount(value) is not None:
            return value
        raise ValueError("one of " + ", ".join(DISCOUNTS) + ", or jk and a base, such as jk10")


@dataclass(frozen=True)
class Points:
    """A parameter of several different numbers; their order doesn't matter.

    Args:
        default: the numbers when not given.
        least, most: limits, inclusive.
        in_order: whether their order matters, and numbers may come again.
    """

    default: tuple[float, ...]
    least: float = -math.inf
    most: float = math.inf
    in_order: bool = False

    def check(self, value: object) -> tuple[float, ...]:
        """Return the numbers, ascending unless their order matters, or raise ValueError."""
        each = Number(None, least=self.least, most=self.most)
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ValueError("several numbers, such as {0.25,0.5,0.75}")
        try:
            numbers = tuple(each.check(number) for number in value)
        except (TypeError, ValueError) as what:
            raise ValueError(f"several numbers, each of them {what}") from None
        once = "" if self.in_order else ", each once"
        if not numbers or (once and len(set(numbers)) < len(numbers)):
            raise ValueError(f"several numbers{once}, such as {{0.25,0.5,0.75}}")
        return numbers if self.in_order else tuple(sorted(numbers))


@dataclass(frozen=True)
class Word:
    """A parameter that is some name, which must be given; one of digits is a whole number's."""

    default: str = ""

    def check(self, value: object) -> str:
        """Return the name as text, or raise ValueError."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value) if isinstance(value, str) or is_whole(value) else ""
        plain = text == text.strip() and not set(text) & set(",=@(){}'\"")
        if not text or not plain or (_NUMBER.fullmatch(text) and not text.isdecimal()):
            raise ValueError("a name without any of , = @ ( ) { } and quotes")
        return text


Parameter = Number | Choice | Flag | Gain | Discount | Points | Word

REL = Number(None, least=0.0)
MAX_GRADE = Number(4.0, above=0.0)
"""The highest grade of the scale, which no file need have a document of; higher ones are errors."""

GRADED: dict[str, Parameter] = {"gain": Gain(), "discount": Discount(), "rel": REL}
