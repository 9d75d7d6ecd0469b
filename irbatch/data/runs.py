"""A system's answers: for each query, the documents it retrieved and their scores."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Positions
from irbatch.data.dicts import is_table
from irbatch.data.export import Container, check_nested
from irbatch.data.ids import check_alike, column_kind, same_kind

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable
    from irbatch.data.qrels import Qrels


class Run(Container):
    """Rankings of one system.

    Args:
        rankings: query id to document id to score (any real numbers). Kept as it is, neither
            copied nor changed; scores are read, and checked, when the run is evaluated.
        name: what results and error messages call it, e.g. the system's name or the path.
        tag: what the system called itself, the last word of a run file's lines.

    Raises:
        InputError: if it is not a mapping of mappings, or the id of a query neither text nor a
            whole number.

    >>> Run({"q1": {"d1": 0.7, "d2": 0.5}}, name="bm25")
    <Run 'bm25': 1 query>
    """

    source = "run"

    def __init__(
        self,
        rankings: Mapping[Any, Mapping[Any, Any]],
        name: str | None = None,
        tag: str | None = None,
    ) -> None:
        self.rankings, self.name, self.tag = rankings, name, tag
        if is_table(rankings):
            self.query_kind = column_kind(rankings.queries) if len(rankings) else None
        else:
            check_nested(rankings, "run", name)
            self.query_kind = same_kind(rankings, "query", "run")

    @classmethod
    def from_columns(
        cls, query_ids: Any, document_ids: Any, scores: Any, name: str | None = None
    ) -> Run:
        """Make a run of columns, one row a retrieved document, in any order.

        Arrays of int64 and float64 are kept as they are, not copied: don't change them later.

        Args:
            query_ids, document_ids: text or whole numbers ``(rows,)``: sequences, arrays, series.
            scores: real numbers ``(rows,)``.

        Raises:
            InputError: if columns differ in length, an id is neither text nor a whole number, a
                score is not a number, or a query has a document twice; naming the rows, from 0.

        >>> Run.from_columns(["q1", "q1"], ["d1", "d2"], [0.7, 0.5]).rankings["q1"]
        {'d1': 0.7, 'd2': 0.5}
        """
        from irbatch.data.columns import read_columns

        return cls(read_columns(query_ids, document_ids, scores, "run", name), name)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str | None = None,
        document: str | None = None,
        score: str | None = None,
        name: str | None = None,
    ) -> Run:
        """Make a run of a table, one row a retrieved document, in any order.

        Args:
            table: a frame of pandas or polars, lazy or not, a structured NumPy array, a mapping of
                names to columns; or, with pyarrow installed, anything with `__arrow_c_stream__`
                (its own tables and readers, relations of DuckDB) or a dataset of Hugging Face's.
                Also records: named tuples, objects or mappings whose fields have such names, as
                `qrels_iter` and `scoreddocs_iter` of ir_datasets yield.
            query, document, score: what the columns are called; default: the one that has a name
                known from ir_measures, PyTerrier, ranx, BEIR or MS MARCO, such as ``query_id``,
                ``docno``, ``score``. Others are not looked at: documents are ordered by score,
                and by ``rank`` where there is no score.

        Raises:
            InputError: if it is unclear which column is which, and as `from_columns`.

        >>> Run.from_table({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [0.7, 0.5]})
        <Run: 1 query>
        """
        from irbatch.data.frames import read_table

        role_columns = {"query": query, "document": document, "score": score}
        return cls(read_table(table, "run", role_columns, name), name)

    def prepared(self) -> Run:
        """Return the run as columns, documents by score, to be evaluated again and again.

        Making them costs about as much as some evaluations from dictionaries; each one after that
        takes a fraction of the time. Errors are those of evaluating the run; and document ids that
        are whole numbers have to fit int64.

        >>> Run({"q1": {"d2": 0.5, "d1": 0.7}}).prepared().rankings["q1"]
        {'d1': 0.7, 'd2': 0.5}
        """
        table = self.as_table().ordered()
        return self if table is self.rankings else Run(table, self.name, self.tag)

    def without(self, seen: QueryTable) -> Run:
        """Return the run without the documents that queries have in a table, each there once.

        Raises:
            InputError: if ids of the two are of different kinds, and as `prepared`.
        """
        from irbatch.data.lookup import find_rows

        table = self.as_table()
        if not len(table.documents) or not len(seen.documents):
            return self
        whose: dict[str, Any] = {"whose": "of the run", "source": "exclude", "path": self.name}
        check_alike("query", seen.queries, table.queries, **whose)
        check_alike("document", seen.documents, table.documents, **whose)
        rows = find_rows(table.keyed, seen.keyed, table.find(list(seen)))
        return Run(table.without(rows[rows >= 0]), self.name, self.tag)

    @property
    def queries(self) -> Mapping[Any, Any]:
        """The queries, as keys."""
        return self.rankings

    def answers(self, qrels: Qrels) -> Positions:
        """Return the positions in `Qrels.queries` of those that have a ranking."""
        if is_table(self.rankings):
            return np.flatnonzero(qrels.places_in(self.rankings) >= 0)
        has_ranking = map(self.rankings.__contains__, qrels.queries)
        return np.flatnonzero(np.fromiter(has_ranking, bool, len(qrels)))

    def __len__(self) -> int:
        return len(self.rankings)

    def to_dict(self) -> dict[Any, dict[Any, Any]]:
        """Return query to document to score, made anew.

        >>> Run.from_columns(["q1", "q1"], ["d1", "d2"], [0.7, 0.5]).to_dict()
        {'q1': {'d1': 0.7, 'd2': 0.5}}
        """
        return {query: dict(documents) for query, documents in self.rankings.items()}

    def to_trec(self, path: str | os.PathLike[str], tag: str | None = None) -> None:
        """Write a TREC run file, ``query Q0 document rank score tag``, whole or not at all.

        Documents stand in the order in which they are evaluated, scores in the fewest digits that
        are read as the same number.

        Args:
            path: the file; compressed if it ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. Ids
                that are numbers are written as text.
            tag: what the system calls itself; default: the run's own tag, or else its name.

        Raises:
            InputError: if an id or the tag would be read as something else, or a score is not a
                number.
            OSError: as the system says.
        """
        self._write_lines(path, tag or self.tag or self.name or "irbatch")

    def as_table(self) -> QueryTable:  # noqa: D102 - inherits its docstring
        if is_table(self.rankings):
            return self.rankings
        from irbatch.data.columns import as_ids, read_ragged

        rows = list(self.rankings.values())
        scores = list(itertools.chain.from_iterable(row.values() for row in rows))
        queries = as_ids(list(self.rankings), "query", "run")
        return read_ragged(queries, rows, scores, "run", self.name)
