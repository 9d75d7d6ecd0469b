"""Judgments, read back as dicts."""

from __future__ import annotations

from irbatch import Qrels


def grades_of(qrels: Qrels) -> dict[str, dict[str, float]]:
    """Turn judgments, none of them negative, back into a dict."""
    grades = iter(qrels.levels[qrels.codes].tolist())
    pairs = zip(qrels.queries, qrels.documents, strict=True)
    return {query: {document: next(grades) for document in each} for query, each in pairs}
