"""Pictures of results: curves over cutoffs and recall, bars of means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.measures import Measure, parse_measures
from irbatch.report import axes
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS

MOST_BANDS = 6  # systems: bands of more cover each other
LEAST_SPACE = 1 / 16  # of an axis, between ticks


def plot_results(
    results: Any,
    measure: str | Measure | Iterable[str | Measure] | None,
    interval: str | None,
    level: float,
    ax: axes.Axes | None,
) -> axes.Axes:
    """Plot results of one system or several; see `irbatch.Results.plot`."""
    check_choice("interval", interval, (*INTERVALS, "bounded", None))
    check_number("level", level, above=0, below=1)
    options = None if interval is None else (interval, level)
    by_name = results if isinstance(results, dict) else {results.name or "system": results}
    if not by_name:
        raise InputError("there are no results to plot", source="results")
    for name, system in by_name.items():
        if not getattr(system, "has_values", False):
            problem = f"{shown(name)} is {kind_of(system)}, not Results with values per query"
            raise InputError(problem, source="results")
    columns = next(iter(by_name.values())).columns
    requested = [_without_cutoff(columns[0])] if measure is None else list(parse_measures(measure))
    points = _points_of_curve(by_name, requested)
    if points:
        return _plot_curves(ax, by_name, points, options)
    if measure is None:
        return _plot_bars(ax, by_name, _measures_of_all(by_name), options)
    return _plot_bars(ax, by_name, _check_evaluated(by_name, requested), options)


def _without_cutoff(measure: Measure) -> Measure:
    return Measure(measure.name, measure.parameters, None, declaration=measure.declaration)


def _points_of_curve(
    by_name: Mapping[str, Any], requested: Sequence[Measure]
) -> dict[float, Measure]:
    """Return what a curve goes through, ascending: points of recall, or all cutoffs of a measure.

    A measure that was not evaluated at several cutoffs for every system is no curve.
    """
    if len(requested) > 1 and all(measure.name == "IPrec" for measure in requested):
        _check_evaluated(by_name, requested)
        return {float(measure["recall"]): measure for measure in requested}
    if len(requested) > 1 or requested[0].cutoff is not None:
        return {}
    have = [
        {column.cutoff for column in results.columns if _without_cutoff(column) == requested[0]}
        for results in by_name.values()
    ]
    cutoffs = sorted(cutoff for cutoff in set.intersection(*have) if cutoff is not None)
    return {cutoff: requested[0] @ cutoff for cutoff in cutoffs} if len(cutoffs) > 1 else {}


def _measures_of_all(by_name: Mapping[str, Any]) -> list[Measure]:
    """Return the measures that every system has, without counts if there are others."""
    columns = next(iter(by_name.values())).columns
    common = [of for of in columns if all(str(of) in results for results in by_name.values())]
    if not common:
        raise InputError("no measure was evaluated for every system", source="measures")
    return [of for of in common if of.aggregate != "sum"] or common


def _check_evaluated(by_name: Mapping[str, Any], measures: Sequence[Measure]) -> Sequence[Measure]:
    for measure in measures:
        if not all(str(measure) in results for results in by_name.values()):
            evaluated = ", ".join(next(iter(by_name.values())).measures[:10])
            problem = f"{measure} was not evaluated for every system; there are: {evaluated}"
            raise InputError(problem, source="measures", value=str(measure))
    return measures


def _plot_curves(
    ax: axes.Axes | None,
    by_name: Mapping[str, Any],
    points: Mapping[float, Measure],
    options: tuple[str, float] | None,
) -> axes.Axes:
    """Draw a line a system, with intervals as bands."""
    ax = axes.new_axes(ax, legend=len(by_name))
    across, measure = list(points), next(iter(points.values()))
    of_recall = isinstance(across[0], float)
    banded, lines = False, []
    for results, style in zip(by_name.values(), axes.styles(len(by_name)), strict=True):
        bounds = (
            None if len(by_name) > MOST_BANDS else _find_bounds(results, points.values(), options)
        )
        if bounds is not None:
            ax.fill_between(across, *bounds, color=style.color, alpha=0.15, linewidth=0)
            banded = True
        look = style._asdict() | {"marker": "" if of_recall else style.marker}
        means = [results[name] for name in points.values()]
        lines += ax.plot(across, means, markersize=4.5, linewidth=1.6, **look)
    if of_recall:
        at = "" if measure.cutoff is None else f" in the first {measure.cutoff}"
        ax.set(xlabel="recall", ylabel=f"interpolated precision{at}", ylim=(0, 1.02))
    else:
        _write_cutoffs(ax, across)
        ax.set(xlabel="cutoff", ylabel=f"{_without_cutoff(measure)}@k")
    if options is not None and banded:
        axes.add_note(ax, f"bands: {100 * (1 - options[1]):g} % intervals of the mean")
    axes.tidy(ax, "both")
    axes.add_legend(ax, lines, axes.fit_names(by_name))
    return ax


def _find_bounds(
    results: Any, measures: Iterable[Measure], options: tuple[str, float] | None
) -> Floats | None:
    """Return the ends of the intervals of means, ``(2, measures)``; None where there are none."""
    if options is None:
        return None
    ends = np.array([results.interval(measure, *options) for measure in measures]).T
    return None if np.isnan(ends).any() else ends


def _write_cutoffs(ax: axes.Axes, cutoffs: Sequence[float]) -> None:
    """Put ticks at the cutoffs, from the last one down as many as fit; logarithmic if they span."""
    wide = cutoffs[-1] > 10 * cutoffs[0]
    if wide:
        ax.set_xscale("log")
    places = (np.log(cutoffs) if wide else np.array(cutoffs, np.float64)).tolist()
    ticks = [len(places) - 1]
    for i in reversed(range(len(places) - 1)):
        if places[ticks[-1]] - places[i] >= LEAST_SPACE * (places[-1] - places[0]):
            ticks.append(i)
    ax.set_xticks([cutoffs[i] for i in ticks], [str(cutoffs[i]) for i in ticks])
    ax.set_xticks([], minor=True)


def _plot_bars(
    ax: axes.Axes | None,
    named: Mapping[str, Any],
    measures: Sequence[Measure],
    options: tuple[str, float] | None,
) -> axes.Axes:
    """Draw means as bars with their intervals, one a measure and system."""
    n = len(named)
    height = 0.9 + max((0.2 * n + 0.12) * len(measures), 0.6)
    ax = axes.new_axes(ax, height, legend=n)
    drawn, bounded = [], False
    for i, (results, style) in enumerate(zip(named.values(), axes.styles(n), strict=True)):
        rows = np.arange(len(measures)) + 0.8 * ((i + 0.5) / n - 0.5)
        means = np.array([results[name] for name in measures])
        means[~(np.abs(means) <= axes.LARGEST)] = np.nan
        drawn.append(ax.barh(rows, means, 0.688 / n, color=style.color, alpha=0.75))
        for row, measure in zip(rows.tolist(), measures, strict=True):
            if (bounds := _find_bounds(results, [measure], options)) is not None:
                ax.plot(bounds[:, 0], [row, row], color=axes.INK, linewidth=1.2)
                bounded = True
            if n == 1:
                axes.write_beside(ax, row, results.shown(measure))
    queries = many(len(next(iter(named.values())).query_ids), "query")
    summed = all(measure.aggregate == "sum" for measure in measures)
    ax.set_xlabel(f"{'sum' if summed else 'mean'} over {queries}")
    ax.set_yticks(range(len(measures)), axes.fit_names(measures))
    ax.set_ylim(len(measures) - 0.4, -0.6)
    if options is not None and bounded:
        axes.add_note(ax, f"lines: {100 * (1 - options[1]):g} % intervals of the mean")
    axes.tidy(ax, "x")
    if n > 1:
        axes.add_legend(ax, drawn, axes.fit_names(named))
    return ax
