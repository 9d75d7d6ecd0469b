"""Entrances that take rankings without scores, or matrices of scores or labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import irbatch
from irbatch import BatchEvaluator
from rows.containers import Matrices, dicts
from rows.entrances import (
    FILES_ONLY,
    MAPPING,
    NO_ARRAYS,
    NO_IDS,
    NO_SCORES,
    Call,
    Entrance,
    per_query,
)
from rows.problem import Found, Problem


def _wanted(problem: Problem) -> list[Any]:
    return list(problem.measures)


def from_id_mappings(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    ranked = {query: problem.ordered(query) for query in run}
    return per_query(irbatch.evaluate_ids(ranked, qrels, _wanted(problem)))


def from_id_lists(problem: Problem, folder: Path) -> Found:
    queries = problem.queries()
    ranked = [problem.ordered(query) for query in queries]
    judged = [problem.grades(query) for query in queries]
    return per_query(irbatch.evaluate_ids(ranked, judged, _wanted(problem)), queries)


def from_labels(problem: Problem, folder: Path) -> Found:
    given = Matrices(problem, in_order=True)
    lengths = given.scores()[1] if problem.arrange is None else None
    found = irbatch.evaluate_matrix(
        given.labels(), _wanted(problem), lengths=lengths, judged=given.judged
    )
    return per_query(found, given.queries)


def from_label_rows(problem: Problem, folder: Path) -> Found:
    given = Matrices(problem, in_order=True)
    found = irbatch.evaluate_matrix(given.label_rows, _wanted(problem), judged=given.judged)
    return per_query(found, given.queries)


def from_scores(to: Callable[[Any], Any] = lambda array: array, **options: Any) -> Call:
    """Evaluate scores of candidates; with ids where ties are to be broken by them."""

    def call(problem: Problem, folder: Path) -> Found:
        given = Matrices(problem)
        scores, lengths = given.scores()
        more = {"n_relevant": given.relevant} if given.some_unranked else {}
        if options.get("ties") == "id":
            more["document_ids"] = given.ids()
        found = irbatch.evaluate_scores(
            to(scores), to(given.labels()), _wanted(problem), lengths=lengths, **more, **options
        )
        return per_query(found, given.queries)

    return call


def from_positives(problem: Problem, folder: Path) -> Found:
    given = Matrices(problem)
    scores, lengths = given.scores()
    more: dict[str, Any] = {"n_relevant": given.relevant} if given.some_unranked else {}
    found = irbatch.evaluate_scores(
        scores, None, _wanted(problem), positives=given.positives, lengths=lengths, **more
    )
    return per_query(found, given.queries)


def from_score_lists(problem: Problem, folder: Path) -> Found:
    given = Matrices(problem)
    longest = max(map(len, given.score_rows), default=0)
    scores, labels = (
        [[*row, *[0] * (longest - len(row))] for row in side]
        for side in (given.score_rows, given.label_rows)
    )
    lengths = list(map(len, given.score_rows))
    found = irbatch.evaluate_scores(scores, labels, _wanted(problem), lengths=lengths)
    return per_query(found, given.queries)


def from_batches(problem: Problem, folder: Path) -> Found:
    """Update query by query, save the state half-way, and go on in another evaluator."""
    given, evaluator = Matrices(problem), BatchEvaluator(_wanted(problem))
    rows = zip(given.queries, given.score_rows, given.label_rows, given.relevant, strict=True)
    for query, scores, labels, relevant in rows:
        more: dict[str, Any] = {"n_relevant": [relevant]} if given.some_unranked else {}
        arrays = [given.arrange(np.array([row])) for row in (scores, labels)]
        evaluator.update(*arrays, query_ids=[query], **more)
        other = BatchEvaluator(_wanted(problem))
        other.load_state_dict(evaluator.state_dict())
        evaluator = other
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def from_batches_of_ids(problem: Problem, folder: Path) -> Found:
    evaluator = BatchEvaluator(_wanted(problem))
    for query in problem.queries():
        ranked, judged = [problem.ordered(query)], [problem.grades(query)]
        evaluator.update_ids(ranked, judged, query_ids=[query])
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def from_batches_of_columns(problem: Problem, folder: Path) -> Found:
    """Update document by document, the last ones first."""
    evaluator = BatchEvaluator(_wanted(problem))
    grades = {(q, d): grade for q, d, grade in problem.judged}
    for query, document, score in reversed(problem.ranked):
        evaluator.update_columns([query], [document], [score], [grades.get((query, document), 0)])
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def from_results(problem: Problem, folder: Path) -> Found:
    """Evaluate query by query, and add the results up."""
    evaluator = BatchEvaluator(_wanted(problem))
    qrels, run = dicts(problem)
    for query in qrels:
        part = irbatch.evaluate({query: qrels[query]}, {query: run[query]}, _wanted(problem))
        evaluator.add(part)
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def tensor(array: Any) -> Any:
    import torch

    return torch.as_tensor(array)


def from_torchmetrics(problem: Problem, folder: Path) -> Found:
    from irbatch.integrations.torchmetrics import RankingMetric
    from rows.problem import MEAN

    given = Matrices(problem)
    scores, lengths = given.scores()
    metric = RankingMetric(_wanted(problem))
    more: dict[str, Any] = {"n_relevant": given.relevant} if given.some_unranked else {}
    metric.update(tensor(scores), tensor(given.labels()), lengths=lengths, **more)
    found = metric.compute()
    found = found if isinstance(found, dict) else {str(problem.measures[0]): found}
    return {name: {MEAN: float(value)} for name, value in found.items()}


def from_retrieval_metric(problem: Problem, folder: Path) -> Found:
    from irbatch.integrations.torchmetrics import RetrievalMetric
    from rows.problem import MEAN

    queries = problem.queries()
    grades = {(q, d): grade for q, d, grade in problem.judged}
    metric = RetrievalMetric(_wanted(problem))
    for query, document, score in problem.ranked:
        columns = np.array([score]), np.array([grades.get((query, document), 0)])
        metric.update(*map(tensor, columns), indexes=tensor([queries.index(query)]))
    found = metric.compute()
    found = found if isinstance(found, dict) else {str(problem.measures[0]): found}
    return {name: {MEAN: float(value)} for name, value in found.items()}


PLAIN = {**FILES_ONLY, **NO_ARRAYS}
ORDERED = {**PLAIN, **NO_SCORES, "ids beyond int64": "lists become columns, which end at int64"}
PAIRED = {
    "queries of one side": "lists pair by position",
    "nothing on one side": "lists pair by position",
}
NO_MARK = {"a measure of unjudged documents": "labels don't tell what is not judged"}
LABELS = {
    **FILES_ONLY,
    **NO_MARK,
    **NO_SCORES,
    **NO_IDS,
    "nulls": "an array of numbers has no nulls",
}
SCORES = {
    **FILES_ONLY,
    **NO_MARK,
    **NO_IDS,
    "nulls": "an array of numbers has no nulls",
    "cells of several types": "an array is of one type",
    "a grade that is no number": "an array is of one type",
}
LISTS = {
    **NO_IDS,
    **NO_MARK,
    **PLAIN,
    "judged documents that are not ranked": "told as with arrays",
}
BATCHED = {"queries of one side": "a query is judged and scored in one update"}
UPDATED = {
    **PLAIN,
    **NO_MARK,
    **BATCHED,
    "queries judged without documents": "documents come with both numbers",
    "empty rankings": "documents come with both numbers",
    "nothing on one side": "documents come with both numbers",
    "judged documents that are not ranked": "documents come with both numbers",
    "a judgment twice": "a document that comes again is counted once, as documented",
}
TENSORS = {
    **SCORES,
    "arrays": "layouts of tensors are torch's",
    "numbers as text": "a tensor has numbers only",
    "whole numbers beyond int64": "a tensor has no such type",
}
EXPECTED = frozenset({"expected"})
CANDIDATES = frozenset({"expected", "candidates"})
BY_ID = frozenset({"candidates with ids"})
TORCH = ("torch", "torchmetrics")
MEANS = frozenset({"expected", "candidates", "means"})

ENTRANCES = [
    Entrance("evaluate_ids, mappings", from_id_mappings, lacks={**ORDERED, **MAPPING}),
    Entrance("evaluate_ids, lists", from_id_lists, "query", lacks={**ORDERED, **PAIRED, **MAPPING}),
    Entrance("evaluate_matrix, array", from_labels, "query", lacks=LABELS),
    Entrance("evaluate_matrix, rows", from_label_rows, "query", lacks={**LABELS, **NO_ARRAYS}),
    Entrance("evaluate_scores", from_scores(), "query", CANDIDATES, SCORES),
    Entrance("evaluate_scores, ties by id", from_scores(ties="id"), "query", BY_ID, SCORES),
    Entrance(
        "evaluate_scores, positives",
        from_positives,
        "query",
        CANDIDATES,
        {**SCORES, "fractional or negative grades": "positives have grades above 0"},
    ),
    Entrance("evaluate_scores, lists", from_score_lists, "query", CANDIDATES, LISTS),
    Entrance("BatchEvaluator.update", from_batches, "query", CANDIDATES, SCORES),
    Entrance(
        "BatchEvaluator.update_ids",
        from_batches_of_ids,
        "query",
        frozenset({"batches"}),
        {**ORDERED, **BATCHED, **MAPPING},
    ),
    Entrance(
        "BatchEvaluator.update_columns",
        from_batches_of_columns,
        "ids",
        {"arguments"},
        lacks=UPDATED,
    ),
    Entrance("BatchEvaluator.add", from_results, lacks={**PLAIN, **MAPPING, **BATCHED}),
    Entrance(
        "evaluate_scores, tensors", from_scores(tensor), "query", CANDIDATES, TENSORS, ("torch",)
    ),
    Entrance("torchmetrics, RankingMetric", from_torchmetrics, "query", MEANS, TENSORS, TORCH),
    Entrance(
        "torchmetrics, RetrievalMetric",
        from_retrieval_metric,
        "",
        MEANS,
        {**TENSORS, **UPDATED},
        TORCH,
    ),
]
