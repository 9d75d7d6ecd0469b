"""Judgments of a pool whose documents were sampled by strata."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.data.ids import same_kind
from irbatch.data.marked import SOURCE, Columns, Joinable, View, read_nested
from irbatch.data.qrels import Qrels
from irbatch.data.sampled import SampledQrels, number_kinds
from irbatch.engine.kinds import Strata
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.ragged import offsets_of

UNSAMPLED = ("error", "ignore")  # what strata do of which no document was sampled


class StratumQrels(SampledQrels):
    """Judgments of a pool whose documents were sampled by strata; prepared for any number of runs.

    Args:
        judgments: query id to stratum to document id to grade, below 0 for a pooled document that
            was not sampled. Ids are text or whole numbers, and so are strata.
        name: what error messages call it, e.g. its path.
        unsampled: what a stratum does of which no document was sampled: be an ``"error"``, as no
            sampling rate is known, or count as one without relevant documents (``"ignore"``), as
            for sample_eval.

    Raises:
        InputError: naming query, document and value of what cannot be a judgment.

    >>> import irbatch
    >>> qrels = StratumQrels({"q1": {1: {"d1": 1, "d2": 0}, 2: {"d3": 1, "d4": -1}}})
    >>> run = {"q1": {"d1": 4.0, "d2": 3.0, "d3": 2.0}}
    >>> irbatch.evaluate(qrels, run, "InfNumRel xInfAP").mean()
    {'InfNumRel': 3.0, 'xInfAP': 0.7777766666833331}
    """

    reads = "strata"
    nested = "a mapping of queries to strata to documents to grades"

    def __init__(
        self,
        judgments: Mapping[Any, Mapping[Any, Mapping[Any, Any]]],
        name: str | None = None,
        *,
        unsampled: str = "error",
    ) -> None:
        super().__init__(judgments, name)
        self._check_rates(unsampled)

    @classmethod
    def from_columns(
        cls,
        query_ids: Any,
        strata: Any,
        document_ids: Any,
        grades: Any,
        name: str | None = None,
        *,
        unsampled: str = "error",
    ) -> StratumQrels:
        """Make judgments of columns, one row a pooled document, in any order.

        Args:
            query_ids, document_ids, grades: see `Qrels.from_columns`.
            strata: text or whole numbers ``(rows,)``.
            unsampled: as in the constructor.

        Raises:
            InputError: as the constructor, and if columns differ in length.

        >>> StratumQrels.from_columns([7, 7, 7], [1, 2, 2], ["a", "b", "c"], [1, 0, -1])
        <StratumQrels: 1 query, 3 judgments>
        """
        from irbatch.data.columns import as_ids

        strata = as_ids(strata, "stratum", SOURCE).tolist()
        made = cls._of_columns(query_ids, strata, document_ids, grades, name)
        made._check_rates(unsampled)
        return made

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str | None = None,
        stratum: str | None = None,
        document: str | None = None,
        grade: str | float | None = None,
        name: str | None = None,
        unsampled: str = "error",
    ) -> StratumQrels:
        """Make judgments of a table, one row a pooled document, in any order.

        Args:
            table: see `Run.from_table`.
            query, stratum, document, grade: what the columns are called; default: a known name,
                such as ``query_id``, ``stratum``, ``doc_id``, ``relevance``.
            unsampled: as in the constructor.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> rows = {"qid": [1, 1], "stratum": ["top", "rest"], "docno": ["a", "b"], "grade": [1, 0]}
        >>> StratumQrels.from_table(rows)
        <StratumQrels: 1 query, 2 judgments>
        """
        given = {"query": query, "stratum": stratum, "document": document, "grade": grade}
        return cls.of_table(table, given, name=name, unsampled=unsampled)

    def _read(self, judgments: Mapping[Any, Any]) -> None:
        columns: Columns = ([], [], [], [])
        for query, strata in read_nested(judgments, "stratum", "strata", self.name).items():
            for stratum, (documents, grades) in strata.items():
                for column, each in zip(columns, (query, stratum), strict=False):
                    column.extend([each] * len(documents))
                columns[2].extend(documents)
                columns[3].extend(grades)
        self._fill(columns, judgments)

    def _check_rates(self, unsampled: str) -> None:
        """Refuse strata without a sampling rate, unless they are to be ignored."""
        check_choice("unsampled", unsampled, UNSAMPLED)
        for query, documents in self._sampled.items():
            strata = [stratum for stratum, _ in documents.values()]
            same_kind(strata, "stratum", SOURCE, query)
            sampled = {stratum for stratum, grade in documents.values() if grade >= 0}
            for document, (stratum, _) in documents.items():
                if unsampled == "error" and stratum not in sampled:
                    problem = f"no document of stratum {stratum!r} was sampled: its relevant ones"
                    hint = 'cannot be estimated; unsampled="ignore" counts none'
                    raise self._refusal(f"{problem} {hint}", query, document, stratum)

    def _join(self, wanted: tuple[float, ...]) -> Joinable:
        pairs: dict[Any, dict[Any, tuple[int, float]]] = {}
        for query, documents in self._sampled.items():
            place = {each: i for i, each in enumerate(sorted({s for s, _ in documents.values()}))}
            pairs[query] = {
                document: (place[stratum], max(grade, -1.0))
                for document, (stratum, grade) in documents.items()
            }
        judgments, kinds = number_kinds(pairs, (0, -1.0))
        views: dict[float | None, View] = {}
        for rel in wanted:
            views[rel] = View(_count_strata(judgments.values(), kinds, rel))
        return Joinable(Qrels(judgments, self.name, borrowed=True), views)


def _count_strata(
    judgments: Iterable[Mapping[Any, int]], kinds: list[tuple[int, float]], rel: float
) -> Strata:
    """Count what is in the strata, and estimate how much is relevant."""
    weights, graded, relevant = [], [], []
    sizes = []
    for of_query in judgments:
        counts: dict[int, int] = {}
        for kind in of_query.values():
            counts[kind] = counts.get(kind, 0) + 1
        size = max((kinds[kind][0] + 1 for kind in counts), default=0)
        pooled, sampled = [0] * size, [0] * size
        for kind, count in counts.items():
            stratum, grade = kinds[kind]
            pooled[stratum] += count
            sampled[stratum] += count if grade >= 0 else 0
        own = [n / s if s else 0.0 for n, s in zip(pooled, sampled, strict=True)]
        by_grade: dict[float, float] = {}
        for kind in sorted(counts, key=kinds.__getitem__):
            stratum, grade = kinds[kind]
            if grade >= rel:
                estimate = counts[kind] * pooled[stratum] / sampled[stratum]
                by_grade[grade] = by_grade.get(grade, 0.0) + estimate
        sizes.append(size)
        weights += own
        graded.append(sorted(by_grade.items(), reverse=True))
        relevant.append(math.fsum(by_grade.values()))
    strata, grades = zip(*kinds, strict=True)
    return Strata(
        np.array(strata, np.int64), np.array(grades), rel, offsets_of(sizes),
        np.array(weights, np.float64), graded, np.array(relevant, np.float64),
    )  # fmt: skip
