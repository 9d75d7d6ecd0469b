"""Judgments and rankings as tables of other libraries, as Parquet files and as TREC's lines."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from irbatch.array_types import Floats, Ints, NDArray
from irbatch.data.dicts import are_dicts
from irbatch.data.ids import TextColumn, item_of
from irbatch.engine.ties import order_documents
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, warn
from irbatch.runtime.numbers import LARGEST_WHOLE
from irbatch.runtime.ragged import offsets_of, row_index_of

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable

CHUNK = 1 << 16  # rows
VALUE_COLUMN = {"qrels": "relevance", "run": "score"}  # what ir_measures calls them
SURROGATE = "[\ud800-\udfff]"  # what UTF-8 has no bytes for


class Tabular(Protocol):
    """What hands over its columns by Arrow's interface, as the tables of most libraries do."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the capsule."""
        ...


class Chunk(NamedTuple):
    """Some queries with their documents, as Python has them, one query after the other."""

    queries: list[Any]
    sizes: Ints  # (queries,), how many documents each has, at least one
    documents: list[Any]
    values: Floats  # (documents,), their grades or scores

    @property
    def row_index(self) -> Ints:
        """The query of each document, counted from 0: int64 ``(documents,)``."""
        return row_index_of(offsets_of(self.sizes))

    def ranked(self) -> Chunk:
        """Order each query's documents as they are evaluated."""
        order = order_documents(
            self.values,
            offsets_of(self.sizes),
            lambda rows: [self.documents[row] for row in rows.tolist()],
        )
        if (order[1:] > order[:-1]).all():
            return self
        documents = [self.documents[i] for i in order.tolist()]
        return Chunk(self.queries, self.sizes, documents, self.values[order])


class Container:
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
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """Return a pyarrow table: ``query_id``, ``doc_id``, and ``relevance`` or ``score``.

        Whole grades are integers. Scores stand in the order of the ranking.

        Raises:
            ImportError: naming the extra, when pyarrow is not installed.
        """
        pa = imported("Arrow tables", "arrow", "pyarrow")
        return pa.table(self._columns(lambda ids, rows: pa.array(ids).take(pa.array(rows))))

    def to_polars(self) -> Any:
        """Return a polars frame, see `to_arrow`."""
        pl = imported("frames", "polars", "polars")
        return pl.DataFrame(self._columns(lambda ids, rows: pl.Series(ids).gather(rows)))

    def to_pandas(self) -> Any:
        """Return a pandas frame, see `to_arrow`."""
        pd = imported("frames", "pandas", "pandas")
        return pd.DataFrame(self._columns(lambda ids, rows: pd.Series(ids).take(rows).array))

    def _chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """Yield queries in chunks of some size; those without documents are left out."""
        with ErrorsIn(path=self.name):
            table = self.as_table()
        sizes = np.diff(table.starts)
        filled, empty = np.flatnonzero(sizes), np.flatnonzero(sizes == 0)
        if not filled.size:
            problem = "there are no documents to write"
            raise InputError(problem, source=self.source, path=self.name)
        ends = np.cumsum(sizes[filled])
        for places in np.split(filled, np.flatnonzero(np.diff(ends // size)) + 1):
            rows = slice(table.starts[places[0]], table.starts[places[-1] + 1])
            queries, values = table.queries.take(places).tolist(), table.numbers[rows]
            chunk = Chunk(queries, sizes[places], table.ids(rows), values)
            yield chunk.ranked() if self.source == "run" else chunk
        if empty.size:
            which = f"{empty.size} queries of the {self.source} have no documents"
            sample = item_of(table.queries, int(empty[0]))
            warn(f"{which}, such as {sample!r}, and are not in what is written")

    def _columns(self, take: Callable[[Any, Ints], Any]) -> dict[str, Any]:
        """Return the columns by name; `take` repeats query ids for their rows."""
        (chunk,) = self._chunks(sys.maxsize)
        values: NDArray[Any] = chunk.values
        if self.source == "qrels" and (values == np.rint(values)).all():
            values = values.astype(np.int64)
        return {
            "query_id": take(_as_column(chunk.queries, "query", self.source), chunk.row_index),
            "doc_id": _as_column(chunk.documents, "document", self.source),
            VALUE_COLUMN[self.source]: values,
        }


def _as_column(ids: list[Any], what: str, source: str) -> Any:
    """Return ids as other libraries can take them: texts as a list, numbers as int64."""
    from irbatch.data.columns import as_ids

    column = as_ids(ids, what, source)
    if not isinstance(column, TextColumn):
        return column
    if re.search(SURROGATE, "".join(ids)):
        text = next(text for text in ids if re.search(SURROGATE, text))
        problem = f"{what} id {text!r} cannot be written in UTF-8"
        raise InputError(problem, source=source, value=text)
    return ids


# What separates columns and lines, what no text has, and what UTF-8 has no bytes for.
UNFIT = "[ \t\n\r\0\ud800-\udfff]"
COMMENT = "#"  # as the first word of a line
BOM = "\ufeff"  # readers drop it where a file begins


def trec_lines(chunks: Iterable[Chunk], tag: str | None = None) -> Iterator[bytes]:
    """Return the lines of each chunk, see `irbatch.Run.to_trec`: of a run with a tag, or qrels."""
    source, middle, end = "qrels", " 0 ", "\n"
    if tag is not None:
        source, middle, end = "run", " Q0 ", f" {tag}\n"
        if not tag or re.search(UNFIT, tag):
            problem = f"{tag!r} cannot be a run's tag, which is one word; give another: tag="
            raise InputError(problem, source="run")
    for chunk in chunks:
        queries, documents = list(map(str, chunk.queries)), list(map(str, chunk.documents))
        _check_ids(chunk, queries, documents, source)
        sizes = chunk.sizes.tolist()
        ranks = [f" {rank} " if source == "run" else " " for rank in range(1, max(sizes) + 1)]
        columns = zip(
            itertools.chain.from_iterable(
                itertools.repeat(query + middle, size)
                for query, size in zip(queries, sizes, strict=True)
            ),
            documents,
            itertools.chain.from_iterable(ranks[:size] for size in sizes),
            _shortest_texts(chunk.values),
            itertools.repeat(end),
            strict=False,
        )
        yield "".join(itertools.chain.from_iterable(columns)).encode()


def _shortest_texts(values: Floats) -> list[str]:
    """Write numbers in the fewest digits that are read as the same bits."""
    texts = list(map(repr, values.tolist()))
    whole = (values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE)
    for i in np.flatnonzero(whole).tolist():
        texts[i] = texts[i][:-2]  # without .0
    return texts


def _check_ids(chunk: Chunk, queries: list[str], documents: list[str], source: str) -> None:
    """Reject ids that would be read as something else."""
    for query in queries:
        if not query or query == COMMENT or re.search(UNFIT, query) or query.startswith(BOM):
            problem = "this query id cannot stand in a TREC file"
            raise InputError(problem, source=source, query=query)
    if not re.search(UNFIT, "".join(documents)) and "" not in documents:
        return
    for row, document in zip(chunk.row_index.tolist(), documents, strict=True):
        if not document or re.search(UNFIT, document):
            problem, query = "this document id cannot stand in a TREC file", chunk.queries[row]
            raise InputError(problem, source=source, query=query, document=document)


NOUNS = {"qrels": ("Qrels", "judgments", "grades"), "run": ("Run", "rankings", "scores")}


def check_nested(nested: Any, source: str, name: str | None) -> None:
    """Reject judgments or rankings that are not a mapping of queries to mappings."""
    kind, noun, values = NOUNS[source]
    if not isinstance(nested, Mapping):
        problem = f"a mapping of queries to documents to {values}, not {kind_of(nested)}"
        hint = "for tables and records see from_table"
        raise InputError(f"{noun} are {problem}; {hint}", source=source, path=name)
    for query, documents in () if are_dicts(nested) else nested.items():
        if not isinstance(documents, Mapping):
            problem = f"a mapping of documents to {values}, not {kind_of(documents)}"
            hint = f"for columns see {kind}.from_table, for lists of ids evaluate_ids"
            problem = f"a query's {noun} are {problem}; {hint}"
            raise InputError(problem, source=source, query=query, path=name)
