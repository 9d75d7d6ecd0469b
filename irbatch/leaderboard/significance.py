"""Which systems of a leaderboard are significantly less accurate than the best of a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.comparing import compare_results
from irbatch.comparing.wording import NAMES
from irbatch.errors import InputError, many, shown
from irbatch.evaluation.results import Results

NOT_OF_QUERIES = ("weighted", "run")  # whose means are no plain ones of queries


def choose_measures(
    systems: Sequence[str], results: Sequence[Any], measures: Sequence[str]
) -> tuple[dict[str, Results], list[str]]:
    """Return results of the measures that are means of queries, and their names.

    Systems are left out that have no values of queries, and measures that one of the others lacks.

    Raises:
        InputError: if fewer than two have, or naming two that were evaluated on different queries.
    """
    found = {
        system: each
        for system, each in zip(systems, results, strict=True)
        if isinstance(each, Results)
    }
    if len(found) < 2:
        problem = "values of queries are known of fewer than two systems: evaluate their runs"
        raise InputError(problem, source="leaderboard")
    (first, one), *others = found.items()
    for system, each in others:
        if set(each.query_ids) != set(one.query_ids):
            sizes = f"{many(len(one.query_ids), 'query')} and {len(each.query_ids)}"
            problem = f"{shown(first)} and {shown(system)} were evaluated on different queries"
            raise InputError(f"{problem} ({sizes})", source="leaderboard", value=system)
    kept = [
        name
        for name in measures
        if all(name in each for each in found.values())
        and one.columns[one.column_of(name)].aggregate not in NOT_OF_QUERIES
    ]
    return {system: _choose(each, kept) for system, each in found.items()}, kept


def _choose(results: Results, measures: Sequence[str]) -> Results:
    """Return results of some measures alone."""
    places = [results.column_of(name) for name in measures]
    queries = results.query_ids if results.has_ids else range(len(results.query_ids))
    columns = [results.columns[place] for place in places]
    values = results.values[:, places]
    return Results(values, queries, columns, results.counts, results.settings, marks=results.marks)


@dataclass(frozen=True)
class Significance:
    """What `Leaderboard.tested` found: of each measure the best system, and all others against it.

    Attributes:
        test, correction, level: as of `irbatch.compare`; p-values are corrected for all pairs of
            systems, as which is the best is known from the same values.
        queries: how many were compared.
        best: measure to the system of the best mean, of those tested.
        p_values: measure to system to the corrected p-value of its difference from the best.
    """

    test: str
    correction: str
    level: float
    queries: int
    best: dict[str, str]
    p_values: dict[str, dict[str, float]]

    def not_worse(self, measure: str) -> list[str]:
        """Name the systems that are not significantly worse than the best, which is among them."""
        p_values = self.p_values.get(measure, {})
        return [system for system, p in p_values.items() if p >= self.level]

    def has(self, system: str) -> bool:
        """Tell whether a system was tested."""
        return any(system in each for each in self.p_values.values())

    def caption(self) -> str:
        """Say what was tested, and how."""
        corrected = (
            "" if self.correction == "none" else f", {NAMES[self.correction]} over all pairs"
        )
        return f"{NAMES[self.test]}{corrected}, {self.queries} queries, level {self.level:g}"


def find_significance(
    systems: Sequence[str],
    results: Sequence[Any],
    measures: Sequence[str],
    signs: Mapping[str, float],
    options: Mapping[str, Any],
) -> Significance:
    """Test the differences between systems; see `Leaderboard.tested`.

    Args:
        systems, results: rows, some with `Results`; rows of one system have the same.
        measures: names.
        signs: of each measure, 1 where higher is better, else -1.
        options: of `irbatch.comparing.compare_results`.
    """
    chosen, tested = choose_measures(systems, results, measures)
    if not tested:
        raise InputError("no measure is a mean of queries, to test", source="leaderboard")
    owners: dict[int, str] = {}  # of results, the first row
    for system, each in zip(systems, results, strict=True):
        if system in chosen:
            owners.setdefault(id(each), system)
    found = compare_results({system: chosen[system] for system in owners.values()}, **options)
    best: dict[str, str] = {}
    p_values: dict[str, dict[str, float]] = {}
    for k, name in enumerate(tested):
        place = int(np.argmax(found.means[:, k] * signs[name]))
        best[name] = found.systems[place]
        of_pair = dict(zip(found.pairs, found.corrected[:, k].tolist(), strict=True))
        p = {
            system: 1.0 if i == place else of_pair[max(i, place), min(i, place)]
            for i, system in enumerate(found.systems)
        }
        p_values[name] = {
            system: p[owners[id(each)]]
            for system, each in zip(systems, results, strict=True)
            if system in chosen
        }
    return Significance(
        test=found.test,
        correction=found.correction,
        level=found.level,
        queries=len(found.query_ids),
        best=best,
        p_values=p_values,
    )
