"""Which queries are averaged, and their values: what every public verb comes down to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Positions
from irbatch.data.qrels import Qrels
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.errors import InputError, warn
from irbatch.evaluation.means import Counts
from irbatch.evaluation.results import EMPTY, MISSING, NO_RELEVANT, TIED, Results, mark_queries
from irbatch.evaluation.settings import Progress, Settings
from irbatch.measures import Plan
from irbatch.pack import Block
from irbatch.runtime.threads import check_threads

__all__ = [
    "Answers",
    "as_set",
    "average",
    "check_named_levels",
    "compute_values",
    "evaluate_blocks",
]


class Computed(NamedTuple):
    """What came of some queries.

    Args:
        values: float64 ``(queries, measures)``.
        no_relevant: bool ``(queries,)``, which have no document of grade 1 or more.
        empty: bool ``(queries,)``, which have an empty ranking.
        matched: whether any document retrieved is judged.
        tied: bool ``(queries,)``, which have ties whose order matters and was not decided by ids.
    """

    values: Floats
    no_relevant: Bools
    empty: Bools
    matched: bool
    tied: Bools


ENOUGH = 10  # queries in which some document should be judged, had ids the same spelling

SAMPLES = 3  # ids shown of each side when nothing matches


@dataclass(frozen=True)
class Answers:
    """The queries a system has a ranking for.

    Args:
        queries: their ids, as keys.
        kind: the kind the ids are of, see `irbatch.data.arguments.ids`.
        name: the system's.
    """

    queries: Mapping[Any, Any]
    kind: str | None
    name: str | None = None


def compute_values(
    plan: Plan,
    blocks: Iterable[Block],
    queries: int,
    settings: Settings,
    threads: int | None,
    progress: Progress | None = None,
) -> Computed:
    """Scan blocks and collect every measure's values."""
    check_threads(threads)
    values = np.zeros((queries, len(plan.measures)))
    no_relevant = np.zeros(queries, bool)
    empty = np.zeros(queries, bool)
    tied = np.zeros(queries, bool)
    done = 0
    matched = False
    for block in blocks:
        plan.check_levels(block.matrix.levels)
        matrix = as_set(block.matrix, settings)
        values[block.rows] = plan.values(
            matrix, skip_no_relevant=settings.no_relevant == "skip", threads=threads
        )
        relevant = matrix.judged[:, matrix.levels >= 1].sum(axis=1)
        no_relevant[block.rows] = relevant == 0
        empty[block.rows] = block.matrix.retrieved == 0
        matched = matched or block.matrix.has_judged()
        if block.tied is not None:
            tied[block.rows] = block.tied
        done += block.rows.size
        if progress is not None:
            progress(done, queries)
    return Computed(values, no_relevant, empty, matched, tied)


def as_set(matrix: RelevanceMatrix, settings: Settings) -> RelevanceMatrix:
    """Remove what is not to be seen of a block: the far ranks first, then the unjudged."""
    if settings.max_depth is not None:
        matrix = matrix.truncated(int(settings.max_depth))
    return matrix.condensed() if settings.judged_only else matrix


def evaluate_blocks(
    plan: Plan,
    qrels: Qrels,
    answers: Answers,
    pack: Callable[[Positions], Iterable[Block]],
    settings: Settings,
    order: str,
    threads: int | None,
    progress: Progress | None = None,
) -> Results:
    """Choose the queries to average, have them packed, and compute every measure.

    Args:
        plan: the measures.
        qrels: the judgments.
        answers: the queries that have a ranking.
        pack: positions in `qrels.queries` to blocks of them.
        settings: how to average.
        order: what the rankings' order came from, for the signature.
        threads: how many threads scan.
        progress: called with queries done and queries in all.

    Raises:
        InputError: when no query is both judged and answered, or one is missing against the
            settings.
    """
    check_named_levels(plan, qrels)
    return average(
        plan,
        qrels,
        answers,
        lambda rows: compute_values(plan, pack(rows), rows.size, settings, threads, progress),
        settings,
        order,
    )


def average(
    plan: Plan,
    qrels: Qrels,
    answers: Answers,
    compute: Callable[[Positions], Computed],
    settings: Settings,
    order: str,
) -> Results:
    """Choose the queries to average, and make results of their values.

    Args:
        plan, qrels, answers, settings, order: as in `evaluate_blocks`.
        compute: positions in `qrels.queries` to what `compute_values` returns.

    Raises:
        InputError: as `evaluate_blocks`.
    """
    answered = np.fromiter(map(answers.queries.__contains__, qrels.queries), bool, len(qrels))
    absent = [qrels.queries[row] for row in np.flatnonzero(~answered)]
    if len(absent) == len(qrels):
        _refuse_no_overlap(qrels, answers)
    if absent and settings.missing == "error":
        raise InputError(
            f"{len(absent)} of {len(qrels)} judged queries are missing, such as "
            f'{_samples(absent)}; missing="zero" scores them 0, "skip" leaves them out',
            source="run",
            path=answers.name,
        )
    rows = np.flatnonzero(answered) if settings.missing == "skip" else np.arange(len(qrels))
    values, no_relevant, empty, matched, tied = compute(rows)
    found = len(qrels) - len(absent)
    if not matched and qrels.codes.size and found >= ENOUGH:
        called = f" {answers.name!r}" if answers.name else ""
        sample = next(iter(next(filter(None, qrels.documents))))
        warn(f"run{called}: none of its documents is judged; are ids spelled as in the qrels, "
             f"such as {sample!r}?")  # fmt: skip
    counts = Counts(
        queries=rows.size,
        judged=len(qrels),
        answered=found,
        missing=len(absent),
        extra=len(answers.queries) - found,
        no_relevant=int(no_relevant.sum()),
        empty=int(empty[answered[rows]].sum()),
        tied=int(tied.sum()),
    )
    query_ids = [qrels.queries[row] for row in rows]
    there = answered[rows]
    marks = mark_queries(
        {NO_RELEVANT: no_relevant, EMPTY: empty & there, TIED: tied, MISSING: ~there}
    )
    signature = settings.signature(order)
    return Results(values, query_ids, plan.measures, counts, signature, answers.name, marks)


def check_named_levels(plan: Plan, qrels: Qrels) -> None:
    """Check the grades, with names: the plan knows levels, not whose they are.

    Raises:
        InputError: as `Plan.check_levels`, naming query and document.
    """
    try:
        plan.check_levels(qrels.levels)
    except InputError as problem:
        query, document = qrels.first_of(problem.value)
        raise problem.placed(
            source="qrels", path=qrels.name, query=query, document=document
        ) from None


def _refuse_no_overlap(qrels: Qrels, answers: Answers) -> None:
    """Refuse rankings of other queries; warn when there are none at all."""
    if not answers.queries:
        called = f" {answers.name!r}" if answers.name else ""
        warn(f"run{called} is empty: every query scores 0")
        return
    kinds = ""
    if qrels.query_kind != answers.kind:
        kinds = (f"; ids are {qrels.query_kind} in the qrels and {answers.kind} in the run: make "
                 f"both text, as they are in text files")  # fmt: skip
    raise InputError(
        f"no query of it is judged (of {len(answers.queries)}): qrels have "
        f"{_samples(qrels.queries)}, the run has {_samples(answers.queries)}{kinds}",
        source="run",
        path=answers.name,
    )


def _samples(ids: Iterable[Any]) -> str:
    shown = [repr(each) for each, _ in zip(ids, range(SAMPLES + 1), strict=False)]
    return ", ".join(shown[:SAMPLES]) + (", …" if len(shown) > SAMPLES else "")
