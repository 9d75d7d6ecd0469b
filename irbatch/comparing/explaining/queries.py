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
from irbatch.comparing.explaining.ranking import Ranking, find_additions, is_sum, rank_documents
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import UNJUDGED
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan, relevant_levels

MOST_DOCUMENTS = 50  # judged ones that are listed of a query


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
