"""Values by query of several systems, wherever they are: read, and put side by side."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.column_names import QUERIES, find_name
from irbatch.data.columns import as_ids
from irbatch.data.frames import read_all
from irbatch.data.ids import check_id, first_repeated, same_kind
from irbatch.errors import ErrorsIn, InputError, imported, join_words, kind_of, shown, warn
from irbatch.evaluation.queries import Counted, QueryMark, Rows, level_of, weight_column
from irbatch.evaluation.results import JUDGED, Results, is_saved
from irbatch.evaluation.tables import ask_about_parts
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
    weights: Floats | None = None  # (queries, measures): of weighted means; None: all alike

    @property
    def counts(self) -> Ints:
        """How many queries have a value of each measure, ``(measures,)``."""
        return (~np.isnan(self.values[0])).sum(axis=0)

    def part(self, rows: Sequence[int], queries: Collection[Any]) -> Aligned:
        """Return some of the queries, and those of them that were left out."""

        def keep(lacking: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
            return {name: [query for query in of if query in queries]
                    for name, of in lacking.items()}  # fmt: skip

        return replace(
            self,
            query_ids=[self.query_ids[row] for row in rows],
            values=np.ascontiguousarray(self.values[:, rows]),
            weights=None if self.weights is None else self.weights[rows],
            missing=keep(self.missing),
            unanswered=keep(self.unanswered),
        )


def align(by_system: Mapping[str, Results], measures: Sequence[str] | None = None) -> Aligned:
    """Put results side by side, by query id, of some measures; default: all.

    A measure that a system lacks is left out, with a warning. A query without a value of a measure
    for one system is left out of that measure, and one without any is left out altogether.
    """
    if len(by_system) < 2:
        problem = f"a comparison is of two systems or more, not {len(by_system)}"
        raise InputError(problem, source=SOURCE)
    of_systems = list(by_system.values())
    columns = _shared_columns(by_system, measures)
    queries = _shared_queries(by_system)
    parts = [
        own.of_queries if own.query_ids == queries
        else own.of_queries.take([own.rows[query] for query in queries])
        for own in of_systems
    ]  # fmt: skip
    values = np.stack([
        part.values[:, [own.measures.index(str(column)) for column in columns]]
        for own, part in zip(of_systems, parts, strict=True)
    ])  # fmt: skip
    lacking: Bools = np.asarray(np.isnan(values).any(axis=0))
    if lacking.any():
        values[:, lacking] = np.nan
        kept = np.flatnonzero(~lacking.all(axis=1))
        queries, values = [queries[row] for row in kept.tolist()], values[:, kept]
        parts = [part.take(kept) for part in parts]
    for column, count in zip(columns, (~np.isnan(values[0])).sum(axis=0), strict=True):
        if count < 2:
            problem = f"fewer than two queries have a value of {column} for every system"
            raise InputError(problem, source=SOURCE, value=str(column))
    _check_judgments(by_system, parts, queries)
    if question := ask_about_parts(by_system):
        warn(question)
    alike = all(own.query_ids == of_systems[0].query_ids for own in of_systems)
    all_queries = dict.fromkeys(query for own in of_systems if not alike for query in own.query_ids)
    return Aligned(
        systems=list(by_system),
        columns=columns,
        query_ids=list(queries),
        values=values,
        settings=_join_settings(of_systems),
        missing={
            system: [query for query in all_queries if query not in own.rows]
            for system, own in by_system.items()
        },
        unanswered={
            system: [*compress(queries, QueryMark.MISSING.holds(part.marks))]
            for system, part in zip(by_system, parts, strict=True)
        },
        weights=_weights(by_system, parts, queries, columns),
    )


def _shared_columns(
    by_system: Mapping[str, Results], measures: Sequence[str] | None
) -> tuple[Measure, ...]:
    """Return the measures that all systems have, warning of others."""
    first = next(iter(by_system.values()))
    evaluated = dict.fromkeys(name for own in by_system.values() for name in own.measures)
    names = []
    for name in evaluated if measures is None else measures:
        lacking = [system for system, own in by_system.items() if name not in own.measures]
        if lacking:
            warn(f"{name} is left out: there are no values of it for {join_words(lacking)}")
        else:
            names.append(name)
    if not names:
        raise InputError("the systems have no measure in common", source=SOURCE)
    columns = tuple(first.columns[first.measures.index(name)] for name in names)
    for column in columns:
        if column.aggregate == "run":
            problem = f"{column} is a value of the whole run: it has none of queries to compare"
            raise InputError(problem, source=SOURCE, value=str(column))
    return columns


def _shared_queries(by_system: Mapping[str, Results]) -> list[Any]:
    """Return the queries that all have, in the order of the first."""
    samples = []
    for name, own in by_system.items():
        if not own.query_ids:
            problem = f"{name!r} has means alone; `irbatch eval -q` saves values of queries, too"
            raise InputError(problem, source=SOURCE)
        more = ", …" if len(own.query_ids) > 3 else ""
        samples.append(f"{name!r} has {', '.join(map(repr, own.query_ids[:3]))}{more}")
    first, *others = (own.query_ids for own in by_system.values())
    placed = [name for name, own in by_system.items() if not own.has_ids]
    sizes = {len(own.query_ids) for own in by_system.values()}
    if placed and (len(placed) < len(by_system) or len(sizes) > 1):
        problem = f"its queries have no ids, only places 0, 1, …, and {', '.join(samples)}"
        raise InputError(f"{problem}: give query_ids= where it is evaluated", source=SOURCE,
                         path=placed[0])  # fmt: skip
    if all(ids == first for ids in others):
        return first
    shared = set(first).intersection(*others)
    if not shared:
        problem = f"the systems have no query in common: {samples[0]}, {samples[-1]}"
        raise InputError(problem, source=SOURCE)
    return [query for query in first if query in shared]


def _weights(
    by_system: Mapping[str, Results],
    parts: Sequence[Rows],
    queries: Sequence[Any],
    columns: Sequence[Measure],
) -> Floats | None:
    """Return what weighted means, if there are any, weigh queries by: alike for all systems."""
    weighted = [k for k, column in enumerate(columns) if column.aggregate == "weighted"]
    weights = np.ones((len(queries), len(columns)))
    for k in weighted:
        name = str(columns[k])
        of_systems = [
            part.values[:, weight_column(own.columns, own.column_of(name))]
            for own, part in zip(by_system.values(), parts, strict=True)
        ]
        weights[:, k] = of_systems[0]
        for system, weight in zip(by_system, of_systems, strict=True):
            for row in np.flatnonzero(weight != weights[:, k])[:1].tolist():
                problem = f"the mean of {name} weighs it {weight[row]:g} for {system!r}, and "
                problem += f"{weights[row, k]:g} for {next(iter(by_system))!r}"
                raise InputError(problem, source="measures", query=queries[row], value=name)
    return weights if weighted else None


def _join_settings(of_systems: Sequence[Results]) -> dict[str, str]:
    """Return the settings, all values of those that differ, which is warned of."""
    joined: dict[str, str] = {}
    for name in dict.fromkeys(name for own in of_systems for name in own.settings):
        values = list(dict.fromkeys(own.settings.get(name, "not set") for own in of_systems))
        joined[name] = " / ".join(values)
        if name == "order":  # of ranks, or as it was given, is that of scores, too
            values = [order for order in values if order.startswith("score ")]
        if len(values) > 1:
            warn(f"systems were evaluated differently: {name} is {' and '.join(map(repr, values))}")
    if not all(own.has_ids for own in of_systems):
        joined["queries"] = "without ids, paired by their places"
    return joined


def is_read(system: Any) -> bool:
    """Tell whether a system's values are there, so that nothing is to be evaluated."""
    is_path = isinstance(system, str | os.PathLike)
    return isinstance(system, Results) or (is_path and is_saved(system))


def read_results(systems: Mapping[str, Any]) -> dict[str, Results]:
    """Return values by query of several systems as `Results`; `irbatch.compare` tells the forms.

    Tables of the same queries share their ids, in the order of the first: little more than values
    is held.
    """
    by_system: dict[str, Results] = {}
    for name, system in systems.items():
        if not isinstance(name, str):
            raise InputError(f"systems have names that are text, not {name!r}", source=SOURCE)
        with ErrorsIn(source=SOURCE):
            if isinstance(system, Results):
                by_system[name] = system
            elif is_read(system):
                by_system[name] = Results.from_json(system)
            else:
                first = next(iter(by_system.values()), None)
                by_system[name] = _make(name, *_read(system, name), first)
    return by_system


Values = tuple[Floats, list[Any], Sequence[str]]  # (queries, measures); queries; measures' names


def _read(values: Any, name: str) -> Values:
    if isinstance(values, Mapping):
        return _of_dicts(values, name)
    if hasattr(values, "__arrow_c_stream__"):
        return _of_tables([(values, name)])
    if not isinstance(values, str | os.PathLike):
        problem = f"values are Results, dicts, a table or a path, not {kind_of(values)}"
        raise InputError(problem, path=name)
    return _of_tables(_read_parquet(values))


def _read_parquet(values: Any) -> Iterator[tuple[Any, str]]:
    parquet = imported("Parquet files", "arrow", "pyarrow.parquet")
    for path in find_parts(values, SOURCE):
        try:
            table = parquet.ParquetFile(path).read()
        except FileNotFoundError:
            raise InputError("there is no such file", path=path) from None
        except (OSError, ValueError) as problem:
            raise InputError(f"this is not a Parquet file: {problem}", path=path) from None
        yield table, path


def _of_tables(tables: Iterable[tuple[Any, str]]) -> Values:
    """Put together tables of a column of queries and a column a measure."""
    ids: list[Any] = []
    blocks: list[Floats] = []
    measures: list[str] = []
    for table, path in tables:
        with ErrorsIn(path=path):
            columns = read_all(table, SOURCE)
            of_queries = [column for column in columns if find_name([column], QUERIES)]
            if len(of_queries) != 1:
                names = ", ".join(map(repr, QUERIES))
                several = f"{len(of_queries)} of {shown([*columns])}"
                raise InputError(f"one column is to be of queries ({names}), not {several}")
            ids += as_ids(columns.pop(of_queries[0]), "query", SOURCE).tolist()
            if not columns:
                raise InputError("there is no column of a measure")
            measures = measures or list(columns)
            if list(columns) != measures:
                own = " ".join(columns)
                raise InputError(f"these are of {own}, others of {' '.join(measures)}")
            for column, numbers in columns.items():
                if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "fiu":
                    raise InputError(f"column {shown(column)} holds no numbers", value=column)
            blocks.append(np.stack([np.asarray(own, np.float64) for own in columns.values()], 1))
    return np.concatenate(blocks) if len(blocks) > 1 else blocks[0], ids, measures


def _of_dicts(values: Mapping[Any, Any], name: str) -> Values:
    if not values:
        raise InputError("there are no values", path=name)
    first = next(iter(values.values()))
    for query, row in values.items():
        check_id(query, "query", SOURCE)
        if not isinstance(row, Mapping) or not all(map(is_real, row.values())):
            problem = "a query's values are a mapping of measures to numbers, such as {'AP': 0.25}"
            raise InputError(f"{problem}, not {shown(row)}", path=name, query=query)
        if odd := sorted(map(str, row.keys() ^ first.keys())):
            raise InputError(f"{odd[0]} is not of every query", path=name, query=query)
    table = [[row[measure] for measure in first] for row in values.values()]
    return np.array(table, np.float64), list(values), list(first)


def _make(
    name: str, values: Floats, ids: list[Any], names: Sequence[str], first: Results | None
) -> Results:
    """Return values as results, in the order of the first's queries where these are the same."""
    same_kind(ids, "query", SOURCE)
    if (twice := first_repeated(ids)) is not None:
        raise InputError("it stands there twice", path=name, query=twice)
    measures: list[Measure] = []
    for column in names:
        try:
            measures.append(measure(column))
        except InputError as error:
            problem = f"column {shown(column)} is not a measure: {error.message}"
            raise InputError(problem, value=column) from None
        if measures[-1].aggregate == "weighted":
            problem = f"the mean of {column} is weighted, and weights come with Results"
            raise InputError(problem, value=column)
    if first is not None and first.has_ids and len(first.query_ids) == len(ids):
        rows = [first.rows.get(query, -1) for query in ids]
        if -1 not in rows:
            values, ids = values[np.argsort(rows)], first.query_ids
    return Results(Rows(values), ids, measures, None, {}, name)


def _check_judgments(
    systems: Mapping[str, Results], parts: Sequence[Rows], queries: Sequence[Any]
) -> None:
    """Reject results of other judgments, told apart by how many each query has, where known."""
    first: tuple[str, str, Counted] | None = None
    for (name, results), part in zip(systems.items(), parts, strict=True):
        if (judgments := part.judgment_counts) is None:
            continue
        level = level_of(results.settings)
        first = first or (name, level, judgments)
        differs = judgments != first[2]
        differs[:, 0] &= level == first[1]
        if differs.any():
            row, column = np.argwhere(differs)[0].tolist()
            ours, theirs = judgments[row, column], first[2][row, column]
            numbers = f"{ours} {JUDGED[column]} documents for {shown(name)}"
            problem = f"{numbers}, {theirs} for {shown(first[0])}: evaluated with other judgments"
            raise InputError(problem, source=SOURCE, query=queries[row], value=int(ours))
