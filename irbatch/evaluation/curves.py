"""Curves of results: measures against cutoffs, precision against recall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard, cast

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, kind_of, shown
from irbatch.evaluation.means import Means
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import Measure, check_cutoff
from irbatch.measures import measure as read_measure
from irbatch.report import axes
from irbatch.runtime.numbers import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS, IntervalOptions, find_intervals


class Results(Protocol):
    """What is drawn of `irbatch.Results`, which draw themselves with this module."""

    name: str | None
    columns: tuple[Measure, ...]
    query_ids: list[Any]
    values: Floats

    @property
    def measures(self) -> list[str]:
        """Canonical names."""

    def __contains__(self, name: object) -> bool: ...
    def __getitem__(self, name: str | Measure) -> float: ...

    def column_of(self, name: str | Measure) -> int:
        """Return a measure's position."""

    def shown(self, name: str | Measure) -> str:
        """Format a mean."""


Several = Mapping[str, Results] | Iterable[Results]
AllResults = Results | Several

MOST_BANDS = 6  # systems: bands of more cover each other
MOST_MARKED = 12  # systems or points: markers of more do


def plot_cutoffs(
    results: AllResults,
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


def plot_precision_recall(results: AllResults, *, ax: axes.Axes | None = None) -> axes.Axes:
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


def _places(
    named: Mapping[str, Results], wanted: Measure, cutoffs: Iterable[int] | None
) -> list[int]:
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


def common_cutoffs(named: Mapping[str, Results], wanted: Measure) -> list[int]:
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


def _recall_points(named: Mapping[str, Results]) -> dict[float, Measure]:
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


def name_results(results: AllResults) -> dict[str, Results]:
    """Return results of one system or several by the systems' names."""
    if _has_values(results):
        return {results.name or "system": results}
    named = name_systems(cast(Several, results), "result", numbered=True)
    if not named:
        raise InputError("there are no results to plot", source="results")
    for name, each in named.items():
        if not _has_values(each):
            problem = f"{shown(name)} is {kind_of(each)}, not Results with values per query"
            raise InputError(problem, source="results")
    return named


def _has_values(given: object) -> TypeGuard[Results]:
    return isinstance(given, Means) and hasattr(given, "query_ids")
