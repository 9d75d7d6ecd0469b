"""A load as a document for people, a table and a picture of latency against rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import POISSON
from irbatch.efficiency.load.at_rate import LoadAtRate
from irbatch.efficiency.load.found import MeasuredLoad
from irbatch.errors import imported, join_words, many, printable
from irbatch.report import axes
from irbatch.report.document import (
    BEST,
    Cell,
    Column,
    Document,
    Figure,
    Figures,
    Part,
    Record,
    Row,
    Table,
)
from irbatch.report.numbers import NOTHING, show, show_levels, show_quantity

DRAWN = ("p50", "p95", "p99")
FAILURES = ("errors", "time-outs")


def make_document(load: MeasuredLoad, plots: bool = False) -> Document:
    """Return the report of a load: a table with one row a rate, and perhaps a picture."""
    failures = FAILURES if _has_failures(load) else ()
    heads = [
        Column("queries/s", "name"),
        Column("answered/s"),
        *(Column(f"{name} (ms)", descends=False) for name in DRAWN),
        *(Column(each, descends=False) for each in ("calls", *failures, "busy (%)")),
        Column("queue", "text"),
        Column("sent late (ms)", descends=False),
    ]
    rows = []
    for each in load.rates:
        best = each.rate == load.sustained_rate
        fails = load.within is not None and not each.holds(load.within)
        rows.append(Row(_cells(each, best, bool(failures)), faint=fails))
    table = Table(f"Latency of {load.about.system} by rate", heads, rows)
    legend = []
    if load.sustained_rate:
        meaning = f"the highest rate up to which p99 is within {show_quantity(load.within or 0)} ms"
        legend.append((BEST, meaning))
    if levels := _levels(load):
        meaning = f"{show_levels(levels)} intervals, where there are calls enough"
        legend.append(("[low, high]", meaning))
    legend.append(("sent late", "99th percentile of what the sender itself adds to latency"))
    parts: list[Part] = [table]
    if plots:
        title = f"Latency of {printable(load.about.system)} against rate"

        def draw() -> Any:
            return plot_load(load).get_figure()

        parts.insert(0, Figures("", [Figure(title, _tell_values(load), _tell_picture(load), draw)]))
    return Document(f"Load on {load.about.system}", caption(load), legend, parts)


def list_rates(load: MeasuredLoad) -> tuple[Sequence[str], list[Record]]:
    """Return columns and records: one a rate, what isn't known being None."""
    of_latency = ("mean", "p50", "p90", "p95", "p99", "calls", "errors", "timeouts")
    of_rate = ("rate", "achieved", "busy", "growing", "lateness", "wall_time")
    rows = [
        {name: getattr(each, name) for name in of_rate}
        | {name: getattr(each.latency, name) for name in of_latency}
        for each in load.rates
    ]
    return (*of_rate, *of_latency), rows


def caption(load: MeasuredLoad) -> str:
    """Say how latency was measured, and what was found."""
    latency = load.rates[0].latency
    coming = "at random times (Poisson)" if latency.arrivals == POISSON else "at equal distances"
    callers = "as many calls at a time as there are"
    if load.callers is not None:
        callers = f"{many(load.callers, 'call')} at a time"
    failing = "no call failed"
    if _has_failures(load):
        failing = "calls that failed or were out of time count as longer than all others"
    said = [
        f"Open loop: queries came {coming}, whether others were answered or not, {callers}.",
        f"Latency counts from when a query was due; {failing}.",
    ]
    asked = load.about.n_queries
    said += [f"{many(asked, 'query')}, asked in turn."] if asked else []
    if load.timeout is not None:
        said.append(f"Out of time after {show_quantity(load.timeout)} ms.")
    if load.about.hardware != Hardware():
        said.append(f"Measured on {load.about.hardware}.")
    if load.within is not None:
        said.append(_tell_sustained(load, load.within))
    late = [show_quantity(each.rate) for each in load.rates if not each.kept_up]
    if late:
        said.append(f"At {join_words(late)} a second the sender itself didn't keep up.")
    problems = dict.fromkeys(each.problem for each in load.rates if each.problem is not None)
    said += [f"First error: {problem}." for problem in list(problems)[:1]]
    return " ".join(said)


def _tell_sustained(load: MeasuredLoad, within: float) -> str:
    tried = join_words([show_quantity(each.rate) for each in load.rates])
    bound = f"p99 within {show_quantity(within)} ms"
    if not load.sustained_rate:
        return f"At none of the rates tried ({tried}) is {bound}."
    said = f"{bound} up to {show_quantity(load.sustained_rate)} queries/s (tried: {tried})."
    (best,) = (each for each in load.rates if each.rate == load.sustained_rate)
    if "p99" not in best.latency.intervals:
        said += " How sure that is cannot be told: it takes more calls."
    elif best.latency.intervals["p99"][1] > within:
        said += " That is not sure: the interval of its p99 goes beyond the bound."
    above = [each for each in load.rates if each.rate > load.sustained_rate]
    if not above:
        said += " It may be more: no higher rate was tried."
    elif higher := [show_quantity(each.rate) for each in above if each.holds(within)]:
        said += f" {join_words(higher)} held, too, above a rate that did not."
    return said


def _has_failures(load: MeasuredLoad) -> bool:
    return any(each.latency.errors or each.latency.timeouts for each in load.rates)


def _levels(load: MeasuredLoad) -> set[float | None]:
    """Return the chances that intervals miss."""
    return {each.latency.level for each in load.rates if each.latency.intervals}


def _cells(found: LoadAtRate, best: bool, failures: bool) -> list[Cell]:
    latency = found.latency
    cells = [Cell(show_quantity(found.rate), found.rate)]
    cells.append(Cell(show_quantity(found.achieved), found.achieved))
    for name in DRAWN:
        value = getattr(latency, name)
        ms = np.inf if value is None else value
        low, high = latency.intervals.get(name, (np.nan, np.nan))
        within = f"[{show_quantity(low)}, {show_quantity(high)}]" if low == low else ""
        cells.append(Cell(show_quantity(ms), ms, best and name == "p99", within))
    counts = (latency.calls, latency.errors, latency.timeouts)
    for count in counts if failures else counts[:1]:
        cells.append(Cell(NOTHING) if count is None else Cell(f"{count:,}", float(count)))
    busy = found.busy
    cells.append(Cell(NOTHING) if busy is None else Cell(show(100 * busy, 0), busy))
    cells.append(Cell("grows" if found.growing else "steady"))
    cells.append(Cell(show_quantity(found.lateness), found.lateness))
    return cells


def _tell_picture(load: MeasuredLoad) -> str:
    """Say what the picture shows."""
    said = ["Latency in an open loop, from when a query was due."]
    if load.sustained_rate:
        said.append("Vertical line: the highest rate that held the bound.")
    if any(math.isinf(each.p99) for each in load.rates):
        said.append("A percentile that falls on a call that failed has no point.")
    return " ".join(said)


def _tell_values(load: MeasuredLoad) -> str:
    """Describe the picture for those who don't see it."""
    return "; ".join(
        f"{show_quantity(each.rate)} queries/s: p99 {show_quantity(each.p99)} ms"
        for each in load.rates
    )


def plot_load(load: MeasuredLoad, *, log: bool = True, ax: axes.Axes | None = None) -> axes.Axes:
    """Plot p50, p95 and p99 of latency against the rate of queries, with their intervals.

    A percentile that falls on a call that failed has no point; a dotted line is the bound on p99,
    and a vertical one the highest rate that held.

    Args:
        load: what `measure_load` returned.
        log: whether the axis of latency is logarithmic.
        ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

    Returns:
        The axes; nothing is shown.

    Raises:
        InputError: if `ax` is not matplotlib's.
        ImportError: naming the extra, when matplotlib is not installed.
    """
    axes.check_axes(ax)
    ax = axes.new_axes(ax, legend=len(DRAWN))
    handles = []
    for name, style in zip(DRAWN, axes.styles(len(DRAWN)), strict=True):
        known = [each for each in load.rates if getattr(each.latency, name) is not None]
        x, y = [each.rate for each in known], [getattr(each.latency, name) for each in known]
        look = {"color": style.color, "marker": style.marker, "markersize": 5, "linewidth": 1.6}
        handles += ax.plot(x, y, **look)
        for each in known:
            if name in each.latency.intervals:
                low, high = each.latency.intervals[name]
                ax.vlines(each.rate, low, high, color=style.color, alpha=0.45, linewidth=2.5)
    names = list(DRAWN)
    if load.within is not None:
        handles.append(
            ax.axhline(load.within, color=axes.MUTED, linestyle=(0, (1, 1.5)), linewidth=1.2)
        )
        names.append("bound on p99")
        if load.sustained_rate:
            ax.axvline(load.sustained_rate, color=axes.MUTED, linewidth=0.9)
    if log:
        ticker: Any = imported("plots", "plot", "matplotlib.ticker")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
    ax.set_xlim(0, load.rates[-1].rate * 1.06)
    ax.set_xlabel("queries a second that were due")
    ax.set_ylabel("latency (ms), open loop")
    levels = _levels(load)
    sure = f"; bars: {show_levels(levels)} intervals" if levels else ""
    axes.add_note(ax, f"{axes.fit_names([load.about.system])[0]}{sure}")
    axes.add_legend(ax, handles, names)
    axes.tidy(ax, "both")
    return ax
