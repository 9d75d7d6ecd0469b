"""Values by query of several systems, wherever they are: read, and put side by side."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.column_names import QUERIES
from irbatch.data.columns import as_ids
from irbatch.data.frames import read_all
from irbatch.data.ids import check_id, same_kind
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, shown, warn
from irbatch.evaluation.evaluation import Judgments
from irbatch.evaluation.partial import PartialResult
from irbatch.evaluation.queries import QueryMark, count_queries
from irbatch.evaluation.results import Results, is_saved, weight_column
from irbatch.evaluation.system_names import name_systems
from irbatch.formats.files import find_parts
from irbatch.measures import Measure, measure
from irbatch.runtime.numbers import is_real

SOURCE = "results"


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

    def part(self, rows: Sequence[int], queries: Collection[Any]) -> Aligned:
        """Return some of the queries, and those of them that were left out."""

        def keep(some: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
            return {name: [each for each in of if each in queries] for name, of in some.items()}

        return replace(
            self,
            query_ids=[self.query_ids[row] for row in rows],
            values=np.ascontiguousarray(self.values[:, rows]),
            judged={cutoff: shares[:, rows] for cutoff, shares in self.judged.items()},
            weights=None if self.weights is None else self.weights[rows],
            missing=keep(self.missing),
            unanswered=keep(self.unanswered),
        )


def align(
    results: Mapping[str, Results] | Iterable[Results], measures: Sequence[str] | None = None
) -> Aligned:
    """Put results side by side, by query id; queries skipped for every system are left out.

    Of some measures; default: all, which then all systems have.
    """
    named = _name(results)
    systems, each_one = list(named), list(named.values())
    first = each_one[0]
    names = list(first.measures if measures is None else measures)
    for name, each in named.items():
        odd = set(each.measures) ^ set(names) if measures is None else {*names} - {*each.measures}
        if odd:
            problem = f"{min(odd)} was not evaluated for every system"
            raise InputError(problem, source=SOURCE, path=name)
    columns = tuple(first.columns[first.measures.index(name)] for name in names)
    if whole := [each for each in columns if each.aggregate == "run"]:
        problem = f"{whole[0]} is a value of the whole run: it has none of queries to compare"
        raise InputError(problem, source=SOURCE, value=str(whole[0]))
    queries = _common(named)
    rows = [_rows_of(each, queries) for each in each_one]
    values = np.stack([_values(each, row, names) for each, row in zip(each_one, rows, strict=True)])
    kept = _known(systems, queries, values, names)
    if kept.size < len(queries):
        queries, values = [queries[row] for row in kept.tolist()], values[:, kept]
        rows = [row[kept] for row in rows]
    if len(queries) < 2:
        problem = "the systems have one query in common, which says nothing of others"
        raise InputError(problem, source=SOURCE, query=queries[0] if queries else None)
    alike = all(each.query_ids == first.query_ids for each in each_one)
    every = dict.fromkeys(query for each in each_one if not alike for query in each.query_ids)
    unanswered = [QueryMark.MISSING.holds(each.marks[row])
                  for each, row in zip(each_one, rows, strict=True)]  # fmt: skip
    if (np.sum(unanswered, axis=0) >= len(systems) - 1).all() and not np.all(
        unanswered, axis=1
    ).any():
        told = "each system answers other queries: is it one run in parts?"
        warn(f"{told} Give its files as one system, in a list or a folder")
    judged: dict[int, Floats] = {}
    for column in first.columns:
        name = str(column)
        known = all(name in each.measures for each in each_one)
        if column.name == "Judged" and column.cutoff is not None and known:
            shares = [_values(each, row, [name])[:, 0]
                      for each, row in zip(each_one, rows, strict=True)]  # fmt: skip
            judged[column.cutoff] = np.where(unanswered, np.nan, shares)
    return Aligned(
        systems=systems,
        columns=columns,
        query_ids=list(queries),
        values=values,
        settings=_join_settings(named),
        missing={
            name: [query for query in every if query not in each.rows]
            for name, each in named.items()
        },
        unanswered={
            name: [queries[row] for row in np.flatnonzero(none).tolist()]
            for name, none in zip(systems, unanswered, strict=True)
        },
        judged=judged,
        weights=_weights(named, rows, queries, columns),
    )


def _name(results: Mapping[str, Results] | Iterable[Results]) -> dict[str, Results]:
    """Return results by the systems' names: those of two systems or more."""
    named = name_systems(results, "result")
    for name, each in named.items():
        if not isinstance(name, str) or not isinstance(each, Results):
            problem = f"names go to Results, not {name!r} to {kind_of(each)}"
            raise InputError(problem, source=SOURCE)
    if len(named) < 2:
        problem = f"a comparison is of two systems or more, not {len(named)}"
        raise InputError(problem, source=SOURCE)
    return named


def _common(named: Mapping[str, Results]) -> list[Any]:
    """Return the queries that all have, in the order of the first."""
    placed = [name for name, each in named.items() if not each.has_ids]
    if placed and len(placed) < len(named):
        other = next(name for name, each in named.items() if each.has_ids)
        problem = (
            f"its queries have no ids, only places 0, 1, …, and {shown(other)} has "
            f"{_sample(named[other].query_ids)}: give query_ids= where it is evaluated"
        )
        raise InputError(problem, source=SOURCE, path=placed[0])
    lengths = {len(each.query_ids) for each in named.values()}
    if placed and len(lengths) > 1:
        many = " and ".join(map(str, sorted(lengths)))
        problem = f"queries without ids are joined by their places, but there are {many}"
        raise InputError(problem, source=SOURCE)
    first, *others = (each.query_ids for each in named.values())
    if all(each == first for each in others):
        return first
    shared = set(first).intersection(*others)
    if not shared:
        for name in (name for name, results in named.items() if not results.query_ids):
            problem = f"{name!r} has means alone; `irbatch eval -q` saves values of queries, too"
            raise InputError(problem, source=SOURCE)
        samples = [f"{name!r} has {_sample(each.query_ids)}" for name, each in named.items()]
        problem = f"the systems have no query in common: {samples[0]}, {samples[-1]}"
        raise InputError(problem, source=SOURCE)
    return [query for query in first if query in shared]


def _rows_of(results: Results, queries: Sequence[Any]) -> Ints:
    """Return where some queries stand."""
    if queries == results.query_ids:
        return np.arange(len(queries))
    return np.array([results.rows[query] for query in queries], np.int64)


def _values(results: Results, rows: Ints, measures: Sequence[str]) -> Floats:
    columns = [results.measures.index(name) for name in measures]
    return results.values[rows][:, columns]


def _known(
    systems: Sequence[str], queries: list[Any], values: Floats, measures: Sequence[str]
) -> Ints:
    """Return the rows that no measure leaves out for all; reject any other NaN."""
    nan: Bools = np.isnan(values)
    kept = np.flatnonzero(~np.any(nan.all(axis=0), axis=1))
    if nan[:, kept].any():
        system, row, column = (int(each[0]) for each in np.nonzero(nan[:, kept]))
        problem = f"{measures[column]} of system {systems[system]!r} is NaN, that of others is not"
        raise InputError(problem, source="results", query=queries[kept[row]])
    return kept


def _weights(
    named: Mapping[str, Results],
    rows: Sequence[Ints],
    queries: Sequence[Any],
    columns: Sequence[Measure],
) -> Floats | None:
    """Return what weighted means weigh queries by, ``(queries, measures)``, which all must share.

    Where systems weigh queries alike their weighted means differ by that of the differences, which
    can be tested. Else a query counts more for one than for the other.
    """
    if not any(each.aggregate == "weighted" for each in columns):
        return None
    weights = np.ones((len(queries), len(columns)))
    for k, column in enumerate(columns):
        if column.aggregate != "weighted":
            continue
        of_systems = [
            each.weighted_values[of, weight_column(each.columns, each.column_of(str(column)))]
            for each, of in zip(named.values(), rows, strict=True)
        ]
        for name, others in zip(named, of_systems, strict=True):
            if (odd := np.flatnonzero(others != of_systems[0])).size:
                row = int(odd[0])
                problem = (
                    f"the mean of {column} weighs it {others[row]:g} for {name!r}, and "
                    f"{of_systems[0][row]:g} for {next(iter(named))!r}: such means cannot be "
                    "compared query by query"
                )
                raise InputError(problem, source="measures", query=queries[row], value=str(column))
        weights[:, k] = of_systems[0]
    return weights


def _join_settings(named: Mapping[str, Results]) -> dict[str, str]:
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


def is_read(system: Any) -> bool:
    """Tell whether a system's values are there, so that nothing is to be evaluated."""
    is_path = isinstance(system, str | os.PathLike)
    return isinstance(system, Results | PartialResult) or (is_path and is_saved(system))


def read_results(given: Mapping[str, Any] | Iterable[Any], qrels: Judgments | None) -> Any:
    """Return values by query of several systems as `Results`; `irbatch.compare` tells the forms.

    One system after the other is read. Where several have the same queries, in whatever order, they
    share one list of ids, and rows stand as in the first: so what is held is little more than the
    values. What is unknown is left for `align` to reject.
    """
    named = name_systems(given, "result")
    first: Results | None = None
    for name, each in named.items():
        found = each if isinstance(each, Results) else _read(each, name, qrels)
        if found is not each and isinstance(found, Results) and first is not None:
            found = _in_order_of(first, found)
        named[name] = found
        first = found if first is None and isinstance(found, Results) else first
    return named


def _read(given: Any, name: str, qrels: Judgments | None) -> Any:
    """Read the values of one system."""
    with ErrorsIn(source=SOURCE):
        if isinstance(given, PartialResult):
            return given.results(None if given.apart else qrels, name=name)
        if isinstance(given, Mapping):
            return _of_dicts(given, name)
        if isinstance(given, str | os.PathLike) and is_saved(given):
            return Results.from_json(given)
        several = isinstance(given, list | tuple) and bool(given)
        parts = list(given) if several else [given]
        if not all(isinstance(e, str | os.PathLike) or _is_table(e) for e in parts):
            return given
        tables = [(table, where) for part in parts for table, where in _tables(part, name)]
        return _of_tables(tables, name)


def _is_table(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__")


def _tables(given: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield a table, or those of files, each with what errors call it."""
    if _is_table(given):
        yield given, name
        return
    parquet = imported("Parquet files", "arrow", "pyarrow.parquet")
    for part in find_parts(given, SOURCE):
        try:
            table = parquet.ParquetFile(part).read()
        except FileNotFoundError:
            raise InputError("there is no such file", path=part) from None
        except (OSError, ValueError) as problem:
            raise InputError(f"this is no Parquet file: {problem}", path=part) from None
        yield table, part


def _of_tables(tables: list[tuple[Any, str]], name: str) -> Results:
    """Put together tables of a column of queries and a column a measure."""
    ids: list[Any] = []
    blocks: list[Floats] = []
    names: list[str] = []
    for table, where in tables:
        with ErrorsIn(path=where):
            read = read_all(table, SOURCE)
            there = [each for each in read if each in QUERIES]
            if len(there) != 1:
                known = ", ".join(map(repr, QUERIES))
                many = f"{len(there)} of {shown([*read])}"
                raise InputError(f"one column is to be of queries ({known}), not {many}")
            ids += as_ids(read.pop(there[0]), "query", SOURCE).tolist()
            if not read:
                raise InputError("there is no column of a measure")
            names = names or list(read)
            if list(read) != names:
                raise InputError(f"these are of {' '.join(read)}, others of {' '.join(names)}")
            for column, each in read.items():
                if not isinstance(each, np.ndarray) or each.dtype.kind not in "fiu":
                    raise InputError(f"column {shown(column)} holds no numbers", value=column)
            blocks.append(np.column_stack([np.asarray(each, np.float64) for each in read.values()]))
    return _make(np.concatenate(blocks) if len(blocks) > 1 else blocks[0], ids, names, name)


def _of_dicts(given: Mapping[Any, Any], name: str) -> Results:
    """Put together query to measure to value, as pytrec_eval returns them."""
    if not given:
        raise InputError("there are no values", path=name)
    first = next(iter(given.values()))
    for query, values in given.items():
        check_id(query, "query", SOURCE)
        wanted = "a query's values are a mapping of measures to numbers, such as {'AP': 0.25}"
        if not isinstance(values, Mapping) or not all(map(is_real, values.values())):
            raise InputError(f"{wanted}, not {shown(values)}", path=name, query=query)
        if odd := sorted(map(str, values.keys() ^ first.keys())):
            raise InputError(f"{odd[0]} is not of every query", path=name, query=query)
    values = [[row[text] for text in first] for row in given.values()]
    return _make(np.array(values, np.float64), list(given), list(first), name)


def _make(values: Floats, ids: list[Any], names: Sequence[str], name: str) -> Results:
    """Return values ``(queries, measures)`` of which no more is known than names as results."""
    same_kind(ids, "query", SOURCE)
    measures: list[Measure] = []
    for each in names:
        try:
            measures.append(measure(each))
        except InputError as error:
            problem = f"column {shown(each)} is no measure: {error.message}"
            raise InputError(problem, value=each) from None
        if measures[-1].aggregate == "weighted":
            problem = f"the mean of {each} is weighted, and weights come with partial results"
            raise InputError(problem, value=each)
    marks = np.zeros(len(ids), np.uint8)
    results = Results(values, ids, measures, count_queries(marks), {}, name, marks)
    if len(results.rows) < len(ids):
        twice = next(query for row, query in enumerate(ids) if results.rows[query] != row)
        raise InputError("it stands there twice", path=name, query=twice)
    return results


def _in_order_of(first: Results, found: Results) -> Results:
    """Return results with rows, and the very ids, of others that have the same queries."""
    ids = found.query_ids
    if len(ids) != len(first.query_ids) or not (first.has_ids and found.has_ids):
        return found
    if ids == first.query_ids:
        rows: Any = slice(None)
    elif all(query in first.rows for query in ids):
        rows = np.empty(len(ids), np.int64)
        rows[[first.rows[query] for query in ids]] = np.arange(len(ids))
    else:
        return found
    values, marks = found.weighted_values[rows], found.marks[rows]
    given = found.columns, found.counts, found.settings, found.name, marks
    joined = Results(values, first.query_ids, *given)
    joined.query_ids, joined.rows = first.query_ids, first.rows
    return joined
