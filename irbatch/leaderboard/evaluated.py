"""The values of queries behind a leaderboard's means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irbatch.errors import InputError, many, shown
from irbatch.evaluation.results import Results

NOT_OF_QUERIES = ("weighted", "run")  # whose means are no plain ones of queries


def choose_measures(
    systems: Sequence[str], results: Sequence[Any], measures: Sequence[str]
) -> tuple[dict[str, Results], list[str]]:
    """Return results of the measures that are means of queries, and their names.

    Systems are left out that have no values of queries.

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
        if one.columns[one.column_of(name)].aggregate not in NOT_OF_QUERIES
    ]
    return {system: _choose(each, kept) for system, each in found.items()}, kept


def _choose(results: Results, measures: Sequence[str]) -> Results:
    """Return results of some measures alone."""
    places = [results.column_of(name) for name in measures]
    queries = results.query_ids if results.has_ids else range(len(results.query_ids))
    columns = [results.columns[place] for place in places]
    values = results.values[:, places]
    return Results(values, queries, columns, results.counts, results.settings, marks=results.marks)
