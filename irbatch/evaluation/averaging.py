"""Which queries are averaged, and the results of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bools, Positions
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn
from irbatch.evaluation.counts import Counts, QueryMark, count_queries
from irbatch.evaluation.pipeline import Computed, compute_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import Progress, Settings
from irbatch.measures import Plan

if TYPE_CHECKING:
    from irbatch.formats.file_reader import Reader

ENOUGH = 10  # queries in which some document should be judged, had ids the same spelling
SAMPLES = 3  # ids shown of each side when nothing matches


def evaluate_run(
    plan: Plan,
    qrels: Qrels,
    run: Run | Reader,
    settings: Settings,
    order: str,
    threads: int | None,
    progress: Progress | None = None,
    *,
    in_order: bool = False,
) -> Results:
    """Choose the queries to average, and return their results; see `compute_run`.

    Args:
        order: what the rankings' order came from, for the signature.

    Raises:
        InputError: if no query is both judged and answered, or one is missing against the
            settings.
    """

    def choose(answered: Collection[Any]) -> Positions:
        there = np.fromiter(map(answered.__contains__, qrels.queries), bool, len(qrels))
        _check_answered(there, qrels, run, answered, settings.missing)
        return np.flatnonzero(there) if settings.missing == "skip" else np.arange(len(qrels))

    computed = compute_run(plan, qrels, run, choose, settings, threads, progress, in_order=in_order)
    queries = [qrels.queries[row] for row in computed.rows]
    matched = len(queries) - int(np.count_nonzero(QueryMark.MISSING.holds(computed.marks)))
    counts = count_queries(computed.marks, len(qrels), len(computed.answered) - matched)
    if not computed.any_judged and qrels.codes.size and counts.answered >= ENOUGH:
        sample = next(iter(next(filter(None, qrels.documents))))
        spelled = f"are ids spelled as in the qrels, such as {sample!r}?"
        warn(f"{_called(run.name)}: none of its documents is judged; {spelled}")
    return make_results(computed, queries, order, counts, run.name)


def make_results(
    computed: Computed,
    query_ids: Sequence[Any],
    order: str,
    counts: Counts | None = None,
    name: str | None = None,
) -> Results:
    """Return results; `counts` default to those of queries all judged and answered."""
    measures, settings = computed.plan.measures, computed.settings.signature(order)
    counts = counts or count_queries(computed.marks)
    return Results(computed.values, query_ids, measures, counts, settings, name, computed.marks)


def _check_answered(
    there: Bools, qrels: Qrels, run: Run | Reader, answered: Collection[Any], missing: str
) -> None:
    """Refuse a run of other queries, or one that lacks queries against the settings."""
    refuse = functools.partial(InputError, source="run", path=run.name)
    absent = [qrels.queries[row] for row in np.flatnonzero(~there)]
    if len(absent) == len(qrels) and answered:
        kinds = ""
        if qrels.query_kind != run.query_kind:
            kinds = (
                f"; ids are {qrels.query_kind} in the qrels and {run.query_kind} in the run: make "
                "both text, as they are in text files"
            )
        raise refuse(
            f"no query of it is judged (of {len(answered)}): qrels have "
            f"{_samples(qrels.queries)}, the run has {_samples(answered)}{kinds}"
        )
    if not answered:
        warn(f"{_called(run.name)} is empty: every query scores 0")
    if absent and missing == "error":
        raise refuse(
            f"{len(absent)} of {len(qrels)} judged queries are missing, such as "
            f'{_samples(absent)}; missing="zero" scores them 0, "skip" leaves them out'
        )


def _called(name: str | None) -> str:
    return f"run {name!r}" if name else "run"


def _samples(ids: Iterable[Any]) -> str:
    shown = [repr(each) for each in itertools.islice(ids, SAMPLES + 1)]
    return ", ".join(shown[:SAMPLES]) + (", …" if len(shown) > SAMPLES else "")
