"""Axes that systems are compared along: measures, and quantities of records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from irbatch.efficiency import QUANTITIES, EfficiencyRecord, Quantity
from irbatch.efficiency.fields import HIGHER, LOWER
from irbatch.efficiency.record import ALIASES, OPEN
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.measures import measure
from irbatch.report.document import Column
from irbatch.report.numbers import show_quantity

UNSAID = "a machine unsaid"  # of conditions
Named = TypeVar("Named", Quantity, Column)
Board = Any  # an `irbatch.leaderboard.Leaderboard`, whose module imports those that take one


def find_axis(name: object, measures: Sequence[str]) -> Quantity:
    """Find a measure in any spelling, or a quantity; of unknown measures higher is better."""
    if isinstance(name, str):
        if name in measures:
            is_lower = canonical_name(name) is not None and measure(name).sign < 0
            return Quantity(name, "", LOWER if is_lower else HIGHER, name)
        words = "_".join(name.split())
        if words in QUANTITIES or words in ALIASES:
            return QUANTITIES[ALIASES.get(words, words)]
        canonical = canonical_name(name)
        for own in measures if canonical is not None else ():
            if canonical_name(own) == canonical:
                return find_axis(own, measures)
    hint = did_you_mean(name, [*measures, *QUANTITIES, *ALIASES])
    hint = hint or f"; measures here: {', '.join(measures)}"
    raise InputError(f"there is no axis {shown(name)}{hint}", source="axis", value=name)


def find_all(names: Iterable[Any], find: Callable[[Any], Named], kind: str) -> list[Named]:
    """Find several axes, or columns, by their names: one at least and none twice."""
    if not isinstance(names, Iterable):
        raise InputError(f"{kind} names are not {shown(names)}", source=kind, value=names)
    by_name: dict[str, Named] = {}
    for name in [names] if isinstance(names, str) else names:
        item = find(name)
        if item.name in by_name:
            raise InputError(f"{item.name} is given twice", source=kind, value=item.name)
        by_name[item.name] = item
    if not by_name:
        raise InputError(f"there is no {kind}", source=kind)
    return list(by_name.values())


def conditions_of(record: EfficiencyRecord, names: Iterable[str]) -> str:
    """Say under what conditions the times and rates among some axes were measured, if any are.

    Only under the same ones are they comparable.
    """
    times = [name for name in names if is_of_machine(name)]
    if not times:
        return ""
    conditions, latency = [str(record.hardware) or UNSAID], record.latency
    if latency is not None and any(name.startswith("latency_") for name in times):
        conditions += [f"calls of {record.batch_size} queries"] * (record.batch_size > 1)
        if latency.loop == OPEN:
            at = "" if latency.rate is None else f" at {show_quantity(latency.rate)} queries/s"
            conditions.append(f"an open loop{at}")
    if "sustained_rate" in times:
        bound = record.sustained_p99
        conditions.append("a bound unsaid" if bound is None else f"p99 within {bound:.4g} ms")
    return ", ".join(conditions)


def is_of_machine(name: str) -> bool:
    """Tell whether an axis is a time or a rate, which another machine would change."""
    return name in QUANTITIES and QUANTITIES[name].unit in ("ms", "s", "queries/s")


@functools.cache
def canonical_name(name: str) -> str | None:
    """Return a measure's own name for one in any spelling; None if it is not a measure's."""
    try:
        return str(measure(name))
    except InputError:
        return None
