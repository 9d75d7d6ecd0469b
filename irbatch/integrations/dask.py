"""Dask: judgments and rankings in its frames, evaluated where they are.

    from irbatch.integrations import dask

    means = dask.evaluate(qrels, run, "nDCG@10 AP", keep="sums")

A run whose partitions have whole queries is evaluated as it stands. The rows of others are brought
together by a shuffle of Dask's, for which the run is computed once more (`persist` keeps it).
irbatch must be installed where the workers run: those of the client made last, or of ``with
client.as_current():``. Bags and delayed parts become frames by Dask itself: ``bag.to_dataframe()``,
``dask.dataframe.from_delayed(parts)``.
"""

from __future__ import annotations

from typing import Any, Unpack
from uuid import uuid4

from irbatch.errors import InputError, imported
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.partial import PartialResult, merge_partials
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.integrations.shuffled import BUCKET, Task

__all__ = ["evaluate"]

_EXTRA = ("Dask", "dask")
_dask: Any = imported(*_EXTRA, "dask")
_frames: Any = imported(*_EXTRA, "dask.dataframe")
_pd: Any = imported(*_EXTRA, "pandas")

AT_ONCE = 8  # partial results that a task adds up
SHUFFLE = "tasks"  # by any scheduler; and what a worker lost is done again, unlike by "p2p"


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
        qrels: a dask frame, one row a judged document; or whatever `irbatch.evaluate` takes, which
            is sent to the workers: large ones are better a frame.
        run: a dask frame, one row a retrieved document. Rows of a query may be in any partitions.
        measures, cutoffs, **settings: as in `irbatch.evaluate`. ``ties="index"``, `order_by` and
            `progress` have no meaning here, and `threads` is 1 a task.
        keep: ``"queries"``, values of all queries, which come to the caller; or ``"sums"``, some
            hundred bytes a measure.
        partitions: into how many parts the run is shuffled, each of which one task evaluates as a
            whole; default: it is shuffled only where it must be, into as many as it has.

    Raises:
        InputError: before anything is computed, if a frame lacks a column or an option can't be
            had; and as `irbatch.evaluate`, naming the query and the document, from the workers.
    """
    check_settings(evaluate, settings)
    frame = _frames.DataFrame, "Dask"
    task = Task.choose(qrels, run, frame, measures, cutoffs, keep, **settings)
    # Not looked into: Dask cannot hash formulas.
    held = _dask.delayed(task, name=f"irbatch-{uuid4().hex}", traverse=False)
    evaluate_bucket = _dask.delayed(Task.evaluate_bucket)
    if task.judgments is not None and partitions is None:
        stands = _columns_read(task, run, "run")[0].to_delayed()
        parts = [evaluate_bucket(held, None, rows) for rows in stands]
        while len(parts) > 1:  # on the workers: nothing is kept of what is found to be in parts
            starts = range(0, len(parts), AT_ONCE)
            parts = [_dask.delayed(_add)(*parts[start : start + AT_ONCE]) for start in starts]
        (total,) = _dask.compute(*parts)
        if total is not None:
            return task.sum_up([total])
    count = partitions or run.npartitions
    ranked, judged = _in_buckets(task, run, "run", count), [None] * count
    if task.judgments is None:
        judged = _in_buckets(task, qrels, "qrels", count)
    parts = [evaluate_bucket(held, *both) for both in zip(judged, ranked, strict=True)]
    return task.sum_up(_dask.compute(*parts))


def _add(*parts: Any) -> PartialResult | None:
    """Return the sum of partial results; None if a query is in two of them, or one is None."""
    try:
        return merge_partials(parts)
    except InputError:
        return None


def _columns_read(task: Task, frame: Any, source: str) -> tuple[Any, str]:
    """Return a frame of the columns that are read, and what that of queries is called."""
    if frame.index.name is not None:
        frame = frame.reset_index()
    columns = task.columns_read(frame.columns, source)
    return frame[[*columns.values()]], columns["query"]


def _in_buckets(task: Task, frame: Any, source: str, count: int) -> list[Any]:
    """Return delayed frames of a frame's rows, those of a query in one of them."""
    frame, name = _columns_read(task, frame, source)
    query = frame[name]
    frame = frame.assign(**{BUCKET: query.map_partitions(_hash, meta=(BUCKET, "int64"))})
    method = _dask.config.get("dataframe.shuffle.method", None) or SHUFFLE
    buckets = frame.shuffle(BUCKET, npartitions=count, shuffle_method=method)
    return buckets.drop(columns=BUCKET).to_delayed()


def _hash(queries: Any) -> Any:
    """Return a number for each query, the same for an id whatever its column's type is."""
    texts = queries.astype(str).to_numpy(object)
    return _pd.Series(_pd.util.hash_array(texts).astype("int64"), index=queries.index)
