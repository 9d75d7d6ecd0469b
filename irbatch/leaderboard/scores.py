"""One number a system: Dynascore as published, and a plain weighted utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.checks import of_system, refuse
from irbatch.efficiency.quantities import QUANTITIES
from irbatch.errors import InputError, did_you_mean, join_words, printable, shown
from irbatch.leaderboard.axes import find_axis
from irbatch.leaderboard.hull import upper_hull
from irbatch.leaderboard.old_text import LONGEST, align, flush_right
from irbatch.leaderboard.weights import check_weights
from irbatch.report.names import shorten_all
from irbatch.report.numbers import show
from irbatch.runtime.numbers import exact_mean

__all__ = ["SCALES", "Scores", "Stretch", "find_rates", "scale_values", "score_dynascore"]


SCALES = ("range", "log", "none")
LEAST_DECIMALS, MOST_DECIMALS = 4, 12  # of scores that are shown


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
            places = [self._place(axis) for axis in weights]
            if len(set(places)) < len(places):
                raise InputError(f"an axis is given twice: {join_words(list(weights))}",
                                 source="weights", value=weights)  # fmt: skip
            weights = {self.axes[place]: each
                       for place, each in zip(places, weights.values(), strict=True)}  # fmt: skip
        return replace(self, weights=check_weights(weights, self.axes))

    def _place(self, axis: str) -> int:
        """Return the place of an axis, by any of its names."""
        measures = [each for each in self.axes if each not in QUANTITIES]
        name = axis if axis in self.axes else find_axis(axis, measures).name
        if name not in self.axes:
            raise InputError(f"there is no axis {shown(axis)} in {', '.join(self.axes)}",
                             source="axis", value=axis)  # fmt: skip
        return self.axes.index(name)

    def sweep(self, axis: str) -> list[Stretch]:
        """Tell who wins as one axis' weight goes from 0 to 1, and the others share the rest.

        They keep their proportions; where they all weigh nothing, they share equally. Scores are
        straight lines of the weight, and the winners their upper hull; stretches of less than
        10⁻¹², which rounding makes, are left out.

        Raises:
            InputError: for an axis that the scores don't have.
        """
        place = self._place(axis)
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
            for low, high, winners in upper_hull(at_0, slopes)
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
            flush_right([self.method, *_written([self.values[each] for each in ranked])]),
        ]
        lines = [align(columns), f"weights: {weights}"]
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
    rates = find_rates(table, main, cutoff)
    rates[main] = 1.0  # it is exchanged for itself, even where there is one system
    known = np.isfinite(rates) & (rates > 0)
    parts = np.divide(table, rates, out=np.zeros_like(table), where=known)
    left_out = [axis for axis, each in zip(axes, known.tolist(), strict=True) if not each]
    told = dict(zip(axes, rates.tolist(), strict=True))
    told = {axis: rate for axis, rate in told.items() if axis not in left_out}
    return Scores("Dynascore", list(systems), list(axes), weights, parts, told, left_out,
                  axes[main])  # fmt: skip


def find_rates(values: Floats, performance: int, cutoff: float) -> Floats:
    """Find how much of each axis goes with a point of performance (Ma et al. 2021).

    Systems are put in the order of their performance. Between neighbours whose performance differs
    by more than `cutoff` of the highest, the rate of an axis is the absolute difference along it
    over that of performance; the axis' is their mean. Where systems perform alike it is the
    expected one over their orders: that of each with each of the neighbours.

    Args:
        values: float64 ``(systems, axes)``, of which higher is better.
        performance: which axis is.
        cutoff: differences of performance up to this share of the highest are noise.

    Returns:
        float64 ``(axes,)``; NaN where no neighbours differ enough, infinite beyond float64.
    """
    performances = values[:, performance]
    levels = np.unique(performances)
    groups = [values[performances == level] for level in levels]
    least = cutoff * abs(float(levels[-1]))
    rates: list[Floats] = []
    with np.errstate(over="ignore"):  # of hardly any performance for a lot of something
        for k in np.flatnonzero(np.diff(levels) > least).tolist():
            step = float(levels[k + 1] - levels[k])
            between = np.abs(groups[k + 1][:, None] - groups[k]) / step
            each = between.reshape(-1, values.shape[1]).T.tolist()
            rates.append(np.array([exact_mean(column) for column in each]))
    if not rates:
        return np.full(values.shape[1], np.nan)
    return np.array([exact_mean(column) for column in np.array(rates).T.tolist()])


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
