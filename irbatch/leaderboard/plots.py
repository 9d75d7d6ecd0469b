"""Pictures of leaderboards: matplotlib axes, saved or shown by you."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import many, printable
from irbatch.leaderboard.boxes import Box
from irbatch.leaderboard.frontier import (
    Frontier,
    find_frontier,
    percent,
    place_names,
    reach,
    stairs,
)
from irbatch.report.axes import (
    BETTER,
    INK,
    MUTED,
    Axes,
    check_axes,
    fit_names,
    new_axes,
    tidy,
)
from irbatch.report.scales import LogScale

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["plot_frontier"]


SHADE, BEHIND, BAR = "#EAF2F8", "#9A9A9A", 1.1
LENGTHS = (28, 20, 14, 9)  # characters of a name: fewer where there is no room for more
RADIUS = 4.0  # points of a marker, with the room around it
SMALL, PAD = 8.5, 1.5  # size of names, and the room around them, in points


def plot_frontier(
    board: Leaderboard,
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
    the last one. Names are placed for the size and the limits that the axes have then.

    Args:
        board: the systems.
        x: an axis, as in ``"cost_per_million"``.
        y: another; default: the first measure.
        log: whether the x axis is logarithmic; default: if it is a quantity whose values are
            above zero and span more than a factor of three.
        intervals: whether there are bars for the intervals that are known.
        labels: whether systems are named; names for which there is no room are left out, and
            counted above the axes.
        directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: for an axis that there is not, and naming the system that has no value of an
            axis, or none that a logarithm has.
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
    drawn = found.bounds if intervals else np.full_like(found.bounds, np.nan)
    ax = new_axes(ax, height=min(4.2 + 0.06 * max(0, len(board) - 12), 8.0))
    low, high = reach(found, drawn)
    if found.log:
        ax.set_xscale("log")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    _draw_stairs(ax, found)
    _draw_points(ax, found, drawn)
    ax.set_xlabel(_axis_label(found.x, r"$\leftarrow$", r"$\rightarrow$"))
    ax.set_ylabel(_axis_label(found.y, r"$\leftarrow$", r"$\rightarrow$"))
    tidy(ax, "both")
    told = _tell(board, found, drawn)
    ax.set_title(told, loc="left", fontsize=9, color=MUTED)
    if found.log:
        _write_ticks(ax, low[0], high[0])
    left_out = _write_names(ax, board.systems, found, drawn) if labels else 0
    if left_out:
        ax.set_title(f"{told}; {many(left_out, 'name')} left out", loc="left", fontsize=9,
                     color=MUTED)  # fmt: skip
    return ax


def _draw_stairs(ax: Axes, found: Frontier) -> None:
    """Draw the frontier from one end of the axes to the other, and shade what it dominates."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    corners = stairs(found, (left, bottom), (right, top))
    worst = [corners[-1, 0], corners[0, 1]]
    ax.fill(*np.vstack([corners, worst]).T, facecolor=SHADE, edgecolor="none", zorder=0.4)
    ax.plot(*corners.T, color=BETTER, linewidth=1.4, zorder=2, solid_joinstyle="miter")


def _draw_points(ax: Axes, found: Frontier, bounds: Floats) -> None:
    """Draw systems, those on the frontier last and strong, and their intervals."""
    ends = np.clip(bounds, [[ax.get_xlim()[0]], [ax.get_ylim()[0]]],
                   [[ax.get_xlim()[1]], [ax.get_ylim()[1]]])  # fmt: skip
    for strong, colour, z in ((False, BEHIND, 2.5), (True, BETTER, 3.5)):
        rows = found.strong == strong
        x, y = found.values[rows].T
        for draw, at, bars in ((ax.hlines, y, ends[rows, 0]), (ax.vlines, x, ends[rows, 1])):
            known = ~np.isnan(bars).any(axis=1)
            draw(at[known], *bars[known].T, color=colour, linewidth=BAR, alpha=0.6, zorder=z - 0.1)
        ax.scatter(x, y, s=34 if strong else 22, color=colour, edgecolors="white", linewidths=0.7,
                   zorder=z)  # fmt: skip


def _axis_label(axis: Quantity, left: str, right: str) -> str:
    """Name an axis, and say with an arrow which way is better; on the y axis right is up."""
    name = printable(axis.heading).replace("$", r"\$")
    better = f"better {right}" if axis.better == HIGHER else f"{left} better"
    return f"{name}   {better}"


def _tell(board: Leaderboard, found: Frontier, bounds: Floats) -> str:
    """Explain what is drawn."""
    sure = percent(board, found, bounds)
    parts = ["line: Pareto frontier", "" if found.strong.all() else "grey: dominated",
             f"bars: {sure}" if sure else ""]  # fmt: skip
    return "; ".join(filter(None, parts))


def _write_ticks(ax: Axes, low: float, high: float) -> None:
    """Write round numbers under a logarithmic axis, also where it spans no power of ten."""
    digit = ax.get_figure().dpi / 72 * 9 * 0.7
    marks = LogScale(low, high, 0.0, ax.get_window_extent().width).marks(digit)
    ax.set_xticks([value for value, _ in marks], [label for _, label in marks])
    ax.set_xticks([], minor=True)


def _write_names(ax: Axes, systems: Sequence[str], found: Frontier, bounds: Floats) -> int:
    """Write names beside the points; return how many there is no room for."""
    figure = ax.get_figure().figure  # the whole one, of a part of it too
    figure.draw_without_rendering()  # settles where the axes are
    scale = figure.dpi / 72
    points = ax.transData.transform(found.values)
    area = Box(*ax.get_window_extent().padded(-2 * scale).extents.tolist())
    lines = _lines(ax, found, bounds)

    def fit(rows: list[int], longest: int) -> tuple[list[str], list[tuple[float, float]]]:
        names = fit_names((systems[i] for i in rows), longest)
        return names, [_measure(ax, name, scale) for name in names]

    placed = place_names(found, points, LENGTHS, fit, area, RADIUS * scale, lines)
    for i, (name, label) in placed.items():
        _name(ax, name, found, i, (np.array(label.box) - np.tile(points[i], 2)) / scale,
              label.leader is not None)  # fmt: skip
    return len(systems) - len(placed)


def _measure(ax: Axes, name: str, scale: float) -> tuple[float, float]:
    """Return the width and the height of a name, with some room around it."""
    text = ax.text(0, 0, name, fontsize=SMALL)
    extent = text.get_window_extent()
    text.remove()
    return extent.width + 2 * PAD * scale, extent.height + PAD * scale


def _name(ax: Axes, name: str, found: Frontier, i: int, box: Floats, led: bool) -> None:
    """Write a name into its box, whose corners are in points from the system's."""
    colour = INK if found.strong[i] else MUTED
    left, bottom = box[:2].tolist()
    near = np.clip([0.0, 0.0], box[:2], box[2:]) - box[:2]
    leader = {
        "arrowstyle": "-", "color": colour, "linewidth": 0.6, "alpha": 0.6, "shrinkA": 0,
        "shrinkB": RADIUS - 1, "relpos": tuple(near / (box[2:] - box[:2])),
    }  # fmt: skip
    ax.annotate(
        name, found.values[i], (left + PAD, bottom + PAD / 2), textcoords="offset points",
        fontsize=SMALL, color=colour, zorder=5, in_layout=False, arrowprops=leader if led else None,
    )  # fmt: skip


def _lines(ax: Axes, found: Frontier, bounds: Floats) -> Floats:
    """Return the ends of all lines in pixels, float64 ``(lines, 4)``."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    corners = stairs(found, (left, bottom), (right, top))
    x, y = found.values.T
    across, along = np.clip(bounds[:, 0], left, right), np.clip(bounds[:, 1], bottom, top)
    bars = [np.stack([across[:, 0], y, across[:, 1], y], axis=1),
            np.stack([x, along[:, 0], x, along[:, 1]], axis=1)]  # fmt: skip
    ends = np.concatenate([np.concatenate([corners[:-1], corners[1:]], axis=1), *bars])
    ends = ends[~np.isnan(ends).any(axis=1)]
    drawn: Floats = ax.transData.transform(ends.reshape(-1, 2)).reshape(-1, 4)
    return drawn
