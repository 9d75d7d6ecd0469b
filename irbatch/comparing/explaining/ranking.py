"""A query's ranking as it is evaluated, with its documents; and what each adds to the value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import UNJUDGED, RelevanceMatrix
from irbatch.engine.ties.by_id import id_texts, order_documents
from irbatch.engine.ties.by_score import as_compared
from irbatch.engine.ties.policy import TiePolicy
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan
from irbatch.runtime.numbers import as_floats

# Measures whose value is a sum over ranks, each term known from the documents down to its rank.
SUMS = frozenset(
    ("P", "R", "Rcap", "Success", "RR", "AP", "Rprec", "CG", "DCG", "nDCG", "nCG", "RBP", "nRBP",
     "ERR", "nERR", "Bpref", "NumRelRet")
)  # fmt: skip
MOST_CELLS = 1 << 26  # of the matrices of a ranking, one a judged document


class Ranking(NamedTuple):
    """The documents of a query, from the first to the last, and what is judged of them.

    Args:
        documents: their ids.
        codes: int64 ``(documents,)``, as in `RelevanceMatrix`, of the levels of the judgments.
    """

    documents: list[Any]
    codes: Ints

    def ranks(self) -> dict[Any, int]:
        """Return each document's rank, from 1."""
        return {document: rank for rank, document in enumerate(self.documents, 1)}


def rank_documents(qrels: Qrels, row: int, run: Run, settings: Settings) -> Ranking:
    """Rank the documents of the query at `row` of the qrels as an evaluation does."""
    query = qrels.queries[row]
    scored = run.rankings[query] if query in run.queries else {}
    documents = list(scored)
    scores = as_compared(as_floats(scored.values()), settings.score_dtype)
    judged = dict(zip(qrels.documents[row], _codes(qrels, row).tolist(), strict=True))
    codes = np.array([judged.get(each, UNJUDGED) for each in documents], np.int64)
    order = _order(scores, documents, codes, settings.ordering.ties)
    if settings.max_depth is not None:
        order = order[: int(settings.max_depth)]
    if settings.judged_only:
        order = order[codes[order] >= 0]
    return Ranking([documents[place] for place in order.tolist()], codes[order])


def _codes(qrels: Qrels, row: int) -> Ints:
    return qrels.codes[qrels.starts[row] : qrels.starts[row + 1]].astype(np.int64)


def _order(scores: Floats, documents: list[Any], codes: Ints, ties: TiePolicy) -> Ints:
    """Return the documents' positions in rank order."""
    if ties.by_id:
        one, descending = np.zeros(scores.size, np.int64), ties == TiePolicy.ID
        return order_documents(one, scores, id_texts(documents), descending=descending)
    if ties == TiePolicy.INDEX:
        return np.argsort(-scores, kind="stable")
    # Of one score lower grades first, or higher ones: codes are ordered as grades are.
    return np.lexsort((-codes if ties == TiePolicy.OPTIMISTIC else codes, -scores))


def is_sum(measure: Measure) -> bool:
    """Tell whether it can be said what each document adds to a measure's value."""
    divided_by_found = measure.name == "AP" and measure["norm"] == "found"
    return measure.name in SUMS and measure.declaration.builtin and not divided_by_found


def find_additions(plan: Plan, qrels: Qrels, row: int, ranking: Ranking) -> dict[Any, float] | None:
    """Return what each judged document adds to the value of a measure that `is_sum`.

    That is the value if documents are judged down to it, less that if only those above it are.
    None for rankings that would take too long.
    """
    size = len(ranking.documents)
    judged = np.flatnonzero(ranking.codes != UNJUDGED)
    if plan.measures[0].cutoff is not None:
        judged = judged[judged < plan.measures[0].cutoff]
    if not judged.size:
        return {}
    if (judged.size + 1) * size > MOST_CELLS:
        return None
    counts = np.repeat(qrels.level_counts([row]), judged.size + 1, axis=0)
    retrieved = np.full(judged.size + 1, size, np.int64)
    matrix = RelevanceMatrix.unjudged(retrieved, qrels.levels, counts)
    for number, place in enumerate(judged.tolist(), 1):
        matrix.codes[number:, place] = ranking.codes[place]
    added = np.diff(plan.values(matrix)[:, 0])
    documents = (ranking.documents[place] for place in judged.tolist())
    return dict(zip(documents, added.tolist(), strict=True))
