"""The picture of a leaderboard's frontier: SVG to stand in a page, whose style gives the colours.

Labels are in a fixed-width font, so that the room they take is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import printable
from irbatch.leaderboard.boxes import Box
from irbatch.leaderboard.frontier import Frontier, place_names, reach, stairs
from irbatch.leaderboard.labels import Label
from irbatch.report.names import shorten, width
from irbatch.report.numbers import show, show_quantity
from irbatch.report.scales import LogScale, Scale
from irbatch.report.svg import COLUMN, picture

__all__ = ["draw_frontier", "show_value"]


WIDE, HIGH = 660, 380  # of the axes
GROWTH, MANY, HIGHEST = 6, 12, 700  # pixels for every system beyond so many, up to a height
ABOVE, BELOW, RIGHT = 30, 52, 12  # pixels around the axes
LINE, PAD, RADIUS = 15, 2, 4.5  # of a name: its height, the room beside it; of a point
LENGTHS = (32, 24, 16, 9)  # characters of a name: fewer where there is no room for more


class Axes(NamedTuple):
    """Where the axes stand, y downwards: their `bottom` is what is above; and both scales."""

    box: Box
    x: Scale | LogScale
    y: Scale


def draw_frontier(
    systems: Sequence[str], found: Frontier, ident: str, digits: int = 4
) -> tuple[str, int]:
    """Draw systems between two axes, their intervals, their names, and the frontier.

    Args:
        systems: names.
        found: what there is to draw, of at least one system.
        ident: starts the ids of the picture's elements.
        digits: how many decimals of measures are written.

    Returns:
        The picture, and how many names there was no room for.
    """
    axes, size = _axes(found)
    places = np.array([[axes.x(x), axes.y(y)] for x, y in found.values.tolist()])
    low, high = reach(found, found.bounds)
    steps = np.array([[axes.x(x), axes.y(y)] for x, y in stairs(found, low, high).tolist()])
    bars = _bars(axes, found)
    names = [printable(system) for system in systems]
    said = [f"{name}: {show_value(found, i, digits)}" for i, name in enumerate(names)]
    placed = _place(names, found, places, axes.box, steps, bars)
    body = [
        *_grid(axes, found),
        *_stairs(steps),
        *(_bar(bar, strong) for bar, strong in bars),
        *(_leader(label.leader) for _, label in placed.values() if label.leader),
        *(_point(places[i], said[i], found.strong[i]) for i in np.argsort(found.strong)),
        *(_name(label, short, names[i], found.strong[i])
          for i, (short, label) in placed.items()),
    ]  # fmt: skip
    told = "; ".join(f"{each}{'' if strong else ' (dominated)'}" for each, strong
                     in zip(said, found.strong, strict=True))  # fmt: skip
    title = f"{printable(found.y.label)} against {printable(found.x.label)}"
    return picture(ident, size, title, told, body), len(systems) - len(placed)


def show_value(found: Frontier, place: int, digits: int) -> str:
    """Write a system's values along both axes: ``0.3300, 30 ms``."""
    written = []
    for axis, value in zip((found.y, found.x), found.values[place, ::-1].tolist(), strict=True):
        # Measures have no unit, and are called what they are named.
        is_measure = not axis.unit and axis.label == axis.name
        text = show(value, digits) if is_measure else show_quantity(value)
        written.append(f"{text} {printable(axis.unit)}".rstrip())
    return ", ".join(written)


def _axes(found: Frontier) -> tuple[Axes, tuple[float, float]]:
    """Return the axes, and the size of the picture."""
    tall = min(HIGH + GROWTH * max(0, len(found.values) - MANY), HIGHEST)
    low, high = reach(found, found.bounds)
    y = Scale(low[1], high[1], ABOVE + tall, ABOVE)
    left = y.widest() * COLUMN + 14
    x = (LogScale if found.log else Scale)(low[0], high[0], left, left + WIDE)
    box = Box(left, ABOVE, left + WIDE, ABOVE + tall)
    return Axes(box, x, y), (box.right + RIGHT, box.top + BELOW)


def _grid(axes: Axes, found: Frontier) -> Iterator[str]:
    """Draw the axes: lines at round numbers, the numbers, and what they are of."""
    left, upper, right, lower = axes.box
    for x, label in axes.x.ticks(COLUMN):
        yield (
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{upper}" y2="{lower}"/>'
            f'<text class="tick" x="{x:.1f}" y="{lower + 18}" text-anchor="middle">{label}</text>'
        )
    for y, label in axes.y.ticks(None):
        yield (
            f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}'
            "</text>"
        )
    across = "better →" if found.x.better == HIGHER else "← better"
    along = "↑ better" if found.y.better == HIGHER else "↓ better"
    room = int(WIDE / COLUMN) - len(across) - 3
    for axis, better, y in ((found.x, across, lower + 40), (found.y, along, upper - 14)):
        said = f"{shorten(printable(axis.heading), room)}   {better}"
        yield f'<text x="{left:.1f}" y="{y}">{escape(said)}</text>'


def _stairs(steps: Floats) -> Iterator[str]:
    """Draw the frontier, and shade what it dominates."""
    listed = [f"{x:.1f},{y:.1f}" for x, y in steps.tolist()]
    corner = f"{steps[-1, 0]:.1f},{steps[0, 1]:.1f}"
    yield f'<polygon class="shade" points="{" ".join([*listed, corner])}"/>'
    yield f'<polyline class="stairs" points="{" ".join(listed)}"/>'


def _bars(axes: Axes, found: Frontier) -> list[tuple[list[float], bool]]:
    """Return the ends of all intervals that are known, and whether they are on the frontier."""
    bars = []
    for i in np.argsort(found.strong, kind="stable").tolist():
        (x, y), (across, along) = found.values[i].tolist(), found.bounds[i].tolist()
        if not np.isnan(across).any():
            ends = [axes.x(across[0]), axes.y(y), axes.x(across[1]), axes.y(y)]
            bars.append((ends, bool(found.strong[i])))
        if not np.isnan(along).any():
            ends = [axes.x(x), axes.y(along[0]), axes.x(x), axes.y(along[1])]
            bars.append((ends, bool(found.strong[i])))
    return bars


def _place(
    names: Sequence[str],
    found: Frontier,
    places: Floats,
    box: Box,
    steps: Floats,
    bars: Sequence[tuple[list[float], bool]],
) -> dict[int, tuple[str, Label]]:
    """Find places for names, which are cut where there is no room for longer ones."""
    turn = np.array([1.0, -1.0])  # places of names are found with y upwards
    ends = [*np.concatenate([steps[:-1], steps[1:]], axis=1).tolist(), *(bar for bar, _ in bars)]
    area = Box(box.left + PAD, PAD - box.top, box.right - PAD, -box.bottom - PAD)

    def fit(rows: list[int], longest: int) -> tuple[list[str], list[tuple[float, float]]]:
        short = [shorten(names[i], longest) for i in rows]
        return short, [(width(name) * COLUMN + 2 * PAD, LINE) for name in short]

    lines = np.array(ends) * np.tile(turn, 2)
    return place_names(found, places * turn, LENGTHS, fit, area, RADIUS, lines)


def _bar(ends: Sequence[float], strong: bool) -> str:
    kind = "within" if strong else "within behind"
    return f'<line{_ends(ends)} class="{kind}"/>'


def _leader(ends: Sequence[float]) -> str:
    x1, y1, x2, y2 = ends
    return f'<line{_ends((x1, -y1, x2, -y2))} class="leader"/>'


def _ends(ends: Sequence[float]) -> str:
    return "".join(f' {name}="{place:.1f}"' for name, place in
                   zip(("x1", "y1", "x2", "y2"), ends, strict=True))  # fmt: skip


def _point(place: Floats, said: str, strong: bool) -> str:
    kind = "dot" if strong else "dot behind"
    return (
        f'<circle class="{kind}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" '
        f'r="{RADIUS if strong else RADIUS - 1}"><title>{escape(said)}</title></circle>'
    )


def _name(label: Label, short: str, name: str, strong: bool) -> str:
    whole = f"<title>{escape(name)}</title>" if short != name else ""
    x, y = label.box.left + PAD, -label.box.bottom - 4
    kind = "" if strong else ' class="tick"'
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}">{whole}{escape(short)}</text>'
