"""What all plots share: axes to draw on, colours, and names that fit.

matplotlib's figures are made directly, without pyplot: nothing global is touched, nothing is shown,
and no display is needed. Colours are those of Okabe and Ito, *Color universal design* (2008), which
people with any common kind of colour vision tell apart, on white and in this order.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from irbatch.errors import InputError, imported, kind_of, printable
from irbatch.report.text import shorten_all

Axes = Any  # matplotlib.axes.Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BETTER, WORSE = COLOURS[0], COLOURS[1]
INK, MUTED, FAINT, GRID = "#222222", "#666666", "#BBBBBB", "#E5E5E5"

LARGEST = 1e300  # of what can be drawn: matplotlib adds to it
LONGEST_NAME = 28
WIDTH = 7.0  # inches
LEGEND_ROWS = 28


class Style(NamedTuple):
    """How a system is drawn: lines and markers change after eight, so that 40 are told apart."""

    color: str
    linestyle: Any
    marker: str


def new_axes(ax: Axes | None, height: float = 4.2, width: float = WIDTH, legend: int = 0) -> Axes:
    """Return the axes given, or those of a new figure (inches) with room for a legend's names."""
    figure = imported("plots", "plot", "matplotlib.figure")
    if ax is not None:
        return ax
    rows = min(legend, LEGEND_ROWS)
    size = width + 2.3 * max(_columns(legend) - 1, 0), max(height, 0.4 + 0.19 * rows)
    ax = figure.Figure(figsize=size, layout="constrained").subplots()
    ax._repr_png_ = partial(_to_png, ax)
    return ax


def _to_png(ax: Axes) -> bytes:
    """Draw for a notebook, which shows an object that has ``_repr_png_`` as a picture."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="png")
    return buffer.getvalue()


def check_axes(ax: Any) -> None:
    """Reject what is neither None nor matplotlib's axes."""
    if ax is not None and not hasattr(ax, "get_figure"):
        raise InputError(f"ax= takes matplotlib's axes, not {kind_of(ax)}", value=ax)


def tidy(ax: Axes, grid: str | None = "y") -> None:
    """Remove the frame at the top and at the right; draw a grid across ``x``, ``y`` or ``both``."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize=9)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)


def styles(count: int) -> list[Style]:
    """Return how systems are drawn, one after the other.

    >>> [style.color for style in styles(2)]
    ['#0072B2', '#D55E00']
    """
    n = len(COLOURS)  # and of markers
    return [
        Style(COLOURS[i % n], DASHES[i // n % len(DASHES)], MARKERS[(i + i // n) % n])
        for i in range(count)
    ]


def add_legend(ax: Axes, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Put a legend to the right of the axes, where it covers nothing."""
    size = 9 if len(names) <= 16 else 7.5
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.0}
    form = {"frameon": False, "alignment": "left", "handlelength": 2.4, "columnspacing": 1.2}
    ax.legend(handles, names, fontsize=size, ncols=_columns(len(names)), **place, **form)


def add_note(ax: Axes, text: str) -> None:
    """Write a remark above the axes."""
    ax.set_title(text, loc="left", fontsize=9, color=MUTED)


def _columns(names: int) -> int:
    return -(-names // LEGEND_ROWS)


def fit_names(names: Iterable[object], longest: int = LONGEST_NAME) -> list[str]:
    """Shorten names as `irbatch.report.text.shorten_all` does, for matplotlib.

    >>> fit_names(["bm25", "dense-retriever-1", "dense-passage-retriever-1"], 12)
    ['bm25', 'dense-r…er-1', 'dense-p…er-1']
    """
    texts = [" ".join(printable(each) for each in str(name).split()) for name in names]
    # Mathematical text begins with a dollar sign.
    return [short.replace("$", r"\$") for short in shorten_all(texts, longest)]
