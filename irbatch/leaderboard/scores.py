"""One number a system, and which system wins under which weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.quantities import QUANTITIES
from irbatch.errors import InputError, did_you_mean, join_words, many, printable, shown
from irbatch.leaderboard.axes import find_axis
from irbatch.report.document import Cell, Column, Row, Table
from irbatch.report.numbers import show
from irbatch.report.text import write_table
from irbatch.runtime.numbers import is_number
from irbatch.runtime.threads import cached_property

SHORTEST = Fraction(1, 10**12)  # of a stretch; shorter ones are of lines that cross by rounding
LEAST_DECIMALS, MOST_DECIMALS = 4, 12  # of scores that are shown


class Stretch(NamedTuple):
    """Shares of all weights that an axis may have while the same systems win."""

    low: float  # here and at the other end the neighbours win as well
    high: float
    winners: list[str]  # the best system, or those that are equally good


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """What systems score: the sum over axes of weight times part.

    Attributes:
        method: ``"Dynascore"`` or ``"utility"``.
        systems, axes: names.
        weights: share of each axis, float64 ``(axes,)``; they add up to 1.
        parts: float64 ``(systems, axes)``, what a system would score with one axis alone.
        rates: what the axes' values were divided by: for Dynascore how much of each there is, on
            average, to a point of performance.
        left_out: axes that tell no system from another: to Dynascore they add nothing, to a
            utility the same for all.
        performance: the axis that Dynascore exchanges the others for.
    """

    method: str
    systems: list[str]
    axes: list[str]
    weights: Floats
    parts: Floats
    rates: dict[str, float]
    left_out: list[str]
    performance: str | None = None

    @cached_property
    def values(self) -> dict[str, float]:
        """System to score."""
        return {
            system: math.fsum((row * self.weights).tolist())
            for system, row in zip(self.systems, self.parts, strict=True)
        }

    @property
    def ranking(self) -> list[list[str]]:
        """Systems, the best first; those of the same score stand together."""
        groups: dict[float, list[str]] = {}
        for system in sorted(self.systems, key=lambda each: -self.values[each]):
            groups.setdefault(self.values[system], []).append(system)
        return list(groups.values())

    @property
    def winners(self) -> list[str]:
        """The best system, or those that are equally good."""
        return self.ranking[0]

    def __getitem__(self, system: str) -> float:
        if system not in self.values:
            hint = did_you_mean(system, self.systems)
            raise KeyError(f"{system!r} has no score{hint}")
        return self.values[system]

    def reweighted(self, weights: Mapping[str, float]) -> Scores:
        """Return the scores under other weights of the same axes; those not named weigh nothing.

        Raises:
            InputError: as `Leaderboard.dynascore`.
        """
        if isinstance(weights, Mapping):
            names = [self.axes[self._place(axis)] for axis in weights]
            if len(set(names)) < len(names):
                problem = f"an axis is given twice: {join_words(list(weights))}"
                raise InputError(problem, source="weights", value=weights)
            weights = dict(zip(names, weights.values(), strict=True))
        return replace(self, weights=check_weights(weights, self.axes))

    def _place(self, axis: str) -> int:
        """Return the place of an axis, by any of its names."""
        measures = [each for each in self.axes if each not in QUANTITIES]
        name = axis if axis in self.axes else find_axis(axis, measures).name
        if name not in self.axes:
            problem = f"there is no axis {shown(axis)} in {', '.join(self.axes)}"
            raise InputError(problem, source="axis", value=axis)
        return self.axes.index(name)

    def sweep(self, axis: str) -> list[Stretch]:
        """Tell who wins as one axis' weight goes from 0 to 1, and the others share the rest.

        They keep their proportions; where they all weigh nothing, they share equally. Stretches of
        less than 10⁻¹², which rounding makes, are left out.

        Raises:
            InputError: if the scores have no such axis.
        """
        place = self._place(axis)
        shares = [Fraction(each) for each in self.weights.tolist()]
        shares[place] = Fraction()
        if not any(shares):
            shares = [Fraction(k != place) for k in range(len(shares))]
        rows = [[Fraction(part) for part in row] for row in self.parts.tolist()]
        if len(shares) == 1:  # its weight is all there is
            at_0 = [row[place] for row in rows]
        else:
            at_0 = [sum(map(mul, row, shares), Fraction()) / sum(shares) for row in rows]
        slopes = [row[place] - start for row, start in zip(rows, at_0, strict=True)]
        return [
            Stretch(low, high, [self.systems[i] for i in winners])
            for low, high, winners in _find_highest(at_0, slopes)
        ]

    def __repr__(self) -> str:
        return f"{self.method} of {many(len(self.systems), 'system')} on {', '.join(self.axes)}"

    def __str__(self) -> str:
        ranked = [system for group in self.ranking for system in group]
        scores = _written([self.values[each] for each in ranked])
        heads = [Column("system", "name"), Column(self.method)]
        rows = [
            Row([Cell(system), Cell(score)]) for system, score in zip(ranked, scores, strict=True)
        ]
        table = write_table(Table(self.method, heads, rows), ansi=True)
        weights = ", ".join(
            f"{printable(axis)} {weight:.3g}"
            for axis, weight in zip(self.axes, self.weights.tolist(), strict=True)
        )
        lines = [table, f"weights: {weights}"]
        if self.performance is not None:
            lines.append(f"performance: {printable(self.performance)}")
        if self.left_out:
            lines.append(f"tell no difference: {', '.join(map(printable, self.left_out))}")
        return "\n".join(lines)


def _written(scores: Sequence[float]) -> list[str]:
    """Write scores with so many decimals that different ones look different."""
    for decimals in range(LEAST_DECIMALS, MOST_DECIMALS):
        written = [show(each, decimals) for each in scores]
        if len(set(written)) == len(set(scores)):
            return written
    return [show(each, MOST_DECIMALS) for each in scores]


def _find_highest(
    at_0: Sequence[Fraction], slopes: Sequence[Fraction]
) -> list[tuple[float, float, list[int]]]:
    """Return between which places on [0, 1] which lines are highest, several where they agree.

    Exact numbers tell lines that are the same from those that are almost the same.
    """
    lines = list(zip(at_0, slopes, strict=True))
    now, best = Fraction(), max(lines)
    found: list[tuple[float, float, list[int]]] = []
    while now < 1:
        start, slope = best
        crossings = [
            ((start - other[0]) / (other[1] - slope), other[1], other)
            for other in lines
            if other[1] > slope
        ]
        end = min([Fraction(1), *(place for place, _, _ in crossings)])
        if end - now > SHORTEST:
            winners = [i for i, line in enumerate(lines) if line == best]
            found.append((found[-1][1] if found else 0.0, float(end), winners))
        now = end
        best = max((each for each in crossings if each[0] == end), default=(end, slope, best))[2]
    low, _, winners = found[-1]
    return [*found[:-1], (low, 1.0, winners)]


def check_weights(weights: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return shares that add up to 1, float64 ``(axes,)``, if none is negative and one above 0."""
    if not isinstance(weights, Mapping):
        problem = f"weights go from axes to numbers, not {shown(weights)}"
        raise InputError(problem, source="weights", value=weights)
    for axis, weight in weights.items():
        if axis not in axes:
            problem = f"there is no axis {shown(axis)} in {', '.join(axes)}"
            raise InputError(problem, source="weights", value=axis)
        if not is_number(weight) or not 0 <= weight < math.inf:
            problem = f"the weight of {axis} is {shown(weight)}, which is no number from 0 on"
            raise InputError(problem, source="weights", value=weight)
    given = np.array([float(weights.get(axis, 0.0)) for axis in axes])
    if not given.any():
        raise InputError("no weight is above 0", source="weights", value=weights)
    given /= given.max()  # the sum of huge ones is beyond float64
    return given / math.fsum(given.tolist())
