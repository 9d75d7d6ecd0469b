"""What documents are ordered by, and what becomes of those that share a score."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

SCORE_DTYPES = ("float64", "float32")


class TiePolicy(StrEnum):
    """What becomes of documents that share a score, see `irbatch.evaluate_scores`."""

    EXPECTED = "expected"
    PESSIMISTIC = "pessimistic"
    OPTIMISTIC = "optimistic"
    INDEX = "index"
    ID = "id"
    ID_ASCENDING = "id_ascending"
    ERROR = "error"

    @property
    def by_id(self) -> bool:
        """Whether ids decide, so that nothing is left to chance."""
        return self in (TiePolicy.ID, TiePolicy.ID_ASCENDING)

    @property
    def by_key(self) -> bool:
        """Whether ids or positions decide, whatever the documents' grades."""
        return self.by_id or self == TiePolicy.INDEX


class Ordering(NamedTuple):
    """What documents are ordered by: scores in some precision, and what becomes of equal ones."""

    score_dtype: str = "float64"  # one of `SCORE_DTYPES`
    ties: TiePolicy = TiePolicy.ID

    def describe(self, by: str = "score") -> str:
        """Describe the order of documents that have ids and scores, or ``by="rank"`` ranks."""
        first = "rank ascending" if by == "rank" else f"score ({self.score_dtype}) descending"
        then = {"id": "document id descending", "id_ascending": "document id ascending"}
        return f"{first}, {f'then {then[self.ties]}' if self.ties.by_id else f'ties: {self.ties}'}"


DEFAULT_ORDERING = Ordering()
