"""Results from values by query that others hold: partial results, dicts, tables, Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.column_names import QUERIES
from irbatch.data.columns import as_ids
from irbatch.data.frames import read_all
from irbatch.data.ids import check_id, same_kind
from irbatch.errors import ErrorsIn, InputError, imported, shown
from irbatch.evaluation.evaluation import Judgments
from irbatch.evaluation.partial import METADATA, PartialResult, merge_partials
from irbatch.evaluation.queries import count_queries
from irbatch.evaluation.results import Results
from irbatch.evaluation.system_names import name_systems
from irbatch.formats.files import find_parts
from irbatch.measures import Measure, measure
from irbatch.runtime.numbers import is_real

SOURCE = "results"


def read_results(given: Mapping[str, Any] | Iterable[Any], qrels: Judgments | None) -> Any:
    """Return what `irbatch.compare_results` was given with all that is no `Results` made that.

    One system after the other is read. Where several have the same queries, in whatever order, they
    share one list of ids, and rows stand as in the first: so what is held is little more than the
    values. What is unknown is left for `align` to refuse.
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
        several = isinstance(given, list | tuple) and bool(given)
        parts = list(given) if several else [given]
        if not all(isinstance(e, str | os.PathLike) or _is_table(e) for e in parts):
            return given
        tables = [(table, where) for part in parts for table, where in _tables(part, name)]
        partial = [_is_partial(table) for table, _ in tables]
        if all(partial):
            total = merge_partials(PartialResult.from_arrow(table) for table, _ in tables)
            return total.results(None if total.apart else qrels, name=name)
        if any(partial):
            problem = "some tables are partial results (PartialResult.to_arrow), others are not"
            raise InputError(problem, path=name)
        return _of_tables(tables, name)


def _is_table(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__")


def _is_partial(table: Any) -> bool:
    return METADATA in (getattr(getattr(table, "schema", None), "metadata", None) or {})


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
    columns: list[Measure] = []
    for table, where in tables:
        with ErrorsIn(path=where):
            queries, found, values = _columns(table)
            if blocks and found != columns:
                names = [" ".join(map(str, each)) for each in (found, columns)]
                raise InputError(f"these are of {names[0]}, others of {names[1]}")
            if ids and queries and isinstance(queries[0], str) != isinstance(ids[0], str):
                raise InputError("query ids are text in one file and whole numbers in another")
            columns = found
            ids += queries
            blocks.append(values)
    values = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    marks = np.zeros(len(ids), np.uint8)
    results = Results(values, ids, columns, count_queries(marks), {}, name, marks)
    if len(results.rows) < len(ids):
        twice = next(query for row, query in enumerate(ids) if results.rows[query] != row)
        raise InputError("it stands there twice", path=name, query=twice)
    return results


def _of_dicts(given: Mapping[Any, Any], name: str) -> Results:
    """Put together query to measure to value, as pytrec_eval returns them."""
    for query, values in given.items():
        check_id(query, "query", SOURCE)
        wanted = "a query's values are a mapping of measures to numbers, such as {'AP': 0.25}"
        if not isinstance(values, Mapping) or not all(map(is_real, values.values())):
            raise InputError(f"{wanted}, not {shown(values)}", path=name, query=query)
    texts = next(iter(map(list, given.values())), [])
    if not texts:
        raise InputError("there are no values", path=name)
    for query, values in given.items():
        if odd := sorted(map(str, values.keys() ^ dict.fromkeys(texts))):
            raise InputError(f"{odd[0]} is not of every query", path=name, query=query)
    same_kind(given, "query", SOURCE)
    measures = [_measure(text, "") for text in texts]
    values = np.array([[row[text] for text in texts] for row in given.values()], np.float64)
    marks = np.zeros(len(given), np.uint8)
    return Results(values, list(given), measures, count_queries(marks), {}, name, marks)


def _columns(table: Any) -> tuple[list[Any], list[Measure], Floats]:
    """Return the queries, measures and values ``(queries, measures)`` of one table."""
    read = read_all(table, SOURCE)
    there = [each for each in read if each in QUERIES]
    if len(there) != 1:
        known = ", ".join(map(repr, QUERIES))
        problem = f"one column is to be of queries ({known}), not {len(there)} of {shown([*read])}"
        raise InputError(problem)
    queries = as_ids(read.pop(there[0]), "query", SOURCE).tolist()
    measures = [_measure(column) for column in read]
    if not measures:
        raise InputError("there is no column of a measure")
    values = np.empty((len(queries), len(measures)))
    for place, (column, each) in enumerate(read.items()):
        if not isinstance(each, np.ndarray) or each.dtype.kind not in "fiu":
            raise InputError(f"column {shown(column)} holds no numbers", value=column)
        values[:, place] = each
    return queries, measures, values


def _measure(column: str, what: str = "column ") -> Measure:
    try:
        found = measure(column)
    except InputError as error:
        problem = f"{what}{shown(column)} is no measure: {error.message}"
        raise InputError(problem, value=column) from None
    if found.aggregate == "weighted":
        problem = f"the mean of {found} is weighted, and weights come with PartialResult.to_arrow()"
        raise InputError(problem, value=column)
    return found


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
