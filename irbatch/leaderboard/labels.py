"""Names beside the points of a picture; where there is no room for one, a number and a legend.

No label covers a point or another label, or leaves the axes. A system whose name finds no room
beside its point, or whose point stands where another's does, gets a number, which finds a place
nearby, and the legend tells whose it is. Lengths are in typographic points. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import imported
from irbatch.report.axes import BETTER, INK, MUTED, Axes, add_legend, fit_names

BEHIND = 0.65  # how solid the grey of a system is that another one dominates
LONGEST, LONGEST_BESIDE = 60, 28  # characters of a name; of one that stands beside its point
RADIUS = 4.0  # of a point, with the room around it
AROUND = np.array([-RADIUS, -RADIUS, RADIUS, RADIUS])
GAP = 2.5  # between a point and the label beside it
STEP, RINGS = 8.0, 14  # from one ring of places around a point to the next; how many for numbers
COVERED = 4  # how many places a label goes on in order not to cover a box
EVERY = 5.0  # the distance of points on a line, which stand for it
SMALL, PAD = 8.5, 1.5  # size of labels, and the room around them
# Where a label stands; earlier ones are liked better: right, up and right, down and right, left, …
TURNS = np.radians([0, 45, -45, 180, 135, -135, 90, -90, 22, -22, 158, -158, 67, -67, 113, -113])
TOWARDS = np.stack([np.cos(TURNS), np.sin(TURNS)], axis=1)


class Drawn(NamedTuple):
    """What a picture shows, in values along its axes."""

    values: Floats  # (systems, 2)
    strong: Bools  # (systems,): on the frontier
    stairs: Floats  # (lines, 2, 2): ends of lines that no label covers
    bars: Floats  # (lines, 2, 2): ends of lines that a label had better not cover


class Label(NamedTuple):
    """What stands beside a point: the name of its system, or the numbers of the systems there."""

    text: str
    rows: list[int]  # places of the systems
    rings: int  # how many rings of places around the point are tried


def write_labels(ax: Axes, names: Mapping[int, str], drawn: Drawn, *, grow: bool) -> int:
    """Write names or numbers beside points; return how many systems there is no room for."""
    size = ax.get_figure().figure.get_size_inches()
    short = dict(zip(names, fit_names(names.values(), LONGEST), strict=True))
    numbers: dict[int, int] = {}
    while True:
        labels, places = _lay_out(ax, short, numbers, drawn)
        lost = [
            row
            for label, (left, *_) in zip(labels, places.tolist(), strict=True)
            if np.isnan(left)
            for row in label.rows
        ]
        if set(lost) <= set(numbers):
            break
        by_place = np.lexsort((-drawn.values[:, 1], drawn.values[:, 0])).tolist()
        rows = [row for row in by_place if row in numbers or row in lost]
        numbers = {row: number for number, row in enumerate(rows, 1)}
        _write_legend(ax, [short[row] for row in rows], drawn.strong[rows])
        if grow:
            _grow(ax, size)
    for label, box in zip(labels, places, strict=True):
        if not np.isnan(box[0]):
            _write(ax, label, drawn, box)
    return len(lost)


def _lay_out(
    ax: Axes, names: Mapping[int, str], numbers: Mapping[int, int], drawn: Drawn
) -> tuple[list[Label], Floats]:
    """Return labels, and their boxes from their points; NaN for those that have no room."""
    figure = ax.get_figure().figure  # the whole one, of a part of it too
    figure.draw_without_rendering()  # settles where the axes are
    scale = figure.dpi / 72

    def place(values: Floats) -> Floats:
        found: Floats = ax.transData.transform(values.reshape(-1, 2)) / scale
        return found.reshape(values.shape)

    points, stairs = place(drawn.values), _points_on(place(drawn.stairs))
    labels = _choose_labels(points, names, numbers, drawn.strong)
    at = points[[label.rows[0] for label in labels]]
    places = find_places(
        at,
        np.array([_measure(ax, label.text) for label in labels]) / scale + [2 * PAD, PAD],
        [label.rings for label in labels],
        area=ax.get_window_extent().extents / scale + [PAD, PAD, -PAD, -PAD],
        taken=np.concatenate([np.tile(stairs, 2), np.tile(points, 2) + AROUND]),
        # Close to another point a label would be read as that one's.
        avoided=np.concatenate(
            [np.tile(_points_on(place(drawn.bars)), 2), np.tile(points, 2) + 3 * AROUND]
        ),
    )
    return labels, places - np.tile(at, 2)


def write_numbers(numbers: Iterable[int]) -> str:
    """Write whole numbers, three or more neighbours as a range.

    >>> write_numbers([1, 2, 3, 5, 8, 9])
    '1–3, 5, 8, 9'
    """
    written = []
    for _, pairs in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [str(number) for _, number in pairs]
        written += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else run
    return ", ".join(written)


def find_places(
    points: Floats,
    sizes: Floats,
    rings: Sequence[int],
    area: Floats,
    taken: Floats,
    avoided: Floats,
) -> Floats:
    """Find places for labels, float64 ``(labels, 4)``: left, bottom, right, top; NaN without room.

    Points and sizes are float64 ``(labels, 2)``; each label may try some `rings` of places around
    its point. None leaves the `area` or covers a `taken` box; `avoided` ones had better stay free.
    """
    found = np.full((len(points), 4), np.nan)
    for i, (point, size) in enumerate(zip(points, sizes, strict=True)):
        away = RADIUS + GAP + STEP * np.arange(rings[i])
        centres = away[:, None, None] * TOWARDS + np.clip(1.5 * TOWARDS, -1, 1) * size / 2
        corners = point + centres.reshape(-1, 2) - size / 2
        boxes = np.concatenate([corners, corners + size], axis=1)
        inside = (boxes[:, :2] >= area[:2]).all(axis=1) & (boxes[:, 2:] <= area[2:]).all(axis=1)
        free = np.flatnonzero(inside & ~_overlap(boxes, taken).any(axis=1))
        if len(free):
            covers = _overlap(boxes[free], avoided).sum(axis=1)
            found[i] = boxes[free[np.argmin(free + COVERED * covers)]]
            taken = np.concatenate([taken, found[i : i + 1]])
    return found


def _points_on(lines: Floats) -> Floats:
    """Return points along lines, whose ends are float64 ``(lines, 2, 2)``, close to each other."""
    found = [np.empty((0, 2))]
    for start, end in lines:
        shares = np.linspace(0, 1, 2 + int(np.hypot(*(end - start)) / EVERY))[:, None]
        found.append(start + shares * (end - start))
    return np.concatenate(found)


def _overlap(boxes: Floats, others: Floats) -> Bools:
    """Tell which boxes share room with which others, bool ``(boxes, others)``."""
    boxes, others = boxes[:, None], others[None]
    shared = (boxes[..., :2] < others[..., 2:]) & (others[..., :2] < boxes[..., 2:])
    return np.asarray(shared.all(axis=2))


def _choose_labels(
    points: Floats, names: Mapping[int, str], numbers: Mapping[int, int], strong: Bools
) -> list[Label]:
    """Return all labels; those that come first find their places first."""
    by_point: dict[tuple[float, ...], list[int]] = {}
    for row in names:
        by_point.setdefault(tuple(np.round(points[row]).tolist()), []).append(row)
    labels = []
    for rows in by_point.values():
        for row in rows:
            if row not in numbers:  # a name has to be short, and its point no other's as well
                fits = len(rows) == 1 and len(names[row]) <= LONGEST_BESIDE
                labels.append(Label(names[row], [row], int(fits)))
        if counted := [row for row in rows if row in numbers]:
            labels.append(Label(write_numbers(numbers[row] for row in counted), counted, RINGS))
    return sorted(labels, key=lambda label: (label.rings, not strong[label.rows].any()))


def _measure(ax: Axes, text: str) -> tuple[float, float]:
    """Return the width and the height of a label in pixels."""
    written = ax.text(0, 0, text, fontsize=SMALL)
    extent = written.get_window_extent()
    written.remove()
    return extent.width, extent.height


def _write_legend(ax: Axes, names: Sequence[str], strong: Bools) -> None:
    """Tell whose the numbers are, to the right of the axes."""
    line = imported("plots", "plot", "matplotlib.lines").Line2D
    looks = [{"color": BETTER} if each else {"color": MUTED, "alpha": BEHIND} for each in strong]
    dots = [line([], [], marker="o", linestyle="", markersize=4, **look) for look in looks]
    add_legend(ax, dots, [f"{number}  {name}" for number, name in enumerate(names, 1)])


def _grow(ax: Axes, size: Floats) -> None:
    """Let the figure, of a size without a legend in inches, grow by the legend."""
    figure = ax.get_figure().figure
    figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    width, height = legend.width / figure.dpi, legend.height / figure.dpi
    figure.set_size_inches(size[0] + width, max(size[1], height + 0.3))


def _write(ax: Axes, label: Label, drawn: Drawn, box: Floats) -> None:
    """Write a label into its box, whose corners are told from its point."""
    colour = INK if drawn.strong[label.rows].any() else MUTED
    near = np.clip([0.0, 0.0], box[:2], box[2:])
    leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "alpha": 0.6, "shrinkA": 0}
    leader |= {"shrinkB": RADIUS - 1, "relpos": tuple((near - box[:2]) / (box[2:] - box[:2]))}
    is_far = np.hypot(*near) > RADIUS + GAP + STEP / 2
    point, corner = drawn.values[label.rows[0]], (box[0] + PAD, box[1] + PAD / 2)
    look = {"fontsize": SMALL, "color": colour, "zorder": 5, "in_layout": False}
    look |= {"textcoords": "offset points", "arrowprops": leader if is_far else None}
    ax.annotate(label.text, point, corner, **look)
