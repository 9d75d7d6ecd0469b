"""Spark: judgments and rankings in its DataFrames, evaluated where they are.

    from irbatch.integrations import spark

    means = spark.evaluate(qrels, run, "nDCG@10 AP", keep="sums")
    spark.per_query(qrels, run, "nDCG@10 AP").write.parquet("values")

The rows of a query are brought together by a shuffle and sorted, so that a task holds some hundred
thousand of them at once, or those of one query. irbatch must be installed where Spark's tasks run.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from irbatch.data.column_names import find_columns
from irbatch.errors import FIELDS, InputError, imported, kind_of
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.partial import PartialResult, merge_partials
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.integrations.shuffled import (
    JUDGED,
    KIND,
    NUMBERS,
    RANKED,
    Columns,
    Task,
    check_kinds,
    rows_of,
    wrong_type,
)

__all__ = ["evaluate", "input_errors", "per_query"]

_EXTRA = ("Spark", "spark")
_sql: Any = imported(*_EXTRA, "pyspark.sql")
_functions: Any = imported(*_EXTRA, "pyspark.sql.functions")
_types: Any = imported(*_EXTRA, "pyspark.sql.types")
_errors: Any = imported(*_EXTRA, "pyspark.errors")
_pa: Any = imported(*_EXTRA, "pyarrow")
_compute: Any = imported(*_EXTRA, "pyarrow.compute")

CELL = "partial binary"  # what a task sends: a partial result, as a stream of Arrow's
ROWS = 1 << 19  # that a task evaluates at once, but for a query that has more
NOTE = "what irbatch says of it: "  # before an error's fields, in the text of a failed task
PYTHONS = r"different version: ([\d.]+) than that in driver: ([\d.]+)"  # as Spark says it
ABSENT = r"^(?:ModuleNotFound|Import)Error: (.*)$"
KINDS = {"string": "str", "bigint": "int"}

Typed = dict[str, tuple[Any, str]]
"""Role to a column and the type that it is to be cast to."""

TEXT = (_types.StringType, _types.VarcharType, _types.CharType)
WHOLE = (_types.ByteType, _types.ShortType, _types.IntegerType, _types.LongType)
REAL = (*WHOLE, _types.FloatType, _types.DoubleType, _types.BooleanType)


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    keep: str = "queries",
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    partitions: int | None = None,
    name: str | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Results:
    """Evaluate one system; the same bits as `irbatch.evaluate` of the same rows.

    Args:
        qrels: a DataFrame, one row a judged document, or whatever `irbatch.evaluate` takes.
        run: a DataFrame, one row a retrieved document.
        measures, cutoffs, **settings: as in `irbatch.evaluate`. ``ties="index"``, `order_by` and
            `progress` have no meaning here, and `threads` is 1 a task.
        keep: ``"queries"``, values of all queries, which come to the driver; or ``"sums"``, of
            which each task sends some hundred bytes a measure, and no query is ever held twice.
        qrels_columns, run_columns: what the columns are called, by role, such as
            ``{"query": "topic"}``; default: names known from other tools, as in
            `irbatch.Run.from_table`.
        partitions: how many tasks evaluate; default: as Spark is configured to shuffle.
        name: the system's.

    Raises:
        InputError: before a job starts, if columns lack or are of other types than ids and
            numbers can be, or an option can't be had; and as `irbatch.evaluate`, naming the query
            and the document, from whatever task it was found in.
        RuntimeError: if the tasks run another Python than this one.
        ImportError: if irbatch or what it needs is not installed where they run.
    """
    check_settings(evaluate, settings)
    task = Task.choose(measures, cutoffs, keep, **settings)
    rows, task = _rows(task, qrels, run, qrels_columns, run_columns, partitions)
    with input_errors():
        cells = rows.mapInArrow(functools.partial(_partials, task, ROWS), CELL).collect()
    items = settings.get("items")
    tables = (_pa.ipc.open_stream(each[0]).read_all() for each in cells)
    parts = [PartialResult.from_arrow(each, items=items) for each in tables]
    return merge_partials([*parts, task.nothing()]).results(items=items, name=name)


def per_query(
    qrels: Any,
    run: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    partitions: int | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Any:
    """Return the values of each query as a DataFrame that is computed when Spark is asked for it.

    Its columns are ``query_id`` and one a measure, called by its name; NaN where a query is not
    averaged. Errors of its tasks are Spark's; within `input_errors` they are `irbatch.InputError`.

    Args:
        qrels, run, measures, cutoffs, qrels_columns, run_columns, partitions, **settings: as in
            `evaluate`. What only all queries together can tell is not looked for: that none of
            them is judged, or with ``missing="error"`` that one is missing.

    Raises:
        InputError: before a job starts, as `evaluate`.
    """
    check_settings(per_query, settings)
    task = Task.choose(measures, cutoffs, "queries", **settings)
    rows, task = _rows(task, qrels, run, qrels_columns, run_columns, partitions)
    values = [_types.StructField(each, _types.DoubleType(), False) for each in task.names]
    query = _types.StructField("query_id", rows.schema["query"].dataType, False)
    return rows.mapInArrow(
        functools.partial(_values, task, ROWS), _types.StructType([query, *values])
    )


@contextmanager
def input_errors() -> Iterator[None]:
    """Raise what tasks refuse as `irbatch.InputError`, with its fields, not as Spark's error.

    That they run another Python than this one, or one that lacks irbatch, is told in a line, too.
    For what is done with the frame of `per_query`: ``with input_errors(): frame.collect()``.
    """
    try:
        yield
    except _errors.PySparkException as problem:
        text = str(problem)
        if found := re.search(f"^{NOTE}(.*)$", text, re.MULTILINE):
            raise _error_of(json.loads(found[1])) from problem
        name = "PYSPARK_PYTHON, set before the session starts,"
        if found := re.search(PYTHONS, text):
            told = f"Spark's tasks run Python {found[1]}, and this is Python {found[2]}"
            raise RuntimeError(f"{told}: {name} names the one that they are to run") from None
        if found := re.search(ABSENT, text, re.MULTILINE):
            told = f"Spark's tasks lack what they need ({found[1]}): install it where they run"
            raise ImportError(f"{told}; {name} names another Python") from None
        raise


def _partials(task: Task, size: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of one cell with a partial result: of each part, or the sum of their sums."""
    parts = _of_parts(task.partial, size, batches)
    if task.partition.keep == "sums":
        total = sum(parts)  # 0 of no part
        parts = iter([total] if isinstance(total, PartialResult) else [])
    for part in parts:
        table, sink = part.to_arrow(), _pa.BufferOutputStream()
        with _pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        yield _pa.RecordBatch.from_pydict({"partial": [sink.getvalue().to_pybytes()]})


def _values(task: Task, size: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of the values of queries."""
    for table in _of_parts(task.values, size, batches):
        yield from table.to_batches()


def _of_parts(work: Callable[[Any], Any], size: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield what comes of the rows of some queries at a time; errors bring their fields along."""
    try:
        yield from map(work, _whole_queries(batches, size))
    except InputError as problem:
        problem.add_note(NOTE + json.dumps(_fields_of(problem), default=str))
        raise


def _whole_queries(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Yield tables of about so many rows, cut where a query ends; rows are sorted by query."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if rows >= size:
            last = waiting[-1]["query"][-1]
            end = _compute.index(_compute.equal(batch["query"], last), False).as_py()
            if end >= 0:
                yield _pa.Table.from_batches([*waiting, batch.slice(0, end)])
                waiting, rows, batch = [], 0, batch.slice(end)
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
    if waiting:
        yield _pa.Table.from_batches(waiting)


def _rows(
    task: Task,
    qrels: Any,
    run: Any,
    qrels_columns: Columns,
    run_columns: Columns,
    parts: int | None,
) -> tuple[Any, Task]:
    """Return the rows of both, those of a query beside each other, and the task that reads them."""
    if not isinstance(run, _sql.DataFrame):
        problem = f"{kind_of(run)} is no DataFrame of Spark: irbatch.evaluate takes others"
        raise InputError(problem, source="run")
    for source, each in (("run", run), ("qrels", qrels)):
        if isinstance(each, _sql.DataFrame) and _is_stopped(each.sparkSession):
            raise InputError("the session of its DataFrame was stopped", source=source)
    ranked = _typed(run, "run", find_columns(run.columns, "run", run_columns or {}, "run_columns"))
    ranked[KIND] = _functions.lit(RANKED), "tinyint"
    if isinstance(qrels, _sql.DataFrame):
        names = find_columns(qrels.columns, task.judgments, qrels_columns or {}, "qrels_columns")
        judged = _typed(qrels, task.judgments, names)
        judged[KIND] = _functions.lit(JUDGED), "tinyint"
    else:
        table = rows_of(task.partition.evaluation.judgments(qrels))
        task = replace(task, prepared=True)
        qrels = run.sparkSession.createDataFrame(table)
        names = {role: role for role in table.column_names if role != KIND}
        judged = _typed(qrels, task.judgments, names)
        judged[KIND] = _functions.col(KIND), "tinyint"
    check_kinds(_kinds(judged), _kinds(ranked))
    types = {role: type for each in (judged, ranked) for role, (_, type) in each.items()}
    both = _laid_out(run, ranked, types).union(_laid_out(qrels, judged, types))
    together = both.repartition("query") if parts is None else both.repartition(parts, "query")
    return together.sortWithinPartitions("query"), task


def _is_stopped(session: Any) -> bool:
    """Tell whether a session was stopped, as PySpark tells it itself."""
    if hasattr(session, "is_stopped"):  # by Spark Connect
        return bool(session.is_stopped)
    return session.sparkContext._jsc is None


def _kinds(typed: Typed) -> dict[str, str]:
    """Say what ids are, by role."""
    return {role: KINDS[type] for role, (_, type) in typed.items() if type in KINDS}


def _laid_out(frame: Any, typed: Typed, types: Mapping[str, str]) -> Any:
    """Return a frame of columns of all roles, null where it has none."""
    none = _functions.lit(None), "void"
    columns = (typed.get(role, none)[0].cast(type).alias(role) for role, type in types.items())
    return frame.select(*columns)


def _typed(frame: Any, kind: str, names: Mapping[str, str]) -> Typed:
    """Return columns and the types they are to have; refuse those that can be no ids or numbers."""
    typed = {}
    for role, name in names.items():
        declared = frame.schema[name].dataType
        if isinstance(declared, _types.NullType):
            type = "double" if role in NUMBERS else "void"
        elif role in NUMBERS and isinstance(declared, REAL):
            exact = role == "grade" and isinstance(declared, _types.LongType)  # or else refused
            type = "bigint" if exact else "double"
        elif role not in NUMBERS and isinstance(declared, (*TEXT, *WHOLE)):
            type = "string" if isinstance(declared, TEXT) else "bigint"
        else:
            raise wrong_type(role, kind, declared.simpleString())
        typed[role] = _functions.col(f"`{name.replace('`', '``')}`"), type
    return typed


def _fields_of(problem: InputError) -> dict[str, Any]:
    """Return an error as JSON can have it."""
    fields = {name: getattr(problem, name) for name in ("message", *FIELDS)}
    others = [] if problem.problems == (problem,) else [*map(_fields_of, problem.problems)]
    return {**fields, "problems": others}


def _error_of(fields: dict[str, Any]) -> InputError:
    """Return the error that has these fields."""
    return InputError(**{**fields, "problems": [*map(_error_of, fields["problems"])]})
