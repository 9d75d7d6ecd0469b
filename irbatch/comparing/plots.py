"""Pictures of comparisons: matplotlib axes, saved or shown by you."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.comparing.differences import Differences
from irbatch.comparing.report import percent
from irbatch.errors import InputError, many
from irbatch.evaluation.plots import plot_bars, plot_cutoffs, plot_precision_recall, plot_results
from irbatch.report import axes
from irbatch.report.document import Figure, Figures, isolate
from irbatch.report.numbers import check_digits, show_change, show_interval, show_p
from irbatch.runtime.numbers import check_whole

__all__ = [
    "plot_bars", "plot_cutoffs", "plot_differences", "plot_forest",
    "plot_precision_recall", "plot_results", "plot_scores", "share_bars",
]  # fmt: skip

MOST_NAMED = 20  # queries: more ids don't fit under their bars
MOST_POINTS = 1000  # queries: more points are a smear
GOLDEN = (5**0.5 - 1) / 2  # multiples of it spread evenly


def plot_differences(
    comparison: Differences,
    a: str,
    b: str,
    measure: str,
    *,
    labelled: int = 3,
    most: int | None = None,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Plot by how much one system is better than another, one bar a query, the best ones first.

    Args:
        comparison: what `irbatch.compare` returned.
        a, b: the systems; bars are the values of `a` less those of `b`.
        measure: one of the comparison's, in any spelling.
        labelled: how many of the best and of the worst queries are named; up to 20 queries all
            are, under their bars.
        most: how many bars there are; of more queries neighbours share one, as high as their mean;
            default: each has one.
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
    1 win, 1 tie, 0 losses; mean +0.500 (dashed)
    """
    axes.check_axes(ax)
    check_whole("labelled", labelled, 0)
    column, pair = comparison.find_measure(measure), _two(comparison, a, b)
    name, sign = comparison.measures[column], int(comparison.directions[column])
    differences = np.subtract(*comparison.values[pair, :, column])
    bars = share_bars(differences, most)
    heights = differences[np.concatenate(bars)]
    ids = axes.fit_names((comparison.query_ids[row] for row in np.concatenate(bars).tolist()), 16)
    ax = axes.new_axes(ax)
    sizes = np.array([bar.size for bar in bars])
    ends = np.cumsum(sizes)
    means = np.add.reduceat(heights, ends - sizes) / sizes
    ax.bar(
        ends - (sizes + 1) / 2,
        means,
        width=sizes * (0.8 if heights.size <= 60 else 1.0),
        color=np.where(sign * means > 0, axes.BETTER, axes.WORSE).tolist(),
    )
    ax.axhline(0, color=axes.INK, linewidth=0.8)
    mean = float(heights.mean())
    ax.axhline(mean, color=axes.MUTED, linewidth=1, linestyle=(0, (4, 2)))
    # A third of the axes to either side of zero is for the names of queries.
    top, bottom = max(float(heights.max()), 0.0), min(float(heights.min()), 0.0)
    reach = max(top, -bottom) or 1.0
    ax.set_ylim(min(bottom * 1.06, -0.5 * reach), max(top * 1.06, 0.5 * reach))
    if heights.size <= MOST_NAMED:
        ax.set_xticks(range(len(ids)), ids, rotation=90 if max(map(len, ids)) > 3 else 0)
    else:
        ax.set_xticks([])
        _name_extremes(ax, ids, heights, labelled, sign)
    ax.set_xlim(-0.6, heights.size - 0.4)
    ax.set_xlabel(f"{many(heights.size, 'query')}, ordered by difference")
    ax.set_ylabel(f"difference in {name}")
    one, other = axes.fit_names([a, b])
    told = f"{_tell_wins(sign * heights)}; mean {_signed(mean)} (dashed)"
    ax.set_title(f"{one} − {other}\n{told}", loc="left", fontsize=10)
    axes.tidy(ax)
    return ax


def plot_scores(comparison: Differences, measure: str, *, ax: axes.Axes | None = None) -> axes.Axes:
    """Plot how each system's values are distributed over the queries, the best mean on top.

    A dot a query, a box from the first to the third quartile with the median in it, whiskers from
    the 5th to the 95th percentile, and a diamond at the mean. Of more than 1000 queries dots are
    left out. Arguments, what returns and errors are as of `plot_differences`.

    >>> from irbatch import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> compared = compare(qrels, {"old": {"q1": {"d1": 1}, "q2": {"d9": 1}}, "new": qrels}, "RR")
    >>> [label.get_text() for label in plot_scores(compared, "RR").get_yticklabels()]
    ['new', 'old']
    """
    axes.check_axes(ax)
    column = comparison.find_measure(measure)
    values = np.asarray(comparison.values, np.float64)[:, :, column]
    order = np.argsort(-values.mean(axis=1), kind="stable")
    names = axes.fit_names(comparison.systems)
    row_height = 0.36 if len(names) <= 20 else 0.24
    ax = axes.new_axes(ax, height=1.2 + max(row_height * len(names), 1.2))
    ax.use_sticky_edges = False  # boxes would end where the axes do
    spread = (np.arange(values.shape[1]) * GOLDEN % 1 - 0.5) * 0.62
    few = values.shape[1] <= MOST_POINTS
    size = float(np.clip(1200 / values.shape[1], 3, 16))
    for row, system in enumerate(order.tolist()):
        if few:
            # By rank, not by place: neighbours in value stand apart.
            dots = {"s": size, "color": axes.BETTER, "alpha": 0.35, "linewidths": 0, "zorder": 2}
            ax.scatter(np.sort(values[system]), row + spread, **dots)
        _draw_box(ax, values[system], row)
    ax.set_yticks(range(len(names)), [names[system] for system in order.tolist()])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(f"{comparison.measures[column]}, {many(values.shape[1], 'query')}")
    axes.add_note(ax, "box: quartiles and median; whiskers: 5–95 %; diamond: mean")
    axes.tidy(ax, "x")
    return ax


def plot_forest(
    comparison: Differences, measure: str, *, most: int = 45, ax: axes.Axes | None = None
) -> axes.Axes:
    """Plot the difference of every pair of systems with its interval, p-values at the side.

    Full dots are significant at the comparison's level after correction, hollow ones are not.

    Args:
        comparison, measure, ax: as in `plot_differences`, and so what returns and errors.
        most: how many pairs are drawn; of more, those with the largest differences are.

    >>> from irbatch import compare
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> compared = compare(qrels, {"new": qrels, "old": {"q1": {"d1": 1}, "q2": {"d9": 1}}}, "RR")
    >>> plot_forest(compared, "RR").get_xlabel()
    'difference in RR'
    """
    axes.check_axes(ax)
    check_whole("most", most, 1)
    column = comparison.find_measure(measure)
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
        _write_beside(ax, row, show_p(p_values[row], comparison.level), bool(significant[row]))
    how = "p" if comparison.correction == "none" else f"p ({comparison.correction})"
    _write_beside(ax, -0.9, how)
    ax.set_yticks(range(len(pairs)), labels)
    ax.set_ylim(len(pairs) - 0.4, -1.3)
    ax.set_xlabel(f"difference in {comparison.measures[column]}")
    left_out = differences.size - len(pairs)
    more = f"; {left_out} smaller ones not shown" if left_out else ""
    together = "; simultaneous intervals" if comparison.simultaneous else ""
    axes.add_note(ax, f"full: significant at {comparison.level:g}{together}{more}")
    axes.tidy(ax, "x")
    return ax


def share_bars(differences: Floats, most: int | None) -> list[Positions]:
    """Return the rows that share each bar, largest first, of those that can be drawn."""
    known = np.flatnonzero(np.abs(differences) <= axes.LARGEST)
    order = known[np.argsort(-differences[known], kind="stable")]
    return list(np.array_split(order, max(1, min(most or order.size, order.size))))


def _tell_wins(differences: Floats) -> str:
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    ties = differences.size - wins - losses
    counted = ((wins, "win", "wins"), (ties, "tie", "ties"), (losses, "loss", "losses"))
    return ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in counted)


def _name_extremes(
    ax: axes.Axes, ids: list[str], heights: Floats, labelled: int, sign: int
) -> None:
    """Name the best queries under their bars, which stand up, and the worst above theirs.

    Or the worst and the best, where lower values are better: a negative `sign`.
    """
    up, down = (axes.BETTER, axes.WORSE)[::sign]
    best = [i for i in range(min(labelled, heights.size)) if heights[i] > 0]
    worst = [i for i in range(heights.size)[-labelled or heights.size :] if heights[i] < 0]
    for rows, x, y, ha, va, colour in (
        (best, 0.01, 0.03, "left", "bottom", up),
        (worst[::-1], 0.99, 0.97, "right", "top", down),
    ):
        listed = "\n".join(f"{ids[i]}  {_signed(heights[i])}" for i in rows)
        if listed:
            side = "best" if colour == axes.BETTER else "worst"
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 2}
            style = {"fontsize": 8.5, "color": colour, "linespacing": 1.3, "bbox": behind}
            ax.text(x, y, f"{side}\n{listed}", transform=ax.transAxes, ha=ha, va=va, **style)


def _draw_box(ax: axes.Axes, values: Floats, row: int) -> None:
    low, first, median, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    for ends in ((low, first), (third, high)):
        ax.plot(ends, [row, row], color=axes.INK, linewidth=1, zorder=3, solid_capstyle="butt")
    style = {"facecolor": (1, 1, 1, 0.4), "edgecolor": axes.INK, "linewidth": 1, "zorder": 3}
    ax.barh(row, third - first, left=first, height=0.42, **style)
    ax.plot([median, median], [row - 0.21, row + 0.21], color=axes.INK, linewidth=1.8, zorder=4)
    diamond = {"markersize": 5, "color": axes.WORSE, "markeredgecolor": "white", "zorder": 5}
    ax.plot(values.mean(), row, "D", **diamond)


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


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


def _write_beside(ax: axes.Axes, row: float, said: str, strong: bool = False) -> None:
    """Write something to the right of the axes."""
    style = {"color": axes.INK, "fontweight": "bold"} if strong else {"color": axes.MUTED}
    ax.text(1.02, row, said, transform=ax.get_yaxis_transform(), va="center", fontsize=8.5, **style)


MOST_BARS = 200  # of more queries neighbours share a bar
HEIGHT, WIDTH = 3.4, 6.0  # inches


def plot_figures(compared: Differences, pair: tuple[str, str] | None, digits: int) -> list[Figures]:
    """Return the pictures of each measure, drawn when written; see `Comparison.to_html`."""
    check_digits(digits)
    two = _choose_two(compared, pair)
    pictures = []
    for k, measure in enumerate(compared.measures):
        figures = [_forest(compared, k, digits)]
        figures += [] if two is None else _differences(compared, two, k)
        pictures.append(Figures(measure, figures))
    return pictures if compared.pairs else []


def _two(compared: Differences, a: str, b: str) -> list[int]:
    """Return the places of two systems."""
    first, second = compared.find_system(a), compared.find_system(b)
    if first == second:
        raise InputError(f"two systems differ, not {a!r} from itself", source="pair", value=a)
    return [first, second]


def _choose_two(compared: Differences, pair: tuple[str, str] | None) -> list[int] | None:
    """Find the two whose differences are plotted; None where there is only one system."""
    if pair is not None:
        if len(pair) != 2:
            problem = f"a pair is two of {', '.join(compared.systems)}, not {pair!r}"
            raise InputError(problem, source="pair", value=pair)
        return _two(compared, *pair)
    if len(compared.systems) < 2 or not compared.measures:
        return None
    best = np.argsort(-compared.means[:, 0], kind="stable").tolist()
    if compared.baseline is None:
        return best[:2]
    baseline = compared.systems.index(compared.baseline)
    return [next(i for i in best if i != baseline), baseline]


def _forest(compared: Differences, column: int, digits: int) -> Figure:
    measure = compared.measures[column]
    lines = []
    for pair, (a, b) in enumerate(compared.pairs):
        low, high = compared.difference_intervals[pair, column].tolist()
        difference = show_change(float(compared.differences[pair, column]), digits)
        interval = show_interval(low, high, digits, signed=True)
        lines.append(f"{compared.systems[a]} less {compared.systems[b]}: {difference} {interval}")

    def draw() -> Any:
        return plot_forest(compared, measure).get_figure()

    title = f"{measure}: differences of means"
    caption = f"Differences of means and their {percent(compared)} intervals."
    return Figure(title, "; ".join(lines), caption, draw)


def _differences(compared: Differences, pair: list[int], column: int) -> Iterator[Figure]:
    """Yield the picture of differences between two systems, if there is something to draw."""
    measure = compared.measures[column]
    a, b = (compared.systems[i] for i in pair)
    with np.errstate(invalid="ignore"):  # of infinite ones
        differences: Floats = np.subtract(*compared.values[pair, :, column])
    bars = share_bars(differences, MOST_BARS)
    if not bars[0].size:
        return
    told = _tell(differences, int(compared.directions[column]))

    def draw() -> Any:
        ax = axes.new_axes(None, HEIGHT, WIDTH)
        plot_differences(compared, a, b, measure, most=MOST_BARS, ax=ax)
        return ax.get_figure()

    caption = f"{isolate(a)} less {isolate(b)}, query by query: {told.replace('-', '−')}."
    yield Figure(f"{measure}: {a} less {b}, query by query", told, caption, draw)


def _tell(differences: Floats, sign: int) -> str:
    """Say what a picture shows: ``30 better, 2 equal, 18 worse; from +0.4000 to -0.2000``."""
    known = differences[np.isfinite(differences)]
    better, worse = [int((known > 0).sum()), int((known < 0).sum())][::sign]
    said = f"{better} better, {known.size - better - worse} equal, {worse} worse"
    if known.size:
        said += f"; from {show_change(known.max(), 4)} to {show_change(known.min(), 4)}"
    return said + ("; a bar is the mean of several" if known.size > MOST_BARS else "")
