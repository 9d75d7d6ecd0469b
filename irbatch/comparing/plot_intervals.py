"""Pictures of intervals: of means, and of differences of pairs of systems."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.compared import Compared, find_measure
from irbatch.report import axes
from irbatch.report.numbers import show, show_interval
from irbatch.runtime.checks import check_whole


def plot_means(
    comparison: Compared, measure: str, *, digits: int = 4, ax: axes.Axes | None = None
) -> axes.Axes:
    """Plot each system's mean with its interval, and write both beside it; the best is bold.

    Args:
        comparison, measure, ax: as in `irbatch.comparing.plots.plot_differences`.
        digits: how many decimals are written.

    Returns, Raises: as `irbatch.comparing.plots.plot_differences`.

    >>> from irbatch.comparing import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new, old = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}
    >>> comparison = compare(qrels, {"new": new, "old": old}, "RR")
    >>> [each.get_text() for each in plot_means(comparison, "RR").texts]
    ['1.0000 [1.0000, 1.0000]', '0.5000 [0.0000, 1.0000]']
    """
    axes.check_axes(ax)
    column = find_measure(comparison.measures, measure)
    means = comparison.means[:, column]
    bounds = comparison.intervals[:, column]
    names = axes.fit_names(comparison.systems)
    told = [
        f"{show(mean, digits)} {show_interval(low, high, digits)}"
        for mean, (low, high) in zip(means.tolist(), bounds.tolist(), strict=True)
    ]
    longest = max(map(len, told)) + max(map(len, names))
    width = 6 + 0.11 * max(0, longest - 42)
    ax = axes.new_axes(ax, 0.7 + max(0.27 * len(names), 0.6), width)
    best = np.nanmax(means, initial=-np.inf) if len(names) > 1 else np.inf
    for row, mean in enumerate(means.tolist()):
        _draw_interval(ax, row, mean, bounds[row], significant=True)
        _tell(ax, row, told[row], strong=mean == best)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(comparison.measures[column])
    axes.tidy(ax, "x")
    return ax


def plot_forest(
    comparison: Compared, measure: str, *, most: int = 45, ax: axes.Axes | None = None
) -> axes.Axes:
    """Plot the difference of every pair of systems with its interval, p-values at the side.

    Full dots are significant at the comparison's level after correction, hollow ones are not.

    Args:
        comparison, measure, ax: as in `plot_differences`.
        most: how many pairs are drawn; of more, those with the largest differences are.

    Returns, Raises: as `plot_differences`.

    >>> from irbatch.comparing import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new, old = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}
    >>> compared = compare(qrels, {"new": new, "old": old}, "RR")
    >>> plot_forest(compared, "RR").get_xlabel()
    'difference in RR'
    """
    axes.check_axes(ax)
    check_whole("most", most, 1)
    column = find_measure(comparison.measures, measure)
    differences = np.asarray(comparison.differences)[:, column]
    kept = np.argsort(-np.abs(differences), kind="stable")[:most]
    kept = kept[np.argsort(-differences[kept], kind="stable")]
    bounds = np.asarray(comparison.difference_intervals)[kept, column]
    significant = np.asarray(comparison.significant)[kept, column]
    p_values = np.asarray(comparison.corrected)[kept, column]
    names = axes.fit_names(comparison.systems, 24)
    pairs = [comparison.pairs[pair] for pair in kept.tolist()]
    labels = [f"{names[first]} − {names[second]}" for first, second in pairs]
    width = float(np.clip(4.6 + 0.085 * max(map(len, labels)), 7, 9.5))
    ax = axes.new_axes(ax, 1.3 + max(0.27 * len(pairs), 0.6), width)
    ax.axvline(0, color=axes.INK, linewidth=1)
    for row, pair in enumerate(kept.tolist()):
        _draw_interval(ax, row, differences[pair], bounds[row], bool(significant[row]))
        _tell(ax, row, _tell_p(p_values[row]), bool(significant[row]))
    how = "p" if comparison.correction == "none" else f"p ({comparison.correction})"
    _tell(ax, -0.9, how)
    ax.set_yticks(range(len(pairs)), labels)
    ax.set_ylim(len(pairs) - 0.4, -1.3)
    ax.set_xlabel(f"difference in {comparison.measures[column]}")
    left_out = differences.size - len(pairs)
    more = f"; {left_out} smaller differences not shown" if left_out else ""
    axes.add_note(ax, f"full dots: significant at {comparison.level:g}{more}")
    axes.tidy(ax, "x")
    return ax


def _draw_interval(
    ax: axes.Axes, row: int, value: float, bounds: Floats, significant: bool
) -> None:
    """Draw a dot and its interval, where they are numbers that can be drawn."""
    low, middle, high = (
        each if abs(each) <= axes.LARGEST else np.nan for each in (bounds[0], value, bounds[1])
    )
    colour = axes.BETTER if significant else axes.MUTED
    ax.plot([low, high], [row, row], color=colour, linewidth=2 if significant else 1.2)
    inside = colour if significant else "white"
    ax.plot(middle, row, "o", markersize=6, markeredgecolor=colour, color=inside)


def _tell(ax: axes.Axes, row: float, said: str, strong: bool = False) -> None:
    """Write something to the right of the axes."""
    style = {"color": axes.INK, "fontweight": "bold"} if strong else {"color": axes.MUTED}
    ax.text(1.02, row, said, transform=ax.get_yaxis_transform(), va="center", fontsize=8.5, **style)


def _tell_p(p: float) -> str:
    if np.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
