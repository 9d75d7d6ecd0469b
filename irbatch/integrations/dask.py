"""Dask: judgments and rankings in its frames, bags or delayed parts, evaluated where they are.

    from irbatch.integrations import dask

    means = dask.evaluate(qrels, run, "nDCG@10 AP", keep="sums", client=client)
    dask.per_query(qrels, run, "nDCG@10 AP").to_parquet("values")

The rows of a query are brought together by a shuffle of Dask's. irbatch must be installed where its
workers run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, Unpack

from irbatch.errors import InputError, imported, kind_of
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.partial import PartialResult, merge_partials
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.integrations.dask_rows import rows_together
from irbatch.integrations.shuffled import Columns, Task

__all__ = ["evaluate", "per_query"]

_EXTRA = ("Dask", "dask")
_dask: Any = imported(*_EXTRA, "dask")
_delayed: Any = imported(*_EXTRA, "dask.delayed")
_distributed: Any = imported(*_EXTRA, "distributed")
_pd: Any = imported(*_EXTRA, "pandas")
_pa: Any = imported(*_EXTRA, "pyarrow")

MERGED = 16  # partial results that one task merges
PATIENCE = "10s"  # until a scheduler has answered


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    keep: str = "queries",
    client: Any = None,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    partitions: int | None = None,
    name: str | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Results:
    """Evaluate one system; the same bits as `irbatch.evaluate` of the same rows.

    Args:
        qrels: a dask frame, one row a judged document, a bag of such records, a list of delayed
            parts; or whatever `irbatch.evaluate` takes, which goes along with the tasks: large
            ones are better a frame.
        run: a dask frame, one row a retrieved document, a bag of such records, or a list of delayed
            parts, each of which is what `irbatch.evaluate` takes. A query may be spread over parts.
        measures, cutoffs, **settings: as in `irbatch.evaluate`. ``ties="index"``, `order_by` and
            `progress` have no meaning here, and `threads` is 1 a task.
        keep: ``"queries"``, values of all queries, which come to the caller; or ``"sums"``, some
            hundred bytes a measure.
        client: a `distributed.Client`, a cluster of Dask's, or a scheduler's address; default: as
            Dask is configured.
        qrels_columns, run_columns: what the columns are called, by role, such as
            ``{"query": "topic"}``; default: names known from other tools, as in
            `irbatch.Run.from_table`.
        partitions: how many parts are evaluated, each as a whole by one task; default: as many as
            the run has.
        name: the system's.

    Raises:
        InputError: before anything is computed, if columns of a frame lack or are of other types
            than ids and numbers can be, or an option can't be had; and as `irbatch.evaluate`.
        ConnectionError: if the scheduler doesn't answer, or no longer; or the client is closed.
    """
    check_settings(evaluate, settings)
    task = Task.choose(measures, cutoffs, keep, **settings)
    with _connected(client):
        rows, task = rows_together(task, qrels, run, qrels_columns, run_columns, partitions)
        held = _delayed.delayed(task, traverse=False)
        parts = [_delayed.delayed(_partial)(held, each) for each in rows.to_delayed()]
        while len(parts) > 1:
            some = (parts[i : i + MERGED] for i in range(0, len(parts), MERGED))
            parts = [_delayed.delayed(merge_partials)(each) for each in some]
        (total,) = _dask.compute(*parts)
    return merge_partials([total, task.nothing()]).results(items=settings.get("items"), name=name)


def per_query(
    qrels: Any,
    run: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    client: Any = None,
    qrels_columns: Columns = None,
    run_columns: Columns = None,
    partitions: int | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Any:
    """Return the values of each query as a dask frame, computed when Dask is asked for it.

    Its columns are ``query_id`` and one a measure, called by its name; NaN where a query is not
    averaged.

    Args:
        qrels, run, measures, cutoffs, qrels_columns, run_columns, partitions, **settings: as in
            `evaluate`. What only all queries together can tell is not looked for: that none of
            them is judged, or with ``missing="error"`` that one is missing.
        client: as in `evaluate`; where parts are delayed, it looks at the first one now. The frame
            is computed as Dask is configured then, or by ``client.compute(frame)``.

    Raises:
        InputError: as `evaluate`; what is wrong with rows, when the frame is computed.
        ConnectionError: as `evaluate`.
    """
    check_settings(per_query, settings)
    task = Task.choose(measures, cutoffs, "queries", **settings)
    with _connected(client):
        rows, task = rows_together(task, qrels, run, qrels_columns, run_columns, partitions)
    query = {"query_id": rows.dtypes["query"]}
    columns = {**query, **dict.fromkeys(task.names, "float64")}
    meta = _pd.DataFrame({role: _pd.Series(dtype=type) for role, type in columns.items()})
    return rows.map_partitions(_values, task, columns, meta=meta)


@contextmanager
def _connected(given: Any) -> Iterator[None]:
    """Have a client's scheduler compute, or a cluster's; one that is lost is told."""
    if given is None:
        try:
            given = _distributed.default_client()
        except ValueError:  # there is none: Dask's own threads
            yield
            return
    client = given if isinstance(given, _distributed.Client) else _connect(given)
    try:
        if client.asynchronous:
            problem = "is asynchronous, and this waits for it: give its scheduler's address"
            raise InputError(f"client {problem}", source="client", value=client)
        if client.status != "running":
            raise _lost(client)
        with client.as_current():
            yield
    except (CancelledError, OSError) as problem:
        if client.status == "running" or isinstance(problem, ConnectionError):
            raise
        raise _lost(client) from problem
    finally:
        if client is not given:
            client.close()


def _connect(given: Any) -> Any:
    """Return a client of the scheduler at an address, or of a cluster."""
    if not isinstance(given, str | _distributed.deploy.Cluster):
        problem = f"is a Client, a cluster of Dask's or an address, not {kind_of(given)}"
        raise InputError(problem, source="client", value=given)
    try:
        return _distributed.Client(given, timeout=PATIENCE, set_as_default=False)
    except (OSError, RuntimeError, ValueError) as problem:  # of no scheme, or a cluster that ended
        where = given if isinstance(given, str) else given.name
        raise ConnectionError(f"no scheduler of Dask's answers at {where}: {problem}") from problem


def _lost(client: Any) -> ConnectionError:
    if client.status in ("closed", "closing"):
        return ConnectionError("the client of Dask's is closed, perhaps with its scheduler")
    address = client.scheduler.address if client.scheduler else "its address"
    return ConnectionError(f"the scheduler of Dask's at {address} doesn't answer: is it running?")


def _partial(task: Task, rows: Any) -> PartialResult:
    return task.partial(_pa.Table.from_pandas(rows, preserve_index=False))


def _values(rows: Any, task: Task, types: Mapping[str, Any]) -> Any:
    table = task.values(_pa.Table.from_pandas(rows, preserve_index=False))
    return table.to_pandas().astype(types)
