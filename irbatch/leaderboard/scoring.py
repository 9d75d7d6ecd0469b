"""How systems are scored: Dynascore as published, and a plain weighted utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.quantities import of_system, refuse
from irbatch.errors import InputError, shown
from irbatch.leaderboard.axes import find_axis
from irbatch.leaderboard.scores import Scores, check_weights
from irbatch.leaderboard.systems import Systems
from irbatch.runtime.numbers import check_choice, check_number, exact_mean, is_number

SCALES = ("range", "log", "none")
Ways = Mapping[str, str] | None


def score_dynascore(
    board: Systems,
    weights: Mapping[str, float],
    performance: str | None,
    offsets: Mapping[str, float] | None,
    directions: Ways,
    cutoff: float,
) -> Scores:
    """Return Dynascores; see `Leaderboard.dynascore`."""
    check_number("cutoff", cutoff, least=0, below=1)
    weights = board.name_axes(weights, "weights")
    weighed = [name for name in weights if name in board.measures]
    main = find_axis(performance or [*weighed, *board.measures][0], board.measures).name
    axes = list(weights) if main in weights else [main, *weights]
    values, signs = board.compare(axes, directions)
    table = values * signs + _check_offsets(board.name_axes(offsets or {}, "offsets"), axes)
    shares = check_weights(weights, axes)
    rates = find_rates(table, axes.index(main), cutoff)
    rates[axes.index(main)] = 1.0  # it is exchanged for itself, even where there is one system
    known = np.isfinite(rates) & (rates > 0)
    parts = np.divide(table, rates, out=np.zeros_like(table), where=known)
    left_out = [axis for axis, each in zip(axes, known.tolist(), strict=True) if not each]
    rated = zip(axes, rates.tolist(), strict=True)
    used = {axis: rate for axis, rate in rated if axis not in left_out}
    return Scores("Dynascore", list(board.systems), axes, shares, parts, used, left_out, main)


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
    board: Systems, weights: Mapping[str, float], scale: str, directions: Ways
) -> Scores:
    """Return weighted means; see `Leaderboard.utility`."""
    check_choice("scale", scale, SCALES)
    weights = board.name_axes(weights, "weights")
    axes, shares = list(weights), check_weights(weights, list(weights))
    values, signs = board.compare(axes, directions)
    alike = (values == values[0]).all(axis=0).tolist()
    constant = [axis for axis, each in zip(axes, alike, strict=True) if each]
    parts = values * signs
    if scale == "log":
        for i, k in np.argwhere(values <= 0).tolist():
            value = float(values[i, k])
            problem = f"is {value:g}, which has no logarithm"
            raise refuse(of_system(board.systems[i]), axes[k], problem, value)
        parts = np.log(values) * signs
    if scale != "none":
        parts = parts / 2  # as spans of huge ones are beyond float64
        worst, best = parts.min(axis=0), parts.max(axis=0)
        spans = best - worst
        parts = np.where(spans > 0, (parts - worst) / np.where(spans > 0, spans, 1.0), 1.0)
    return Scores("utility", list(board.systems), axes, shares, parts, {}, constant)


def _check_offsets(offsets: Mapping[str, float], axes: Sequence[str]) -> Floats:
    """Return what is added to the values of each axis, float64 ``(axes,)``."""
    for axis, offset in offsets.items():
        if axis not in axes:
            raise InputError(f"{axis} has an offset and no weight", source="offsets", value=axis)
        if not is_number(offset) or not math.isfinite(offset):
            problem = f"the offset of {axis} is {shown(offset)}, which is no finite number"
            raise InputError(problem, source="offsets", value=offset)
    return np.array([float(offsets.get(axis, 0.0)) for axis in axes])
