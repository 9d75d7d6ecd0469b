"""The rows of a leaderboard: systems and their values along every axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import Quantity
from irbatch.efficiency.checks import check_quantity, of_system, refuse
from irbatch.efficiency.quantities import HIGHER, QUANTITIES
from irbatch.errors import InputError, did_you_mean, join_words, many, shown, warn
from irbatch.leaderboard.axes import check_directions, find_axis, list_axes
from irbatch.leaderboard.constraints import parse_constraint
from irbatch.leaderboard.joining import Records, join_accuracy, name_records
from irbatch.statistics.resampling import check_draws, check_level

__all__ = ["Floats", "Rows"]


NEEDS = {  # what a cost follows from
    "cost_per_million": ": it takes price_per_hour and a mean latency",
    "throughput_cost_per_million": ": it takes price_per_hour and throughput",
    "energy_per_query": ": it takes energy and n_queries",
    "emissions_per_query": ": it takes emissions and n_queries",
}


class Rows:
    """Systems, their records and their means; see `irbatch.leaderboard.Leaderboard`."""

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
    ) -> None:
        check_level(level)
        check_draws(draws, seed, least=0)
        named = name_records(records)
        accuracy = join_accuracy(results, list(named), measures, level, draws, seed)
        self.systems = list(named)
        self.records = list(named.values())
        self.measures = accuracy.measures
        self.means = accuracy.means
        self.intervals = accuracy.intervals
        self.n_queries = accuracy.n_queries
        self.settings = accuracy.settings
        self.level: float | None = level  # None: of bounds that somebody typed
        self.directions = check_directions(directions, self.measures)
        self.constraints: list[str] = []
        self.left_out: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.systems)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {many(len(self), 'system')} on {', '.join(self.measures)}"

    def axis(self, name: str) -> Quantity:
        """Find an axis by any of its names, with its unit and the way that is better.

        Raises:
            InputError: for a name that there is not.
        """
        found = find_axis(name, self.measures)
        better = self.directions.get(found.name, found.better)
        unit = found.unit.format(currency=self.currency)
        return found._replace(better=better, unit=unit)

    @property
    def currency(self) -> str:
        """Of prices and costs; all of them if there are several."""
        priced = [each.currency for each in self.records
                  if each.price_per_hour is not None or each.stated_cost is not None]  # fmt: skip
        return "/".join(dict.fromkeys(priced or [each.currency for each in self.records]))

    @property
    def axes(self) -> list[str]:
        """Name the axes that some system has a value of: measures, then quantities."""
        quantities = (name for name in QUANTITIES if not np.isnan(self.values(name)).all())
        return [*self.measures, *quantities]

    def values(self, name: str) -> Floats:
        """Return the systems' values along an axis, float64 ``(systems,)``; NaN where unknown.

        Raises:
            InputError: for an axis that there is not, and naming the system of an infinite value.
        """
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.means[:, self.measures.index(axis)].copy()
        known = [check_quantity(of_system(each.system), axis, each.value(axis))
                 for each in self.records]  # fmt: skip
        return np.array([np.nan if each is None else each for each in known], np.float64)

    def bounds(self, name: str) -> Floats:
        """Return the intervals along an axis, float64 ``(systems, 2)``; NaN where there are none.

        Raises:
            InputError: for an axis that there is not.
        """
        axis = find_axis(name, self.measures).name
        if axis in self.measures:
            return self.intervals[:, self.measures.index(axis)].copy()
        found = (each.interval(axis) for each in self.records)
        return np.array([each or (np.nan, np.nan) for each in found], np.float64)

    def sorted(self, by: str, *, best_first: bool = True) -> Self:
        """Return the leaderboard in the order of an axis; systems without a value come last.

        Raises:
            InputError: for an axis that there is not, that no system has a value of, or whose
                values are in several currencies.
        """
        self._check_currency(find_axis(by, self.measures).name)
        if len(self) and np.isnan(self.values(by)).all():
            self._known(find_axis(by, self.measures).name)
        values = self.values(by) * (-1 if (self.axis(by).better == HIGHER) == best_first else 1)
        return self._rows(np.argsort(values, kind="stable").tolist())

    def select(self, *systems: str) -> Self:
        """Return the leaderboard of some systems, in the order in which they are named.

        Raises:
            InputError: for a system that there is not, or named twice.
        """
        for i, system in enumerate(systems):
            if system not in self.systems or system in systems[:i]:
                twice = "is named twice" if system in self.systems else "is not on the leaderboard"
                hint = "" if system in self.systems else did_you_mean(system, self.systems)
                raise InputError(f"{shown(system)} {twice}{hint}", source="system", value=system)
        return self._rows([self.systems.index(system) for system in systems])

    def where(self, *constraints: str) -> Self:
        """Return the leaderboard of the systems that meet constraints.

        Args:
            *constraints: AXIS < NUMBER, or with another of <= > >= == !=: ``"latency_p95 < 50"``.

        Raises:
            InputError: for what is no constraint, and naming the system that has no value of an
                axis.
        """
        broken: dict[str, list[str]] = {}
        parsed = [parse_constraint(text, self.measures) for text in constraints]
        for constraint in parsed:
            values = self._known(constraint.axis.name)
            for system, value in zip(self.systems, values.tolist(), strict=True):
                if not constraint.holds(value):
                    broken.setdefault(system, []).append(str(constraint))
        left = self._rows([i for i, system in enumerate(self.systems) if system not in broken])
        left.constraints = [*self.constraints, *map(str, parsed)]
        left.left_out = {**self.left_out, **broken}
        return left

    def _rows(self, places: list[int]) -> Self:
        """Return a leaderboard of some systems, in some order."""
        other = copy(self)
        other.measures, other.constraints = list(self.measures), list(self.constraints)
        other.settings, other.directions = dict(self.settings), dict(self.directions)
        other.left_out = {name: list(each) for name, each in self.left_out.items()}
        other.systems = [self.systems[i] for i in places]
        other.records = [self.records[i] for i in places]
        other.n_queries = [self.n_queries[i] for i in places]
        other.means, other.intervals = self.means[places], self.intervals[places]
        return other

    def _known(self, name: str) -> Floats:
        """Return values along an axis, which every system must have."""
        values = self.values(name)
        missing = [system for system, value in zip(self.systems, values.tolist(), strict=True)
                   if np.isnan(value)]  # fmt: skip
        if missing:
            others = f", as for {many(len(missing) - 1, 'other system')}" if missing[1:] else ""
            problem = f"is missing{NEEDS.get(name, '')}{others}"
            raise refuse(of_system(missing[0]), name, problem, None)
        self._check_currency(name)
        self._check_batches(name)
        return values

    def currencies(self, name: str) -> dict[str, str]:
        """Return each currency that an axis is in, with a system whose value is in it.

        Raises:
            InputError: for an axis that there is not.
        """
        axis = find_axis(name, self.measures).name
        if axis in self.measures or "{currency}" not in QUANTITIES[axis].unit:
            return {}
        known = [each for each in self.records if each.value(axis) is not None]
        return {each.currency: each.system for each in reversed(known)}

    def _check_currency(self, name: str) -> None:
        """Refuse to compare amounts of different money."""
        (one, system), *others = [*self.currencies(name).items()] or [("", "")]
        for other, owner in others:
            raise refuse(of_system(system), name, f"is in {one}, and that of {shown(owner)} in "
                         f"{other}", one)  # fmt: skip

    def _check_batches(self, name: str) -> None:
        """Warn where times of calls of different sizes are compared."""
        sizes = dict.fromkeys(each.batch_size for each in self.records)
        if name.startswith("latency_") and len(sizes) > 1:
            warn(f"{name} is of calls of {join_words(list(map(str, sizes)))} queries, which take "
                 "different times")  # fmt: skip

    def _table(
        self, names: list[str], directions: Mapping[str, str] | None
    ) -> tuple[Floats, Floats]:
        """Return values ``(systems, axes)``, and 1 for axes of which higher is better, else -1."""
        if not self.systems:
            raise InputError("no system is left on the leaderboard", source="leaderboard")
        turned = check_directions(directions, self.measures)
        better = [turned.get(name, self.axis(name).better) for name in names]
        signs = np.array([1.0 if each == HIGHER else -1.0 for each in better])
        return np.stack([self._known(name) for name in names], axis=1), signs

    def _by_axis(self, given: Mapping[str, float], what: str) -> dict[str, float]:
        """Return what is given by axis under the axes' own names."""
        if not isinstance(given, Mapping):
            raise InputError(f"{what} go from axes to numbers, not {shown(given)}", source=what,
                             value=given)  # fmt: skip
        axes = list_axes(given, self.measures) if given else []
        return {axis.name: value for axis, value in zip(axes, given.values(), strict=True)}
