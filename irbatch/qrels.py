"""The judgments: for each query, the documents somebody judged and their grades."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError, raise_problems
from irbatch.ids import kinds_of, same_kind
from irbatch.matrix import NEGATIVE
from irbatch.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, number_problem

__all__ = ["Qrels"]


class Qrels:
    """Judgments, prepared once for any number of runs.

    Args:
        judgments: query id to document id to grade. Ids are text or whole numbers; grades are
            real numbers up to 2^53. A query without documents is a query without relevant ones.
        name: what error messages call it, e.g. its path.
        borrowed: don't copy the ids; the caller promises not to change `judgments`.

    Attributes:
        queries: the query ids, in the order given.
        documents: for each query, the ids of its judged documents, in order.
        levels: float64 ``(levels,)``, the distinct grades >= 0, ascending.
        codes: int32 ``(judgments,)``, for each judgment, in order, its grade's place in `levels`;
            `NEGATIVE` for a grade below 0.
        starts: int64 ``(queries + 1,)``, where each query's judgments begin in `codes`.

    Raises:
        InputError: naming query, document and value for what cannot be a judgment.

    >>> qrels = Qrels({"q1": {"d1": 2, "d2": 0}, "q2": {"d7": 1}})
    >>> len(qrels), qrels.levels.tolist()
    (2, [0.0, 1.0, 2.0])
    """

    def __init__(
        self,
        judgments: Mapping[Any, Mapping[Any, Any]],
        name: str | None = None,
        *,
        borrowed: bool = False,
    ) -> None:
        if not isinstance(judgments, Mapping):
            raise InputError(
                f"judgments are a mapping of queries to documents to grades, not a "
                f"{type(judgments).__name__}",
                source="qrels",
            )
        self.name = name
        self.queries: list[Any] = list(judgments)
        if not self.queries:
            raise InputError("there are no queries", source="qrels", path=name)
        for query, documents in judgments.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"a query's judgments are a mapping of documents to grades, not a "
                    f"{type(documents).__name__}",
                    source="qrels",
                    query=query,
                    path=name,
                )
        self.query_kind = same_kind(self.queries, "query", "qrels")
        # Copying ids costs as much as looking them up: not done for judgments used only once.
        self.documents: list[Collection[Any]] = [
            each if borrowed else list(each) for each in judgments.values()
        ]
        self.document_kind = _document_kind(self.queries, self.documents)
        counts = np.fromiter(map(len, self.documents), np.int64, len(self.queries))
        self.starts = np.concatenate(([0], np.cumsum(counts)))
        grades = self._read_grades(judgments)
        self.levels = np.unique(grades[grades >= 0]) + 0.0  # -0.0 is 0
        self.levels.flags.writeable = False
        codes = np.searchsorted(self.levels, grades).astype(np.int32)
        self.codes: npt.NDArray[np.int32] = np.where(grades < 0, np.int32(NEGATIVE), codes)
        self._place_of: dict[int, dict[Any, int]] = {}

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        return f"<Qrels{named}: {len(self)} queries, {self.codes.size} judgments>"

    def place_of(self, row: int) -> Mapping[Any, int]:
        """Map the judged documents of the query at `row` to their place among them, from 0."""
        if row not in self._place_of:
            documents = self.documents[row]
            self._place_of[row] = dict(zip(documents, range(len(documents)), strict=True))
        return self._place_of[row]

    def level_counts(
        self, rows: Iterable[int], levels: npt.NDArray[np.signedinteger] | None = None
    ) -> npt.NDArray[np.int64]:
        """Count the documents judged at each level.

        Args:
            rows: positions of queries.
            levels: integers ``(n,)``, places in `levels` to count, ascending; default all.

        Returns:
            int64 ``(queries, levels)``.
        """
        rows = np.asarray(rows, np.intp)
        codes, owners = self.gather(rows)
        kept = codes >= 0
        places = codes[kept] if levels is None else np.searchsorted(levels, codes[kept])
        width = self.levels.size if levels is None else levels.size
        flat = np.bincount(owners[kept] * width + places, minlength=rows.size * width)
        return flat.astype(np.int64).reshape(rows.size, width)

    def gather(
        self, rows: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Collect the judgments of some queries, one query after the other.

        Returns:
            their codes int32 ``(judgments,)``, and for each the place of its query in `rows`.
        """
        counts = self.starts[rows + 1] - self.starts[rows]
        owners = np.repeat(np.arange(rows.size), counts)
        ends = np.cumsum(counts)
        offsets = self.starts[rows] - (ends - counts)
        return self.codes[np.arange(owners.size) + offsets[owners]], owners

    def first_of(self, grade: float) -> tuple[Any, Any]:
        """Return the first query and document that were given a grade of `levels`."""
        place = int(np.argmax(self.codes == np.searchsorted(self.levels, grade)))
        row = int(np.searchsorted(self.starts, place, side="right")) - 1
        return self.queries[row], list(self.documents[row])[place - int(self.starts[row])]

    def _read_grades(self, judgments: Mapping[Any, Mapping[Any, Any]]) -> npt.NDArray[np.float64]:
        """Read all grades, float64 ``(judgments,)``, in order."""
        values = itertools.chain.from_iterable(each.values() for each in judgments.values())
        try:
            grades = as_floats(list(values))
        except NUMBER_ERRORS:
            raise_problems(list(self._grade_problems(judgments)))
            raise
        if not (np.abs(grades) < LARGEST_WHOLE).all():  # the limit itself may have been rounded
            raise_problems(list(self._grade_problems(judgments)))
        return grades

    def _grade_problems(self, judgments: Mapping[Any, Mapping[Any, Any]]) -> Iterable[InputError]:
        for query, documents in judgments.items():
            for document, grade in documents.items():
                problem = number_problem(grade)
                if problem is None and abs(grade) <= LARGEST_WHOLE:
                    continue
                too_large = f"{grade!r} is beyond 2^53, where grades are no longer exact"
                yield InputError(
                    f"grade {problem or too_large}",
                    source="qrels",
                    query=query,
                    document=document,
                    path=self.name,
                    value=grade,
                )


def _document_kind(queries: list[Any], documents: list[Collection[Any]]) -> str | None:
    """Return the one kind of id that all judged documents have."""
    kinds = kinds_of(itertools.chain.from_iterable(documents))
    if len(kinds) == 1 and None not in kinds:
        return next(iter(kinds))
    samples: dict[str | None, Any] = {}
    for query, each in zip(queries, documents, strict=True):
        samples.setdefault(same_kind(each, "document", "qrels", query), query)
    samples.pop(None, None)
    if len(samples) > 1:
        raise InputError(
            f"document ids are text in query {samples['str']!r} and numbers in query "
            f"{samples['int']!r}",
            source="qrels",
        )
    return None
