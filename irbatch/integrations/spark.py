"""Spark: judgments and rankings in its DataFrames, evaluated where they are.

    from irbatch.integrations import spark

    means = spark.evaluate(qrels, run, "nDCG@10 AP", keep="sums")

The rows of a query are brought together by a shuffle; no row goes through pandas. irbatch must be
installed where Spark's tasks run.
"""

from __future__ import annotations

import json
from typing import Any, Unpack

from irbatch.errors import FIELDS, InputError, imported
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.partial import PartialResult
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.integrations.shuffled import BUCKET, Task

__all__ = ["evaluate"]

_EXTRA = ("Spark", "spark")
_sql: Any = imported(*_EXTRA, "pyspark.sql")
_functions: Any = imported(*_EXTRA, "pyspark.sql.functions")
_pa: Any = imported(*_EXTRA, "pyarrow")

CELL = "partial binary"  # what a task sends: a partial result, or an error, in JSON
PARTITIONS = "spark.sql.shuffle.partitions"


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    keep: str = "queries",
    partitions: int | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Results:
    """Evaluate one system; the same bits as `irbatch.evaluate` of the same rows.

    Args:
        qrels, run, measures, cutoffs, keep, **settings: as of `irbatch.integrations.dask.evaluate`,
            whose frames are Spark's DataFrames here.
        partitions: how many parts are evaluated, each held by a task as a whole; default: as Spark
            is configured to shuffle.

    Raises:
        InputError: as there; what can be seen before a job starts, before.
    """
    check_settings(evaluate, settings)
    frame = _sql.DataFrame, "Spark"
    task = Task.choose(qrels, run, frame, measures, cutoffs, keep, **settings)
    count = partitions or int(run.sparkSession.conf.get(PARTITIONS))
    ranked = _in_buckets(task, run, "run", count)
    if task.judgments is None:
        both = _in_buckets(task, qrels, "qrels", count).cogroup(ranked)
        cells = both.applyInArrow(lambda judged, rows: _evaluate(task, judged, rows), CELL)
    else:
        cells = ranked.applyInArrow(lambda rows: _evaluate(task, None, rows), CELL)
    items = task.evaluation.items
    return task.sum_up(_read_cell(bytes(cell[0]), items) for cell in cells.collect())


def _in_buckets(task: Task, frame: Any, source: str, count: int) -> Any:
    """Return the columns that are read of a frame, grouped so that a query is in one group."""
    columns = task.columns_read(frame.columns, source)
    by_name = {name: _functions.col(f"`{name.replace('`', '``')}`") for name in columns.values()}
    query = by_name[columns["query"]].cast("string")  # the same for an id whatever its type is
    bucket = _functions.pmod(_functions.hash(query), _functions.lit(count)).alias(BUCKET)
    return frame.select(*by_name.values(), bucket).groupBy(BUCKET)


def _evaluate(task: Task, *tables: Any) -> Any:
    """Return a table of one cell: a bucket's part or, as Spark would lose its fields, an error."""
    # Rows are sent without the number of their bucket; an empty side has no columns.
    both = [
        table.drop_columns([BUCKET]) if BUCKET in getattr(table, "column_names", ()) else table
        for table in tables
    ]
    try:
        cell = json.dumps(task.evaluate_bucket(*both).state_dict()).encode()
    except InputError as problem:
        fields = {name: getattr(problem, name) for name in ("message", *FIELDS)}
        cell = json.dumps(fields, default=str).encode()
    return _pa.table({"partial": _pa.array([cell], _pa.binary())})


def _read_cell(cell: bytes, items: Any) -> PartialResult:
    """Return what a cell has, or raise its error."""
    state = json.loads(cell)
    if "message" in state:
        raise InputError(**state)
    return PartialResult.from_state(state, items=items)
