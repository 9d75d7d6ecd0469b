"""Pictures of comparisons, and of results and rankings: matplotlib axes, saved or shown by you.

Every function draws on the axes it is given, or on those of a new figure, and returns them:
``plot_forest(comparison, "nDCG@10").figure.savefig("forest.png")``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.lookups import find_measure, query_differences
from irbatch.comparing.plot_relevance import plot_relevance
from irbatch.comparing.plot_results import plot_cutoffs, plot_precision_recall
from irbatch.errors import InputError, many, shown
from irbatch.report.axes import (
    BETTER,
    INK,
    MUTED,
    WORSE,
    Axes,
    check_axes,
    fit_names,
    new_axes,
    tidy,
)

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = [
    "plot_cutoffs",
    "plot_differences",
    "plot_forest",
    "plot_precision_recall",
    "plot_relevance",
    "plot_scores",
]


MOST_NAMED = 20  # queries: more ids don't fit under their bars
MOST_POINTS = 1000  # queries: more points are a smear
GOLDEN = (5**0.5 - 1) / 2  # multiples of it spread evenly


def plot_differences(
    comparison: Comparison,
    a: str,
    b: str,
    measure: str,
    *,
    labelled: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Plot by how much one system is better than another, one bar a query, the best ones first.

    Args:
        comparison: what `irbatch.compare` returned.
        a, b: the systems; bars are the values of `a` less those of `b`.
        measure: one of the comparison's, in any spelling.
        labelled: how many of the best and of the worst queries are named; up to 20 queries all
            are, under their bars.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: for an unknown system or measure.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> from irbatch.comparing import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new, old = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}
    >>> compared = compare(qrels, {"new": new, "old": old}, "RR")
    >>> print(plot_differences(compared, "new", "old", "RR").get_title(loc="left"))
    new − old
    1 win, 1 tie, 0 losses; mean +0.500 (dashed)
    """
    check_axes(ax)
    _check_count(labelled, "labelled")
    first, second = query_differences(comparison, a, b, measure)
    name = comparison.measures[find_measure(comparison.measures, measure)]
    difference = first - second
    order = np.argsort(-difference, kind="stable")
    ids = fit_names((comparison.query_ids[row] for row in order.tolist()), 16)
    heights = difference[order]
    ax = new_axes(ax)
    places = np.arange(heights.size)
    colours = np.where(heights > 0, BETTER, WORSE)
    width = 0.8 if heights.size <= 60 else 1.0
    ax.bar(places, heights, width=width, color=colours.tolist())
    ax.axhline(0, color=INK, linewidth=0.8)
    mean = float(heights.mean())
    ax.axhline(mean, color=MUTED, linewidth=1, linestyle=(0, (4, 2)))
    _leave_room(ax, heights)
    if heights.size <= MOST_NAMED:
        ax.set_xticks(places, ids, rotation=90 if max(map(len, ids)) > 3 else 0)
    else:
        ax.set_xticks([])
        _name_extremes(ax, ids, heights, labelled)
    ax.set_xlim(-0.6, heights.size - 0.4)
    ax.set_xlabel(f"{many(heights.size, 'query')}, ordered by difference")
    ax.set_ylabel(f"difference in {name}")
    one, other = fit_names([a, b])
    told = f"{_tell_wins(heights)}; mean {_signed(mean)} (dashed)"
    ax.set_title(f"{one} − {other}\n{told}", loc="left", fontsize=10)
    tidy(ax)
    return ax


def plot_scores(comparison: Comparison, measure: str, *, ax: Axes | None = None) -> Axes:
    """Plot how each system's values are distributed over the queries, the best mean on top.

    A dot a query, a box from the first to the third quartile with the median in it, whiskers from
    the 5th to the 95th percentile, and a diamond at the mean. Of more than 1000 queries dots are
    left out.

    Args:
        comparison, measure, ax: as in `plot_differences`.

    Returns:
        The axes.

    Raises:
        InputError: for an unknown measure.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> from types import SimpleNamespace
    >>> compared = SimpleNamespace(systems=["a", "b"], measures=["AP"], query_ids=["q1", "q2"],
    ...                            values=[[[0.1], [0.2]], [[0.5], [0.4]]])
    >>> [label.get_text() for label in plot_scores(compared, "AP").get_yticklabels()]
    ['b', 'a']
    """
    check_axes(ax)
    column = find_measure(comparison.measures, measure)
    values = np.asarray(comparison.values, np.float64)[:, :, column]
    order = np.argsort(-values.mean(axis=1), kind="stable")
    names = fit_names(comparison.systems)
    row_height = 0.36 if len(names) <= 20 else 0.24
    ax = new_axes(ax, height=1.2 + max(row_height * len(names), 1.2))
    ax.use_sticky_edges = False  # boxes would end where the axes do
    spread = (np.arange(values.shape[1]) * GOLDEN % 1 - 0.5) * 0.62
    few = values.shape[1] <= MOST_POINTS
    size = float(np.clip(1200 / values.shape[1], 3, 16))
    for row, system in enumerate(order.tolist()):
        if few:
            # By rank, not by place: neighbours in value stand apart.
            ax.scatter(np.sort(values[system]), row + spread, s=size, color=BETTER, alpha=0.35,
                       linewidths=0, zorder=2)  # fmt: skip
        _draw_box(ax, values[system], row)
    ax.set_yticks(range(len(names)), [names[system] for system in order.tolist()])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(f"{comparison.measures[column]}, {many(values.shape[1], 'query')}")
    ax.set_title("box: quartiles and median; whiskers: 5–95 %; diamond: mean", loc="left",
                 fontsize=9, color=MUTED)  # fmt: skip
    tidy(ax, "x")
    return ax


def plot_forest(
    comparison: Comparison, measure: str, *, most: int = 45, ax: Axes | None = None
) -> Axes:
    """Plot the difference of every pair of systems with its interval, p-values at the side.

    Full dots are significant at the comparison's level after correction, hollow ones are not.

    Args:
        comparison, measure, ax: as in `plot_differences`.
        most: how many pairs are drawn; of more, those with the largest differences are.

    Returns:
        The axes.

    Raises:
        InputError: for an unknown measure.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> from irbatch.comparing import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new, old = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}
    >>> compared = compare(qrels, {"new": new, "old": old}, "RR")
    >>> plot_forest(compared, "RR").get_xlabel()
    'difference in RR'
    """
    check_axes(ax)
    _check_count(most, "most")
    column = find_measure(comparison.measures, measure)
    differences = np.asarray(comparison.differences)[:, column]
    kept = np.argsort(-np.abs(differences), kind="stable")[:most]
    kept = kept[np.argsort(-differences[kept], kind="stable")]
    bounds = np.asarray(comparison.difference_intervals)[kept, column]
    significant = np.asarray(comparison.significant)[kept, column]
    p_values = np.asarray(comparison.corrected)[kept, column]
    names = fit_names(comparison.systems, 24)
    pairs = [comparison.pairs[pair] for pair in kept.tolist()]
    labels = [f"{names[first]} − {names[second]}" for first, second in pairs]
    width = float(np.clip(4.6 + 0.085 * max(map(len, labels)), 7, 9.5))
    ax = new_axes(ax, 1.3 + max(0.27 * len(pairs), 0.6), width)
    ax.axvline(0, color=INK, linewidth=1)
    for row, pair in enumerate(kept.tolist()):
        _draw_pair(ax, row, differences[pair], bounds[row], p_values[row], significant[row])
    how = "p" if comparison.correction == "none" else f"p ({comparison.correction})"
    ax.text(1.02, -0.9, how, transform=ax.get_yaxis_transform(), va="center", fontsize=8.5,
            color=MUTED)  # fmt: skip
    ax.set_yticks(range(len(pairs)), labels)
    ax.set_ylim(len(pairs) - 0.4, -1.3)
    ax.set_xlabel(f"difference in {comparison.measures[column]}")
    left_out = differences.size - len(pairs)
    more = f"; {left_out} smaller differences not shown" if left_out else ""
    ax.set_title(f"full dots: significant at {comparison.level:g}{more}", loc="left", fontsize=9,
                 color=MUTED)  # fmt: skip
    tidy(ax, "x")
    return ax


def _draw_pair(
    ax: Axes, row: int, difference: float, bounds: Floats, p: float, significant: bool
) -> None:
    colour = BETTER if significant else MUTED
    ax.plot(bounds, [row, row], color=colour, linewidth=2 if significant else 1.2)
    ax.plot(difference, row, "o", markersize=6, markeredgecolor=colour,
            color=colour if significant else "white")  # fmt: skip
    weight = "bold" if significant else "normal"
    ax.text(1.02, row, _tell_p(p), transform=ax.get_yaxis_transform(), va="center", fontsize=8.5,
            color=INK if significant else MUTED, fontweight=weight)  # fmt: skip


def _check_count(count: Any, name: str) -> None:
    least = 0 if name == "labelled" else 1
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        raise InputError(f"{name}={shown(count)} must be a whole number of at least {least}",
                         value=count)  # fmt: skip


def _tell_wins(differences: Floats) -> str:
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    ties = differences.size - wins - losses
    counted = ((wins, "win", "wins"), (ties, "tie", "ties"), (losses, "loss", "losses"))
    return ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in counted)


def _leave_room(ax: Axes, heights: Floats) -> None:
    """Leave a third of the axes to either side of zero, for the names of queries."""
    top, bottom = max(float(heights.max()), 0.0), min(float(heights.min()), 0.0)
    reach = max(top, -bottom) or 1.0
    ax.set_ylim(min(bottom * 1.06, -0.5 * reach), max(top * 1.06, 0.5 * reach))


def _name_extremes(ax: Axes, ids: list[str], heights: Floats, labelled: int) -> None:
    """Name the best queries under their bars, which stand up, and the worst above theirs."""
    best = [i for i in range(min(labelled, heights.size)) if heights[i] > 0]
    worst = [i for i in range(heights.size)[-labelled or heights.size :] if heights[i] < 0]
    for rows, x, y, ha, va, colour in (
        (best, 0.01, 0.03, "left", "bottom", BETTER),
        (worst[::-1], 0.99, 0.97, "right", "top", WORSE),
    ):
        listed = "\n".join(f"{ids[i]}  {_signed(heights[i])}" for i in rows)
        if listed:
            side = "best" if colour == BETTER else "worst"
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 2}
            ax.text(x, y, f"{side}\n{listed}", transform=ax.transAxes, ha=ha, va=va, fontsize=8.5,
                    color=colour, linespacing=1.3, bbox=behind)  # fmt: skip


def _draw_box(ax: Axes, values: Floats, row: int) -> None:
    low, first, median, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    for ends in ((low, first), (third, high)):
        ax.plot(ends, [row, row], color=INK, linewidth=1, zorder=3, solid_capstyle="butt")
    ax.barh(row, third - first, left=first, height=0.42, facecolor=(1, 1, 1, 0.4), edgecolor=INK,
            linewidth=1, zorder=3)  # fmt: skip
    ax.plot([median, median], [row - 0.21, row + 0.21], color=INK, linewidth=1.8, zorder=4)
    ax.plot(values.mean(), row, "D", markersize=5, color=WORSE, markeredgecolor="white", zorder=5)


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


def _tell_p(p: float) -> str:
    if np.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
