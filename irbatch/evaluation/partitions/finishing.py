"""From the sum of partial results to results: what only all partitions together can tell."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from irbatch.array_types import Bools
from irbatch.data.ids import IdHashes, hash_ids
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn_all
from irbatch.evaluation.answered import (
    Partition,
    Queries,
    check_answered,
    warn_of_empty,
    warn_of_unjudged,
)
from irbatch.evaluation.counts import Counts, best_without, count_queries, warn_of_best
from irbatch.evaluation.means import Means, nothing_relevant
from irbatch.evaluation.partitions.findings import Findings, by_id, first_ids
from irbatch.evaluation.partitions.kept import QueryValues
from irbatch.evaluation.partitions.rows import Addition
from irbatch.evaluation.partitions.sums import Sums
from irbatch.evaluation.results import Results
from irbatch.evaluation.task import Evaluation


def add_absent(
    evaluation: Evaluation,
    kept: QueryValues | Sums,
    hashes: IdHashes,
    findings: Findings,
    judgments: Qrels | MarkedQrels,
) -> tuple[QueryValues | Sums, Findings]:
    """Add the judged queries that no partition answered, as ``missing=`` says; and count them."""
    rows = np.flatnonzero(~_find(judgments.queries, kept, hashes))
    absent = [judgments.queries[row] for row in rows.tolist()]
    samples = {"judged": first_ids(judgments.queries), "missing": first_ids(absent)}
    findings = replace(findings, judged=len(judgments), samples={**findings.samples, **samples})
    if not absent or evaluation.settings.missing != "zero":
        return kept, findings
    # Without rankings it makes no difference what orders documents, or what they cost.
    plain = replace(evaluation, order_by="score", costs=None)
    found = plain.evaluate(judgments, Run({}), None, Partition(absent=rows))
    best = best_without(found.columns, found.values, found.marks)
    ids = found.query_ids if isinstance(kept, QueryValues) else None
    kept = kept.added([Addition(ids, found)])
    return kept, replace(findings, best=(*findings.best, *best))


def _find(queries: list[Any], kept: QueryValues | Sums, hashes: IdHashes) -> Bools:
    """Tell which of the judged queries partitions have answered."""
    if isinstance(kept, Sums):
        there = np.isin(hash_ids(queries), hashes)
    else:
        there = kept.rows_of(queries) >= 0
    if np.count_nonzero(there) != len(kept):
        problem = f"only {np.count_nonzero(there)} of its {len(kept)} queries are judged"
        raise InputError(problem, source="partial")
    return there


def finish(
    evaluation: Evaluation,
    kept: QueryValues | Sums,
    findings: Findings,
    settings: dict[str, str],
    order: list[Any] | None,
    name: str | None,
) -> Results | Means:
    """Return results in an order of queries, None for that of their ids; say what there is to say.

    `kept` has every query that is averaged.
    """
    extra = findings.extra if isinstance(findings.extra, int) else findings.extra.size
    if isinstance(kept, Sums):
        results: Results | Means = kept.results(settings)
        results.counts = _counts(results.counts, findings.judged, extra)
    else:
        results = _results(kept, findings.judged, extra, settings, order)
    results.name = name
    counts = results.counts
    samples = {each: findings.samples.get(each, ()) for each in ("judged", "missing", "answered")}
    judged, missing, answered = samples.values()
    check_answered(
        Queries(counts.judged, judged), Queries(counts.missing, missing),
        Queries(counts.answered + extra, answered), evaluation.settings.missing, name,
    )  # fmt: skip
    warn_all((*findings.warnings, *nothing_relevant(results)))
    found: Collection[str] = findings.best
    if isinstance(results, Results):  # of what is kept now: some queries may have been left out
        found = best_without(results.columns, results.values, results.marks)
    warn_of_best([each for each in map(str, evaluation.measures) if each in found])
    warn_of_empty(counts, evaluation.settings, name)
    if not findings.any_judged:
        documents = findings.samples.get("document", ())
        warn_of_unjudged(next(iter(documents), None), counts.answered, name)
    return results


def _counts(counts: Counts, judged: int, extra: int) -> Counts:
    """Complete the counts of queries that are averaged."""
    return replace(counts, judged=judged, missing=judged - counts.answered, extra=extra)


def _results(
    kept: QueryValues, judged: int, extra: int, settings: dict[str, str], order: list[Any] | None
) -> Results:
    """Return what is kept as results, in order."""
    ids, (values, marks, items) = kept.everything()
    rows = kept.rows_of(sorted(ids, key=by_id) if order is None else order)
    rows = rows[rows >= 0]
    values, marks = values[rows], marks[rows]
    if items is not None:
        items = items.take(rows.tolist())
    queries = [ids[row] for row in rows.tolist()]
    counts = count_queries(marks, judged, extra)
    return Results(values, queries, kept.measures, counts, settings, None, marks, items)
