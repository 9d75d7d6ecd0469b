"""How systems are scored: Dynascore as published, and a plain weighted utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.checks import of_system, refuse
from irbatch.errors import InputError, shown
from irbatch.leaderboard.scores import Scores
from irbatch.runtime.numbers import exact_mean, is_number

SCALES = ("range", "log", "none")


def score_dynascore(
    systems: Sequence[str],
    axes: Sequence[str],
    table: Floats,
    main: int,
    weights: Floats,
    cutoff: float,
) -> Scores:
    """Score systems as `Leaderboard.dynascore` does, by shares of axes of which higher is better.

    `table` is float64 ``(systems, axes)``; `main` is the position of the axis of performance.
    """
    rates = find_rates(table, main, cutoff)
    rates[main] = 1.0  # it is exchanged for itself, even where there is one system
    known = np.isfinite(rates) & (rates > 0)
    parts = np.divide(table, rates, out=np.zeros_like(table), where=known)
    left_out = [axis for axis, each in zip(axes, known.tolist(), strict=True) if not each]
    told = dict(zip(axes, rates.tolist(), strict=True))
    for axis in left_out:
        del told[axis]
    method = "Dynascore"
    return Scores(method, list(systems), list(axes), weights, parts, told, left_out, axes[main])


def find_rates(values: Floats, performance: int, cutoff: float) -> Floats:
    """Find how much of each axis goes with a point of performance (Ma et al. 2021).

    Systems are put in the order of their performance. Between neighbours whose performance differs
    by more than `cutoff` of the highest, the rate of an axis is the absolute difference along it
    over that of performance; the axis' is their mean. Where systems perform alike it is the
    expected one over their orders: that of each with each of the neighbours. Rates are float64
    ``(axes,)``; NaN where no neighbours differ enough, infinite beyond float64.
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


def score_utility(
    systems: Sequence[str],
    axes: Sequence[str],
    values: Floats,
    signs: Floats,
    weights: Floats,
    scale: str,
) -> Scores:
    """Score systems as `Leaderboard.utility`; `signs` are 1 where higher is better, else -1."""
    constant = [
        axis for axis, column in zip(axes, values.T, strict=True) if (column == column[0]).all()
    ]
    parts = values * signs
    if scale == "log":
        for i, k in np.argwhere(values <= 0).tolist():
            value = float(values[i, k])
            problem = f"is {value:g}, which has no logarithm"
            raise refuse(of_system(systems[i]), axes[k], problem, value)
        parts = np.log(values) * signs
    if scale != "none":
        parts = parts / 2  # as spans of huge ones are beyond float64
        worst, best = parts.min(axis=0), parts.max(axis=0)
        spans = best - worst
        parts = np.where(spans > 0, (parts - worst) / np.where(spans > 0, spans, 1.0), 1.0)
    return Scores("utility", list(systems), list(axes), weights, parts, {}, constant)


def check_offsets(offsets: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return what is added to the values of each axis, float64 ``(axes,)``."""
    for axis, offset in offsets.items():
        if axis not in axes:
            raise InputError(f"{axis} has an offset and no weight", source="offsets", value=axis)
        if not is_number(offset) or not math.isfinite(offset):
            problem = f"the offset of {axis} is {shown(offset)}, which is no finite number"
            raise InputError(problem, source="offsets", value=offset)
    return np.array([float(offsets.get(axis, 0.0)) for axis in axes])
