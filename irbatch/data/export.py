"""Judgments and rankings as tables of other libraries, and as TREC's lines."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from irbatch.data.dicts import are_dicts
from irbatch.data.ids import IdColumn, TextColumn, item_of
from irbatch.engine.ties import order_documents
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, many, warn
from irbatch.runtime.ragged import offsets_of

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable

CHUNK = 1 << 16  # rows that are written at once
SURROGATE = "[\ud800-\udfff]"  # what UTF-8 has no bytes for
# What separates columns and lines, what no text has, and what UTF-8 has no bytes for.
UNFIT = "[ \t\n\r\0\ud800-\udfff]"
COMMENT = "#"  # as the first word of a line
BOM = "\ufeff"  # readers drop it where a file begins


class Tabular(Protocol):
    """What hands over its columns by Arrow's interface, as the tables of most libraries do."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the capsule."""
        ...


class Container(Sized):
    """What judgments and rankings have in common: what they are made of, and can become."""

    source: ClassVar[str]  # "qrels" or "run"
    name: str | None  # what errors call it

    def __init__(self, table: Mapping[Any, Any], name: str | None = None) -> None:
        raise NotImplementedError

    def as_table(self) -> QueryTable:
        """Return what it is made of as columns."""
        raise NotImplementedError

    @classmethod
    def from_sparse(
        cls,
        matrix: Any,
        *,
        query_ids: Any = None,
        document_ids: Any = None,
        name: str | None = None,
    ) -> Self:
        """Read a sparse matrix of grades or scores, such as users by items.

        Args:
            matrix: a matrix or array of `scipy.sparse`, rows queries, columns documents, of any
                format. A stored zero is a grade or score of 0; what is not stored was not judged,
                or not retrieved. A row without entries is not a query of judgments; in a run it is
                one that retrieved nothing. Entries that a cell has twice are added, as SciPy does.
            query_ids, document_ids: ids of the rows and the columns, text or whole numbers;
                default their numbers, from 0.
            name: what results and error messages call it.

        Raises:
            InputError: if it is not a sparse matrix, ids are not as many or not different, or a
                value is not a number, naming the query and the document; or if there are no
                judgments.
        """
        from irbatch.data.columns import read_sparse

        ids, every_row = (query_ids, document_ids), cls.source == "run"
        return cls(read_sparse(matrix, cls.source, *ids, name, every_row=every_row), name)

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{named}: {self._counts()}>"

    def _counts(self) -> str:
        return many(len(self), "query")

    def to_arrow(self) -> Any:
        """Return a pyarrow table: ``query_id``, ``doc_id``, and ``relevance`` or ``score``.

        Whole grades are integers. Scores stand in the order of the ranking.

        Raises:
            InputError: if an id cannot be encoded as UTF-8, naming it.
            ImportError: naming the extra, when pyarrow is not installed.
        """
        return imported("Arrow tables", "arrow", "pyarrow").table(self._columns())

    def to_polars(self) -> Any:
        """Return a polars frame, see `to_arrow`."""
        return imported("frames", "polars", "polars").DataFrame(self._columns())

    def to_pandas(self) -> Any:
        """Return a pandas frame, see `to_arrow`."""
        return imported("frames", "pandas", "pandas").DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        table = self._ranked()
        queries = self._plain(table.queries.take(table.row_index), "query")
        ids = {"query_id": queries, "doc_id": self._plain(table.documents, "document")}
        if self.source == "run":
            return {**ids, "score": table.numbers}
        whole = table.numbers.astype(np.int64)
        all_whole = (whole == table.numbers).all()
        return {**ids, "relevance": whole if all_whole else table.numbers}

    def _plain(self, ids: IdColumn, what: str) -> Any:
        """Return ids as other libraries can take them: texts as a list, numbers as int64."""
        if not isinstance(ids, TextColumn):
            return ids
        texts = ids.tolist()
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            text = next(text for text in texts if re.search(SURROGATE, text))
            problem = f"{what} id {text!r} cannot be written in UTF-8"
            raise InputError(problem, source=self.source, value=text) from None
        return texts

    def _ranked(self) -> QueryTable:
        """Return the queries that have documents; a run's in the order that is evaluated."""
        from irbatch.data.columns import QueryTable

        with ErrorsIn(path=self.name):
            table = self.as_table()
        if not len(table.documents):
            problem = "there are no documents to write"
            raise InputError(problem, source=self.source, path=self.name)
        sizes = np.diff(table.starts)
        for row in np.flatnonzero(sizes == 0)[:1].tolist():
            which = f"{(sizes == 0).sum()} queries of the {self.source} have no documents"
            which += f", such as {item_of(table.queries, row)!r}"
            warn(f"{which}, and are not in what is written")
        rows = np.arange(len(table.documents))
        if self.source == "run":
            rows = order_documents(table.numbers, table.starts, table.ids)
        queries, starts = table.queries.take(np.flatnonzero(sizes)), offsets_of(sizes[sizes > 0])
        return QueryTable(queries, starts, table.documents.take(rows), table.numbers[rows])

    def _write_lines(self, path: str | os.PathLike[str], tag: str | None = None) -> None:
        """Write a file of TREC's: with a tag of rankings, or of judgments."""
        from irbatch.runtime.files import replacing

        with replacing(path, pack=True) as file:
            file.writelines(_trec_lines(self._ranked(), tag))


def _trec_lines(table: QueryTable, tag: str | None) -> Iterator[bytes]:
    source, middle, end = "qrels", " 0 ", "\n"
    if tag is not None:
        source, middle, end = "run", " Q0 ", f" {tag}\n"
        if not tag or re.search(UNFIT, tag):
            problem = f"{tag!r} cannot be a run's tag, which is one word; give another: tag="
            raise InputError(problem, source="run")
    queries, sizes = list(map(str, table.queries.tolist())), np.diff(table.starts).tolist()
    for query in queries:
        if not query or query == COMMENT or re.search(UNFIT, query) or query.startswith(BOM):
            problem = "this query id cannot stand in a TREC file"
            raise InputError(problem, source=source, query=query)
    ranks = [f" {rank} " if source == "run" else " " for rank in range(1, max(sizes) + 1)]
    breaks = np.flatnonzero(np.diff(table.ends // CHUNK)) + 1
    for first, last in itertools.pairwise([0, *breaks.tolist(), len(queries)]):
        rows = slice(int(table.begins[first]), int(table.ends[last - 1]))
        documents = list(map(str, table.ids(rows)))
        if re.search(UNFIT, "".join(documents)) or "" in documents:
            bad = (not text or re.search(UNFIT, text) is not None for text in documents)
            row = rows.start + list(bad).index(True)
            problem = "this document id cannot stand in a TREC file"
            raise InputError(problem, source=source, **table.where(row))
        columns = zip(
            itertools.chain.from_iterable(
                itertools.repeat(query + middle, size)
                for query, size in zip(queries[first:last], sizes[first:last], strict=True)
            ),
            documents,
            itertools.chain.from_iterable(ranks[:size] for size in sizes[first:last]),
            map(repr, table.numbers[rows].tolist()),
            itertools.repeat(end),
            strict=False,
        )
        # In the fewest digits that are read as the same bits: whole numbers have no point.
        yield "".join(itertools.chain.from_iterable(columns)).replace(f".0{end}", end).encode()


def check_nested(nested: Any, source: str, name: str | None) -> None:
    """Reject judgments or rankings that are not a mapping of queries to mappings."""
    kind, values = ("Qrels", "grades") if source == "qrels" else ("Run", "scores")
    made = "Qrels are made" if source == "qrels" else "a Run is made"
    forms = f"{made} of queries to documents to {values}, not of"
    hint = f"for columns, tables and records see {kind}.from_table, for lists of ids evaluate_ids"
    if not isinstance(nested, Mapping):
        raise InputError(f"{forms} {kind_of(nested)}; {hint}", source=source, path=name)
    for query, documents in () if are_dicts(nested) else nested.items():
        if not isinstance(documents, Mapping):
            problem = f"{forms} queries to {kind_of(documents)}; {hint}"
            raise InputError(problem, source=source, query=query, path=name)
