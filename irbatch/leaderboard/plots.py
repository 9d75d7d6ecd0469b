"""Pictures of leaderboards: systems between two axes, with names, and their Pareto frontier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.efficiency import Quantity
from irbatch.errors import imported, many, printable
from irbatch.leaderboard.report import tell_left_out, tell_levels
from irbatch.leaderboard.rows import Board
from irbatch.leaderboard.study import Pareto
from irbatch.report.axes import (
    BETTER,
    MUTED,
    Axes,
    Style,
    add_note,
    fit_names,
    log_scale,
    name_points,
    new_axes,
    styles,
    tidy,
)
from irbatch.report.document import Figure, Part

WIDE = 3.0  # a quantity whose values span more than this factor is drawn on a logarithmic axis
MOST_NAMED = 100  # systems in a picture; of more, those on the frontier are named
BEHIND = 0.65  # how solid the grey of a system is that another one dominates
PICTURED = ("cost_per_million", "latency_mean", "latency_p50")  # the first that some system has


@dataclass(frozen=True)
class Frontier:
    """Systems with values of two axes, and which of them nothing dominates."""

    board: Board  # the systems themselves
    x: Quantity
    y: Quantity
    pareto: Pareto
    figures: Floats  # values and bounds ``(systems, 2, 3)``; NaN where there are no bounds
    strong: Bools  # whether each system is on the frontier of its conditions: ``(systems,)``
    conditions: list[str]  # each system's; only systems of the same are compared

    @property
    def styles(self) -> dict[str, Style]:
        """How the systems of each of the conditions are drawn."""
        kinds = list(dict.fromkeys(self.conditions))
        return dict(zip(kinds, styles(len(kinds)), strict=True))


def find_frontier(board: Board, x: str, y: str | None = None) -> Frontier:
    """Find what there is to draw; arguments and errors are those of `Leaderboard.plot`."""
    across, along = board.axis(x), board.axis(board.measures[0] if y is None else y)
    names = [across.name, along.name]
    pareto = board.pareto(names)
    board = board.having(names)[0]
    return Frontier(
        board, across, along, pareto,
        figures=np.array([[row.figure(name) for name in names] for row in board.rows]),
        strong=np.array([system in pareto.frontier for system in board.systems], bool),
        conditions=[pareto.conditions.get(system, "") for system in board.systems],
    )  # fmt: skip


def draw_frontier(frontier: Frontier, ax: Axes | None = None) -> Axes:
    """Draw what was found."""
    systems, strong, kinds = frontier.board.systems, frontier.strong, frontier.styles
    grows = ax is None
    ax = new_axes(ax, height=min(4.2 + 0.06 * max(0, len(systems) - 12), 8.0))
    looks: list[dict[str, Any]] = []
    values = frontier.figures[..., 0]
    for (point, *bounds), on_top, kind in zip(
        frontier.figures.swapaxes(1, 2), strong.tolist(), frontier.conditions, strict=True
    ):
        look = {"color": kinds[kind].color if on_top else MUTED, "marker": kinds[kind].marker}
        looks.append({**look, "alpha": 1.0 if on_top else BEHIND})
        shown = {"markersize": 6 if on_top else 4.5, "markeredgecolor": "white", **looks[-1]}
        x_reach, y_reach = np.abs(bounds - point).T
        reach = {"xerr": x_reach[:, None], "yerr": y_reach[:, None], "elinewidth": 1.1}
        _, _, bars = ax.errorbar(*point[:, None], zorder=3.5 if on_top else 2.5, **reach, **shown)
        for bar in bars:
            bar.set_alpha(0.5)
    ax.margins(0.09)
    x = values[:, 0]
    if frontier.x.name not in frontier.board.measures and x.max() > WIDE * x.min() > 0:
        log_scale(ax)
    lines = _draw_lines(ax, frontier)
    for axis, write in ((frontier.x, ax.set_xlabel), (frontier.y, ax.set_ylabel)):
        name = printable(axis.heading).replace("$", r"\$")
        write(f"{name}   {'better →' if axis.sign > 0 else '← better'}")
    tidy(ax, "both")
    note = _note(frontier)
    add_note(ax, note)
    order = np.lexsort(values.T[::-1])
    rows = order[strong[order] | (len(systems) <= MOST_NAMED)][:MOST_NAMED].tolist()
    handles = _explain(kinds) if len(kinds) > 1 else {}
    names, of_rows = ({row: of_all[row] for row in rows} for of_all in (systems, looks))
    hidden = name_points(ax, values, names, of_rows, lines, handles, grow=grows)
    note += f"; {many(len(systems) - len(rows), 'name')} left out" if rows != order.tolist() else ""
    add_note(ax, note + (f"; no room for {many(hidden, 'number')}" if hidden else ""))
    return ax


def _note(frontier: Frontier) -> str:
    """Say above the picture what its lines and colours are."""
    several = len(frontier.styles) > 1
    note = "lines: a Pareto frontier each" if several else "line: Pareto frontier"
    if frontier.pareto.dominated_by:
        note += "; grey: dominated"
    sure = tell_levels(frontier.board, [frontier.x.name, frontier.y.name])
    if sure is not None:
        note += f"; bars: {' '.join([*sure.split(), 'intervals'])}"
    left_out = len(frontier.pareto.left_out)
    return note + (f"; {many(left_out, 'system')} left out, without a value" if left_out else "")


def _explain(kinds: dict[str, Style]) -> dict[str, Any]:
    """Return how the legend shows each of the conditions."""
    dot = imported("plots", "plot", "matplotlib.lines").Line2D
    names = fit_names(kinds, 60)
    return {
        name: dot([], [], markersize=4, **style._asdict())
        for name, style in zip(names, kinds.values(), strict=True)
    }


def _draw_lines(ax: Axes, frontier: Frontier) -> list[Floats]:
    """Draw the frontier of each of the conditions to the ends of the axes; return the corners."""
    ends = np.array([ax.get_xlim(), ax.get_ylim()])
    ax.set_xlim(*ends[0])
    ax.set_ylim(*ends[1])
    signs, lines = [frontier.x.sign, frontier.y.sign], []
    for kind, style in frontier.styles.items():
        is_of_kind = np.array([condition == kind for condition in frontier.conditions])
        corners = stairs(frontier.figures[frontier.strong & is_of_kind, :, 0], signs, ends)
        if len(frontier.styles) == 1:
            area = np.vstack([corners, [corners[-1, 0], corners[0, 1]]])
            ax.fill(*area.T, facecolor=BETTER, alpha=0.08, edgecolor="none", zorder=0.4)
        look = {"color": style.color, "linestyle": style.linestyle, "solid_joinstyle": "miter"}
        ax.plot(*corners.T, linewidth=1.4, zorder=2, **look)
        lines.append(corners)
    return lines


def stairs(values: Floats, signs: Sequence[float], ends: Floats) -> Floats:
    """Return the corners of a frontier, float64 ``(corners, 2)``, to both `ends` of the axes.

    `signs` are 1 for axes of which higher is better, else -1.
    """
    worst = [ends[i, 0 if signs[i] > 0 else 1] for i in (0, 1)]
    turned = np.array(signs)
    best_first = np.unique(values * -turned, axis=0) * -turned
    corners = [[best_first[0, 0], worst[1]]]
    for i, (x, y) in enumerate(best_first.tolist()):
        corners += [[x, best_first[i - 1, 1]]] if i else []
        corners.append([x, y])
    return np.array([*corners, [worst[0], corners[-1][1]]])


def picture_frontier(board: Board, x: str | None, y: str | None) -> list[Part]:
    """Return a picture of the frontier, where there is an axis for it; see `Leaderboard`."""
    if x is None:
        x = next((name for name in PICTURED if name in board.axes), None)
    if x is None or not len(board):
        return []
    frontier = find_frontier(board, x, y)
    title = f"{frontier.y.label} against {frontier.x.label}"
    caption = f"Pareto frontier: {', '.join(frontier.pareto.frontier)}."
    if left_out := frontier.pareto.left_out:
        caption += f" Left out: {tell_left_out(board, left_out)}."
    return [Figure(title, caption, lambda: draw_frontier(frontier).get_figure())]
