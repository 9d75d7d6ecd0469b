"""Constraints that systems have to meet: ``latency_p95 < 50``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from irbatch.efficiency import Quantity
from irbatch.errors import InputError, shown
from irbatch.leaderboard.axes import find_axis
from irbatch.runtime.numbers import DECIMAL

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
CONSTRAINT = re.compile(rf"\s*(.+?)\s*({'|'.join(OPERATORS)})\s*({DECIMAL})\s*")


class Constraint(NamedTuple):
    """An axis, how it compares, and with what.

    >>> parse_constraint("latency_p95 < 50", []).holds(49.9)
    True
    """

    axis: Quantity
    operator: str
    limit: float

    def holds(self, value: float) -> bool:
        """Tell whether a system with this value meets it."""
        return OPERATORS[self.operator](value, self.limit)

    def __str__(self) -> str:
        limit = repr(self.limit).removesuffix(".0")
        return f"{self.axis.name} {self.operator} {limit}"


def parse_constraint(text: str, measures: Sequence[str]) -> Constraint:
    """Read a constraint: AXIS < NUMBER, or with another of <= > >= == !=.

    Args:
        text: as in ``"cost <= 10"``.
        measures: those that there are.

    Raises:
        InputError: if it is not of this form, or there is no such axis.
    """
    matched = CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
    if matched is None or not math.isfinite(float(matched[3])):
        problem = f"a constraint is AXIS < NUMBER, such as 'latency_p95 < 50', not {shown(text)}"
        raise InputError(problem, source="constraint", value=text)
    if any(word in matched[1] for word in (*OPERATORS, " and ", " or ")):
        problem = f"{shown(text)} is more than one constraint: give each by itself"
        raise InputError(problem, source="constraint", value=text)
    return Constraint(find_axis(matched[1], measures), matched[2], float(matched[3]))
