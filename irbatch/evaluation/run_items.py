"""The items that a run recommends, for measures that have one value for all of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from irbatch.engine.items import ItemCounts, ItemRows, Items
from irbatch.errors import InputError
from irbatch.measures import Measure


@dataclass(eq=False)
class RunItems:
    """The items of each query, in rank order.

    Args:
        known: what is known of them.
        lists: int32 ``(documents,)`` for each query, as `irbatch.engine.items.ItemRanks` has them;
            up to the deepest cutoff of a measure that reads them.
    """

    known: Items
    lists: Sequence[ItemRows]
    _counts: dict[int | None, ItemCounts] = field(default_factory=dict)
    _values: dict[Measure, float] = field(default_factory=dict)

    def value(self, measure: Measure) -> float:
        """Return a measure's value."""
        if measure not in self._values:
            self._values[measure] = value_of(measure, self._count(measure.cutoff))
        return self._values[measure]

    def _count(self, cutoff: int | None) -> ItemCounts:
        if cutoff not in self._counts:
            depth = math.inf if cutoff is None else cutoff
            self._counts[cutoff] = ItemCounts.of(self.known, self.lists, depth)
        return self._counts[cutoff]

    def take(self, rows: Sequence[int]) -> RunItems:
        """Return those of some queries."""
        return RunItems(self.known, [self.lists[row] for row in rows])


def join_items(parts: Iterable[RunItems | None]) -> RunItems | None:
    """Put the items of several runs' queries one after the other; None if they have none."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return RunItems(known[0].known, [each for part in known for each in part.lists])


def value_of(measure: Measure, counts: ItemCounts) -> float:
    """Return the value of a measure of a whole run, checked, since users write formulas."""
    declaration = measure.declaration
    own = {name: measure[name] for name in declaration.parameters}
    try:
        with np.errstate(all="ignore"):
            value = float(declaration.formula(counts, **own))
    except InputError as problem:
        raise problem.with_fields(source=str(measure)) from None
    except (MemoryError, ArithmeticError):
        raise
    except Exception as problem:
        said = f"the formula of {measure.name} failed: {type(problem).__name__}: {problem}"
        raise InputError(said, source="measures") from problem
    if not math.isfinite(value):
        raise InputError(f"the formula of {measure.name} returned {value}", source="measures")
    return value
