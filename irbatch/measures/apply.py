"""Applying formulas: what each reads of a block, and checks of what it returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irbatch.array_types import Floats
from irbatch.engine.judged import Judged, JudgedRanks, collect_judged
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.prefix import FULL_DEPTH, PrefixStatistics
from irbatch.errors import InputError
from irbatch.measures.declare import Measure
from irbatch.measures.gains import make_weighting


@dataclass(frozen=True)
class Group:
    """Measures that differ in their cutoffs only."""

    measure: Measure
    threshold: float
    weighting: tuple[object, ...]
    depths: list[float]  # their cutoffs
    positions: list[int]  # their places among the plan's measures


class Collected:
    """The judged documents of a block, collected once a cutoff."""

    def __init__(self, matrix: RelevanceMatrix) -> None:
        self._matrix = matrix
        self._collected: dict[float, Judged] = {}
        self._views: dict[tuple[object, ...], JudgedRanks] = {}

    def judged(self, group: Group, depth: float) -> JudgedRanks:
        """Return what a measure reads at a cutoff."""
        key = depth, group.threshold, group.weighting
        if key not in self._views:
            matrix = self._matrix if depth == FULL_DEPTH else self._matrix.truncated(int(depth))
            weighting = make_weighting(*group.weighting)
            gains = np.asarray(weighting.gain(matrix.levels), np.float64)
            deepest = max(matrix.depth, int(matrix.judged.sum(axis=1).max(initial=0)), 1)
            divisors = weighting.discount(deepest)
            if depth not in self._collected:
                self._collected[depth] = collect_judged(matrix)
            judged = self._collected[depth]
            self._views[key] = JudgedRanks(matrix, judged, group.threshold, gains, divisors)
        return self._views[key]


def apply_formula(
    measure: Measure, known: PrefixStatistics | JudgedRanks, at: tuple[int, ...]
) -> Floats:
    """Apply a formula; check what it returns, since users write formulas too.

    Args:
        measure: whose formula.
        known: what the formula reads.
        at: the shape of the cutoffs that it returns values for.
    """
    declaration = measure.declaration
    who = f"the formula of {measure.name}"
    own = {name: measure[name] for name in declaration.own_parameters()}
    queries = known.retrieved.shape[0]
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are refused below
            values = np.asarray(declaration.formula(known, **own), np.float64)
    except InputError:
        raise
    except Exception as problem:
        said = f"{who} failed: {type(problem).__name__}: {problem}"
        raise InputError(said, source="measures") from problem
    if values.shape not in ((queries, *at), (queries, *(1 for _ in at))):
        said = f"{who} returned shape {values.shape} for {(queries, *at)}"
        raise InputError(said, source="measures")
    if not np.isfinite(values).all():
        value = values[~np.isfinite(values)].flat[0]
        shown = "NaN" if np.isnan(value) else value
        raise InputError(f"{who} returned {shown}", source="measures")
    return np.broadcast_to(values, (queries, *at))
