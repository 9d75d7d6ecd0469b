"""Spark: judgments and rankings in its DataFrames, evaluated where they are.

    from irbatch.integrations import spark

    means = spark.evaluate(qrels, run, "nDCG@10 AP", keep="sums")

The rows of a query are brought together by a shuffle; no row goes through pandas. irbatch must be
installed where Spark's tasks run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Unpack

from irbatch.errors import FIELDS, InputError, imported
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.partial import PartialResult
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.integrations.shuffled import BUCKET, Task, check_frame

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
    apart = isinstance(qrels, _sql.DataFrame)
    task = Task.choose(measures, cutoffs, keep, apart=apart, **settings)
    check_frame(run, _sql.DataFrame, "Spark")
    count = partitions or int(run.sparkSession.conf.get(PARTITIONS))
    ranked = _in_buckets(task, run, "run", count)
    if apart:
        judgments = None
        both = _in_buckets(task, qrels, "qrels", count).cogroup(ranked)
        cells = both.applyInArrow(lambda ours, rows: _evaluate_pair(task, ours, rows), CELL)
    else:
        judgments = task.evaluation.judgments(qrels)
        cells = ranked.applyInArrow(lambda rows: _evaluate_rows(task, judgments, rows), CELL)
    items = task.evaluation.items
    parts = [_read_cell(bytes(cell[0]), items) for cell in cells.collect()]
    return task.sum_up(parts, judgments)


def _in_buckets(task: Task, frame: Any, source: str, count: int) -> Any:
    """Return the columns that are read of a frame, grouped so that a query is in one group."""
    columns = task.columns_read(frame.columns, source)
    by_name = {name: _functions.col(f"`{name.replace('`', '``')}`") for name in columns.values()}
    query = by_name[columns["query"]].cast("string")  # the same for an id whatever its type is
    bucket = _functions.pmod(_functions.hash(query), _functions.lit(count)).alias(BUCKET)
    return frame.select(*by_name.values(), bucket).groupBy(BUCKET)


def _evaluate_pair(task: Task, judged: Any, ranked: Any) -> Any:
    return _cell(lambda: task.evaluate_bucket(_rows(judged), _rows(ranked)))


def _evaluate_rows(task: Task, judgments: Any, ranked: Any) -> Any:
    return _cell(lambda: task.evaluate_bucket(judgments, _rows(ranked)))


def _rows(table: Any) -> Any:
    """Return rows without the number of their bucket; an empty side has no columns."""
    return table.drop_columns([BUCKET]) if BUCKET in table.column_names else table


def _cell(evaluate: Callable[[], Any]) -> Any:
    """Return a table of one cell: what comes back or, as Spark would lose its fields, an error."""
    try:
        cell = json.dumps(evaluate().state_dict()).encode()
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
