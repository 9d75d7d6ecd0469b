"""Pictures of results: what `Results.plot` draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.errors import InputError, many
from irbatch.evaluation.curves import (
    AllResults,
    Results,
    common_cutoffs,
    find_bounds,
    name_results,
    plot_cutoffs,
    without_cutoff,
)
from irbatch.measures import Measure
from irbatch.measures import measure as read_measure
from irbatch.report import axes
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS, IntervalOptions

MOST_NAMED = 5  # of the measures that a picture does not show


def plot_results(
    results: AllResults,
    measure: str | Measure | None = None,
    *,
    interval: str | None = "t",
    level: float = 0.05,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Plot a measure against its cutoffs where there are several, else means as bars.

    Args:
        measure: one that was evaluated, or ``"nDCG"`` for that at all its cutoffs; default: the
            first one at all its cutoffs, if it has several (others are named above it), else a bar
            for each.
        results, interval, level, ax: as in `plot_cutoffs`, and so what returns and errors.

    >>> import irbatch
    >>> results = irbatch.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "AP RR P@{1,2}")
    >>> results.plot("P").get_xlabel()
    'cutoff'
    >>> [label.get_text() for label in results.plot().get_yticklabels()]
    ['AP', 'RR', 'P@1', 'P@2']
    """
    named = name_results(results)
    options: dict[str, Any] = {"interval": interval, "level": level, "ax": ax}
    found = read_measure(measure) if isinstance(measure, str) else measure
    if found is None:
        found = without_cutoff(next(iter(named.values())).columns[0])
    if found.cutoff is None and len(common_cutoffs(named, found)) > 1:
        ax = plot_cutoffs(named, found, **options)
        if measure is None:
            columns = next(iter(named.values())).columns
            _name_others(ax, [str(each) for each in columns if without_cutoff(each) != found])
        return ax
    return plot_bars(named, None if measure is None else [measure], **options)


def _name_others(ax: axes.Axes, others: list[str]) -> None:
    """Name measures that a picture does not show, as many as fit."""
    if others:
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        said = f"not shown: {', '.join(axes.fit_names(others[:MOST_NAMED]))}{more}"
        axes.add_note(ax, "\n".join(filter(None, (ax.get_title(loc="left"), said))))


def plot_bars(
    results: AllResults,
    measures: Iterable[str | Measure] | None = None,
    *,
    interval: str | None = "t",
    level: float = 0.05,
    draws: int = 2000,
    seed: int = 0,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Plot means as bars with their intervals, one a measure and system.

    Args:
        results, interval, level, draws, seed, ax: as in `plot_cutoffs`, and so what returns.
        measures: which; default: all that every system has, without counts.

    Raises:
        InputError: if a measure was not evaluated for every system.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> import irbatch
    >>> found = irbatch.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "AP RR P@{1,2}")
    >>> [text.get_text() for text in plot_bars(found, ["P@2", "RR"]).texts]
    ['0.5000', '0.5000']
    """
    axes.check_axes(ax)
    check_choice("interval", interval, (*INTERVALS, None))
    check_number("level", level, above=0, below=1)
    named = name_results(results)
    chosen = _measures_of_all(named, measures)
    bars = len(chosen) * len(named)
    ax = axes.new_axes(ax, 0.9 + max(0.2 * bars + 0.12 * len(chosen), 0.6), legend=len(named))
    options = None if interval is None else IntervalOptions(interval, level, draws, seed)
    height = 0.8 / len(named)
    drawn, bounded = [], False
    for row, (each, style) in enumerate(zip(named.values(), axes.styles(len(named)), strict=True)):
        at = np.arange(len(chosen)) + (row + 0.5) * height - 0.4
        means = np.array([each[name] for name in chosen])
        means[~(np.abs(means) <= axes.LARGEST)] = np.nan
        drawn.append(ax.barh(at, means, 0.86 * height, color=style.color, alpha=0.75))
        for place, name in zip(at.tolist(), chosen, strict=True):
            bounded |= _draw_interval(ax, place, each, name, options)
            if len(named) == 1:
                beside = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 8.5}
                ax.text(1.02, place, each.shown(name), color=axes.MUTED, **beside)
    first = next(iter(named.values()))
    summed = all(first.columns[first.column_of(name)].aggregate == "sum" for name in chosen)
    ax.set_yticks(range(len(chosen)), axes.fit_names(chosen))
    ax.set_ylim(len(chosen) - 0.4, -0.6)
    ax.set_xlabel(f"{'sum' if summed else 'mean'} over {many(len(first.query_ids), 'query')}")
    if bounded:
        axes.add_note(ax, f"lines: {100 * (1 - level):g} % intervals of the mean")
    axes.tidy(ax, "x")
    if len(named) > 1:
        axes.add_legend(ax, drawn, axes.fit_names(named))
    return ax


def _draw_interval(
    ax: axes.Axes,
    place: float,
    results: Results,
    name: str,
    options: IntervalOptions | None,
) -> bool:
    """Draw the interval of a mean, if it is wanted and there is one; tell whether it was drawn."""
    column = results.column_of(name)
    if options is None or results.columns[column].aggregate != "mean":
        return False
    bounds = find_bounds(results.values[:, [column]], options)
    if bounds is None:
        return False
    ax.plot(bounds[:, 0], [place, place], color=axes.INK, linewidth=1.2)
    return True


def _measures_of_all(
    named: Mapping[str, Results], measures: Iterable[str | Measure] | None
) -> list[str]:
    """Return names of the measures asked for, or else of those that every system has."""
    first = next(iter(named.values()))
    if measures is None:
        common = [
            each for each in first.columns if all(str(each) in all_ for all_ in named.values())
        ]
        chosen = [each for each in common if each.aggregate != "sum"] or common
        if chosen:
            return list(map(str, chosen))
        raise InputError("no measure was evaluated for every system", source="measures")
    for each in measures:
        if not all(str(each) in all_ for all_ in named.values()):
            there = ", ".join(first.measures[:10])
            problem = f"{each!s} was not evaluated for every system; there are: {there}"
            raise InputError(problem, source="measures", value=str(each))
    return [first.measures[first.column_of(each)] for each in measures]
