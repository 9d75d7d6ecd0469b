"""What was found of a search at several rates of queries, and its records for leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from irbatch.efficiency.checks import check_count, check_quantity, refuse
from irbatch.efficiency.load.at_rate import SOURCE, LoadAtRate
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError, join_words, shown
from irbatch.report.numbers import show_quantity


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredLoad:
    """How long queries took at each rate; `irbatch.efficiency.Load` explains the fields."""

    about: EfficiencyRecord
    rates: Sequence[LoadAtRate]
    callers: int | None = None
    timeout: float | None = None
    within: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.about, EfficiencyRecord):
            raise refuse(SOURCE, "about", f"is {shown(self.about)}, no record", self.about)
        for each in self.rates:
            if not isinstance(each, LoadAtRate):
                raise refuse(SOURCE, "rates", f"hold {shown(each)}, no LoadAtRate", each)
        rates = sorted(self.rates, key=lambda each: each.rate)
        numbers = [each.rate for each in rates]
        if not rates or len(set(numbers)) < len(numbers):
            raise refuse(SOURCE, "rates", "are none, or one is there twice", numbers)
        object.__setattr__(self, "rates", tuple(rates))
        for name in ("timeout", "within"):
            object.__setattr__(self, name, check_quantity(SOURCE, name, getattr(self, name)))
        for name, least in (("callers", 1), ("seed", 0)):
            object.__setattr__(self, name, check_count(SOURCE, name, getattr(self, name), least))

    @property
    def sustained_rate(self) -> float | None:
        """The highest rate up to which all rates hold (see `LoadAtRate.holds`); 0 if none does.

        None where there was no bound.
        """
        if self.within is None:
            return None
        highest = 0.0
        for each in self.rates:
            if not each.holds(self.within):
                break
            highest = each.rate
        return highest

    @property
    def record(self) -> EfficiencyRecord:
        """The record for a leaderboard, with the latency at the sustained rate, or the only one.

        Raises:
            InputError: if there are several rates and no bound: `record_at` takes a rate.
        """
        if self.within is None:
            if len(self.rates) > 1:
                numbers = join_words([show_quantity(each.rate) for each in self.rates])
                problem = f"there are several, {numbers} a second, and no bound: use record_at"
                raise refuse(SOURCE, "rates", problem, None)
            return self.record_at(self.rates[0].rate)
        if not self.sustained_rate:
            return replace(self.about, sustained_rate=0.0, sustained_p99=self.within)
        return self.record_at(self.sustained_rate)

    def record_at(self, rate: float, system: str | None = None) -> EfficiencyRecord:
        """Return the record with the latency at a rate, perhaps under another name.

        Raises:
            InputError: if nothing was measured at this rate.
        """
        found = next((each for each in self.rates if each.rate == rate), None)
        if found is None:
            numbers = join_words([show_quantity(each.rate) for each in self.rates])
            problem = f"{shown(rate)} is none of those measured, {numbers}"
            raise InputError(problem, source="rate", value=rate)
        return replace(
            self.about,
            system=system or self.about.system,
            latency=found.latency,
            wall_time=found.wall_time,
            sustained_rate=self.sustained_rate,
            sustained_p99=self.within,
        )
