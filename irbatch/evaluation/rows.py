"""What is known of evaluated queries: values, marks, how they are judged, and their items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bytes, Floats, NDArray
from irbatch.errors import InputError
from irbatch.measures import Measure

if TYPE_CHECKING:
    from irbatch.engine.items import ItemArrays, ItemCounts, ItemRows

Counted = NDArray[np.int32]


class RunItems:
    """The items of each query, in rank order, up to the deepest cutoff of a measure.

    `lists` are int32 ``(documents,)`` of each, as `ItemRanks` has them.
    """

    def __init__(self, known: ItemArrays, lists: Sequence[ItemRows]) -> None:
        self.known, self.lists = known, lists
        self._values: dict[Measure, float] = {}

    def value(self, measure: Measure) -> float:
        """Return a measure's value."""
        if measure not in self._values:
            self._values[measure] = value_of(measure, self.counted(measure.cutoff))
        return self._values[measure]

    def counted(self, cutoff: int | None) -> ItemCounts:
        """Count the items up to a rank."""
        from irbatch.engine.items import ItemCounts  # for those who have items

        return ItemCounts.of(self.known, self.lists, math.inf if cutoff is None else cutoff)

    def take(self, rows: Sequence[int]) -> RunItems:
        """Return those of some queries."""
        return RunItems(self.known, [self.lists[row] for row in rows])


class Rows:
    """What is known of queries, one a row.

    Args:
        values: ``(queries, columns)``, of measures and, behind them, see `with_weights`.
        marks: ``(queries,)``, see `QueryMark`; default: none.
        judgment_counts: ``(queries, 2)``, how many documents are relevant, and how many judged;
            None where labels of what was ranked are all there is.
        items: where measures of the whole run read them.
    """

    def __init__(
        self,
        values: Floats,
        marks: Bytes | None = None,
        judgment_counts: Counted | None = None,
        items: RunItems | None = None,
    ) -> None:
        self.values = values
        self.marks: Bytes = np.zeros(len(values), np.uint8) if marks is None else marks
        self.judgment_counts, self.items = judgment_counts, items

    def __len__(self) -> int:
        return len(self.marks)

    def take(self, rows: Any) -> Rows:
        """Return those of some queries."""
        judgments = None if self.judgment_counts is None else self.judgment_counts[rows]
        items = None if self.items is None else self.items.take(rows)
        return Rows(self.values[rows], self.marks[rows], judgments, items)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Put some, at least one, one after the other."""
        if len(parts) == 1:
            return parts[0]
        numbers = [
            part.judgment_counts for part in parts if part.judgment_counts is not None or len(part)
        ]
        judgments = [some for some in numbers if some is not None]
        items = [part.items for part in parts if part.items is not None]
        listed = [ranked for some in items for ranked in some.lists]
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.marks for part in parts]),
            np.concatenate(judgments) if judgments and len(judgments) == len(numbers) else None,
            RunItems(items[0].known, listed) if items else None,
        )


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
        text = f"the formula of {measure.name} failed: {type(problem).__name__}: {problem}"
        raise InputError(text, source="measures") from problem
    if not math.isfinite(value):
        raise InputError(f"the formula of {measure.name} returned {value}", source="measures")
    return value


def with_weights(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures and, behind them, what weights the values of some: one each a column."""
    return [*measures, *(measure.weight for measure in measures if measure.aggregate == "weighted")]


def weight_column(measures: Sequence[Measure], column: int) -> int:
    """Return the column of a measure's weights."""
    return len(with_weights(measures[:column])) + len(measures) - column
