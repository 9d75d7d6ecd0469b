"""Pictures of leaderboards: matplotlib axes, saved or shown by you."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import many, printable
from irbatch.leaderboard.frontier import Frontier, find_frontier, reach, stairs, tell_levels
from irbatch.leaderboard.labels import BEHIND, Drawn, write_labels
from irbatch.leaderboard.systems import Systems
from irbatch.report.axes import BETTER, MUTED, Axes, check_axes, new_axes, tidy
from irbatch.runtime.extras import imported

MOST_NAMED = 100  # systems in a picture; of more, those on the frontier are named
TICK, LEAST_TICKS = 45.0, 3  # typographic points of a number under an axis; how many numbers
PLAIN_FROM, PLAIN_TO = 1e-4, 1e7  # what is written without an exponent


def plot_frontier(
    board: Systems,
    x: str,
    y: str | None = None,
    *,
    log: bool | None = None,
    intervals: bool = True,
    labels: bool = True,
    directions: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot systems between two axes, and the Pareto frontier: those that no other one dominates.

    The frontier is drawn as a staircase: on the way to a better system there is none better than
    the last one. Names are placed for the size and the limits that the axes have then; where there
    is no room for a name stands a number, which a legend explains.

    Args:
        board: the leaderboard.
        x: an axis, as in ``"cost_per_million"``.
        y: another; default: the first measure.
        log: whether the x axis is logarithmic; default: if it is a quantity whose values are
            above zero and span more than a factor of three.
        intervals: whether there are bars for the intervals that are known.
        labels: whether systems are named; of more than 100, those on the frontier are. Systems
            without a name or a number are counted above the axes.
        directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: if there is no such axis, or a system has no value of an axis, or none that has
            a logarithm.
        ImportError: naming the extra, when matplotlib is not installed.

    >>> from irbatch.efficiency import EfficiencyRecord, Latency
    >>> from irbatch.leaderboard import Leaderboard
    >>> records = [EfficiencyRecord(system="bm25", latency=Latency(mean=8)),
    ...            EfficiencyRecord(system="dense", latency=Latency(mean=30))]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33}}, records)
    >>> [name.get_text() for name in plot_frontier(board, "latency").texts]
    ['bm25', 'dense']
    """
    check_axes(ax)
    found = find_frontier(board, x, y, log=log, directions=directions)
    return draw_frontier(board, found, intervals=intervals, labels=labels, ax=ax)[0]


def draw_frontier(
    board: Systems,
    found: Frontier,
    *,
    intervals: bool = True,
    labels: bool = True,
    ax: Axes | None = None,
) -> tuple[Axes, list[Any]]:
    """Draw what was found; return the axes, and the point of each system."""
    bounds = found.bounds if intervals else np.full_like(found.bounds, np.nan)
    grow, systems = ax is None, len(board)
    ax = new_axes(ax, height=min(4.2 + 0.06 * max(0, systems - 12), 8.0))
    low, high = reach(found, bounds)
    if found.log:
        ax.set_xscale("log")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    corners = stairs(found, low, high)
    bars = np.clip(bounds, np.array(low)[:, None], np.array(high)[:, None])
    worst = [corners[-1, 0], corners[0, 1]]
    area = np.vstack([corners, worst])
    ax.fill(*area.T, facecolor=BETTER, alpha=0.08, edgecolor="none", zorder=0.4)
    ax.plot(*corners.T, color=BETTER, linewidth=1.4, zorder=2, solid_joinstyle="miter")
    points = _draw_points(ax, found, bars)
    ax.set_xlabel(_axis_label(found.x))
    ax.set_ylabel(_axis_label(found.y))
    tidy(ax, "both")
    if found.log:
        _write_ticks(ax)
    sure = tell_levels(board, found, bounds)
    told = [
        "line: Pareto frontier",
        *["grey: dominated"] * (not found.strong.all()),
        *[f"bars: {sure}"] * bool(sure),
    ]
    _set_title(ax, told)
    if labels:
        named = np.flatnonzero(found.strong | (systems <= MOST_NAMED))[:MOST_NAMED].tolist()
        steps = np.stack([corners[:-1], corners[1:]], axis=1)
        drawn = Drawn(found.values, found.strong, steps, _find_bars(found, bars))
        lost = write_labels(ax, {row: board.systems[row] for row in named}, drawn, grow=grow)
        if left_out := systems - len(named) + lost:
            _set_title(ax, [*told, f"{many(left_out, 'name')} left out"])
    return ax, points


def _set_title(ax: Axes, told: Sequence[str]) -> None:
    ax.set_title("; ".join(told), loc="left", fontsize=9, color=MUTED)


def _draw_points(ax: Axes, found: Frontier, bars: Floats) -> list[Any]:
    """Draw systems, those on the frontier above the others, and their intervals."""
    points = []
    for (x, y), (across, along), strong in zip(
        found.values.tolist(), bars.tolist(), found.strong.tolist(), strict=True
    ):
        colour, order = (BETTER, 3.5) if strong else (MUTED, 2.5)
        for draw, at, (low, high) in ((ax.hlines, y, across), (ax.vlines, x, along)):
            if not (np.isnan(low) or np.isnan(high)):
                draw(at, low, high, color=colour, linewidth=1.1, alpha=0.5, zorder=order - 0.1)
        size, alpha = (34, 1.0) if strong else (22, BEHIND)
        look = {"color": colour, "alpha": alpha, "edgecolors": "white", "linewidths": 0.7}
        points.append(ax.scatter([x], [y], s=size, zorder=order, **look))
    return points


def _axis_label(axis: Quantity) -> str:
    """Name an axis, and say with an arrow which way is better; on the y axis right is up."""
    name = printable(axis.heading).replace("$", r"\$")
    return f"{name}   {'better →' if axis.better == HIGHER else '← better'}"


def _write_ticks(ax: Axes) -> None:
    """Write round numbers under a logarithmic axis, also where it spans no power of ten."""
    ticker: Any = imported("plots", "plot", "matplotlib.ticker")
    low, high = ax.get_xlim()
    most = max(3, int(ax.bbox.width / ax.get_figure().dpi * 72 / TICK))
    for locator in (
        *(ticker.LogLocator(subs=leads, numticks=most) for leads in ((1, 2, 5), (1, 3), (1,))),
        ticker.MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]),
    ):
        with np.errstate(over="ignore", under="ignore"):  # beyond the ends of the axis
            values = locator.tick_values(low, high)
        values = values[(low <= values) & (values <= high)]
        if LEAST_TICKS <= len(values) <= most:
            break
    plain = values.min() >= PLAIN_FROM and values.max() < PLAIN_TO
    ax.set_xticks(values, [f"{value:{',.10g' if plain else 'g'}}" for value in values])
    ax.set_xticks([], minor=True)


def _find_bars(found: Frontier, bounds: Floats) -> Floats:
    """Return the ends of all bars as points, float64 ``(bars, 2, 2)``."""
    x, y = np.repeat(found.values[:, :, None], 2, axis=2).transpose(1, 0, 2)
    across, along = np.stack([bounds[:, 0], y], axis=2), np.stack([x, bounds[:, 1]], axis=2)
    ends: Floats = np.concatenate([across, along])
    return ends[~np.isnan(ends).any(axis=(1, 2))]
