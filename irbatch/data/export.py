"""Judgments and rankings as tables of other libraries, as Parquet files and as TREC's lines."""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.column_names import VALUE
from irbatch.data.ids import TextColumn, kinds_of, same_kind
from irbatch.engine.ties import order_documents
from irbatch.errors import ErrorsIn, InputError, imported, warn
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, read_numbers
from irbatch.runtime.ragged import offsets_of, row_index_of

CHUNK = 1 << 16  # rows
VALUE_COLUMN = {"qrels": "relevance", "run": "score"}  # what ir_measures calls them
SURROGATE = "[\ud800-\udfff]"  # what UTF-8 has no bytes for

Listed = tuple[Any, Collection[Any], Any]  # a query, its documents' ids, and their real numbers


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
        order = order_documents(self.row_index, self.values, self.documents)
        if (order[1:] > order[:-1]).all():
            return self
        documents = [self.documents[i] for i in order.tolist()]
        return Chunk(self.queries, self.sizes, documents, self.values[order])


class Exports:
    """What judgments and rankings can become."""

    source: ClassVar[str]  # "qrels" or "run"
    name: str | None  # what errors call it

    def _queries(self) -> Iterable[Listed]:
        """Yield each query with its documents and their grades or scores."""
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

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of `to_arrow` as a Parquet file, whole or not at all.

        Raises:
            InputError: if an id cannot be encoded as UTF-8, naming it.
            ImportError: naming the extra, when pyarrow is not installed.
            OSError: as the system says.
        """
        from irbatch.runtime.files import replacing

        library = imported("Parquet files", "arrow", "pyarrow.parquet")
        table = self.to_arrow()
        with replacing(path) as file:
            library.write_table(table, file, write_page_checksum=True)

    def _chunks(self) -> Iterator[Chunk]:
        """Yield queries in chunks of some size; those without documents are left out."""
        empty: list[Any] = []
        some = False
        waiting: list[Listed] = []
        count = 0
        for query, documents, values in self._queries():
            if not len(documents):
                empty.append(query)
                continue
            waiting.append((query, documents, values))
            count += len(documents)
            if count >= CHUNK:
                yield self._chunk(waiting)
                some, waiting, count = True, [], 0
        if waiting:
            yield self._chunk(waiting)
        elif not some:
            problem = "there are no documents to write"
            raise InputError(problem, source=self.source, path=self.name)
        if empty:
            which = f"{len(empty)} queries of the {self.source} have no documents"
            warn(f"{which}, such as {empty[0]!r}, and are not in what is written")

    def _chunk(self, listed: list[Listed]) -> Chunk:
        queries, documents, numbers = zip(*listed, strict=True)
        sizes = np.fromiter(map(len, documents), np.int64, len(documents))
        ids = list(itertools.chain.from_iterable(documents))
        try:
            parts = [each if isinstance(each, np.ndarray) else as_floats(each) for each in numbers]
            values = np.concatenate(parts)
            fine = not np.isnan(values).any() and kinds_of(ids) in ({"str"}, {"int"})
        except NUMBER_ERRORS:
            fine = False
        if not fine:
            self._reject(listed)
        return Chunk(list(queries), sizes, ids, values)

    def _reject(self, listed: list[Listed]) -> NoReturn:
        """Raise what is wrong with the documents or the values of some queries."""
        with ErrorsIn(source=self.source, path=self.name):
            for query, documents, values in listed:
                same_kind(documents, "document", self.source, query)
                names = ((query, document) for document in documents)
                read_numbers(VALUE[self.source], values, names)
            raise InputError("document ids are text in some queries and whole numbers in others")

    def _columns(self, take: Callable[[Any, Ints], Any]) -> dict[str, Any]:
        """Return the columns by name; `take` repeats query ids for their rows."""
        chunks = list(self._chunks())
        queries = _as_column([id for each in chunks for id in each.queries], "query", self.source)
        documents = [id for each in chunks for id in each.documents]
        sizes = np.concatenate([each.sizes for each in chunks])
        values: npt.NDArray[Any] = np.concatenate([each.values for each in chunks])
        if self.source == "qrels" and (values == np.rint(values)).all():
            values = values.astype(np.int64)
        return {
            "query_id": take(queries, row_index_of(offsets_of(sizes))),
            "doc_id": _as_column(documents, "document", self.source),
            VALUE_COLUMN[self.source]: values,
        }


def _as_column(ids: list[Any], what: str, source: str) -> Any:
    """Return ids as other libraries can take them: texts as a list, numbers as int64."""
    from irbatch.data.columns import as_ids

    column = as_ids(ids, what, source)
    if not isinstance(column, TextColumn):
        return column
    if re.search(SURROGATE, "".join(ids)):
        text = next(each for each in ids if re.search(SURROGATE, each))
        problem = f"{what} id {text!r} cannot be written in UTF-8"
        raise InputError(problem, source=source, value=text)
    return ids


# What separates columns and lines, what no text has, and what UTF-8 has no bytes for.
UNFIT = "[ \t\n\r\0\ud800-\udfff]"
COMMENT = "#"  # as the first word of a line
BOM = "\ufeff"  # readers drop it where a file begins


def run_lines(chunks: Iterable[Chunk], tag: str) -> Iterator[bytes]:
    """Return the lines of each chunk of rankings, see `irbatch.Run.to_trec`."""
    if not tag or re.search(UNFIT, tag):
        problem = f"{tag!r} cannot be a run's tag, which is one word; give another: tag="
        raise InputError(problem, source="run")
    return (_lines(chunk, " Q0 ", _ranks(chunk), f" {tag}\n", "run") for chunk in chunks)


def qrels_lines(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """Return the lines of each chunk of judgments, see `irbatch.Qrels.to_trec`."""
    return (_lines(chunk, " 0 ", itertools.repeat(" "), "\n", "qrels") for chunk in chunks)


def _ranks(chunk: Chunk) -> Iterator[str]:
    texts = [f" {rank} " for rank in range(1, int(chunk.sizes.max()) + 1)]
    return itertools.chain.from_iterable(texts[:size] for size in chunk.sizes.tolist())


def _lines(chunk: Chunk, middle: str, between: Iterable[str], end: str, source: str) -> bytes:
    """Return the lines of a chunk: `middle` before a document, `between` before its value."""
    queries, documents = _as_texts(chunk.queries), _as_texts(chunk.documents)
    _check_ids(chunk, queries, documents, source)
    starts = [query + middle for query in queries]
    columns = zip(
        itertools.chain.from_iterable(map(itertools.repeat, starts, chunk.sizes.tolist())),
        documents,
        between,
        _shortest_texts(chunk.values),
        itertools.repeat(end),
        strict=False,
    )
    return "".join(itertools.chain.from_iterable(columns)).encode()


def _as_texts(ids: list[Any]) -> Sequence[str]:
    return ids if isinstance(ids[0], str) else [str(int(each)) for each in ids]


def _shortest_texts(values: Floats) -> list[str]:
    """Write numbers in the fewest digits that are read as the same bits."""
    texts = list(map(repr, values.tolist()))
    whole = (values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE)
    for i in np.flatnonzero(whole).tolist():
        texts[i] = texts[i][:-2]  # without .0
    return texts


def _check_ids(chunk: Chunk, queries: Sequence[str], documents: Sequence[str], source: str) -> None:
    """Reject ids that would be read as something else."""
    reject = functools.partial(InputError, source=source)
    for query in queries:
        if query == COMMENT:
            raise reject(f"a line that begins with {query!r} is a comment", query=query)
        if not query or re.search(UNFIT, query) or query.startswith(BOM):
            raise reject("this query id cannot stand in a TREC file", query=query)
    if not re.search(UNFIT, "".join(documents)) and "" not in documents:
        return
    for row, document in zip(chunk.row_index.tolist(), documents, strict=True):
        if not document or re.search(UNFIT, document):
            names = {"query": chunk.queries[row], "document": document}
            raise reject("this document id cannot stand in a TREC file", **names)
