"""Evaluating a score for every candidate of every query: read, count, rank, average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.data.cells import check_real
from irbatch.data.frames import ids_of_rows
from irbatch.errors import InputError
from irbatch.evaluation.means import nothing_relevant
from irbatch.evaluation.results import Results
from irbatch.evaluation.score_evaluator import ScoreEvaluator, has_no_rows
from irbatch.evaluation.settings import Settings
from irbatch.evaluation.task import Cutoffs, Measures
from irbatch.measures import CATALOGUE, Plan, parse_measures
from irbatch.runtime.arrays import to_numpy

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

MOST_PLANS = 64  # that are kept, by measures' names: making one takes as long as a small batch
_plans: dict[tuple[str, int], Plan] = {}


def evaluate_scores(
    scores: Any,
    relevance: Any = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    positives: Any = None,
    mask: Any = None,
    lengths: Any = None,
    exclude: Any = None,
    n_relevant: Any = None,
    ties: str = "expected",
    document_ids: Any = None,
    query_ids: Sequence[Any] | None = None,
    no_relevant: str = "zero",
    items: ItemStatistics | None = None,
    threads: int | None = None,
) -> Results:
    """Evaluate a score for every candidate of every query, at any depth and without sorting.

    What is no candidate (hidden by a mask, excluded, of label -100) is neither ranked nor
    relevant. Tensors on an accelerator are counted there, and only small arrays travel.

    Args:
        scores: ``(queries, candidates)`` real numbers, higher is better: an array, a tensor, or
            nested lists. They are compared in their own precision. Rows of different lengths, in
            lists or a nested tensor, have labels in rows of the same lengths.
        relevance: the candidates' labels, of the same shape: 0/1 or grades, dense or sparse; -100
            says that there is no candidate.
        measures, cutoffs, no_relevant, threads: as in `irbatch.evaluate`.
        positives: instead of `relevance`, the relevant candidates' columns: one a query (-100 for
            none), a matrix of them padded with -100, lists, or mappings of columns to grades;
            ``"diagonal"`` (row i's is column i, as in a batch of pairs) or ``"first"`` (column 0,
            followed by sampled negatives). A query without any is as `no_relevant` says.
        mask: ``(queries, candidates)`` bools, True for a candidate.
        lengths: ``(queries,)``, how many cells of each row, from the first, are candidates.
        exclude: candidates to leave out, such as what a user has seen: bools of the scores'
            shape, a sparse matrix, or lists of columns.
        n_relevant: ``(queries,)``, how many relevant documents there are in all where some are
            not among the candidates; for labels 0 and 1.
        ties: what becomes of candidates that share a score, as in `irbatch.evaluate`: by default
            the expected value over all of their orders. ``"index"`` puts earlier columns first;
            ``"id"`` and ``"id_ascending"`` need `document_ids`.
        document_ids: ``(candidates,)``, or ``(queries, candidates)``.
        query_ids: the queries' ids; default: what a frame of pandas has as its index, else 0, 1, ….
        items: what is known of the columns, in their order, for measures that read items. These
            need an order: candidates that share a score at a cutoff are an error unless `ties` are
            decided by ids or ``"index"``.

    Raises:
        InputError: if shapes, or the labels of two frames of pandas, don't match, a score is not
            a number, a column is not one of the candidates, or, unless queries without relevant
            documents are skipped, there are no queries or all candidates of one are hidden.

    >>> evaluate_scores([[0.1, 0.9, 0.4]], [[1, 0, 1]], "RR P@2").mean()
    {'RR': 0.5, 'P@2': 0.5}
    >>> batch = [[0.9, 0.1, 0.3], [0.2, 0.2, 0.1], [0.3, 0.1, 0.5]]
    >>> evaluate_scores(batch, measures="R@1", positives="diagonal").per_query("R@1")
    {0: 1.0, 1: 0.5, 2: 1.0}
    """
    plan = plan_measures(relevance, measures, cutoffs, items=items is not None)
    settings = Settings(no_relevant=no_relevant)
    evaluator = ScoreEvaluator(plan, settings, ties, threads, items=items)
    if no_relevant == "skip" and has_no_rows(scores):
        return evaluator.nothing()
    query_ids = ids_of_rows(scores) if query_ids is None else query_ids
    batch = evaluator.rank(
        scores,
        relevance,
        positives=positives,
        mask=mask,
        lengths=lengths,
        exclude=exclude,
        n_relevant=n_relevant,
        document_ids=document_ids,
        query_ids=query_ids,
    )
    results = batch.results()
    evaluator.warn_once(nothing_relevant(results))
    return results


def evaluate_triples(
    positive: Any,
    negatives: Any,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    ties: str = "expected",
    query_ids: Sequence[Any] | None = None,
    threads: int | None = None,
) -> Results:
    """Evaluate triples: for each query the score of a positive, and those of its negatives.

    Args:
        positive: ``(queries,)``.
        negatives: ``(queries,)``, or ``(queries, n)`` for several.
        measures, cutoffs, ties, query_ids, threads: as in `evaluate_scores`.

    Raises:
        InputError: if numbers of queries differ, and as `evaluate_scores`.

    >>> evaluate_triples([0.9, 0.2], [[0.1, 0.3], [0.6, 0.1]], "RR P@1").mean()
    {'RR': 0.75, 'P@1': 0.5}
    """
    first, others = to_numpy(positive, "positive"), to_numpy(negatives, "negatives")
    first = first[:, 0] if first.ndim == 2 and first.shape[1] == 1 else first
    others = others[:, None] if others.ndim == 1 else others
    if first.ndim != 1 or others.ndim != 2 or len(first) != len(others):
        shapes = f"{first.shape} and {to_numpy(negatives, 'negatives').shape}"
        problem = f"one score a query, and one or more of negatives: not arrays of shapes {shapes}"
        raise InputError(problem, source="positive")
    for name, part in (("positive", first), ("negatives", others)):
        check_real(part, "scores", name)
    scores = np.concatenate([first[:, None], others], axis=1)
    if isinstance(positive, np.ma.MaskedArray) or isinstance(negatives, np.ma.MaskedArray):
        masks = (
            np.ma.getmaskarray(each)
            if isinstance(each, np.ma.MaskedArray)
            else np.zeros(part.shape, bool)
            for each, part in ((positive, first), (negatives, others))
        )
        shaped = [mask.reshape(len(first), -1) for mask in masks]
        scores = np.ma.array(scores, mask=np.concatenate(shaped, axis=1))
    options: dict[str, Any] = {"ties": ties, "query_ids": query_ids, "threads": threads}
    return evaluate_scores(scores, None, measures, cutoffs, positives="first", **options)


def plan_measures(
    relevance: Any, measures: Measures | None, cutoffs: Cutoffs, *, items: bool = False
) -> Plan:
    """Plan the measures; say so where they stand in the place of relevance."""
    if measures is None:
        names = isinstance(relevance, str) or (
            isinstance(relevance, list | tuple) and any(isinstance(e, str) for e in relevance)
        )
        hint = " by keyword: relevance comes before them" if names else ""
        raise InputError(f"say which: measures='nDCG@10'{hint}", source="measures")
    if len(getattr(measures, "shape", ())) > 1:
        problem = "a matrix or table is not names: scores come first, then relevance, then measures"
        raise InputError(problem, source="measures")
    if not isinstance(measures, str) or cutoffs is not None or items:
        return Plan(parse_measures(measures, cutoffs), items=items)
    key = measures, len(CATALOGUE)  # of which a name defined later may be one
    if (plan := _plans.get(key)) is None:
        plan = Plan(parse_measures(measures))
        if plan.is_catalogued and len(_plans) < MOST_PLANS:  # others may be defined anew
            _plans[key] = plan
    return plan
