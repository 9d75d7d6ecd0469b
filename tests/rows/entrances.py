"""The public entrances, each as a function from a problem to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import irbatch
from rows.problem import Found, Problem, demands

Call = Callable[[Problem, Path], Found]


class FoundRefusalError(Exception):
    """What a command printed when it refused something."""


@dataclass(frozen=True)
class Entrance:
    """A way into the library.

    `place` says how its refusals say where: by ``"ids"``, ``"row"``, ``"line"``, ``"query"``, or
    not (``""``). `lacks` names what it cannot be given, and why.
    """

    name: str
    call: Call
    place: str = "ids"
    traits: frozenset[str] = frozenset()
    lacks: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()  # packages

    def absent(self) -> str:
        """Name a package that it needs and that is not installed."""
        return next((each for each in self.needs if find_spec(each) is None), "")

    def reason_against(self, problem: Problem) -> str:
        """Say why a problem cannot be given here; "" if it can."""
        return next(
            (self.lacks[each] for each in sorted(demands(problem)) if each in self.lacks), ""
        )


def per_query(results: irbatch.Results, queries: list[Any] | None = None) -> Found:
    """Return values by measure and query; of queries that have no ids, under the names given."""
    names = results.query_ids if queries is None else queries
    return {
        name: dict(zip(names, values, strict=True))
        for name, values in zip(results.measures, results.values.T.tolist(), strict=True)
    }


# What groups of entrances cannot be given, and why.

FILES_ONLY = {"bytes of a file": "it reads no file"}
NO_ARRAYS = {"arrays": "it is given no arrays"}
MAPPING = {
    "a judgment twice": "a mapping has a key once",
    "a document twice": "a mapping has a key once",
}
COLUMNS = {
    "queries judged without documents": "a table has no row for a query without documents",
    "empty rankings": "a table has no row for a query without documents",
}
TYPED = {
    **COLUMNS,
    "cells of several types": "a column is of one type",
    "ids of two kinds": "a column is of one type",
    "ids beyond int64": "the column's type ends at int64",
    "whole numbers beyond int64": "the column's type ends at int64",
    "complex numbers": "there is no such type of column",
    "lone surrogates": "the column's text is UTF-8",
}
TEXT = {
    **COLUMNS,
    "ids that are no text": "a file has text only",
    "a grade that is no number": "a file has text only: see the rows of files",
    "a score that is no number": "a file has text only: see the rows of files",
    "lone surrogates": "a file is UTF-8: see the rows of files",
    "nothing on one side": "an empty file: see the rows of files",
}
WORDS = {**TEXT, "ids that are no words": "columns would shift: see the rows of files"}
NO_SCORES = {
    "scores": "rankings come in order, without scores",
    "a score that is no number": "rankings come in order, without scores",
    "nulls": "rankings come in order, without scores",
    "truth values": "rankings come in order, without scores",
}
NO_IDS = {
    "ids": "documents have no ids here",
    "ids that are no text": "documents have no ids here",
    "ids of other types": "documents have no ids here",
    "a judgment twice": "a document is one column, with one label",
    "a document twice": "a document is one column, with one score",
    "queries of one side": "every row has scores and labels",
    "queries judged without documents": "every row has scores and labels",
    "empty rankings": "every row has scores and labels",
    "nothing on one side": "every row has scores and labels",
}
