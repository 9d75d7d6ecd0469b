"""Pictures of leaderboards: systems between two axes, with names, and their Pareto frontier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import of_system, refuse
from irbatch.errors import InputError, imported, many, printable, shown
from irbatch.leaderboard.axes import Board, check_directions
from irbatch.leaderboard.report import list_names, tell_left_out, write_value
from irbatch.report.axes import (
    BETTER,
    INK,
    LARGEST,
    MUTED,
    Axes,
    add_legend,
    add_note,
    check_axes,
    fit_names,
    new_axes,
    tidy,
)
from irbatch.report.document import Cell, Column, Figure, Figures, Part, Row, Table, isolate
from irbatch.report.numbers import show_levels

WIDE = 3.0  # a quantity whose values span more than this factor is drawn on a logarithmic axis
MARGIN = 0.09  # of the axes, around the points
FARTHEST = 700.0  # logarithm of the ends of an axis
LEAST_SPAN = 1e-9  # of an axis, as a share of its numbers: floats are no finer
SMALLEST = 1e-290  # what is below, and above `LARGEST`, stands at an end of its axis
MOST_NAMED = 100  # systems in a picture; of more, those on the frontier are named
TICK, LEAST_TICKS = 45.0, 3  # typographic points of a number under an axis; how many numbers
PLAIN_FROM, PLAIN_TO = 1e-4, 1e7  # what is written without an exponent

BEHIND = 0.65  # how solid the grey of a system is that another one dominates
MOST_NAMES = 12  # of more systems numbers stand beside points
LONGEST, LONGEST_BESIDE = 60, 28  # characters of a name; of one that stands beside its point
PLACES = [  # of a label beside its point, in typographic points; earlier ones are liked better
    (x * distance, y * distance, ha, va)
    for distance in (6, 14, 24, 36)
    for x, y, ha, va in (
        (1, 0.4, "left", "bottom"), (0.7, 0.7, "left", "bottom"), (0.7, -0.7, "left", "top"),
        (-1, 0, "right", "bottom"), (-0.7, 0.7, "right", "bottom"), (-0.7, -0.7, "right", "top"),
        (0, 1, "center", "bottom"), (0, -1, "center", "top"),
    )
]  # fmt: skip
PICTURED = ("cost_per_million", "latency_mean", "latency_p50")  # the first that all have, or some


class Frontier(NamedTuple):
    """Systems with values of two axes, and which of them nothing dominates."""

    x: Quantity  # with the way that is better as it was asked for
    y: Quantity
    values: Floats  # (systems, 2)
    bounds: Floats  # (systems, 2, 2): system, axis, low and high; NaN where there are none
    strong: Bools  # (systems,): on the frontier
    dominated_by: dict[str, list[str]]
    log: bool  # whether the x axis is logarithmic
    board: Board  # the systems themselves
    left_out: dict[str, list[str]]  # others, with the axes that they have no value of


def find_frontier(
    board: Board,
    x: str,
    y: str | None = None,
    *,
    log: bool | None = None,
    directions: Mapping[str, str] | None = None,
) -> Frontier:
    """Find what there is to draw; arguments and errors are those of `plot_frontier`."""
    if log is not None and not isinstance(log, bool | np.bool_):
        problem = f"log={shown(log)} is none of True, False and None"
        raise InputError(problem, source="log", value=log)
    axes = [board.axis(x), board.axis(board.measures[0] if y is None else y)]
    names = [axis.name for axis in axes]
    pareto = board.pareto(names, directions=directions)
    board, _ = board.having(names)
    turned = check_directions(directions, board.measures)
    axes = [axis._replace(better=turned.get(axis.name, axis.better)) for axis in axes]
    values = np.stack([board.values(name) for name in names], axis=1)
    bounds = np.stack([board.bounds(name) for name in names], axis=1)
    positive = values[:, 0] > 0
    if log and not positive.all():
        first = int(np.argmin(positive))
        problem = f"is {values[first, 0]:g}, which has no logarithm"
        raise refuse(of_system(board.systems[first]), names[0], problem, float(values[first, 0]))
    if log is None:
        spans = bool(positive.all() and values[:, 0].max() > WIDE * values[:, 0].min())
        log = spans and names[0] not in board.measures
    strong = np.array([system not in pareto.dominated_by for system in board.systems])
    return Frontier(
        axes[0], axes[1], values, bounds, strong, pareto.dominated_by, bool(log), board,
        pareto.left_out,
    )  # fmt: skip


def reach(found: Frontier, bounds: Floats) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends of both axes: around all points and their intervals."""
    ends = []
    for axis in (0, 1):
        log = found.log and axis == 0
        known = np.append(found.values[:, axis], bounds[:, axis].ravel())
        known = known[np.isfinite(known) & ((known > 0) | (not log))]
        known = np.clip(known, SMALLEST if log else -LARGEST, LARGEST)
        low, high = (float(each) for each in (known.min(), known.max()))
        if log:
            low, high = math.log(low), math.log(high)
        room = (high - low) * MARGIN
        if high - low <= LEAST_SPAN * max(abs(low), abs(high)):  # one value, a tenth to either side
            room = 0.1 if log else abs(high) / 10 or 0.5
        low, high = low - room, high + room
        if log:
            low, high = math.exp(max(low, -FARTHEST)), math.exp(min(high, FARTHEST))
        ends.append((low, high))
    return [low for low, _ in ends], [high for _, high in ends]


def stairs(found: Frontier, low: Sequence[float], high: Sequence[float]) -> Floats:
    """Return the corners of the frontier, float64 ``(corners, 2)``, to both ends of the axes.

    Of a cost and a measure: what measure is within reach of a cost, from the least cost on.
    """
    signs = np.array([axis.sign for axis in found[:2]])
    worst = [low[i] if signs[i] > 0 else high[i] for i in (0, 1)]
    best_first = np.unique(found.values[found.strong] * -signs, axis=0) * -signs
    corners = [[best_first[0, 0], worst[1]]]
    for i, (x, y) in enumerate(best_first.tolist()):
        corners += [[x, best_first[i - 1, 1]]] if i else []
        corners.append([x, y])
    return np.array([*corners, [worst[0], corners[-1][1]]])


def tell_levels(found: Frontier, bounds: Floats) -> str:
    """Say how sure the intervals in a picture are: ``"95% intervals"``; empty if it has none."""
    known = np.asarray(~np.isnan(bounds).any(axis=2))
    levels = {
        level
        for i, axis in enumerate(found[:2])
        for level, has in zip(found.board.levels(axis.name), known[:, i].tolist(), strict=True)
        if has
    }
    return f"{show_levels(levels)} intervals".strip() if levels else ""


def plot_frontier(
    board: Board,
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
    the last one. Board without a value of an axis are left out, and counted above the axes. Names
    are placed for the size and the limits that the axes have then; where there is no room for a
    name stands a number, which a legend explains.

    Args:
        board: the leaderboard.
        x: an axis, as in ``"cost_per_million"``.
        y: another; default: the first measure.
        log: whether the x axis is logarithmic; default: if it is a quantity whose values are
            above zero and span more than a factor of three.
        intervals: whether there are bars for the intervals that are known.
        labels: whether systems are named; of more than 100, those on the frontier are. Board
            without a name or a number are counted above the axes.
        directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: if there is no such axis, no system has a value of both, or a system's has no
            logarithm.
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
    return draw_frontier(found, intervals=intervals, labels=labels, ax=ax)[0]


def draw_frontier(
    found: Frontier, *, intervals: bool = True, labels: bool = True, ax: Axes | None = None
) -> tuple[Axes, list[Any]]:
    """Draw what was found; return the axes, and the point of each system in it."""
    board = found.board
    bounds = found.bounds if intervals else np.full_like(found.bounds, np.nan)
    systems, grows = len(board), ax is None
    ax = new_axes(ax, height=min(4.2 + 0.06 * max(0, systems - 12), 8.0))
    low, high = reach(found, bounds)
    if found.log:
        ax.set_xscale("log")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    corners = stairs(found, low, high)
    bars = np.clip(bounds, np.array(low)[:, None], np.array(high)[:, None])
    area = np.vstack([corners, [corners[-1, 0], corners[0, 1]]])
    ax.fill(*area.T, facecolor=BETTER, alpha=0.08, edgecolor="none", zorder=0.4)
    ax.plot(*corners.T, color=BETTER, linewidth=1.4, zorder=2, solid_joinstyle="miter")
    points = _draw_points(ax, found, bars)
    ax.set_xlabel(_axis_label(found.x))
    ax.set_ylabel(_axis_label(found.y))
    tidy(ax, "both")
    if found.log:
        _write_ticks(ax)
    sure = tell_levels(found, bounds)
    told = [
        "line: Pareto frontier",
        *["grey: dominated"] * (not found.strong.all()),
        *[f"bars: {sure}"] * bool(sure),
        *[f"{many(len(found.left_out), 'system')} left out, without a value"]
        * bool(found.left_out),
    ]
    add_note(ax, "; ".join(told))
    if labels:
        named = np.flatnonzero(found.strong | (systems <= MOST_NAMED))[:MOST_NAMED].tolist()
        hidden = _write_labels(
            ax, {row: board.systems[row] for row in named}, found, corners, grows
        )
        if left_out := systems - len(named):
            told.append(f"{many(left_out, 'name')} left out")
        if hidden:
            told.append(f"no room for {many(hidden, 'number')}")
        add_note(ax, "; ".join(told))
    return ax, points


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
    return f"{name}   {'better →' if axis.sign > 0 else '← better'}"


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


def _write_labels(
    ax: Axes, names: Mapping[int, str], found: Frontier, lines: Floats, grows: bool
) -> int:
    """Write names beside points; where they are many, long or collide, numbers and a legend.

    The figure may grow by the legend. Return how many numbers there is no room for.
    """
    strong = found.strong
    order = sorted(names, key=lambda row: found.values[row].tolist())
    short = fit_names((names[row] for row in order), LONGEST)
    if len(order) <= MOST_NAMES and max(map(len, short)) <= LONGEST_BESIDE:
        notes, clashing = _place(ax, dict(zip(order, short, strict=True)), found, lines)
        if not clashing:
            return 0
        for note in notes:
            note.remove()
    dot = imported("plots", "plot", "matplotlib.lines").Line2D
    looks: dict[bool, Any] = {True: {"color": BETTER}, False: {"color": MUTED, "alpha": BEHIND}}
    dots = [dot([], [], marker="o", ls="", markersize=4, **looks[bool(strong[i])]) for i in order]
    add_legend(ax, dots, [f"{number}  {name}" for number, name in enumerate(short, 1)])
    if grows:
        figure = ax.get_figure()
        figure.draw_without_rendering()
        legend = ax.get_legend().get_window_extent().size / figure.dpi
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + legend[0], max(height, legend[1] + 0.3))
    numbers = {row: str(number) for number, row in enumerate(order, 1)}
    _, clashing = _place(ax, numbers, found, lines)
    for note in clashing:
        note.remove()
    return len(clashing)


def _place(
    ax: Axes, labels: Mapping[int, str], found: Frontier, lines: Floats
) -> tuple[list[Any], list[Any]]:
    """Write labels of rows where each covers least; return them, and those that cover something.

    That is a point, another label, or the `lines`, float64 ``(points, 2)``.
    """
    bbox = imported("plots", "plot", "matplotlib.transforms").Bbox
    ax.get_figure().figure.draw_without_rendering()  # settles where the axes are
    inside = ax.get_window_extent()
    taken = [bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in ax.transData.transform(found.values)]
    corners = ax.transData.transform(lines)
    along = [np.linspace(*ends, 40) for ends in itertools.pairwise(corners)]
    taken += [bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in np.concatenate(along)]
    notes, clashing = [], []
    for row, label in labels.items():
        colour = INK if found.strong[row] else MUTED
        look = {"fontsize": 8.5, "color": colour, "zorder": 5, "in_layout": False}
        note = ax.annotate(label, found.values[row], (0, 0), textcoords="offset points", **look)
        tried = []
        for place, (x, y, ha, va) in enumerate(PLACES):
            note.set(position=(x, y), ha=ha, va=va)
            box = note.get_window_extent()
            out = box.x0 < inside.x0 or box.x1 > inside.x1
            out = out or box.y0 < inside.y0 or box.y1 > inside.y1
            tried.append((box.count_overlaps(taken) + 100 * out, place, box))
            if not tried[-1][0]:
                break
        covered, place, box = min(tried, key=lambda each: each[:2])
        x, y, ha, va = PLACES[place]
        note.set(position=(x, y), ha=ha, va=va)
        notes.append(note)
        if covered:
            clashing.append(note)
        else:
            taken.append(box)
    return notes, clashing


def picture_frontier(
    board: Board,
    x: str | None,
    y: str | None,
    marked: Sequence[Quantity],
    digits: int,
) -> list[Part]:
    """Return a picture of the frontier, and a table of who dominates whom; see `Leaderboard`."""
    if x is None and y is None and len(marked) == 2:
        # A measure goes along the picture.
        y, x = sorted((each.name for each in marked), key=lambda name: name not in board.measures)
    if x is None:
        unknown = {name: np.isnan(board.values(name)) for name in PICTURED}
        of_all = [name for name, lacking in unknown.items() if not lacking.any()]
        of_some = [name for name, lacking in unknown.items() if not lacking.all()]
        x = next(iter(of_all + of_some), None)
    if x is None or not len(board):
        return []
    found = find_frontier(board, x, y)
    board = found.board
    values = [_show_values(found, row, digits) for row in range(len(board))]
    said = [f"{system}: {value}" for system, value in zip(board.systems, values, strict=True)]
    told = "; ".join(
        f"{each}{'' if strong else ' (dominated)'}"
        for each, strong in zip(said, found.strong.tolist(), strict=True)
    )

    def draw() -> Any:
        return draw_frontier(found)[0].get_figure()

    title = f"{found.y.label} against {found.x.label}"
    parts: list[Part] = [Figures("", [Figure(title, told, _tell(found), draw)])]
    if found.dominated_by:
        heads = [Column("system", "name"), Column("dominated by", "text")]
        rows = [
            Row([Cell(system), Cell(list_names(others))])
            for system, others in found.dominated_by.items()
        ]
        parts.append(Table("Systems that others dominate", heads, rows))
    return parts


def _show_values(found: Frontier, row: int, digits: int) -> str:
    """Write a system's values along both axes: ``0.3300, 30 ms``."""
    written = []
    for axis, value in zip((found.y, found.x), found.values[row, ::-1].tolist(), strict=True):
        is_measure = axis.name in found.board.measures
        decimals = found.board.decimals_of(axis.name, digits)[row] if is_measure else None
        written.append(f"{write_value(value, decimals)} {axis.unit}".rstrip())
    return ", ".join(written)


def _tell(found: Frontier) -> str:
    """Say what the picture shows."""
    strong = [system for system in found.board.systems if system not in found.dominated_by]
    axes = " and ".join(isolate(axis.label) for axis in (found.y, found.x))
    said = [f"Pareto frontier of {axes}: {', '.join(map(isolate, strong))}."]
    if found.dominated_by:
        said.append("Grey: dominated.")
    if sure := tell_levels(found, found.bounds):
        said.append(f"Bars: {sure}.")
    if found.left_out:
        said.append(f"Left out: {tell_left_out(found.board, found.left_out, isolate)}.")
    return " ".join(said)
