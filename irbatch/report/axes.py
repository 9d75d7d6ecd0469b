"""What all pictures share: axes to draw on, colours, names that fit, and files to save them in.

matplotlib's figures are made directly, without pyplot: nothing global is touched, nothing is shown,
and no display is needed. Colours are those of Okabe and Ito, *Color universal design* (2008), which
people with any common kind of colour vision tell apart, on white and in this order.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
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
LONGEST_IN_LEGEND = 60
WIDTH = 7.0  # inches
LEGEND_ROWS = 28
MOST_BESIDE = 12  # of more points numbers stand beside them, which a legend explains
PLACES = (  # of a label beside its point, in typographic points; earlier ones are liked better
    (6, 2, "left", "bottom"), (-6, 2, "right", "bottom"), (0, 6, "center", "bottom"),
    (6, -4, "left", "top"), (-6, -4, "right", "top"), (0, -6, "center", "top"),
)  # fmt: skip
PICTURES = ("svg", "png", "pdf", "eps", "jpg", "webp")
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same file each time


class Style(NamedTuple):
    """How a system is drawn: lines and markers change after eight, so that 40 are told apart."""

    color: str
    linestyle: Any
    marker: str


def new_axes(ax: Axes | None, height: float = 4.2, width: float = WIDTH, legend: int = 0) -> Axes:
    """Return the axes given, or those of a new figure (inches) with room for a legend's names."""
    if ax is not None:
        if not hasattr(ax, "get_figure"):
            raise InputError(f"ax= takes matplotlib's axes, not {kind_of(ax)}", value=ax)
        return ax
    figure = imported("plots", "plot", "matplotlib.figure")
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


def check_picture(path: str) -> str:
    """Return the kind of picture that a file's name ends in, before anything is drawn."""
    imported("plots", "plot", "matplotlib")
    kind = os.path.splitext(path)[1][1:].lower()  # noqa: PTH122 - pathlib takes 5 ms to import
    if kind not in PICTURES:
        raise InputError(f"a picture's name ends in one of {', '.join(PICTURES)}", path=path)
    return kind


def save(ax: Axes, path: str) -> None:
    """Write the figure of axes, whole or not at all; the path's ending tells the kind."""
    from irbatch.runtime.files import replacing  # for those who save one

    kind = check_picture(path)
    matplotlib = imported("plots", "plot", "matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "irbatch"}), replacing(path) as file:
        ax.figure.savefig(file, format=kind, bbox_inches="tight", metadata=UNDATED.get(kind))


def tidy(ax: Axes, grid: str = "y") -> None:
    """Remove the frame at the top and at the right; draw a grid across ``x``, ``y`` or ``both``."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize=9)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=GRID, linewidth=0.8)


def styles(count: int) -> list[Style]:
    """Return how systems are drawn, one after the other."""
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
    texts = [" ".join(printable(word) for word in str(name).split()) for name in names]
    # Mathematical text begins with a dollar sign.
    return [short.replace("$", r"\$") for short in shorten_all(texts, longest)]


def write_beside(ax: Axes, row: float, text: str, strong: bool = False) -> None:
    """Write something to the right of the axes, at a place along them."""
    look = {"color": INK, "fontweight": "bold"} if strong else {"color": MUTED}
    ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize=8.5, **look)


def log_scale(ax: Axes) -> None:
    """Make the x axis logarithmic, with round numbers that fit under it; what is drawn is there."""
    ticker: Any = imported("plots", "plot", "matplotlib.ticker")
    ax.set_xscale("log")
    decades = np.ptp(np.log10(ax.get_xlim()))
    leads = (1, 2, 5) if decades < 2.5 else (1, 3) if decades < 4.5 else (1,)
    form = "{x:,.10g}" if decades < 7 else "{x:g}"
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=leads))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter(form))
    ax.xaxis.set_minor_locator(ticker.NullLocator())


def name_points(
    ax: Axes,
    points: Floats,
    names: Mapping[int, str],
    looks: Mapping[int, Mapping[str, Any]],
    lines: Sequence[Floats],
    handles: Mapping[str, Any],
    *,
    grow: bool,
) -> int:
    """Write names beside points; where they are many, long or collide, numbers and a legend.

    Names and looks are by the rows of `points`, in the order of the legend, which explains
    `handles`, too, and by which the figure may `grow`; `points` and `lines` stay uncovered. Return
    how many numbers there is no room for.
    """
    dot = imported("plots", "plot", "matplotlib.lines").Line2D
    names = dict(zip(names, fit_names(names.values(), LONGEST_IN_LEGEND), strict=True))
    legend, missing = dict(handles), len(names)
    if len(names) <= MOST_BESIDE and all(len(name) <= LONGEST_NAME for name in names.values()):
        notes = _write_labels(ax, points, names, lines)
        missing -= len(notes)
        for note in notes if missing else ():
            note.remove()
    numbers = {row: str(number) for number, row in enumerate(names, 1)} if missing else {}
    for row, number in numbers.items():
        legend[f"{number}  {names[row]}"] = dot([], [], ls="", markersize=4, **looks[row])
    if legend:
        add_legend(ax, list(legend.values()), list(legend))
        if grow:
            figure = ax.get_figure()
            figure.draw_without_rendering()
            size = ax.get_legend().get_window_extent().size / figure.dpi
            width, height = figure.get_size_inches()
            figure.set_size_inches(width + size[0], max(height, size[1] + 0.3))
    return len(numbers) - len(_write_labels(ax, points, numbers, lines))


def _write_labels(
    ax: Axes, points: Floats, labels: Mapping[int, str], lines: Sequence[Floats]
) -> list[Any]:
    """Write the labels of points that can stand beside them without covering anything."""
    bbox = imported("plots", "plot", "matplotlib.transforms").Bbox
    ax.get_figure().figure.draw_without_rendering()  # settles where the axes are
    frame = ax.get_window_extent()
    taken = [bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in ax.transData.transform(points)]
    for corners in lines:
        for ends in itertools.pairwise(ax.transData.transform(corners)):
            taken += [bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in np.linspace(*ends, 40)]
    notes = []
    look = {"textcoords": "offset points", "in_layout": False, "fontsize": 8.5, "color": INK}
    for row, label in labels.items():
        note = ax.annotate(label, points[row], (0, 0), zorder=5, **look)
        for x, y, ha, va in PLACES:
            note.set(position=(x, y), ha=ha, va=va)
            box = note.get_window_extent()
            inside = all(frame.contains(*corner) for corner in (box.min, box.max))
            if inside and not box.count_overlaps(taken):
                taken.append(box)
                notes.append(note)
                break
        else:
            note.remove()
    return notes
