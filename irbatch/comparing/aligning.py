"""Systems side by side: their values for the queries that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import InputError, kind_of, shown, warn
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.results import Results, weight_column
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import Measure


@dataclass(frozen=True, eq=False)
class Aligned:
    """Results of several systems, of the queries that all have; see `irbatch.Comparison`."""

    systems: list[str]
    columns: tuple[Measure, ...]
    query_ids: list[Any]
    values: Floats
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    unanswered: dict[str, list[Any]]
    judged: dict[int, Floats]  # by cutoff, see `Comparison.judged`
    weights: Floats | None = None  # (queries, measures): of weighted means; None: all alike


def align(results: Mapping[str, Results] | Iterable[Results], hidden: int = 0) -> Aligned:
    """Put results side by side, by query id; queries skipped for every system are left out.

    The last measures, so many as are `hidden`, are not compared: they tell how much is judged.
    """
    named = _name(results)
    refuse = partial(InputError, source="results")
    first = next(iter(named.values()))
    for name, each in named.items():
        if odd := sorted(set(each.measures) ^ set(first.measures)):
            raise refuse(f"{odd[0]} was not evaluated for every system", path=name)
    if whole := [each for each in first.columns if each.aggregate == "run"]:
        problem = f"{whole[0]} is a value of the whole run: it has none of queries to compare"
        raise refuse(problem, value=str(whole[0]))
    _check_ids(named)
    lengths = {len(each.query_ids) for each in named.values()}
    if len(lengths) > 1 and not all(each.has_ids for each in named.values()):
        many = " and ".join(map(str, sorted(lengths)))
        raise refuse(f"queries without ids are joined by their places, but there are {many}")
    common = _common(list(named.values()))
    if not common:
        samples = [f"{name!r} has {_sample(each.query_ids)}" for name, each in named.items()]
        raise refuse(f"the systems have no query in common: {samples[0]}, {samples[-1]}")
    names = first.measures[: len(first.measures) - hidden]
    values = np.empty((len(named), len(common), len(names)))
    for place, each in enumerate(named.values()):
        values[place] = _take(each, common, names)
    common, values = _without_nan(list(named), common, values, names)
    if len(common) < 2:
        problem = "the systems have one query in common, which says nothing of others"
        raise refuse(problem, query=common[0] if common else None)
    alike = all(each.query_ids == first.query_ids for each in named.values())
    every = dict.fromkeys(
        () if alike else (query for each in named.values() for query in each.query_ids)
    )
    return Aligned(
        systems=list(named),
        columns=first.columns[: len(names)],
        query_ids=common,
        values=values,
        settings=_settings(named),
        missing={
            name: [query for query in every if query not in each.rows]
            for name, each in named.items()
        },
        unanswered={
            name: [query for query in common if marked[each.rows[query]]] if marked.any() else []
            for name, each in named.items()
            for marked in [QueryMark.MISSING.holds(each.marks)]
        },
        judged=_judged(named, common),
        weights=_weights(named, common, names),
    )


def _check_ids(named: Mapping[str, Results]) -> None:
    """Refuse results of queries with ids beside others that know their queries by place alone."""
    placed = [name for name, each in named.items() if not each.has_ids]
    if placed and len(placed) < len(named):
        other = next(name for name, each in named.items() if each.has_ids)
        problem = (
            f"its queries have no ids, only places 0, 1, …, and {shown(other)} has "
            f"{_sample(named[other].query_ids)}: give query_ids= where it is evaluated"
        )
        raise InputError(problem, source="results", path=placed[0])


def _common(results: Sequence[Results]) -> list[Any]:
    """Return the queries that all have, in the order of the first."""
    first = results[0].query_ids
    if all(each.query_ids == first for each in results):
        return first
    shared = set.intersection(*(set(each.query_ids) for each in results))
    return [query for query in first if query in shared]


def _judged(named: Mapping[str, Results], queries: Sequence[Any]) -> dict[int, Floats]:
    """Return the shares of documents that are judged, by cutoff: ``(systems, queries)``.

    NaN of queries without a ranking.
    """
    found: dict[int, Floats] = {}
    for each in next(iter(named.values())).columns:
        if each.name != "Judged" or each.cutoff is None:
            continue
        shares = np.stack([_take(some, queries, [str(each)])[:, 0] for some in named.values()])
        for row, some in zip(shares, named.values(), strict=True):
            missing = QueryMark.MISSING.holds(some.marks)
            row[[bool(missing[some.rows[query]]) for query in queries]] = np.nan
        found[each.cutoff] = shares
    return found


def _weights(
    named: Mapping[str, Results], queries: Sequence[Any], measures: Sequence[str]
) -> Floats | None:
    """Return what weighted means weigh queries by, ``(queries, measures)``, which all must share.

    Where systems weigh queries alike their weighted means differ by that of the differences, which
    can be tested. Else a query counts more for one than for the other.
    """
    first = next(iter(named.values()))
    columns = [first.columns[first.measures.index(name)] for name in measures]
    if not any(each.aggregate == "weighted" for each in columns):
        return None
    weights = np.ones((len(queries), len(columns)))
    for k, each in enumerate(columns):
        if each.aggregate != "weighted":
            continue
        of_systems = [_weights_of(some, queries, each) for some in named.values()]
        for name, others in zip(named, of_systems, strict=True):
            if (odd := np.flatnonzero(others != of_systems[0])).size:
                row = int(odd[0])
                problem = (
                    f"the mean of {each} weighs it {others[row]:g} for {name!r}, and "
                    f"{of_systems[0][row]:g} for {next(iter(named))!r}: such means cannot be "
                    "compared query by query"
                )
                raise InputError(problem, source="measures", query=queries[row], value=str(each))
        weights[:, k] = of_systems[0]
    return weights


def _weights_of(results: Results, queries: Sequence[Any], measure: Measure) -> Floats:
    column = weight_column(results.columns, results.measures.index(str(measure)))
    rows = [results.rows[query] for query in queries]
    return np.asarray(results.weighted_values[rows, column], np.float64)


def _name(results: Mapping[str, Results] | Iterable[Results]) -> dict[str, Results]:
    """Return results by the systems' names: those of two systems or more."""
    named = name_systems(results, "result")
    for name, each in named.items():
        if not isinstance(name, str) or not isinstance(each, Results):
            problem = f"names go to Results, not {name!r} to {kind_of(each)}"
            raise InputError(problem, source="results")
    if len(named) < 2:
        problem = f"a comparison is of two systems or more, not {len(named)}"
        raise InputError(problem, source="results")
    return named


def _take(results: Results, queries: Sequence[Any], measures: Sequence[str]) -> Floats:
    """Return values ``(queries, measures)``, in the order of both."""
    columns = [results.measures.index(name) for name in measures]
    if queries is results.query_ids or queries == results.query_ids:
        return results.values[:, columns]
    return results.values[[results.rows[query] for query in queries]][:, columns]


def _without_nan(
    systems: Sequence[str], queries: list[Any], values: Floats, measures: Sequence[str]
) -> tuple[list[Any], Floats]:
    """Leave out queries that a measure leaves out for all; refuse any other NaN."""
    nan: Bools = np.isnan(values)
    kept = np.flatnonzero(~np.any(nan.all(axis=0), axis=1))
    if nan[:, kept].any():
        system, row, column = (int(each[0]) for each in np.nonzero(nan[:, kept]))
        problem = f"{measures[column]} of system {systems[system]!r} is NaN, that of others is not"
        raise InputError(problem, source="results", query=queries[kept[row]])
    if kept.size == len(queries):
        return [*queries], values
    return [queries[row] for row in kept], values[:, kept]


def _settings(named: Mapping[str, Results]) -> dict[str, str]:
    """Return the settings; warn of those that differ, and tell each."""
    joined: dict[str, str] = {}
    for name in dict.fromkeys(name for each in named.values() for name in each.settings):
        said = list(dict.fromkeys(each.settings.get(name, "not set") for each in named.values()))
        joined[name] = " / ".join(said)
        if len(said) > 1 and name != "order":
            warn(f"systems were evaluated differently: {name} is {' and '.join(map(repr, said))}")
    return joined


def _sample(ids: Sequence[Any]) -> str:
    return ", ".join(map(repr, ids[:3])) + (", …" if len(ids) > 3 else "")
