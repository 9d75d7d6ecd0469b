"""What is known of why two systems differ. Pairs are of the first system and the second one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from irbatch.measures import Measure

ROUNDING = 1e-12  # changes that small, of the larger value, come from the order of sums


def direction_of(measure: Measure) -> int:
    """Return -1 where lower values are better, else 1: where neither is, more counts as better."""
    return measure.sign or 1


class RankedDocument(NamedTuple):
    """A document of a ranking; its grade is None if it isn't judged, its text if none is known.

    `other` is its rank with the other system; None: not retrieved.
    """

    document: Any
    grade: float | None
    other: int | None
    text: str | None = None


class JudgedDocument(NamedTuple):
    """A judged document, and what became of it.

    Args:
        ranks: from 1; None: not retrieved.
        moved: ``"up"``, ``"down"`` or ``"same"`` where both have it, to the cutoff if there is one;
            ``"lost"`` or ``"new"`` where only the first or the second has; else ``"missed"``.
        unjudged_above: how many documents that are not judged stand above it.
        adds: what it adds to the values, if the measure is a sum of such; see `Explanation`.
    """

    document: Any
    grade: float
    ranks: tuple[int | None, int | None]
    moved: str
    unjudged_above: tuple[int | None, int | None]
    adds: tuple[float, float] | None
    text: str | None = None

    @property
    def change(self) -> float:
        """What it adds with the second system less what with the first; NaN if not known."""
        if self.adds is None:
            return math.nan
        change = self.adds[1] - self.adds[0]
        return 0.0 if abs(change) <= ROUNDING * max(self.adds) else change


class QueryExplanation(NamedTuple):
    """A query, its values, and its documents.

    Args:
        difference: the second value less the first.
        answered: whether each system has a ranking for it.
        retrieved: how many documents the rankings have.
        relevant: how many documents are relevant to the measure.
        unjudged: how many documents are not judged down to the cutoff, or the depth shown.
        documents: what is judged and relevant, or shown: first those that changed the value, the
            worst first; then those relevant, then the others, those that stand highest first.
        left_out: how many more there are, which change less.
        rankings: the documents shown.
    """

    query: Any
    values: tuple[float, float]
    difference: float
    answered: tuple[bool, bool]
    retrieved: tuple[int, int]
    relevant: int
    unjudged: tuple[int, int]
    documents: tuple[JudgedDocument, ...]
    left_out: int
    rankings: tuple[tuple[RankedDocument, ...], tuple[RankedDocument, ...]]
    text: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """Everything that is known; see `Explanation`."""

    measure: str
    systems: tuple[str, str]
    means: tuple[float, float]
    worse: int
    better: int
    same: int
    queries: tuple[QueryExplanation, ...]
    depth: int
    cutoff: int | None
    sign: int
    adds: bool
    grades: tuple[float, ...]
    settings: Mapping[str, str]
