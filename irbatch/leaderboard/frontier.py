"""What a picture of two axes shows: systems, their intervals, and the frontier as a staircase."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.checks import of_system, refuse
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import InputError, shown
from irbatch.leaderboard.axes import check_directions
from irbatch.leaderboard.systems import Systems
from irbatch.report.numbers import show_levels

WIDE = 3.0  # a quantity whose values span more than this factor is drawn on a logarithmic axis
MARGIN = 0.09  # of the axes, around the points
FARTHEST = 700.0  # logarithm of the ends of an axis
LEAST_SPAN = 1e-9  # of an axis, as a share of its numbers: floats are no finer
SMALLEST, LARGEST = 1e-290, 1e300  # what is beyond stands at an end of its axis


class Frontier(NamedTuple):
    """Systems between two axes, and which of them nothing dominates.

    Args:
        x, y: the axes, with the way that is better as it was asked for.
        values: float64 ``(systems, 2)``.
        bounds: float64 ``(systems, 2, 2)``: system, axis, low and high; NaN where there are none.
        strong: bool ``(systems,)``: on the frontier.
        dominated_by: names by name.
        log: whether the x axis is logarithmic.
    """

    x: Quantity
    y: Quantity
    values: Floats
    bounds: Floats
    strong: Bools
    dominated_by: dict[str, list[str]]
    log: bool


def find_frontier(
    board: Systems,
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
    across, along = board.axis(x), board.axis(board.measures[0] if y is None else y)
    names = [across.name, along.name]
    pareto = board.pareto(names, directions=directions)
    turned = check_directions(directions, board.measures)
    across, along = (
        axis._replace(better=turned.get(axis.name, axis.better)) for axis in (across, along)
    )
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
    return Frontier(across, along, values, bounds, strong, pareto.dominated_by, bool(log))


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
    signs = np.array([1.0 if axis.better == HIGHER else -1.0 for axis in found[:2]])
    worst = [low[i] if signs[i] > 0 else high[i] for i in (0, 1)]
    best_first = np.unique(found.values[found.strong] * -signs, axis=0) * -signs
    corners = [[best_first[0, 0], worst[1]]]
    for i, (x, y) in enumerate(best_first.tolist()):
        corners += [[x, best_first[i - 1, 1]]] if i else []
        corners.append([x, y])
    return np.array([*corners, [worst[0], corners[-1][1]]])


def tell_levels(board: Systems, found: Frontier, bounds: Floats) -> str:
    """Say how sure the intervals in a picture are: ``"95% intervals"``; empty if it has none."""
    known = np.asarray(~np.isnan(bounds).any(axis=2))
    levels = {
        level
        for i, axis in enumerate(found[:2])
        for level, has in zip(board.levels(axis.name), known[:, i].tolist(), strict=True)
        if has
    }
    return f"{show_levels(levels)} intervals".strip() if levels else ""
