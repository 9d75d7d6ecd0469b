"""Axes that systems are compared along, measures and quantities of records, and limits on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from irbatch.comparing.gate import LIMIT, OPERATORS
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import ALIASES, HIGHER, LOWER, QUANTITIES
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.measures import measure


def find_axis(name: object, measures: Sequence[str]) -> Quantity:
    """Find an axis by its name: a measure's in any spelling, a quantity's, or a short one."""
    if isinstance(name, str):
        if name in measures:
            return Quantity(name, "", HIGHER, name)
        words = "_".join(name.split())
        if words in QUANTITIES or words in ALIASES:
            return QUANTITIES[ALIASES.get(words, words)]
        canonical = canonical_name(name)
        for each in measures if canonical is not None else ():
            if canonical_name(each) == canonical:
                return Quantity(each, "", HIGHER, each)
    hint = did_you_mean(name, [*measures, *QUANTITIES, *ALIASES])
    hint = hint or f"; measures here: {', '.join(measures)}"
    raise InputError(f"there is no axis {shown(name)}{hint}", source="axis", value=name)


def list_axes(names: Iterable[object], measures: Sequence[str]) -> list[Quantity]:
    """Find several axes, one at least and none twice."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, Iterable):
        raise InputError(f"axes are names, not {shown(names)}", source="axis", value=names)
    found: dict[str, Quantity] = {}
    for name in names:
        axis = find_axis(name, measures)
        if axis.name in found:
            raise InputError(f"{axis.name} is given twice", source="axis", value=axis.name)
        found[axis.name] = axis
    if not found:
        raise InputError("there is no axis to compare systems along", source="axis")
    return list(found.values())


def check_directions(
    directions: Mapping[str, str] | None, measures: Sequence[str]
) -> dict[str, str]:
    """Return which way is better, by the names of the axes for which it is said."""
    ways = f"{HIGHER!r} or {LOWER!r}"
    if directions is not None and not isinstance(directions, Mapping):
        problem = f"directions go from axes to {ways}, not {shown(directions)}"
        raise InputError(problem, source="directions")
    checked: dict[str, str] = {}
    for name, better in (directions or {}).items():
        axis = find_axis(name, measures)
        if axis.name in checked:
            raise InputError(f"{axis.name} is given twice", source="directions", value=name)
        if better not in (HIGHER, LOWER):
            problem = f"of {axis.name} {ways} is better, not {shown(better)}"
            raise InputError(problem, source="directions", value=better)
        checked[axis.name] = better
    return checked


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
        return f"{self.axis.name} {self.operator} {repr(self.limit).removesuffix('.0')}"


def parse_constraint(text: str, measures: Sequence[str]) -> Constraint:
    """Read a constraint: AXIS < NUMBER, or with another of <= > >= == !=."""
    matched = LIMIT.search(text) if isinstance(text, str) else None
    name = "" if matched is None else text[: matched.start()].strip()
    if matched is None or not name or not math.isfinite(float(matched[2])):
        problem = f"a constraint is AXIS < NUMBER, such as 'latency_p95 < 50', not {shown(text)}"
        raise InputError(problem, source="constraint", value=text)
    if any(word in name for word in (*OPERATORS, " and ", " or ")):
        problem = f"{shown(text)} is more than one constraint: give each by itself"
        raise InputError(problem, source="constraint", value=text)
    return Constraint(find_axis(name, measures), matched[1], float(matched[2]))


def is_share(name: str) -> bool:
    """Tell whether a measure is never above 1; False for a name that is no measure's."""
    try:
        return measure(name).range[1] <= 1
    except InputError:
        return False


def lower_measures(measures: Iterable[str]) -> dict[str, str]:
    """Return the way that is better of the measures of which lower values are."""
    known = (name for name in measures if canonical_name(name) is not None)
    return {name: LOWER for name in known if measure(name).sign < 0}


def canonical_name(name: str) -> str | None:
    """Return a measure's own name for one in any spelling; None if it is no measure's."""
    try:
        return str(measure(name))
    except InputError:
        return None
