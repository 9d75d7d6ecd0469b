"""One query with two systems: where its judged documents stand, and what that adds to the value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.comparing.explaining.nouns import (
    JudgedDocument,
    QueryExplanation,
    RankedDocument,
    direction_of,
)
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import UNJUDGED, RelevanceMatrix
from irbatch.engine.ties import TiePolicy, as_compared, id_texts, order_documents
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan, relevant_levels
from irbatch.runtime.numbers import as_floats

# Measures whose value is a sum over ranks, each term known from the documents down to its rank.
SUMS = frozenset(
    ("P", "R", "Rcap", "Success", "RR", "AP", "Rprec", "CG", "DCG", "nDCG", "nCG", "RBP", "nRBP",
     "ERR", "nERR", "Bpref", "NumRelRet")
)  # fmt: skip
MOST_CELLS = 1 << 26  # of the matrices of a ranking, one a judged document
MOST_DOCUMENTS = 50  # judged ones that are listed of a query


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


class Side(NamedTuple):
    """What is known of a query's ranking by one system."""

    ranking: Ranking
    ranks: dict[Any, int]
    unjudged_above: Ints
    adds: dict[Any, float] | None  # None: not known

    def above(self, document: Any) -> int | None:
        """Count the documents above one that are not judged."""
        rank = self.ranks.get(document)
        return None if rank is None else int(self.unjudged_above[rank - 1])

    def unjudged(self, depth: float) -> int:
        """Count the documents down to a rank that are not judged."""
        return int(self.unjudged_above[int(min(depth, self.unjudged_above.size - 1))])


class Explainer:
    """Explains queries of one measure, judgments and two runs; `depth` ranks of each are shown."""

    def __init__(
        self, measure: Measure, qrels: Qrels, runs: Sequence[Run], settings: Settings, depth: int
    ) -> None:
        self.qrels, self.runs, self.settings, self.depth = qrels, runs, settings, depth
        self.plan = Plan((measure,), settings.open_parameters())
        self.measure = self.plan.filled[0]
        self.is_sum = is_sum(self.measure)
        self.grades = tuple(qrels.levels[relevant_levels(self.measure, qrels.levels)].tolist())
        self._row_of = {query: row for row, query in enumerate(qrels.queries)}

    def explain(self, query: Any, values: Floats) -> QueryExplanation:
        """Explain a query that has two values, float64 ``(2,)``."""
        row, depth = self._row_of[query], self.depth
        qrels = self.qrels
        grades = qrels.grades[qrels.starts[row] : qrels.starts[row + 1]].tolist()
        judged = dict(zip(qrels.documents[row], grades, strict=True))
        sides = self._side(row, self.runs[0]), self._side(row, self.runs[1])
        shown = [side.ranking.documents[:depth] for side in sides]
        listed = [
            self._judge(document, grade, sides)
            for document, grade in judged.items()
            if grade in self.grades or any(document in each for each in shown)
        ]
        first, second = values.tolist()
        cutoff = self.measure.cutoff or depth
        return QueryExplanation(
            query=query,
            values=(first, second),
            difference=second - first,
            answered=(query in self.runs[0].queries, query in self.runs[1].queries),
            retrieved=_pair(len(side.ranking.documents) for side in sides),
            relevant=sum(grade in self.grades for grade in grades),
            unjudged=_pair(side.unjudged(cutoff) for side in sides),
            documents=self._in_order(listed),
            left_out=max(len(listed) - MOST_DOCUMENTS, 0),
            rankings=_pair(
                tuple(
                    RankedDocument(document, judged.get(document), other.ranks.get(document))
                    for document in each
                )
                for each, other in zip(shown, sides[::-1], strict=True)
            ),
        )

    def _side(self, row: int, run: Run) -> Side:
        ranking = rank_documents(self.qrels, row, run, self.settings)
        adds = find_additions(self.plan, self.qrels, row, ranking) if self.is_sum else None
        unjudged = np.append(0, np.cumsum(ranking.codes == UNJUDGED))
        return Side(ranking, ranking.ranks(), unjudged, adds)

    def _judge(self, document: Any, grade: float, sides: tuple[Side, Side]) -> JudgedDocument:
        known = [side.adds for side in sides if side.adds is not None]
        return JudgedDocument(
            document=document,
            grade=grade,
            ranks=_pair(side.ranks.get(document) for side in sides),
            moved=self._moved([side.ranks.get(document, math.inf) for side in sides]),
            unjudged_above=_pair(side.above(document) for side in sides),
            adds=_pair(each.get(document, 0.0) for each in known) if len(known) == 2 else None,
        )

    def _moved(self, ranks: Sequence[float]) -> str:
        """Say how a document moved, as far as the measure looks."""
        last = self.measure.cutoff or math.inf
        before, after = (rank <= last and rank < math.inf for rank in ranks)
        if before and after:
            return "same" if ranks[0] == ranks[1] else "up" if ranks[1] < ranks[0] else "down"
        return "lost" if before else "new" if after else "missed"

    def _in_order(self, listed: list[JudgedDocument]) -> tuple[JudgedDocument, ...]:
        """Put what made the value worse first, and leave out what changed it least."""
        sign = direction_of(self.measure)

        def gain(each: JudgedDocument) -> float:
            return 0.0 if math.isnan(each.change) else sign * each.change

        def highest(each: JudgedDocument) -> float:
            return min(math.inf if rank is None else rank for rank in each.ranks)

        chosen = sorted(listed, key=lambda each: (-abs(gain(each)), highest(each), -each.grade))
        chosen = chosen[:MOST_DOCUMENTS]

        def place(each: JudgedDocument) -> tuple[float, ...]:
            kind = 0 if gain(each) else 1 if each.grade in self.grades else 2
            return kind, gain(each), highest(each), -each.grade

        return tuple(sorted(chosen, key=place))


def _pair(both: Any) -> Any:
    """Return what two systems have as a pair."""
    return tuple(both)
