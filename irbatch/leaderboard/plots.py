"""Pictures of leaderboards: systems between two axes, with names, and their Pareto frontier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.fields import field_error
from irbatch.efficiency.quantities import of_system
from irbatch.errors import InputError, imported, many, printable, shown
from irbatch.leaderboard.axes import Board, check_directions
from irbatch.leaderboard.report import list_names, tell_left_out, write_value
from irbatch.report.axes import (
    BETTER,
    INK,
    LARGEST,
    MUTED,
    Axes,
    Style,
    add_legend,
    add_note,
    fit_names,
    new_axes,
    styles,
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
PLACES = (  # of a label beside its point, in typographic points; earlier ones are liked better
    (6, 2, "left", "bottom"), (-6, 2, "right", "bottom"), (0, 6, "center", "bottom"),
    (6, -4, "left", "top"), (-6, -4, "right", "top"), (0, -6, "center", "top"),
)  # fmt: skip
PICTURED = ("cost_per_million", "latency_mean", "latency_p50")  # the first that all have, or some


class Frontier(NamedTuple):
    """Systems with values of two axes, and which of them nothing dominates."""

    board: Board  # the systems themselves
    x: Quantity  # with the way that is better as it was asked for
    y: Quantity
    values: Floats  # (systems, 2)
    bounds: Floats  # (systems, 2, 2): system, axis, low and high; NaN where there are none
    dominated_by: dict[str, list[str]]
    conditions: list[str]  # each system's; only systems of the same are compared
    left_out: dict[str, list[str]]  # others, with the axes that they have no value of
    log: bool  # whether the x axis is logarithmic

    @property
    def strong(self) -> Bools:
        """Whether each system is on the frontier of its conditions: ``(systems,)``."""
        return np.array([system not in self.dominated_by for system in self.board.systems])

    @property
    def styles(self) -> dict[str, Style]:
        """How the systems of each of the conditions are drawn."""
        kinds = list(dict.fromkeys(self.conditions))
        return dict(zip(kinds, styles(len(kinds)), strict=True))


def find_frontier(
    board: Board,
    x: str,
    y: str | None = None,
    *,
    log: bool | None = None,
    directions: Mapping[str, str] | None = None,
) -> Frontier:
    """Find what there is to draw; arguments and errors are those of `Leaderboard.plot`."""
    if log is not None and not isinstance(log, bool | np.bool_):
        problem = f"log={shown(log)} is none of True, False and None"
        raise InputError(problem, source="log", value=log)
    axes = [board.axis(x), board.axis(board.measures[0] if y is None else y)]
    names = [axis.name for axis in axes]
    pareto = board.pareto(names, directions=directions)
    board, _ = board.having(names)
    turned = check_directions(directions, board.measures)
    x_axis, y_axis = (axis._replace(better=turned.get(axis.name, axis.better)) for axis in axes)
    values = np.stack([board.values(name) for name in names], axis=1)
    bounds = np.stack([board.bounds(name) for name in names], axis=1)
    lowest = float(values[:, 0].min())
    if log and lowest <= 0:
        source = of_system(board.systems[int(values[:, 0].argmin())])
        raise field_error(source, names[0], f"is {lowest:g}, which has no logarithm", lowest)
    if log is None:
        spans = lowest > 0 and values[:, 0].max() > WIDE * lowest
        log = bool(spans and names[0] not in board.measures)
    kinds = board.conditions(names)
    dominated, left_out = pareto.dominated_by, pareto.left_out
    return Frontier(board, x_axis, y_axis, values, bounds, dominated, kinds, left_out, bool(log))


def reach(frontier: Frontier, bounds: Floats) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends of both axes: around all points and their intervals."""
    ends = []
    for axis in (0, 1):
        log = frontier.log and axis == 0
        known = np.append(frontier.values[:, axis], bounds[:, axis].ravel())
        known = known[np.isfinite(known) & ((known > 0) | (not log))]
        known = np.clip(known, SMALLEST if log else -LARGEST, LARGEST)
        low, high = (math.log(each) if log else float(each) for each in (known.min(), known.max()))
        room = (high - low) * MARGIN
        if high - low <= LEAST_SPAN * max(abs(low), abs(high)):  # one value, a tenth to either side
            room = 0.1 if log else abs(high) / 10 or 0.5
        low, high = low - room, high + room
        if log:
            low, high = math.exp(max(low, -FARTHEST)), math.exp(min(high, FARTHEST))
        ends.append((low, high))
    return [low for low, _ in ends], [high for _, high in ends]


def stairs(
    values: Floats, signs: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> Floats:
    """Return the corners of a frontier, float64 ``(corners, 2)``, to both ends of the axes.

    Of a cost and a measure: what measure is within reach of a cost, from the least cost on.
    `values` are those of the systems on the frontier; `signs` 1 for axes of which higher is better.
    """
    worst = [low[i] if signs[i] > 0 else high[i] for i in (0, 1)]
    turned = np.array(signs)
    best_first = np.unique(values * -turned, axis=0) * -turned
    corners = [[best_first[0, 0], worst[1]]]
    for i, (x, y) in enumerate(best_first.tolist()):
        corners += [[x, best_first[i - 1, 1]]] if i else []
        corners.append([x, y])
    return np.array([*corners, [worst[0], corners[-1][1]]])


def tell_levels(frontier: Frontier, bounds: Floats) -> str:
    """Say how sure the intervals in a picture are: ``"95% intervals"``; empty if it has none."""
    known = np.asarray(~np.isnan(bounds).any(axis=2))
    levels = {
        level
        for i, axis in enumerate((frontier.x, frontier.y))
        for level, has in zip(frontier.board.levels(axis.name), known[:, i].tolist(), strict=True)
        if has
    }
    return f"{show_levels(levels)} intervals".strip() if levels else ""


def draw_frontier(
    frontier: Frontier, *, intervals: bool = True, labels: bool = True, ax: Axes | None = None
) -> Axes:
    """Draw what was found."""
    bounds = frontier.bounds if intervals else np.full_like(frontier.bounds, np.nan)
    systems, grows = frontier.board.systems, ax is None
    ax = new_axes(ax, height=min(4.2 + 0.06 * max(0, len(systems) - 12), 8.0))
    low, high = reach(frontier, bounds)
    if frontier.log:
        ax.set_xscale("log")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    lines = _draw_lines(ax, frontier, low, high)
    _draw_points(ax, frontier, np.clip(bounds, np.array(low)[:, None], np.array(high)[:, None]))
    ax.set_xlabel(_axis_label(frontier.x))
    ax.set_ylabel(_axis_label(frontier.y))
    tidy(ax, "both")
    if frontier.log:
        _write_ticks(ax)
    note = _note(frontier, bounds)
    add_note(ax, note)
    order = np.lexsort(frontier.values.T[::-1])
    named = order[frontier.strong[order] | (len(systems) <= MOST_NAMED)][:MOST_NAMED].tolist()
    hidden = _write_labels(ax, frontier, named if labels else [], lines, grows)
    if labels and len(named) < len(systems):
        note += f"; {many(len(systems) - len(named), 'name')} left out"
    add_note(ax, note + (f"; no room for {many(hidden, 'number')}" if hidden else ""))
    return ax


def _note(frontier: Frontier, bounds: Floats) -> str:
    """Say what the lines and colours are."""
    several = len(frontier.styles) > 1
    note = "lines: a Pareto frontier each" if several else "line: Pareto frontier"
    note += "; grey: dominated" if frontier.dominated_by else ""
    if sure := tell_levels(frontier, bounds):
        note += f"; bars: {sure}"
    if frontier.left_out:
        note += f"; {many(len(frontier.left_out), 'system')} left out, without a value"
    return note


def _draw_lines(
    ax: Axes, frontier: Frontier, low: Sequence[float], high: Sequence[float]
) -> list[Floats]:
    """Draw the frontier of each of the conditions; return the corners."""
    signs = [frontier.x.sign, frontier.y.sign]
    lines = []
    for kind, style in frontier.styles.items():
        is_of_kind = np.array([each == kind for each in frontier.conditions])
        corners = stairs(frontier.values[frontier.strong & is_of_kind], signs, low, high)
        if len(frontier.styles) == 1:
            area = np.vstack([corners, [corners[-1, 0], corners[0, 1]]])
            ax.fill(*area.T, facecolor=BETTER, alpha=0.08, edgecolor="none", zorder=0.4)
        look = {"color": style.color, "linestyle": style.linestyle, "solid_joinstyle": "miter"}
        ax.plot(*corners.T, linewidth=1.4, zorder=2, **look)
        lines.append(corners)
    return lines


def _draw_points(ax: Axes, frontier: Frontier, bars: Floats) -> None:
    """Draw systems, those on the frontier above the others, and their intervals."""
    kinds = frontier.styles
    for (x, y), (across, along), strong, kind in zip(
        frontier.values.tolist(), bars.tolist(), frontier.strong, frontier.conditions, strict=True
    ):
        colour, order = (kinds[kind].color, 3.5) if strong else (MUTED, 2.5)
        for draw, at, (low, high) in ((ax.hlines, y, across), (ax.vlines, x, along)):
            if not (np.isnan(low) or np.isnan(high)):
                draw(at, low, high, color=colour, linewidth=1.1, alpha=0.5, zorder=order - 0.1)
        size, alpha = (34, 1.0) if strong else (22, BEHIND)
        look = {"color": colour, "alpha": alpha, "edgecolors": "white", "linewidths": 0.7}
        ax.scatter([x], [y], s=size, zorder=order, marker=kinds[kind].marker, **look)


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
    ax: Axes, frontier: Frontier, rows: list[int], lines: list[Floats], grows: bool
) -> int:
    """Write names beside points; where they are many, long or collide, numbers and a legend.

    The figure may grow by the legend. Return how many numbers there is no room for.
    """
    names = fit_names((frontier.board.systems[row] for row in rows), LONGEST)
    dot = imported("plots", "plot", "matplotlib.lines").Line2D
    legend = {}
    if len(frontier.styles) > 1:
        for kind, style in frontier.styles.items():
            look = {"color": style.color, "ls": style.linestyle, "markersize": 4}
            legend[fit_names([kind], LONGEST)[0]] = dot([], [], marker=style.marker, **look)
    hidden, numbers = len(rows), {row: str(number) for number, row in enumerate(rows, 1)}
    if len(rows) <= MOST_NAMES and max(map(len, names), default=0) <= LONGEST_BESIDE:
        notes, hidden = _place(ax, dict(zip(rows, names, strict=True)), frontier, lines)
        for note in notes if hidden else ():
            note.remove()
    for row, name in zip(rows, names, strict=True) if hidden else ():
        style = frontier.styles[frontier.conditions[row]]
        look = {"color": MUTED, "alpha": BEHIND, "marker": style.marker}
        look |= {"color": style.color, "alpha": 1} if frontier.strong[row] else {}
        legend[f"{numbers[row]}  {name}"] = dot([], [], ls="", markersize=4, **look)
    if legend:
        add_legend(ax, list(legend.values()), list(legend))
        if grows:
            figure = ax.get_figure()
            figure.draw_without_rendering()
            size = ax.get_legend().get_window_extent().size / figure.dpi
            width, height = figure.get_size_inches()
            figure.set_size_inches(width + size[0], max(height, size[1] + 0.3))
    return _place(ax, numbers, frontier, lines)[1] if hidden else 0


def _place(
    ax: Axes, labels: Mapping[int, str], frontier: Frontier, lines: list[Floats]
) -> tuple[list[Any], int]:
    """Write the labels of rows that can stand beside their points without covering anything.

    That is a point, another label, or the `lines`, float64 ``(points, 2)``. Return what was
    written, and how many others there are.
    """
    bbox = imported("plots", "plot", "matplotlib.transforms").Bbox
    ax.get_figure().figure.draw_without_rendering()  # settles where the axes are
    frame = ax.get_window_extent()
    points = ax.transData.transform(frontier.values)
    taken = [bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in points]
    for corners in lines:
        for ends in itertools.pairwise(ax.transData.transform(corners)):
            taken += [bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in np.linspace(*ends, 40)]
    notes = []
    for row, label in labels.items():
        look = {"fontsize": 8.5, "color": INK if frontier.strong[row] else MUTED, "zorder": 5}
        note = ax.annotate(
            label, frontier.values[row], (0, 0), textcoords="offset points", in_layout=False, **look
        )
        for x, y, ha, va in PLACES:
            note.set(position=(x, y), ha=ha, va=va)
            box = note.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not box.count_overlaps(taken):
                taken.append(box)
                notes.append(note)
                break
        else:
            note.remove()
    return notes, len(labels) - len(notes)


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
    frontier = find_frontier(board, x, y)
    told = "; ".join(
        f"{system}: {_show_values(frontier, row, digits)}{'' if strong else ' (dominated)'}"
        for row, (system, strong) in enumerate(
            zip(frontier.board.systems, frontier.strong, strict=True)
        )
    )

    def draw() -> Any:
        return draw_frontier(frontier).get_figure()

    title = f"{frontier.y.label} against {frontier.x.label}"
    parts: list[Part] = [Figures("", [Figure(title, told, _tell(frontier), draw)])]
    if frontier.dominated_by:
        heads = [Column("system", "name"), Column("dominated by", "text")]
        rows = [
            Row([Cell(system), Cell(list_names(others))])
            for system, others in frontier.dominated_by.items()
        ]
        parts.append(Table("Systems that others dominate", heads, rows))
    return parts


def _show_values(frontier: Frontier, row: int, digits: int) -> str:
    """Write a system's values along both axes: ``0.3300, 30 ms``."""
    board = frontier.board
    written = []
    for axis, value in zip((frontier.y, frontier.x), frontier.values[row, ::-1], strict=True):
        is_measure = axis.name in board.measures
        decimals = board.decimals_of(axis.name, digits)[row] if is_measure else None
        written.append(f"{write_value(float(value), decimals)} {axis.unit}".rstrip())
    return ", ".join(written)


def _tell(frontier: Frontier) -> str:
    """Say what the picture shows."""
    systems = frontier.board.systems
    strong = [isolate(system) for system in systems if system not in frontier.dominated_by]
    axes = " and ".join(isolate(axis.label) for axis in (frontier.y, frontier.x))
    several = len(frontier.styles) > 1
    said = [f"Pareto {'frontiers' if several else 'frontier'} of {axes}: {', '.join(strong)}."]
    if several:
        said.append("Systems are compared with those measured under the same conditions.")
    if frontier.dominated_by:
        said.append("Grey: dominated.")
    if sure := tell_levels(frontier, frontier.bounds):
        said.append(f"Bars: {sure}.")
    if frontier.left_out:
        said.append(f"Left out: {tell_left_out(frontier.board, frontier.left_out, isolate)}.")
    return " ".join(said)
