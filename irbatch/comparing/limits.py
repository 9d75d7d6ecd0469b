"""Limits in conditions: ``nDCG@10 >= 0.35``, of a value or of a bound of its interval."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import DECIMAL

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
HIGH, LOW = (">", ">="), ("<", "<=")  # what holds of high values, and of low ones
LIMIT = re.compile(rf"({'|'.join(OPERATORS)})\s*({DECIMAL})\s*\Z")
BOUNDS = {" lower bound": 0, " upper bound": 1}
ROUNDING = 1e-12  # as near as this a mean is the limit


def each_condition(given: Iterable[object]) -> list[Any]:
    """List conditions that are given one by one or as several; refuse none, which always pass."""
    found: list[Any] = []
    for each in given:
        if isinstance(each, Iterable) and not isinstance(each, (str, bytes)):
            found += each
        else:
            found.append(each)
    if not found:
        raise InputError("there is no condition to check", source="conditions")
    return found


class Limit(NamedTuple):
    """What a value, or a bound of its interval, is compared with.

    >>> read_limit("latency_p95 upper bound > 50")
    Limit(name='latency_p95', bound=1, operator='>', limit=50.0)
    """

    name: str
    bound: int | None  # 0: the lower one, 1: the upper one; None: the value
    operator: str
    limit: float

    def holds(self, value: float) -> bool:
        """Tell whether a value compares so; what rounding leaves of a difference is none."""
        near = math.isclose(value, self.limit, rel_tol=ROUNDING, abs_tol=ROUNDING)
        return OPERATORS[self.operator](self.limit if near else value, self.limit)

    def told(self, value: float) -> str:
        """Say what it is: ``nDCG@10 is 0.3``, ``the lower bound of nDCG@10 is 0.28``.

        With as many digits as it takes to tell it from the limit.
        """
        texts = [f"{value:.{digits}g}" for digits in (4, 6, 9, 17)]
        shown = next((each for each in texts if float(each) != self.limit), texts[0])
        which = "" if self.bound is None else f"the {('lower', 'upper')[self.bound]} bound of "
        return f"{which}{self.name} is {shown}"

    def __str__(self) -> str:
        return f"{self.operator} {repr(self.limit).removesuffix('.0')}"


def read_limit(text: str) -> Limit | None:
    """Read NAME [lower bound|upper bound] < NUMBER, or another operator; None of other texts."""
    matched = LIMIT.search(text)
    name = "" if matched is None else text[: matched.start()].strip()
    if matched is None or not name or not math.isfinite(float(matched[2])):
        return None
    bound = next((each for each in BOUNDS if name.endswith(each)), "")
    name = name.removesuffix(bound).strip()
    if any(word in name for word in (*OPERATORS, " and ", " or ")):
        raise InputError(f"{shown(text)} is more than one condition: give each by itself",
                         value=text)  # fmt: skip
    return Limit(name, BOUNDS[bound] if bound else None, matched[1], float(matched[2]))


def check_side(text: str, limit: Limit, sign: int, *, required: bool) -> None:
    """Refuse a condition to fail by that holds of what is good, and a requirement of what is bad.

    Args:
        text: the condition.
        limit: what it says.
        sign: 1 where higher values are better, -1 where lower ones are, 0 where neither are.
        required: whether it must hold, or must not.
    """
    wanted = (HIGH if sign > 0 else LOW) if required else (LOW if sign > 0 else HIGH)
    if not sign or limit.operator not in (*HIGH, *LOW) or limit.operator in wanted:
        return
    better = f"{'higher' if sign > 0 else 'lower'} values of {limit.name} are better"
    turned = "a condition to fail by" if required else "a requirement"
    raise InputError(f"{shown(text)} is {turned}: {better}", value=text)


def check_range(text: str, limit: Limit, low: float, high: float) -> None:
    """Refuse what holds of every value from `low` to `high`, or of none."""
    near = [math.nextafter(limit.limit, way) for way in (-math.inf, math.inf)]
    values = [low, high, *(each for each in (limit.limit, *near) if low <= each <= high)]
    compare = OPERATORS[limit.operator]
    if len({compare(value, limit.limit) for value in values}) < 2:
        what = "always" if compare(low, limit.limit) else "never"
        problem = f"{shown(text)} {what} holds: {limit.name} is between {low:g} and {high:g}"
        raise InputError(problem, value=text)
