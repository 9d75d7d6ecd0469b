"""What a search did under load: latency at each rate, the highest rate within a bound, reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Self

from irbatch.efficiency.fields import (
    Count,
    Whole,
    check_fields,
    field_error,
    only_known,
    read_fields,
    read_object,
)
from irbatch.efficiency.record import (
    OPEN,
    POISSON,
    STATISTICS,
    EfficiencyRecord,
    Hardware,
    Latency,
)
from irbatch.errors import ErrorsIn, InputError, imported, join_words, many, shown
from irbatch.report import axes
from irbatch.report.document import (
    BEST,
    Column,
    Document,
    Record,
    list_records,
    make_table,
)
from irbatch.report.numbers import show, show_levels, show_quantity
from irbatch.report.reported import Path, Reported

LATE = 0.1  # share of the latency that the sender itself may add
DRAWN = ("p50", "p95", "p99")


@dataclass(frozen=True, kw_only=True)
class LoadAtRate:
    """What a search did at one rate.

    Attributes:
        rate: queries a second that were due.
        achieved: queries a second that were answered, until the last one was.
        latency: from when a query was due; see `Latency` for errors and time-outs.
        busy: share of the callers' time in which they called; None where their number is open.
        growing: whether the queue grew to the end: in the last half every query waited, and in the
            last quarter longer than in the second. In a longer run latencies would be longer.
        lateness: ms by which the sender itself was late, 99th percentile: a query was due and a
            caller was free, but the call began later. Latencies contain it.
        wall_time: from the start to the last answer, in s.
        problem: what the first call that failed raised.
    """

    rate: float
    achieved: float
    latency: Latency
    busy: float | None = None
    growing: bool = False
    lateness: float = 0.0
    wall_time: float = 0.0
    problem: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, "load")
        if self.latency.loop != OPEN:
            raise field_error("load", "latency", "is not of an open loop", self.latency)

    @property
    def p99(self) -> float:
        """The 99th percentile of latency, in ms; infinite where it falls on a call that failed."""
        return math.inf if self.latency.p99 is None else self.latency.p99

    @property
    def kept_up(self) -> bool:
        """Whether the sender was late by no more than a tenth of the latency."""
        return self.lateness <= LATE * self.p99

    def holds(self, within: float) -> bool:
        """Tell whether p99 is within so many ms, and no queue grows."""
        return self.p99 <= within and not self.growing


@dataclass(frozen=True, kw_only=True, repr=False)
class Load(Reported):
    """What `measure_load` found: how long queries took that came at each of some rates.

    `to_dict` and `to_json` have times in ms and rates in queries a second; `to_csv` and frames have
    one line a rate.

    Attributes:
        about: the record of the system, without latency; `record` has it.
        rates: what was found at each rate, ascending.
        callers: how many calls there were at a time; None: as many as there are.
        timeout: ms after which a query counted as out of time, or None.
        within: the bound on p99, in ms, that rates were measured for, or None.
        seed: of the arrivals.

    Raises:
        InputError: naming the field, if there is no rate, one is there twice, or a number is wrong.
    """

    _label = "tab:load"

    about: EfficiencyRecord
    rates: Sequence[LoadAtRate]
    callers: Count | None = None
    timeout: float | None = None
    within: float | None = None
    seed: Whole = 0

    def __post_init__(self) -> None:
        check_fields(self, "load")
        rates = {at_rate.rate: at_rate for at_rate in self.rates}
        if not rates or len(rates) < len(self.rates):
            raise field_error("load", "rates", "are none, or one is there twice", list(rates))
        object.__setattr__(self, "rates", tuple(rates[rate] for rate in sorted(rates)))

    def __repr__(self) -> str:
        queries, rates = self.about.n_queries or 0, many(len(self.rates), "rate")
        name = shown(self.about.system)
        return f"<Load of {name}: open loop, {many(queries, 'query')}, {rates}>"

    @property
    def sustained_rate(self) -> float | None:
        """The highest rate up to which all rates hold (see `LoadAtRate.holds`); 0 if none does.

        None where there was no bound.
        """
        if self.within is None:
            return None
        highest = 0.0
        for at_rate in self.rates:
            if not at_rate.holds(self.within):
                break
            highest = at_rate.rate
        return highest

    @property
    def record(self) -> EfficiencyRecord:
        """The record for a leaderboard, with the latency at the sustained rate, or the only one.

        Raises:
            InputError: if there are several rates and no bound: `record_at` takes a rate.
        """
        if self.within is None:
            if len(self.rates) > 1:
                problem = f"there are several, {self._numbers}, and no bound: use record_at"
                raise field_error("load", "rates", problem, None)
            return self.record_at(self.rates[0].rate)
        if not self.sustained_rate:
            return replace(self.about, sustained_rate=0.0, sustained_p99=self.within)
        return self.record_at(self.sustained_rate)

    def record_at(self, rate: float, system: str | None = None) -> EfficiencyRecord:
        """Return the record with the latency at a rate, perhaps under another name.

        Raises:
            InputError: if nothing was measured at this rate.
        """
        at_rate = next((each for each in self.rates if each.rate == rate), None)
        if at_rate is None:
            problem = f"{shown(rate)} is not one of those measured, {self._numbers}"
            raise InputError(problem, source="rate", value=rate)
        return replace(
            self.about,
            system=system or self.about.system,
            latency=at_rate.latency,
            wall_time=at_rate.wall_time,
            sustained_rate=self.sustained_rate,
            sustained_p99=self.within,
        )

    @property
    def _numbers(self) -> str:
        return join_words([show_quantity(at_rate.rate) for at_rate in self.rates])

    @classmethod
    def from_json(cls, source: Path) -> Self:
        """Read what `to_json` wrote, a path or JSON; `InputError` naming what cannot be read."""
        values = read_object(source, "load")
        if isinstance(values, Mapping) and values.get("about") is not None:
            values = {**values, "about": EfficiencyRecord.from_dict(values["about"])}
        with ErrorsIn(source="load"):
            load: Self = read_fields(cls, values)
        return load

    def _everything(self) -> dict[str, Any]:
        rates = [
            only_known({**vars(at_rate), "latency": at_rate.latency.to_dict()})
            for at_rate in self.rates
        ]
        return only_known({**vars(self), "about": self.about.to_dict(), "rates": rates})

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_records(_columns(self), self._rows)

    def _document(self, form: str) -> Document:
        held = self.sustained_rate
        table = make_table(
            f"Latency of {self.about.system} by rate",
            _columns(self),
            self._rows,
            is_faint=lambda row: held is not None and row["rate"] > held,
        )
        legend = []
        if held:
            bound = show_quantity(self.within or 0)
            legend.append((BEST, f"the highest rate up to which p99 is within {bound} ms"))
        if self._levels:
            meaning = f"{show_levels(self._levels)} intervals, where there are calls enough"
            legend.append(("[low, high]", meaning))
        return Document(f"Load on {self.about.system}", _caption(self), legend, [table])

    def plot(self, *, ax: axes.Axes | None = None) -> axes.Axes:
        """Plot p50, p95 and p99 of latency against the rate of queries, with their intervals.

        Latency has a logarithmic axis. A percentile that falls on a call that failed has no point;
        a dotted line is the bound on p99, and a vertical one the highest rate that held.

        Args:
            ax: axes to draw on; default: those of a new figure, ``.figure`` of what returns.

        Returns:
            The axes; nothing is shown.

        Raises:
            InputError: if `ax` is not matplotlib's.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        ax = axes.new_axes(ax, legend=len(DRAWN))
        handles, names = [], list(DRAWN)
        for name, style in zip(DRAWN, axes.styles(len(DRAWN)), strict=True):
            rows = [row for row in self._rows if row[name] is not None]
            x, y = [row["rate"] for row in rows], [row[name] for row in rows]
            look = {"color": style.color, "marker": style.marker, "markersize": 5}
            handles += ax.plot(x, y, linewidth=1.6, **look)
            for row in rows:
                if ends := row["intervals"].get(name):
                    ax.vlines(row["rate"], *ends, color=style.color, alpha=0.45, linewidth=2.5)
        if self.within is not None:
            dots = {"color": axes.MUTED, "linestyle": (0, (1, 1.5)), "linewidth": 1.2}
            handles.append(ax.axhline(self.within, **dots))
            names.append("bound on p99")
            if self.sustained_rate:
                ax.axvline(self.sustained_rate, color=axes.MUTED, linewidth=0.9)
        ticker: Any = imported("plots", "plot", "matplotlib.ticker")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
        ax.set_xlim(0, self.rates[-1].rate * 1.06)
        ax.set_xlabel("queries a second that were due")
        ax.set_ylabel("latency (ms), open loop")
        sure = f"; bars: {show_levels(self._levels)} intervals" if self._levels else ""
        axes.add_note(ax, f"{axes.fit_names([self.about.system])[0]}{sure}")
        axes.add_legend(ax, handles, names)
        axes.tidy(ax, "both")
        return ax

    @property
    def _rows(self) -> list[Record]:
        return [{**vars(at_rate.latency), **vars(at_rate)} for at_rate in self.rates]

    @property
    def _levels(self) -> set[float | None]:
        return {row["level"] for row in self._rows if row["intervals"]}


def _columns(load: Load) -> list[Column]:
    """Return what is said of each rate, of which the items have the fields."""

    def column(name: str, heading: str, **more: Any) -> Column:
        more = {"descends": False, "show": show_quantity, **more}
        return Column(heading, name=name, value=itemgetter(name), **more)

    def percentile(name: str) -> Column:
        def more(row: Record) -> Record:
            ends = row["intervals"].get(name, ())
            return {
                "stands_out": name == "p99" and row["rate"] == load.sustained_rate,
                "after": f"[{', '.join(map(show_quantity, ends))}]" if ends else "",
                **({} if row[name] is not None else {"text": "∞", "value": math.inf}),
            }

        return column(name, f"{name} (ms)" * (name in DRAWN), more=more)

    failed = any(row["errors"] or row["timeouts"] for row in load._rows)
    count: Any = {"show": "{:,}".format}
    return [
        column("rate", "queries/s", kind="name"),
        column("achieved", "answered/s", descends=True),
        *map(percentile, STATISTICS),
        column("calls", "calls", **count),
        column("errors", "errors" * failed, **count),
        column("timeouts", "time-outs" * failed, **count),
        column("busy", "busy (%)", show=lambda share: show(100 * share, 0)),
        column("growing", "queue", kind="text", show={True: "grows", False: "steady"}.__getitem__),
        column("lateness", "sent late (ms)",
               meaning="99th percentile of what the sender itself adds to latency"),
        column("wall_time", ""),
    ]  # fmt: skip


def _caption(load: Load) -> str:
    """Say how latency was measured, and what was found."""
    at_random = load.rates[0].latency.arrivals == POISSON
    coming = "at random times (Poisson)" if at_random else "at equal distances"
    callers = "as many calls at a time as there are"
    if load.callers is not None:
        callers = f"{many(load.callers, 'call')} at a time"
    said = [
        f"Open loop: queries came {coming}, whether others were answered or not, {callers}. "
        "Latency counts from when a query was due, and calls that failed or were out of time count "
        "as longer than all others."
    ]
    if load.timeout is not None:
        said.append(f"Out of time after {show_quantity(load.timeout)} ms.")
    if load.about.hardware != Hardware():
        said.append(f"Measured on {load.about.hardware}.")
    if load.within is not None:
        bound = f"p99 within {show_quantity(load.within)} ms"
        held = f"{bound} up to {show_quantity(load.sustained_rate or 0)} queries/s"
        said.append(f"{held if load.sustained_rate else f'{bound} at none'} (of {load._numbers}).")
    late = [show_quantity(at_rate.rate) for at_rate in load.rates if not at_rate.kept_up]
    if late:
        said.append(f"At {join_words(late)} a second the sender itself didn't keep up.")
    problems = [at_rate.problem for at_rate in load.rates if at_rate.problem is not None]
    said += [f"First error: {problem}." for problem in problems[:1]]
    return " ".join(said)
