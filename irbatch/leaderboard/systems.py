"""Systems side by side: rows of accuracy and of what it takes, and how they compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import (
    HIGHER,
    QUANTITIES,
    check_quantity,
    of_system,
    refuse,
    with_currency,
)
from irbatch.errors import InputError, did_you_mean, join_words, many, printable, shown, warn
from irbatch.leaderboard.axes import (
    Constraint,
    check_directions,
    find_axis,
    list_axes,
    lower_measures,
)
from irbatch.leaderboard.captions import is_latency, name_loop, warn_of_differences, write_caption
from irbatch.leaderboard.joining import Records, join_accuracy, name_records, record_of
from irbatch.leaderboard.machines import MachineConstraint, parse_condition
from irbatch.leaderboard.pareto import Pareto, find_pareto
from irbatch.leaderboard.significance import Significance
from irbatch.leaderboard.stability import Stability, Timed
from irbatch.runtime.numbers import check_choice
from irbatch.statistics.intervals import INTERVALS, IntervalOptions
from irbatch.statistics.resampling import check_draws, check_level

NEEDS = {  # what quantities that are worked out follow from
    "cost_per_million": ": it takes price_per_hour and a mean latency",
    "throughput_cost_per_million": ": it takes price_per_hour and throughput",
    "energy_per_query": ": it takes energy and n_queries",
    "emissions_per_query": ": it takes emissions and n_queries",
}


class Systems:
    """What is known of systems; `irbatch.leaderboard.Leaderboard` explains arguments and names.

    Every method that takes the name of an axis raises an InputError if there is no such axis.
    """

    def __init__(
        self,
        results: Any,
        records: Records,
        *,
        measures: Iterable[str] | str | None = None,
        directions: Mapping[str, str] | None = None,
        level: float = 0.05,
        draws: int = 2000,
        seed: int = 0,
        interval: str = "t",
    ) -> None:
        check_choice("interval", interval, INTERVALS)
        check_level(level)
        check_draws(draws, seed, least=0)
        how = IntervalOptions(interval, level, draws, seed)
        given = name_records(records)
        named = {row: record_of(each) for row, each in given.items()}
        self.systems, self.records = list(named), list(named.values())
        self.timed = [Timed.of(each) for each in given.values()]
        accuracy = join_accuracy(results, named, measures, how)
        self.measures, self.means, self.intervals = accuracy[:3]
        self.decimals, self.n_queries, self.settings, self.results = accuracy[3:]
        self.level: float | None = level  # None: of bounds that were typed
        turned = check_directions(directions, self.measures)
        self.directions = {**lower_measures(self.measures), **turned}
        self.constraints: list[str] = []
        self.left_out: dict[str, list[str]] = {}
        self.significance: Significance | None = None
        self.stability: Stability | None = None

    def __len__(self) -> int:
        return len(self.systems)

    def __repr__(self) -> str:
        measures = ", ".join(map(printable, self.measures))
        return f"{type(self).__name__} of {many(len(self), 'system')} on {measures}"

    def axis(self, name: str) -> Quantity:
        """Find an axis by any of its names, with its unit and the way that is better."""
        found = find_axis(name, self.measures)
        better = self.directions.get(found.name, found.better)
        if is_latency(found.name):
            found = found._replace(label=name_loop(found.label, self.records))
        return found._replace(better=better, unit=with_currency(found.unit, self.currency or None))

    @property
    def currency(self) -> str:
        """Of prices and costs; all of them if there are several; "" where none is said."""
        priced = [
            each.currency
            for each in self.records
            if each.price_per_hour is not None or each.stated_cost is not None
        ]
        named = dict.fromkeys(priced or [each.currency for each in self.records])
        return "/".join(each or "?" for each in named) if any(named) else ""

    @property
    def axes(self) -> list[str]:
        """Name the axes that some system has a value of: measures, then quantities."""
        quantities = (name for name in QUANTITIES if not np.isnan(self.values(name)).all())
        return [*self.measures, *quantities]

    def values(self, name: str) -> Floats:
        """Return the systems' values along an axis, float64 ``(systems,)``; NaN where unknown.

        Raises:
            InputError: naming the system, if a value is infinite.
        """
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.means[:, self.measures.index(axis)].copy()
        known = (
            check_quantity(of_system(each.system), axis, each.value(axis)) for each in self.records
        )
        return np.array([np.nan if value is None else value for value in known], np.float64)

    def decimals_of(self, name: str, most: int) -> list[int]:
        """Return how many decimals of each system's mean are shown: no more than were typed."""
        shown_of = np.minimum(self.decimals[:, self.measures.index(name)], most)
        return [int(each) for each in shown_of.tolist()]

    def bounds(self, name: str) -> Floats:
        """Return intervals along an axis, float64 ``(systems, 2)``; NaN where there are none."""
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.intervals[:, self.measures.index(axis)].copy()
        found = [each.interval(axis) or (np.nan, np.nan) for each in self.records]
        return np.array(found, np.float64).reshape(-1, 2)

    def levels(self, name: str) -> list[float | None]:
        """Return the chance that each system's interval misses; None where that isn't known."""
        if find_axis(name, self.measures).name in self.measures:
            return [self.level] * len(self)
        timed = [each.latency for each in self.records]
        return [self.level if each is None else each.level for each in timed]

    def currencies(self, name: str) -> dict[str | None, str]:
        """Return each currency that an axis is in, with a system whose value is in it."""
        axis = find_axis(name, self.measures)
        if axis.name in self.measures or "{currency}" not in axis.unit:
            return {}
        known = [each for each in self.records if each.value(axis.name) is not None]
        return {each.currency: each.system for each in reversed(known)}

    def sorted(self, by: str, *, best_first: bool = True) -> Self:
        """Return the leaderboard in the order of an axis; systems without a value come last.

        Raises:
            InputError: if no system has a value, or the values are in several currencies.
        """
        axis, values = self.axis(by), self.values(by)
        self.check_currency(axis.name)
        if len(self) and np.isnan(values).all():
            self.comparable(axis.name)
        turned = values * axis.sign * (-1 if best_first else 1)
        return self.at(np.argsort(turned, kind="stable").tolist())

    def select(self, *systems: str) -> Self:
        """Return the leaderboard of some systems, in the order in which they are named.

        Raises:
            InputError: if there is no such system, or one is named twice.
        """
        for i, system in enumerate(systems):
            if system not in self.systems or system in systems[:i]:
                twice = "is named twice" if system in self.systems else "is not on the leaderboard"
                hint = "" if system in self.systems else did_you_mean(system, self.systems)
                raise InputError(f"{shown(system)} {twice}{hint}", source="system", value=system)
        return self.at([self.systems.index(system) for system in systems])

    def where(self, *constraints: str) -> Self:
        """Return the leaderboard of the systems that meet constraints.

        A system without a value of an axis meets none of it: `left_out` says what it lacks.

        Args:
            *constraints: AXIS < NUMBER, or with another of <= > >= == !=: ``"latency_p95 < 50"``;
                or of the machine, ``"gpu = A100"``, ``"instance != c6g.large"``, ``"cpu = Xeon"``:
                all words stand in its name; ``n_cpu``, ``n_gpu`` and ``ram`` (GB) are numbers.

        Raises:
            InputError: if a constraint has another form, or no system has a value of its axis.
        """
        broken: dict[str, list[str]] = {}
        parsed = [parse_condition(text, self.measures) for text in constraints]
        for constraint in parsed:
            for system, reason in self._find_broken(constraint).items():
                broken.setdefault(system, []).append(reason)
        left = self.at([i for i, system in enumerate(self.systems) if system not in broken])
        left.constraints = [*self.constraints, *map(str, parsed)]
        left.left_out = {**self.left_out, **broken}
        return left

    def _find_broken(self, constraint: Constraint | MachineConstraint) -> dict[str, str]:
        """Return why systems do not meet a constraint, by their names."""
        if isinstance(constraint, MachineConstraint):
            machines = [each.hardware for each in self.records]
            return constraint.find_broken(dict(zip(self.systems, machines, strict=True)))
        axis = constraint.axis.name
        known, lacking = self.having([axis])
        values = zip(known.systems, known.comparable(axis).tolist(), strict=True)
        broken = {system: str(constraint) for system, each in values if not constraint.holds(each)}
        return {**dict.fromkeys(lacking, f"{axis} is missing"), **broken}

    def pareto(self, axes: Iterable[str], *, directions: Mapping[str, str] | None = None) -> Pareto:
        """Find the systems that no other beats: as good along every axis and better along one.

        Systems without a value of an axis are not compared: `Pareto.left_out` names them.

        Args:
            axes: one or more, as in ``["nDCG@10", "cost_per_million"]``.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.

        Raises:
            InputError: if no system has a value of each axis.
        """
        names = [each.name for each in list_axes(axes, self.measures)]
        known, lacking = self.having(names)
        values, signs = known.compare(names, directions)
        return find_pareto(known.systems, names, values * signs, lacking)

    def having(self, names: Sequence[str]) -> tuple[Self, dict[str, list[str]]]:
        """Return the leaderboard of the systems with values of all axes, and what others lack.

        Raises:
            InputError: if no system has a value of each axis.
        """
        lacking: dict[str, list[str]] = {}
        for name in names:
            unknown = np.isnan(self.values(name))
            if unknown.all():
                self.comparable(name)
            for place in np.flatnonzero(unknown).tolist():
                lacking.setdefault(self.systems[place], []).append(name)
        if lacking and len(lacking) == len(self):
            problem = f"no system has a value of each of {join_words(list(names))}"
            raise InputError(problem, source="leaderboard")
        places = [i for i, system in enumerate(self.systems) if system not in lacking]
        return self.at(places), {name: lacking[name] for name in self.systems if name in lacking}

    def caption(self) -> str:
        """Say how many systems and queries there are, how they were measured, and who is left out.

        >>> from irbatch.efficiency import EfficiencyRecord
        >>> Systems({"bm25": {"RR": 0.5}}, EfficiencyRecord(system="bm25")).caption()
        '1 system.'
        """
        return write_caption(self.records, self.n_queries, self.constraints, self.left_out)

    def at(self, places: list[int]) -> Self:
        """Return a leaderboard of some systems, in some order."""
        other = copy(self)
        other.measures, other.constraints = list(self.measures), list(self.constraints)
        other.settings, other.directions = dict(self.settings), dict(self.directions)
        other.left_out = {name: list(each) for name, each in self.left_out.items()}
        for name in ("systems", "records", "n_queries", "results", "timed"):
            setattr(other, name, [getattr(self, name)[i] for i in places])
        if len(places) < len(self):  # what was found is of all of them together
            other.significance = other.stability = None
        other.means, other.intervals = self.means[places], self.intervals[places]
        other.decimals = self.decimals[places]
        return other

    def comparable(self, axis: str) -> Floats:
        """Return values along an axis, which every system must have and in the same currency."""
        values = self.values(axis)
        missing = [self.systems[place] for place in np.flatnonzero(np.isnan(values)).tolist()]
        if missing:
            others = f", as for {many(len(missing) - 1, 'other system')}" if missing[1:] else ""
            problem = f"is missing{NEEDS.get(axis, '')}{others}"
            raise refuse(of_system(missing[0]), axis, problem, None)
        self.check_currency(axis)
        sizes = list(dict.fromkeys(str(each.batch_size) for each in self.records))
        if axis.startswith("latency_") and len(sizes) > 1:
            warn(f"{axis} is of calls of {join_words(sizes)} queries, which take different times")
        warn_of_differences(axis, self.records)
        return values

    def check_currency(self, axis: str) -> None:
        """Refuse values along an axis that are in several currencies."""
        (one, system), *others = [*self.currencies(axis).items()] or [("", "")]
        for other, owner in others:
            unsaid = "no currency that is said"
            problem = f"is in {one or unsaid}, and that of {shown(owner)} in {other or unsaid}"
            raise refuse(of_system(system), axis, problem, one)

    def compare(
        self, names: list[str], directions: Mapping[str, str] | None
    ) -> tuple[Floats, Floats]:
        """Return values ``(systems, axes)``, and 1 for axes of which higher is better, else -1."""
        if not self.systems:
            raise InputError("no system is left on the leaderboard", source="leaderboard")
        turned = check_directions(directions, self.measures)
        better = [turned.get(name, self.axis(name).better) for name in names]
        signs = np.array([1.0 if each == HIGHER else -1.0 for each in better])
        return np.stack([self.comparable(name) for name in names], axis=1), signs

    def name_axes(self, given: Mapping[str, float], what: str) -> dict[str, float]:
        """Return what is given by axis under the axes' own names."""
        if not isinstance(given, Mapping):
            problem = f"{what} go from axes to numbers, not {shown(given)}"
            raise InputError(problem, source=what, value=given)
        axes = list_axes(given, self.measures) if given else []
        return {axis.name: value for axis, value in zip(axes, given.values(), strict=True)}
