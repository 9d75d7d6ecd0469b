"""Pictures of results: curves over cutoffs and recall, bars of means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import Measure, check_cutoff
from irbatch.measures import measure as read_measure
from irbatch.report import axes
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS, IntervalOptions, find_intervals

MOST_BANDS = 6  # systems: bands of more cover each other
MOST_MARKED = 12  # systems or points: markers of more do


def plot_cutoffs(
    results: Any,
    measure: str | Measure,
    cutoffs: Iterable[int] | None = None,
    *,
    interval: str | None = "t",
    level: float = 0.05,
    draws: int = 2000,
    seed: int = 0,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Plot a measure's mean against its cutoff, one line a system, with intervals as bands.

    Bands are drawn for up to six systems, and not for counts or geometric means. Cutoffs that span
    more than a factor of ten stand on a logarithmic axis.

    Args:
        results: of one system or several, as `irbatch.evaluate_runs` returns them, with the
            measure at several cutoffs.
        measure: its name; a cutoff in it doesn't matter.
        cutoffs: some of those evaluated; default all of them.
        interval: by Student's ``"t"``, by bootstrap over queries ``"percentile"`` or ``"bca"``, or
            None for none.
        level: the chance that an interval misses.
        draws, seed: of the bootstrap.
        ax: axes to draw on; default: those of a new figure.

    Returns:
        The axes; nothing is shown. ``ax.figure.savefig("cutoffs.png")`` saves the picture.

    Raises:
        InputError: if the measure or a cutoff was not evaluated for every system.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> import irbatch
    >>> results = irbatch.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "R", [1, 2, 5])
    >>> plot_cutoffs(results, "R").get_xlabel()
    'cutoff'
    """
    axes.check_axes(ax)
    check_choice("interval", interval, (*INTERVALS, None))
    check_number("level", level, above=0, below=1)
    named = name_results(results)
    found = read_measure(measure) if isinstance(measure, str) else measure
    if not found.declaration.takes_cutoff:
        raise InputError(f"{found.name} takes no cutoff", source="measures", value=str(measure))
    wanted = without_cutoff(found)
    places = _places(named, wanted, cutoffs)
    ax = axes.new_axes(ax, legend=len(named))
    banded = len(named) <= MOST_BANDS and wanted.aggregate == "mean" and interval is not None
    banded = banded and all(len(each.query_ids) > 1 for each in named.values())
    lines = []
    shifts = np.linspace(-0.5, 0.5, len(named) + 2)[1:-1].tolist()
    for each, style, shift in zip(named.values(), axes.styles(len(named)), shifts, strict=True):
        columns = [each.measures.index(str(wanted @ cutoff)) for cutoff in places]
        # Points of one cutoff stand side by side.
        across = np.array(places, np.float64) + (shift if len(places) == 1 else 0.0)
        means = [each[wanted @ cutoff] for cutoff in places]
        if banded and interval is not None:
            options = IntervalOptions(interval, level, draws, seed)
            _draw_band(ax, across, each.values[:, columns], style.color, options)
        lines.append(_draw_line(ax, across, means, style, len(places) <= MOST_MARKED))
    _cutoff_axis(ax, places)
    ax.set_ylabel(f"{wanted}@k")
    if banded:
        axes.add_note(ax, f"bands: {100 * (1 - level):g} % intervals of the mean")
    axes.tidy(ax, "both")
    axes.add_legend(ax, lines, axes.fit_names(named))
    return ax


def plot_precision_recall(results: Any, *, ax: axes.Axes | None = None) -> axes.Axes:
    """Plot interpolated precision against recall, one line a system.

    Args:
        results: of one system or several, with `IPrec` at two or more recall points (at the deepest
            cutoff), such as trec_eval's eleven, ``"iprec_at_recall"``.
        ax: as in `plot_cutoffs`.

    Returns, Raises: as `plot_cutoffs`, and InputError if fewer than two points were evaluated for
        every system.

    >>> import irbatch
    >>> results = irbatch.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "iprec_at_recall")
    >>> plot_precision_recall(results).get_xlabel()
    'recall'
    """
    axes.check_axes(ax)
    named = name_results(results)
    points = _recall_points(named)
    ax = axes.new_axes(ax, legend=len(named))
    lines = []
    for each, style in zip(named.values(), axes.styles(len(named)), strict=True):
        precisions = [each[str(name)] for name in points.values()]
        lines.append(_draw_line(ax, list(points), precisions, style, len(named) <= MOST_MARKED))
    cutoff = next(iter(points.values())).cutoff
    at = "" if cutoff is None else f" in the first {cutoff}"
    ax.set(xlim=(-0.02, 1.02), ylim=(0, 1.02), xlabel="recall")
    ax.set_ylabel(f"interpolated precision{at}")
    axes.tidy(ax, "both")
    axes.add_legend(ax, lines, axes.fit_names(named))
    return ax


def without_cutoff(found: Measure) -> Measure:
    """Return a measure over whole rankings."""
    return Measure(found.name, found.parameters, None, declaration=found.declaration)


def _places(named: Mapping[str, Any], wanted: Measure, cutoffs: Iterable[int] | None) -> list[int]:
    """Return the cutoffs to plot, ascending: those asked for, or all that every system has."""
    common = common_cutoffs(named, wanted)
    if cutoffs is None:
        if not common:
            problem = f"{wanted} was not evaluated at any cutoff for every system"
            there = ", ".join(next(iter(named.values())).measures[:10])
            raise InputError(f"{problem}; there are: {there}", source="measures", value=str(wanted))
        return common
    listed = [cutoffs] if isinstance(cutoffs, int) else list(cutoffs)
    chosen = sorted({check_cutoff(cutoff) for cutoff in listed})
    if not chosen:
        raise InputError("there are no cutoffs to plot", source="cutoffs")
    for cutoff in chosen:
        if cutoff not in common:
            problem = f"{wanted}@{cutoff} was not evaluated for every system"
            raise InputError(problem, source="measures", value=cutoff)
    return chosen


def common_cutoffs(named: Mapping[str, Any], wanted: Measure) -> list[int]:
    """Return a measure's cutoffs that every system has, ascending."""
    have = [
        {column.cutoff for column in each.columns if without_cutoff(column) == wanted}
        for each in named.values()
    ]
    return sorted(cutoff for cutoff in set.intersection(*have) if cutoff is not None)


def _draw_line(ax: axes.Axes, across: Any, along: Any, style: axes.Style, marked: bool) -> Any:
    """Draw a system's line, with its markers where they don't cover each other."""
    marker = style.marker if marked else ""
    how = {"color": style.color, "linestyle": style.linestyle, "marker": marker}
    (line,) = ax.plot(across, along, markersize=4.5, linewidth=1.6, **how)
    return line


def _draw_band(
    ax: axes.Axes, across: Floats, values: Floats, colour: str, options: IntervalOptions
) -> None:
    """Draw the intervals of the columns' means."""
    bounds = find_bounds(values, options)
    if bounds is None:
        return
    low, high = bounds
    if across.size == 1:  # a band would have no width
        style = {"color": colour, "linewidth": 7, "alpha": 0.25, "solid_capstyle": "butt"}
        ax.plot(across.repeat(2), [low[0], high[0]], **style)
    else:
        ax.fill_between(across, low, high, color=colour, alpha=0.15, linewidth=0)


def find_bounds(values: Floats, options: IntervalOptions) -> Floats | None:
    """Return the ends of the columns' means' intervals, float64 ``(2, columns)``.

    They are over the queries that all columns have; None of fewer than two.
    """
    kept = values[~np.isnan(values).any(axis=1)]
    return find_intervals(kept[None], [], *options).means[0].T if len(kept) > 1 else None


def _cutoff_axis(ax: axes.Axes, places: list[int]) -> None:
    """Put ticks at the cutoffs, as many of them as fit."""
    wide = places[-1] > 10 * places[0]
    if wide:
        ax.set_xscale("log")
    spread = np.log(places) if wide else np.array(places, np.float64)
    least = (spread[-1] - spread[0]) / 16  # closer labels would touch
    ticks = [places[-1]]
    last = spread[-1]
    for place, at in zip(places[-2::-1], spread[-2::-1], strict=True):
        if last - at >= least:
            ticks.append(place)
            last = at
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.set_xticks([], minor=True)
    if len(places) == 1:
        ax.set_xlim(places[0] - 1, places[0] + 1)
    ax.set_xlabel("cutoff", color=axes.INK)


def _recall_points(named: Mapping[str, Any]) -> dict[float, Measure]:
    """Return the recall points that every system has, ascending: of the deepest cutoff."""
    first, *others = named.values()
    groups: dict[Any, dict[float, Measure]] = {}
    for column in first.columns:
        if isinstance(column, Measure) and column.name == "IPrec":
            rest = tuple(each for each in column.parameters if each[0] != "recall")
            if all(str(column) in each.measures for each in others):
                groups.setdefault((column.cutoff, rest), {})[float(column["recall"])] = column
    enough = {key: points for key, points in groups.items() if len(points) > 1}
    if not enough:
        problem = "interpolated precision was not evaluated at two recall points or more for every"
        advice = "system; 'iprec_at_recall' stands for eleven"
        raise InputError(f"{problem} {advice}", source="measures")
    deepest = max(enough, key=lambda key: np.inf if key[0] is None else key[0])
    return dict(sorted(enough[deepest].items()))


def name_results(results: Any) -> dict[str, Any]:
    """Return results of one system or several by the systems' names."""
    if _has_values(results):
        return {results.name or "system": results}
    named = name_systems(results, "result", numbered=True)
    if not named:
        raise InputError("there are no results to plot", source="results")
    for name, each in named.items():
        if not _has_values(each):
            problem = f"{shown(name)} is {kind_of(each)}, not Results with values per query"
            raise InputError(problem, source="results")
    return named


def _has_values(given: object) -> bool:
    return getattr(given, "has_values", False)


MOST_NAMED = 5  # of the measures that a picture does not show


def plot_results(
    results: Any,
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
    results: Any,
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
    results: Any,
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
    named: Mapping[str, Any], measures: Iterable[str | Measure] | None
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
