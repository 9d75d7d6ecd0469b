"""A search at several rates of queries: what was found, with reports of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from irbatch.efficiency.checks import only_known, refuse
from irbatch.efficiency.interchange.json_form import read_object
from irbatch.efficiency.load.at_rate import SOURCE, LoadAtRate, check_keys
from irbatch.efficiency.load.found import MeasuredLoad
from irbatch.efficiency.load.report import list_rates, make_document, plot_load
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError, many, shown
from irbatch.report.document import Document, Record
from irbatch.report.numbers import show_quantity
from irbatch.report.reported import Path, Reported

SETTINGS = ("callers", "timeout", "within", "seed")  # fields that are one number


class Load(Reported, MeasuredLoad):
    """What `measure_load` found: how long queries took that came at each of some rates.

    On the page that `to_html` writes is a picture, which takes matplotlib, unless its option
    `plots` is False. `to_dict` and `to_json` have times in ms and rates in queries a second;
    `to_csv` and frames have one line a rate.

    Attributes:
        about: the record of the system, without latency; `record` has it.
        rates: what was found at each rate, ascending.
        callers: how many calls there were at a time; None: as many as there are.
        timeout: ms after which a query counted as out of time, or None.
        within: the bound on p99, in ms, that rates were measured for, or None.
        seed: of the arrivals.

    Raises:
        InputError: naming the field, if there is no rate, one is there twice, or a number is none.
    """

    _label = "tab:load"

    def __repr__(self) -> str:
        asked = many(self.about.n_queries or 0, "query")
        lines = [f"<Load of {shown(self.about.system)}: open loop, {asked}"]
        for each in self.rates:
            said = f"  {show_quantity(each.rate)} a second: p99 {show_quantity(each.p99)} ms"
            failed = (each.latency.errors or 0) + (each.latency.timeouts or 0)
            said += f", {many(failed, 'call')} failed" if failed else ""
            lines.append(said + (", the queue grows" if each.growing else ""))
        if self.within is not None:
            most = show_quantity(self.sustained_rate or 0)
            lines.append(f"  p99 within {show_quantity(self.within)} ms up to {most} a second")
        return "\n".join(lines) + ">"

    def plot(self, *, log: bool = True, ax: Any = None) -> Any:
        """Plot latency against the rate; see `irbatch.efficiency.load.report.plot_load`."""
        return plot_load(self, log=log, ax=ax)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Make one of what `to_dict` returned; `InputError` naming what cannot be read."""
        if not isinstance(values, Mapping):
            raise InputError(f"it is an object, not {shown(values)}", source=SOURCE, value=values)
        check_keys(values, ["about", *SETTINGS, "rates"])
        rates = values.get("rates")
        if not isinstance(rates, list):
            raise refuse(SOURCE, "rates", f"are {shown(rates)}, not a list", rates)
        return cls(
            about=EfficiencyRecord.from_dict(values.get("about") or {}),
            rates=[LoadAtRate.from_dict(each) for each in rates],
            **only_known({name: values.get(name) for name in SETTINGS}),
        )

    @classmethod
    def from_json(cls, source: Path) -> Self:
        """Read what `to_json` wrote, a path or JSON; errors as `from_dict`, or if it is no JSON."""
        return cls.from_dict(read_object(source, SOURCE))

    def _document(self, form: str, *, plots: bool = True) -> Document:
        return make_document(self, plots and form == "html")

    def _everything(self) -> dict[str, Any]:
        settings = only_known({name: getattr(self, name) for name in SETTINGS})
        rates = [each.to_dict() for each in self.rates]
        return {"about": self.about.to_dict(), **settings, "rates": rates}

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_rates(self)
