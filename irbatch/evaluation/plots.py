"""Pictures of results: curves over cutoffs and recall, bars of means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, many
from irbatch.evaluation.tables import Systems, find_interval
from irbatch.measures import Measure, parse_measures
from irbatch.report import axes
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS

MOST_BANDS = 6  # systems: bands of more cover each other
Interval = tuple[str | None, float]  # its kind, if there is one, and level


def plot_results(
    systems: Systems,
    measure: str | Measure | Iterable[str | Measure] | None,
    interval: Interval,
    ax: axes.Axes | None,
) -> axes.Axes:
    """Plot results of one system or several; see `irbatch.Results.plot`."""
    check_choice("interval", interval[0], (*INTERVALS, "bounded", None))
    check_number("level", interval[1], above=0, below=1)
    if not systems:
        raise InputError("there are no results to plot", source="results")
    columns = next(iter(systems.values())).columns
    requested = [_without_cutoff(columns[0])] if measure is None else list(parse_measures(measure))
    points = _points_of_curve(systems, requested)
    if measure is None and not points:
        shared = [of for of in columns if all(str(of) in results for results in systems.values())]
        requested = [of for of in shared if of.aggregate != "sum"] or shared or [columns[0]]
    for of in points.values() or requested:
        if not all(str(of) in results for results in systems.values()):
            evaluated = ", ".join(next(iter(systems.values())).measures[:10])
            problem = f"{of} was not evaluated for every system; there are: {evaluated}"
            raise InputError(problem, source="measures", value=str(of))
    if points:
        return _plot_curves(ax, systems, points, interval)
    return _plot_bars(ax, systems, requested, interval)


def _without_cutoff(measure: Measure) -> Measure:
    return Measure(measure.name, measure.parameters, None, declaration=measure.declaration)


def _points_of_curve(systems: Systems, requested: Sequence[Measure]) -> dict[float, Measure]:
    """Return what a curve goes through, ascending: points of recall, or all cutoffs of a measure.

    A measure that was not evaluated at several cutoffs for every system is no curve.
    """
    if len(requested) > 1 and all(measure.name == "IPrec" for measure in requested):
        return {float(measure["recall"]): measure for measure in requested}
    if len(requested) > 1 or requested[0].cutoff is not None:
        return {}
    have = [
        {column.cutoff for column in results.columns if _without_cutoff(column) == requested[0]}
        for results in systems.values()
    ]
    cutoffs = sorted(cutoff for cutoff in set.intersection(*have) if cutoff is not None)
    return {cutoff: requested[0] @ cutoff for cutoff in cutoffs} if len(cutoffs) > 1 else {}


def _plot_curves(
    ax: axes.Axes | None, systems: Systems, points: Mapping[float, Measure], interval: Interval
) -> axes.Axes:
    """Draw a line a system, with intervals as bands."""
    ax = axes.new_axes(ax, legend=len(systems))
    across, measure = list(points), next(iter(points.values()))
    of_recall = isinstance(across[0], float)
    lines = []
    for results, style in zip(systems.values(), axes.styles(len(systems)), strict=True):
        if len(systems) <= MOST_BANDS:
            bounds = _find_bounds(results, points.values(), interval)
            if not np.isnan(bounds).all():
                ax.fill_between(across, *bounds, color=style.color, alpha=0.15, linewidth=0)
        look = style._asdict() | {"marker": "" if of_recall else style.marker}
        means = [results[name] for name in points.values()]
        lines += ax.plot(across, means, markersize=4.5, linewidth=1.6, **look)
    if of_recall:
        at = "" if measure.cutoff is None else f" in the first {measure.cutoff}"
        ax.set(xlabel="recall", ylabel=f"interpolated precision{at}", ylim=(0, 1.02))
    else:
        ax.set(xlabel="cutoff", ylabel=f"{_without_cutoff(measure)}@k")
        if across[-1] > 10 * across[0]:
            axes.log_scale(ax)
        else:
            ax.locator_params("x", integer=True)
    if ax.collections:
        axes.add_note(ax, f"bands: {100 * (1 - interval[1]):g} % intervals of the mean")
    axes.tidy(ax, "both")
    axes.add_legend(ax, lines, axes.fit_names(systems))
    return ax


def _find_bounds(results: Any, measures: Iterable[Measure], interval: Interval) -> Floats:
    """Return the ends of the intervals of means, ``(2, measures)``; NaN where there are none."""
    kind, level = interval
    ends = [
        (np.nan, np.nan) if kind is None else find_interval(results, measure, kind, level)
        for measure in measures
    ]
    return np.array(ends).T


def _plot_bars(
    ax: axes.Axes | None, systems: Systems, measures: Sequence[Measure], interval: Interval
) -> axes.Axes:
    """Draw means as bars with their intervals, one a measure and system."""
    n = len(systems)
    height = 0.9 + max((0.2 * n + 0.12) * len(measures), 0.6)
    ax = axes.new_axes(ax, height, legend=n)
    bars = []
    for i, (results, style) in enumerate(zip(systems.values(), axes.styles(n), strict=True)):
        rows = np.arange(len(measures)) + 0.8 * ((i + 0.5) / n - 0.5)
        means = np.array([results[name] for name in measures])
        means[~(np.abs(means) <= axes.LARGEST)] = np.nan
        bars.append(ax.barh(rows, means, 0.688 / n, color=style.color, alpha=0.75))
        bounds = _find_bounds(results, measures, interval).T
        for row, measure, ends in zip(rows.tolist(), measures, bounds, strict=True):
            if not np.isnan(ends).any():
                ax.plot(ends, [row, row], color=axes.INK, linewidth=1.2)
            if n == 1:
                axes.write_beside(ax, row, results.shown(measure))
    queries = many(next(iter(systems.values())).counts.queries, "query")
    summed = all(measure.aggregate == "sum" for measure in measures)
    ax.set_xlabel(f"{'sum' if summed else 'mean'} over {queries}")
    ax.set_yticks(range(len(measures)), axes.fit_names(measures))
    ax.set_ylim(len(measures) - 0.4, -0.6)
    if ax.lines:
        axes.add_note(ax, f"lines: {100 * (1 - interval[1]):g} % intervals of the mean")
    axes.tidy(ax, "x")
    if n > 1:
        axes.add_legend(ax, bars, axes.fit_names(systems))
    return ax
