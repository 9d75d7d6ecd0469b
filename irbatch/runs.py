"""A system's answers: for each query, the documents it retrieved and their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irbatch.errors import InputError
from irbatch.ids import same_kind
from irbatch.text_rankings import TextRankings

__all__ = ["Run"]


class Run:
    """Rankings of one system.

    Args:
        rankings: query id to document id to score (any real numbers). Kept as it is, neither
            copied nor changed; scores are read, and checked, when the run is evaluated.
        name: what results and error messages call it, e.g. the system's name or the path.
        tag: what the system called itself, the last word of a run file's lines.

    Raises:
        InputError: when it is no mapping of mappings, or an id of a query is no id.

    >>> Run({"q1": {"d1": 0.7, "d2": 0.5}}, name="bm25")
    <Run 'bm25': 1 queries>
    """

    def __init__(
        self,
        rankings: Mapping[Any, Mapping[Any, Any]],
        name: str | None = None,
        tag: str | None = None,
    ) -> None:
        if not isinstance(rankings, Mapping):
            raise InputError(
                f"rankings are a mapping of queries to documents to scores, not a "
                f"{type(rankings).__name__}",
                source="run",
                path=name,
            )
        for query, documents in () if isinstance(rankings, TextRankings) else rankings.items():
            if not isinstance(documents, Mapping):
                raise InputError(
                    f"a query's ranking is a mapping of documents to scores, not a "
                    f"{type(documents).__name__}; for lists of ids see evaluate_ids",
                    source="run",
                    query=query,
                    path=name,
                )
        self.rankings = rankings
        self.name = name
        self.tag = tag
        self.query_kind = same_kind(rankings, "query", "run")

    def __len__(self) -> int:
        return len(self.rankings)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        return f"<Run{named}: {len(self)} queries>"
