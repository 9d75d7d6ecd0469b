"""One number a system: Dynascore as published, and a plain weighted utility."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.efficiency.checks import of_system, refuse
from irbatch.errors import InputError, shown
from irbatch.numbers import exact_mean, number_problem
from irbatch.reporting.names import shorten_all
from irbatch.reporting.text import LONGEST, align, flush_right
from irbatch.words import printable

__all__ = [
    "SCALES",
    "Scores",
    "Stretch",
    "check_cutoff",
    "check_offsets",
    "check_weights",
    "find_rates",
    "scale_values",
    "score_dynascore",
]

Floats = npt.NDArray[np.float64]

SCALES = ("range", "log", "none")


class Stretch(NamedTuple):
    """Weights of an axis between which the same systems win.

    Args:
        low, high: the axis' share of all weights; at the ends the neighbours win as well.
        winners: the best system, or those that are equally good.
    """

    low: float
    high: float
    winners: list[str]


@dataclass(frozen=True, eq=False)
class Scores:
    """What systems score: the sum over axes of weight times part.

    Attributes:
        method: ``"Dynascore"`` or ``"utility"``.
        systems, axes: names.
        weights: share of each axis, float64 ``(axes,)``; they add up to 1.
        parts: float64 ``(systems, axes)``, what a system would score with one axis alone.
        rates: what the axes' values were divided by: for Dynascore how much of each there is, on
            average, to a point of performance.
        left_out: axes along which no difference could be told, which add nothing.
    """

    method: str
    systems: list[str]
    axes: list[str]
    weights: Floats
    parts: Floats
    rates: dict[str, float]
    left_out: list[str]

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
        return self.values[system]

    def reweighted(self, weights: Mapping[str, float]) -> Scores:
        """Return the scores under other weights of the same axes; those not named weigh nothing.

        Raises:
            InputError: as `Leaderboard.dynascore`.
        """
        return replace(self, weights=check_weights(weights, self.axes))

    def sweep(self, axis: str) -> list[Stretch]:
        """Tell who wins as one axis' weight goes from 0 to 1, and the others share the rest.

        They keep their proportions; where they all weigh nothing, they share equally. Stretches
        are exact: scores are straight lines of the weight, and the winners their upper hull.

        Raises:
            InputError: for an axis that the scores don't have.
        """
        if axis not in self.axes:
            raise InputError(f"there is no axis {shown(axis)} in {', '.join(self.axes)}",
                             source="axis", value=axis)  # fmt: skip
        place = self.axes.index(axis)
        others = [k for k in range(len(self.axes)) if k != place]
        shares = [Fraction(float(self.weights[k])) for k in others]
        if not any(shares):
            shares = [Fraction(1)] * len(others)
        rows = [[Fraction(each) for each in row] for row in self.parts.tolist()]
        at_0 = [
            sum((row[k] * share for k, share in zip(others, shares, strict=True)), Fraction())
            / (sum(shares) or 1)
            for row in rows
        ]
        slopes = [row[place] - start for row, start in zip(rows, at_0, strict=True)]
        if not others:  # its weight is all there is
            slopes = [Fraction()] * len(rows)
            at_0 = [row[place] for row in rows]
        return [
            Stretch(low, high, [self.systems[i] for i in winners])
            for low, high, winners in _upper_hull(at_0, slopes)
        ]

    def __str__(self) -> str:
        names = shorten_all([printable(each) for each in self.systems], LONGEST)
        named = dict(zip(self.systems, names, strict=True))
        ranked = [system for group in self.ranking for system in group]
        weights = ", ".join(
            f"{printable(axis)} {weight:.3g}"
            for axis, weight in zip(self.axes, self.weights.tolist(), strict=True)
        )
        columns = [
            ["system", *(named[each] for each in ranked)],
            flush_right([self.method, *(f"{self.values[each]:.4f}" for each in ranked)]),
        ]
        lines = [align(columns), f"weights: {weights}"]
        if self.left_out:
            lines.append(f"no differences, left out: {', '.join(map(printable, self.left_out))}")
        return "\n".join(lines)


def _upper_hull(
    at_0: Sequence[Fraction], slopes: Sequence[Fraction]
) -> Iterator[tuple[float, float, list[int]]]:
    """Yield where on [0, 1] which of the lines are highest."""
    lines = list(zip(at_0, slopes, strict=True))
    now, current = Fraction(), max(lines)
    while now < 1:
        crossings = [
            ((current[0] - start) / (slope - current[1]), slope, start)
            for start, slope in lines
            if slope > current[1]
        ]
        end = min([each[0] for each in crossings], default=Fraction(1))
        winners = [i for i, line in enumerate(lines) if line == current]
        yield float(now), float(min(end, Fraction(1))), winners
        if end >= 1:
            return
        now = end
        _, slope, start = max(each for each in crossings if each[0] == end)
        current = start, slope


def check_weights(weights: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return shares that add up to 1, one an axis.

    Raises:
        InputError: naming the axis of a weight that is negative or no finite number; when none is
            above 0; for an axis that there is not.
    """
    if not isinstance(weights, Mapping):
        raise InputError(f"weights go from axes to numbers, not {shown(weights)}",
                         source="weights", value=weights)  # fmt: skip
    for axis, weight in weights.items():
        if axis not in axes:
            raise InputError(f"there is no axis {shown(axis)} in {', '.join(axes)}",
                             source="weights", value=axis)  # fmt: skip
        wrong = isinstance(weight, bool) or number_problem(weight) is not None
        if wrong or not 0 <= weight < math.inf:
            raise InputError(f"the weight of {axis} is {shown(weight)}, which is no number from 0 "
                             "on", source="weights", value=weight)  # fmt: skip
    given = np.array([float(weights.get(axis, 0.0)) for axis in axes])
    if not given.any():
        raise InputError("no weight is above 0", source="weights", value=weights)
    given /= given.max()  # the sum of huge ones is beyond float64
    return given / math.fsum(given.tolist())


def check_cutoff(cutoff: object) -> None:
    """Check the share of the highest performance below which there is no difference.

    Raises:
        InputError: for what is no number from 0 to less than 1.
    """
    number = isinstance(cutoff, int | float | np.number) and not isinstance(cutoff, bool)
    if not number or not 0 <= cutoff < 1:  # type: ignore[operator]
        raise InputError(f"cutoff={shown(cutoff)} must be a number from 0 to less than 1",
                         source="cutoff", value=cutoff)  # fmt: skip


def check_offsets(offsets: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return what is added to the values of each axis.

    Raises:
        InputError: naming the axis of an offset that is no finite number, or one without a weight.
    """
    for axis, offset in offsets.items():
        if axis not in axes:
            raise InputError(f"{axis} has an offset and no weight", source="offsets", value=axis)
        wrong = isinstance(offset, bool) or number_problem(offset) is not None
        if wrong or not math.isfinite(offset):
            raise InputError(f"the offset of {axis} is {shown(offset)}, which is no finite number",
                             source="offsets", value=offset)  # fmt: skip
    return np.array([float(offsets.get(axis, 0.0)) for axis in axes])


def score_dynascore(
    systems: Sequence[str], axes: Sequence[str], table: Floats, main: int, weights: Floats,
    cutoff: float,
) -> Scores:  # fmt: skip
    """Score systems as Dynaboard does; see `Leaderboard.dynascore`.

    Args:
        systems, axes: names.
        table: float64 ``(systems, axes)``, of which higher is better.
        main: place of the axis that is performance.
        weights: shares, float64 ``(axes,)``.
        cutoff: as in `find_rates`.
    """
    order = sorted(range(len(systems)), key=lambda i: (table[i, main], systems[i]))
    rates = find_rates(table, main, order, cutoff)
    rates[main] = 1.0  # it is exchanged for itself, even where there is one system
    known = np.isfinite(rates) & (rates > 0)
    parts = np.divide(table, rates, out=np.zeros_like(table), where=known)
    left_out = [axis for axis, each in zip(axes, known.tolist(), strict=True) if not each]
    told = dict(zip(axes, rates.tolist(), strict=True))
    told = {axis: rate for axis, rate in told.items() if axis not in left_out}
    return Scores("Dynascore", list(systems), list(axes), weights, parts, told, left_out)


def find_rates(values: Floats, performance: int, order: Sequence[int], cutoff: float) -> Floats:
    """Find how much of each axis goes with a point of performance (Ma et al. 2021).

    Systems are put in the order of their performance. Between neighbours whose performance differs
    by more than `cutoff` of the highest, the rate of an axis is the absolute difference along it
    over that of performance; the axis' is their mean.

    Args:
        values: float64 ``(systems, axes)``, of which higher is better.
        performance: which axis is.
        order: systems by performance, from the lowest.
        cutoff: differences of performance up to this share of the highest are noise.

    Returns:
        float64 ``(axes,)``; NaN where no neighbours differ enough, infinite beyond float64.
    """
    with np.errstate(over="ignore"):
        steps = np.abs(np.diff(values[list(order)], axis=0))
    highest = abs(float(values[:, performance].max()))
    kept = steps[steps[:, performance] > cutoff * highest]
    if not len(kept):
        return np.full(values.shape[1], np.nan)
    with np.errstate(over="ignore"):  # of hardly any performance for a lot of something
        rates = kept / kept[:, [performance]]
    return np.array([exact_mean(column) for column in rates.T.tolist()])


def scale_values(
    values: Floats, signs: Floats, scale: str, systems: Sequence[str], axes: Sequence[str]
) -> Floats:
    """Bring axes to one scale: float64 ``(systems, axes)``, of which higher is better.

    Args:
        values: float64 ``(systems, axes)``.
        signs: 1 for an axis of which higher is better, else -1.
        scale: ``"range"``: from 0 for the worst system to 1 for the best, 1 for all where they are
            equal; ``"log"``: the same of logarithms; ``"none"``: as they are.
        systems, axes: names, for errors.

    Raises:
        InputError: naming the system and the axis of a value that has no logarithm.
    """
    if scale == "none":
        return values * signs
    if scale == "log":
        for i, k in np.argwhere(values <= 0).tolist():
            value = float(values[i, k])
            raise refuse(of_system(systems[i]), axes[k], f"is {value:g}, which has no logarithm",
                         value)  # fmt: skip
        values = np.log(values)
    signed = values * signs / 2  # as spans of huge ones are beyond float64
    worst, best = signed.min(axis=0), signed.max(axis=0)
    spans = best - worst
    return np.where(spans > 0, (signed - worst) / np.where(spans > 0, spans, 1.0), 1.0)
