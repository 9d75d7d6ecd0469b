"""Pictures of a comparison: SVG to stand in a page, whose style gives the colours.

Labels are in a fixed-width font, so that the room they take is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.report.table import is_best
from irbatch.errors import many, printable
from irbatch.report.names import shorten, width
from irbatch.report.numbers import show, show_change, show_interval
from irbatch.report.scales import Scale
from irbatch.report.svg import COLUMN, picture

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["bars", "describe", "dots"]


LABEL = 32  # characters of a system's name that are shown
ROW, PLOT, AXIS = 24, 340, 26  # heights and the width of what is plotted
BARS_WIDTH, BARS_HEIGHT, MOST_BARS = 520, 160, 200


class Dot(NamedTuple):
    """A system's line in a plot: what is said on the left and on the right, and its numbers."""

    name: str
    said: str
    mean: float
    low: float
    high: float


def dots(comparison: Comparison, column: int, ident: str, digits: int = 4) -> str:
    """Draw each system's mean of a measure, and its interval, one under the other.

    Args:
        column: of the measure.
        ident: starts the ids of the picture's elements.
        digits: how many decimals of the means are written.
    """
    table = list(_dots(comparison, column, digits))
    left = max(width(shorten(dot.name, LABEL)) for dot in table) * COLUMN + 14
    right = max(len(dot.said) for dot in table) * COLUMN + 14
    bottom = ROW * len(table)
    scale = Scale.over([x for dot in table for x in dot[2:]], left + 6, left + PLOT - 6)
    body = [
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{label}</text>'
        for x, label in scale.ticks(COLUMN)
    ]
    best = is_best(comparison.means)[:, column].tolist()
    for i, dot in enumerate(table):
        body += _dot(dot, scale, (ROW * (i + 0.5), left, left + PLOT), best[i])
    measure = printable(comparison.measures[column])
    said = "; ".join(f"{dot.name}: {dot.said}" for dot in table)
    size = (left + PLOT + right, bottom + AXIS)
    return picture(ident, size, f"{measure}: means and intervals", said, body)


def _dots(comparison: Comparison, column: int, digits: int) -> Iterator[Dot]:
    for i, system in enumerate(comparison.systems):
        mean = float(comparison.means[i, column])
        low, high = comparison.intervals[i, column].tolist()
        said = f"{show(mean, digits)} {show_interval(low, high, digits)}"
        yield Dot(printable(system), said, mean, low, high)


def _dot(dot: Dot, scale: Scale, place: tuple[float, float, float], best: bool) -> Iterator[str]:
    """Draw a system's line: its name, its interval and mean where they are numbers, and both."""
    y, left, right = place
    kind = ' class="best"' if best else ""
    yield _label(dot.name, left - 8, y + 4, kind)
    if math.isfinite(dot.low) and math.isfinite(dot.high):
        ends = f'x1="{scale(dot.low):.1f}" x2="{scale(dot.high):.1f}"'
        yield f'<line class="within" {ends} y1="{y:g}" y2="{y:g}"/>'
    if math.isfinite(dot.mean):
        yield f'<circle class="dot" cx="{scale(dot.mean):.1f}" cy="{y:g}" r="4.5"/>'
    yield f'<text{kind} x="{right + 8:.1f}" y="{y + 4:g}">{escape(dot.said)}</text>'


def _label(name: str, x: float, y: float, kind: str) -> str:
    short = shorten(name, LABEL)
    whole = f"<title>{escape(name)}</title>" if short != name else ""
    return f'<text{kind} x="{x:.1f}" y="{y:g}" text-anchor="end">{whole}{escape(short)}</text>'


def bars(comparison: Comparison, pair: tuple[int, int], column: int, ident: str) -> str:
    """Draw the differences between two systems, query by query, from the largest to the least.

    Of more than 200 queries neighbours share a bar, as high as their mean.

    Args:
        pair: positions of the systems.
        column: of the measure.
        ident: starts the ids of the picture's elements.
    """
    differences = _differences(comparison, pair, column)
    known = np.flatnonzero(np.isfinite(differences))
    order = known[np.argsort(-differences[known], kind="stable")]
    parts = list(np.array_split(order, min(MOST_BARS, max(1, order.size))))
    heights = [float((differences[part] / max(1, part.size)).sum()) for part in parts]
    scale = Scale.over([0.0, *heights], BARS_HEIGHT - 6.0, 6.0)
    left = scale.widest() * COLUMN + 14
    size = (left + BARS_WIDTH, BARS_HEIGHT)
    body = [
        f'<line class="grid" x1="{left:.1f}" x2="{size[0]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        for y, label in scale.ticks(None)
    ]
    step, ids = BARS_WIDTH / len(parts), comparison.query_ids
    for i, (part, height) in enumerate(zip(parts, heights, strict=True)):
        told = _queries([ids[query] for query in part.tolist()])
        place = (left + step * i, step - min(1.0, step / 6), scale(0.0), scale(height))
        body.append(_bar(place, height, told))
    a, b = (printable(comparison.systems[i]) for i in pair)
    title = f"{printable(comparison.measures[column])}: {a} less {b}, query by query"
    return picture(ident, size, title, describe(comparison, pair, column), body)


def _differences(comparison: Comparison, pair: tuple[int, int], column: int) -> Floats:
    first, second = (comparison.values[i, :, column] for i in pair)
    with np.errstate(invalid="ignore"):  # of infinite ones
        differences: Floats = first - second
    return differences


def describe(comparison: Comparison, pair: tuple[int, int], column: int) -> str:
    """Say what `bars` shows: ``30 better, 2 equal, 18 worse; from +0.4000 to -0.2000``.

    Args:
        pair: positions of the systems.
        column: of the measure.
    """
    differences = _differences(comparison, pair, column)
    differences = differences[np.isfinite(differences)]
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    said = f"{better} better, {differences.size - better - worse} equal, {worse} worse"
    if differences.size:
        said += f"; from {show_change(differences.max(), 4)} to {show_change(differences.min(), 4)}"
    return said + ("; a bar is the mean of several" if differences.size > MOST_BARS else "")


def _queries(ids: Sequence[object]) -> str:
    return printable(ids[0]) if len(ids) == 1 else many(len(ids), "query")


def _bar(place: tuple[float, float, float, float], height: float, told: str) -> str:
    x, wide, zero, y = place
    kind = "up" if height > 0 else "down"
    box = f'x="{x:.2f}" y="{min(y, zero):.2f}" width="{wide:.2f}" height="{abs(y - zero):.2f}"'
    title = f"<title>{escape(told)}: {show_change(height, 4)}</title>"
    return f'<rect class="{kind}" {box}>{title}</rect>'
