"""What Dask and Spark share: the engine puts all rows of a query into one bucket.

A bucket has whole queries, and no other bucket has rows of them. Its rows go to a worker as a
table, as they are; what is wrong with them is said there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from irbatch.data.column_names import choose_columns, names_for
from irbatch.data.runs import Run
from irbatch.errors import InputError, kind_of
from irbatch.evaluation.evaluation import Cutoffs, Measures, judgments_read
from irbatch.evaluation.partial import PartialResult, PartitionTask, merge_partials
from irbatch.evaluation.results import Results

BUCKET = "irbatch_bucket"
"""The column that an engine brings rows together by."""


def choose_task(
    measures: Measures, cutoffs: Cutoffs, keep: str, *, apart: bool, **settings: Any
) -> PartitionTask:
    """Return what each bucket is asked for.

    Args:
        measures, cutoffs, keep, **settings: as of `irbatch.evaluate_partition`.
        apart: whether judgments are in the buckets, too.

    Raises:
        InputError: if an option can't be had, or asks for what shuffled rows don't have.
    """
    if settings.get("ties") == "index":
        problem = "rows that were shuffled have no order: ties='index' has no meaning"
        raise InputError(problem, source="ties", value="index")
    if (order := settings.get("order_by", "score")) != "score":
        problem = "order_by= is for files, which have ranks and scores"
        raise InputError(problem, source="order_by", value=order)
    if settings.pop("progress", None) is not None:
        raise InputError("the engine shows its own progress", source="progress")
    settings["threads"] = settings.get("threads") or 1  # a core has a task of its own
    return PartitionTask.choose(measures, cutoffs, keep=keep, apart=apart, **settings)


def check_frame(run: Any, kind: type, engine: str) -> None:
    """Reject a run that is not a frame of an engine's."""
    if not isinstance(run, kind):
        problem = f"{kind_of(run)} is not a DataFrame of {engine}: irbatch.evaluate takes others"
        raise InputError(problem, source="run")


def columns_read(task: PartitionTask, names: Iterable[str], source: str) -> dict[str, str]:
    """Return the columns of a frame that are read, by role; it is the ``"run"`` or ``"qrels"``."""
    reads = judgments_read(task.evaluation.measures) or "qrels"
    kind = "run" if source == "run" else reads
    return choose_columns(list(names), kind, names_for(task.evaluation.columns, kind))


def evaluate_bucket(task: PartitionTask, judged: Any, ranked: Any) -> PartialResult:
    """Return what a bucket comes to.

    Args:
        task: what is asked for.
        judged: its judgments, a table; or all judgments, where they aren't in buckets.
        ranked: its rankings, a table.

    Raises:
        InputError: naming query, document and value of what cannot be evaluated.
    """
    if task.apart and not len(judged):
        judged = None
    return task.partial(judged, ranked if len(ranked) else Run({}))


def sum_up(
    task: PartitionTask, parts: Iterable[PartialResult], judgments: Any, name: str | None
) -> Results:
    """Return the results of all buckets; of none, those of an empty run."""
    judgments = None if task.apart else judgments
    nothing = task.partial(judgments, Run({}))
    total = merge_partials([nothing, *parts])
    return total.results(judgments, items=task.evaluation.items, name=name)
