"""BEIR's evaluation: its functions' arguments, keys and rounding.

    from irbatch.integrations.beir import evaluate, evaluate_custom

    ndcg, map_, recall, precision = evaluate(qrels, results, k_values=[1, 10, 100])

Unlike BEIR's these leave `results` as they are, ignore queries without judgments where BEIR
raises a KeyError, and give a query without relevant documents an R_cap of 0 where it divides by
0. Ties are broken by document id descending in all measures; BEIR does so in `evaluate`, and
follows the order of the dictionary in `evaluate_custom`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, shown
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate as evaluate_run
from irbatch.integrations.pytrec_eval import drop_empty
from irbatch.measures import Measure, measure

__all__ = ["CUSTOM", "evaluate", "evaluate_custom"]

DIGITS = 5
FAMILIES = {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P"}
# BEIR's keys; the measure, and the names that BEIR knows each by.
CUSTOM = {
    "MRR": ("RR", ("mrr", "mrr@k", "mrr_cut")),
    "R_cap": ("Rcap", ("recall_cap", "r_cap", "r_cap@k")),
    "Hole": ("Unjudged", ("hole", "hole@k")),
    "Accuracy": ("Success", ("top_k_accuracy", "top_k_acc", "acc", "accuracy", "accuracy@k")),
}

Table = Mapping[str, Mapping[str, Any]]
Scores = dict[str, float]


def evaluate(
    qrels: Table, results: Table, k_values: Iterable[int], ignore_identical_ids: bool = True
) -> tuple[Scores, Scores, Scores, Scores]:
    """Evaluate as ``EvaluateRetrieval.evaluate``: over the queries of both sides.

    Returns ``NDCG@k``, ``MAP@k``, ``Recall@k`` and ``P@k`` for each cutoff, rounded to 5 digits.

    Args:
        qrels, results: query to document to grade, and to score.
        k_values: the cutoffs.
        ignore_identical_ids: leave a document out of the ranking of the query of the same id.

    Raises:
        InputError: if an argument cannot be read, or no query is both judged and answered.

    >>> evaluate({"q1": {"d1": 1, "d2": 2}}, {"q1": {"d1": 0.9, "d3": 0.8, "d2": 0.7}}, [1, 3])[0]
    {'NDCG@1': 0.5, 'NDCG@3': 0.76019}
    """
    judged = Qrels.borrow(drop_empty(qrels))
    if not len(Run(results)):
        raise InputError("there are no rankings", source="run")
    rankings = results
    if ignore_identical_ids:
        rankings = {
            query: {d: score for d, score in ranking.items() if d != query}
            if query in ranking
            else ranking
            for query, ranking in results.items()
        }
    measures = _at_cutoffs(FAMILIES.values(), k_values)
    evaluated = evaluate_run(judged, rankings, measures, trec_eval="9")
    means = _mean_in_order(evaluated, rankings, len(evaluated.query_ids))
    ndcg, map_, recall, precision = (
        {f"{key}@{of.cutoff}": mean for of, mean in means.items() if of.name == name}
        for key, name in FAMILIES.items()
    )
    return ndcg, map_, recall, precision


def evaluate_custom(qrels: Table, results: Table, k_values: Iterable[int], metric: str) -> Scores:
    """Evaluate as ``EvaluateRetrieval.evaluate_custom``: over all queries of the judgments.

    Returns ``MRR@k``, ``R_cap@k``, ``Hole@k`` or ``Accuracy@k`` for each cutoff, rounded alike.

    Args:
        qrels, results, k_values: as in `evaluate`.
        metric: ``"mrr"``, ``"recall_cap"``, ``"hole"`` (documents that have no judgment for any
            query, over k) or ``"top_k_accuracy"``.

    Raises:
        InputError: if an argument cannot be read, or the metric is another.

    >>> evaluate_custom({"q1": {"d1": 1}}, {"q1": {"d2": 0.9, "d1": 0.8}}, [1, 2], metric="mrr")
    {'MRR@1': 0.0, 'MRR@2': 0.5}
    """
    key = next((key for key, (_, names) in CUSTOM.items() if str(metric).lower() in names), None)
    if key is None:
        choices = ", ".join(names[0] for _, names in CUSTOM.values())
        raise InputError(f"metric {metric!r} must be one of {choices}", value=metric)
    judged, run = Qrels.borrow(qrels), Run(results)
    if key == "Hole":  # of the documents retrieved, those judged for any query count as judged
        annotated = {document for judgments in qrels.values() for document in judgments}
        # Queries of the run count, judged or not, unless none is.
        queries = {**qrels, **results} if qrels.keys() & results.keys() else qrels
        seen = {q: dict.fromkeys(annotated & results.get(q, {}).keys(), 0) for q in queries}
        judged = Qrels.borrow(seen)
    evaluated = evaluate_run(judged, run, _at_cutoffs([CUSTOM[key][0]], k_values))
    means = _mean_in_order(evaluated, results, len(qrels))
    return {f"{key}@{of.cutoff}": mean for of, mean in means.items()}


def _mean_in_order(results: Results, run: Table, divisor: int) -> dict[Measure, float]:
    """Return rounded means of values added in the order of the run.

    The exact sum may be rounded to another last digit.
    """
    rows = [results.rows[query] for query in run if query in results.rows]
    sums = np.add.accumulate(results.values[rows], axis=0)[-1:].sum(axis=0)  # 0 of no rankings
    means = [round(total / divisor, DIGITS) for total in sums.tolist()]
    return dict(zip(results.columns, means, strict=True))


def _at_cutoffs(names: Iterable[str], k_values: Iterable[int]) -> list[Measure]:
    """Return measures at cutoffs, each once."""
    try:
        cutoffs = list(k_values)
    except TypeError:
        raise InputError(f"k_values {shown(k_values)} are not several cutoffs") from None
    return list(dict.fromkeys(measure(name) @ k for name in names for k in cutoffs))
