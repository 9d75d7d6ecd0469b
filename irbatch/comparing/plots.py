"""Pictures of comparisons: matplotlib axes, saved or shown by you."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.errors import InputError, many
from irbatch.report import axes
from irbatch.report.document import Figure
from irbatch.report.text import show_change, show_p

__all__ = ["plot_differences", "plot_forest"]

MOST_BARS = 200  # of more queries neighbours share a bar
MOST_PAIRS = 45

Comparison = Any  # an `irbatch.Comparison`, whose module imports this one


def plot_differences(
    comparison: Comparison, a: str, b: str, measure: str, *, ax: axes.Axes | None = None
) -> axes.Axes:
    """Plot by how much one system is better than another, one bar a query, the best ones first.

    Of more than 200 queries neighbours share a bar, as high as their mean.

    Args:
        comparison: what `irbatch.compare` returned.
        a, b: the systems; bars are the values of `a` less those of `b`.
        measure: one of the comparison's, in any spelling.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: if a system or the measure is unknown.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> from irbatch import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> compared = compare(qrels, {"new": qrels, "old": {"q1": {"d1": 1}, "q2": {"d9": 1}}}, "RR")
    >>> print(plot_differences(compared, "new", "old", "RR").get_title(loc="left"))
    new − old
    1 better, 1 equal, 0 worse; mean +0.5000 (dashed)
    """
    column, pair = comparison.find_measure(measure), [*map(comparison.find_system, (a, b))]
    if a == b:
        raise InputError(f"two systems differ, not {a!r} from itself", source="pair", value=a)
    sign = int(comparison.directions[column])
    with np.errstate(invalid="ignore"):  # of infinite ones
        values = np.subtract(*comparison.values[pair, :, column])
    differences: Floats = -np.sort(-values[np.abs(values) <= axes.LARGEST])
    n = differences.size
    bars = np.array_split(differences, min(MOST_BARS, n))
    sizes, means = np.array([bar.size for bar in bars]), np.array([bar.mean() for bar in bars])
    ax = axes.new_axes(ax)
    colours = np.where(sign * means > 0, axes.BETTER, axes.WORSE).tolist()
    width = sizes * (0.8 if n <= 60 else 1.0)
    ax.bar(sizes.cumsum() - (sizes + 1) / 2, means, width, color=colours)
    mean = float(differences.mean())
    ax.axhline(0, color=axes.INK, linewidth=0.8)
    ax.axhline(mean, color=axes.MUTED, linewidth=1, linestyle=(0, (4, 2)))
    ax.set_xticks([])
    ax.set_xlim(-0.6, n - 0.4)
    ax.set_xlabel(f"{many(n, 'query')}, ordered by difference")
    ax.set_ylabel(f"difference in {comparison.measures[column]}")
    names = " − ".join(axes.fit_names([a, b]))
    better, worse = [int((differences > 0).sum()), int((differences < 0).sum())][::sign]
    counts = f"{better} better, {n - better - worse} equal, {worse} worse"
    signed = show_change(mean, 4).replace("-", "−")
    ax.set_title(f"{names}\n{counts}; mean {signed} (dashed)", loc="left", fontsize=10)
    axes.tidy(ax)
    return ax


def plot_forest(comparison: Comparison, measure: str, *, ax: axes.Axes | None = None) -> axes.Axes:
    """Plot the difference of every pair of systems with its interval, p-values at the side.

    Full dots are significant at the comparison's level after correction, hollow ones are not. Of
    more than 45 pairs those with the largest differences are drawn. Arguments, what returns and
    errors are as of `plot_differences`.

    >>> from irbatch import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> compared = compare(qrels, {"new": qrels, "old": {"q1": {"d1": 1}, "q2": {"d9": 1}}}, "RR")
    >>> plot_forest(compared, "RR").get_xlabel()
    'difference in RR'
    """
    column = comparison.find_measure(measure)
    differences = comparison.differences[:, column]
    kept = np.argsort(-np.abs(differences), kind="stable")[:MOST_PAIRS]
    kept = kept[np.argsort(-differences[kept], kind="stable")]
    names = axes.fit_names(comparison.systems, 24)
    pairs = [comparison.pairs[pair] for pair in kept.tolist()]
    labels = [f"{names[first]} − {names[second]}" for first, second in pairs]
    width = float(np.clip(4.6 + 0.085 * max(map(len, labels)), 7, 9.5))
    ax = axes.new_axes(ax, 1.3 + max(0.27 * len(pairs), 0.6), width)
    ax.axvline(0, color=axes.INK, linewidth=1)
    middles, bounds = (
        np.where(np.abs(numbers) <= axes.LARGEST, numbers, np.nan)
        for numbers in (differences, comparison.difference_intervals[:, column])
    )
    reach = np.abs(bounds.T - middles)
    for row, pair in enumerate(kept.tolist()):
        significant = bool(comparison.significant[pair, column])
        colour = axes.BETTER if significant else axes.MUTED
        ax.errorbar(
            middles[[pair]], [row], xerr=reach[:, [pair]], fmt="o", markersize=6, color=colour,
            elinewidth=2 if significant else 1.2,
            markerfacecolor=colour if significant else "white",
        )  # fmt: skip
        p = show_p(comparison.corrected[pair, column], comparison.level)
        axes.write_beside(ax, row, p, significant)
    none = comparison.correction == "none"
    axes.write_beside(ax, -0.9, "p" if none else f"p ({comparison.correction})")
    ax.set_yticks(range(len(pairs)), labels)
    ax.set_ylim(len(pairs) - 0.4, -1.3)
    ax.set_xlabel(f"difference in {comparison.measures[column]}")
    left_out = differences.size - len(pairs)
    more = f"; {left_out} smaller ones not shown" if left_out else ""
    together = "; simultaneous intervals" if comparison.simultaneous else ""
    axes.add_note(ax, f"full: significant at {comparison.level:g}{together}{more}")
    axes.tidy(ax, "x")
    return ax


def plot_figures(compared: Comparison) -> list[Figure]:
    """Return the forest of each measure, drawn when written; see `Comparison.to_html`."""
    caption = f"Differences of means and their {compared.told_intervals}."
    return [
        Figure(f"{name}: differences of means", caption, partial(plot_forest, compared, name))
        for name in compared.measures
    ]
