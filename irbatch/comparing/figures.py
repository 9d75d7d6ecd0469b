"""Pictures on the page of a comparison: means, and the differences of two systems by query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.compared import Compared
from irbatch.comparing.plots import plot_differences, plot_means, share_bars
from irbatch.errors import InputError
from irbatch.report import axes
from irbatch.report.document import Figure, Figures, isolate
from irbatch.report.numbers import check_digits, show, show_change, show_interval

MOST_BARS = 200  # of more queries neighbours share a bar
HEIGHT, WIDTH = 3.4, 6.0  # inches
Pair = tuple[int, int]


def plot_figures(compared: Compared, pair: tuple[str, str] | None, digits: int) -> list[Figures]:
    """Return the pictures of each measure, drawn when written; see `Comparison.to_html`."""
    check_digits(digits)
    chosen = _choose(compared, pair)
    pictures = []
    for k, measure in enumerate(compared.measures):
        figures = [_means(compared, k, digits)]
        if chosen is not None:
            figures += _differences(compared, chosen, k)
        pictures.append(Figures(measure, figures))
    return pictures


def _choose(compared: Compared, pair: tuple[str, str] | None) -> Pair | None:
    """Find the pair whose differences are plotted; None where there is only one system."""
    systems = compared.systems
    if pair is not None:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(systems):
            problem = f"a pair is two of {', '.join(systems)}, not {pair!r}"
            raise InputError(problem, source="pair", value=pair)
        return systems.index(pair[0]), systems.index(pair[1])
    if len(systems) < 2 or not compared.measures:
        return None
    best = np.argsort(-compared.means[:, 0], kind="stable").tolist()
    if compared.baseline is None:
        return best[0], best[1]
    baseline = systems.index(compared.baseline)
    return next(i for i in best if i != baseline), baseline


def _means(compared: Compared, column: int, digits: int) -> Figure:
    measure = compared.measures[column]
    lines = []
    for i, system in enumerate(compared.systems):
        low, high = compared.intervals[i, column].tolist()
        mean = show(float(compared.means[i, column]), digits)
        lines.append(f"{system}: {mean} {show_interval(low, high, digits)}")
    percent = f"{100 * (1 - compared.level):g}%"

    def draw() -> Any:
        return plot_means(compared, measure, digits=digits).get_figure()

    title = f"{measure}: means and intervals"
    return Figure(title, "; ".join(lines), f"Means and their {percent} intervals.", draw)


def _differences(compared: Compared, pair: Pair, column: int) -> Iterator[Figure]:
    """Yield the picture of differences between two systems, if there is something to draw."""
    measure = compared.measures[column]
    a, b = (compared.systems[i] for i in pair)
    with np.errstate(invalid="ignore"):  # of infinite ones
        differences: Floats = np.subtract(*(compared.values[i, :, column] for i in pair))
    bars = share_bars(differences, MOST_BARS)
    if not bars[0].size:
        return
    told = _tell(differences, int(compared.directions[column]))

    def draw() -> Any:
        ax = axes.new_axes(None, HEIGHT, WIDTH)
        plot_differences(compared, a, b, measure, most=MOST_BARS, ax=ax)
        return ax.get_figure()

    caption = f"{isolate(a)} less {isolate(b)}, query by query: {told.replace('-', '−')}."
    yield Figure(f"{measure}: {a} less {b}, query by query", told, caption, draw)


def _tell(differences: Floats, sign: int) -> str:
    """Say what a picture shows: ``30 better, 2 equal, 18 worse; from +0.4000 to -0.2000``."""
    known = differences[np.isfinite(differences)]
    better, worse = [int((known > 0).sum()), int((known < 0).sum())][::sign]
    said = f"{better} better, {known.size - better - worse} equal, {worse} worse"
    if known.size:
        said += f"; from {show_change(known.max(), 4)} to {show_change(known.min(), 4)}"
    return said + ("; a bar is the mean of several" if known.size > MOST_BARS else "")
