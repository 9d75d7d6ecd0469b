"""Judgments and rankings as tables of other libraries, as Parquet files, and in chunks to write."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Floats, Ints
from irbatch.data.arguments.ids import kinds_of, same_kind
from irbatch.data.column_names import VALUE
from irbatch.data.text_column import TextColumn
from irbatch.engine.ties.by_id import order_documents
from irbatch.errors import ErrorsIn, InputError, warn
from irbatch.runtime.checks import number_errors
from irbatch.runtime.extras import imported
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats

CHUNK = 1 << 16  # rows
VALUE_COLUMN = {"qrels": "relevance", "run": "score"}  # what ir_measures calls them
SURROGATE = re.compile("[\ud800-\udfff]")  # what UTF-8 has no bytes for

Listed = tuple[Any, Collection[Any], Any]  # a query, its documents' ids, and their real numbers


class Tabular(Protocol):
    """What hands over its columns by Arrow's interface, as the tables of most libraries do."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the capsule."""
        ...


@dataclass(frozen=True)
class Chunk:
    """Some queries with their documents, as Python has them, one query after the other."""

    queries: list[Any]
    sizes: Ints  # (queries,), how many documents each has, at least one
    documents: list[Any]
    values: Floats  # (documents,), their grades or scores

    @property
    def row_index(self) -> Ints:
        """The query of each document, counted from 0: int64 ``(documents,)``."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def ranked(self) -> Chunk:
        """Order each query's documents as they are evaluated."""
        order = order_documents(self.row_index, self.values, self.documents)
        if (order[1:] > order[:-1]).all():
            return self
        documents = [self.documents[i] for i in order.tolist()]
        return Chunk(self.queries, self.sizes, documents, self.values[order])


class Exports:
    """What judgments and rankings can become.

    Attributes:
        source: ``"qrels"`` or ``"run"``.
        name: what errors call it.
    """

    source: ClassVar[str]
    name: str | None

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
        queries, row_index, documents, values = self._columns()
        ids = pa.array(queries).take(pa.array(row_index))
        return pa.table([ids, pa.array(documents), pa.array(values)], names=self._names())

    def to_polars(self) -> Any:
        """Return a polars frame, see `to_arrow`."""
        pl = imported("frames", "polars", "polars")
        queries, row_index, documents, values = self._columns()
        columns = pl.Series(queries).gather(row_index), documents, values
        return pl.DataFrame(dict(zip(self._names(), columns, strict=True)))

    def to_pandas(self) -> Any:
        """Return a pandas frame, see `to_arrow`."""
        pd = imported("frames", "pandas", "pandas")
        queries, row_index, documents, values = self._columns()
        columns = pd.Series(queries).take(row_index).array, documents, values
        return pd.DataFrame(dict(zip(self._names(), columns, strict=True)))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of `to_arrow` as a Parquet file, whole or not at all.

        Raises:
            InputError: if an id cannot be encoded as UTF-8, naming it.
            ImportError: naming the extra, when neither pyarrow nor polars is installed.
            OSError: as the system says.
        """
        from irbatch.runtime.files import replacing

        library = imported("Parquet files", "arrow", "pyarrow.parquet", "polars")
        by_polars = library.__name__ == "polars"
        table = self.to_polars() if by_polars else self.to_arrow()
        with replacing(path) as file:
            if by_polars:
                table.write_parquet(file)
            else:
                library.write_table(table, file)

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
            warn(
                f"{len(empty)} queries of the {self.source} have no documents, such as "
                f"{empty[0]!r}, and are not in what is written"
            )

    def _chunk(self, listed: list[Listed]) -> Chunk:
        sizes = np.fromiter((len(documents) for _, documents, _ in listed), np.int64, len(listed))
        ids = list(itertools.chain.from_iterable(documents for _, documents, _ in listed))
        try:
            parts = [
                values if isinstance(values, np.ndarray) else as_floats(values)
                for _, _, values in listed
            ]
            values = np.concatenate(parts)
            fine = not np.isnan(values).any() and kinds_of(ids) in ({"str"}, {"int"})
        except NUMBER_ERRORS:
            fine = False
        if not fine:
            for each in listed:
                self._check_query(*each)
            problem = "document ids are text in some queries and numbers in others"
            raise InputError(problem, source=self.source, path=self.name)
        return Chunk([query for query, _, _ in listed], sizes, ids, values)

    def _check_query(self, query: Any, documents: Collection[Any], values: Any) -> None:
        """Raise what is wrong with a query's documents or values, if anything is."""
        with ErrorsIn(path=self.name):
            same_kind(documents, "document", self.source, query)
            rows = ((query, *each) for each in zip(documents, values, strict=True))
            for problem in number_errors(VALUE[self.source], rows, source=self.source):
                raise problem

    def _names(self) -> list[str]:
        return ["query_id", "doc_id", VALUE_COLUMN[self.source]]

    def _columns(self) -> tuple[Any, Ints, Any, Any]:
        """Return the queries, each row's place among them, the documents and the values."""
        chunks = list(self._chunks())
        queries = _as_column([id for each in chunks for id in each.queries], "query", self.source)
        documents = [id for each in chunks for id in each.documents]
        sizes = np.concatenate([each.sizes for each in chunks])
        values: npt.NDArray[Any] = np.concatenate([each.values for each in chunks])
        if self.source == "qrels" and (values == np.rint(values)).all():
            values = values.astype(np.int64)
        row_index = np.repeat(np.arange(sizes.size), sizes)
        return queries, row_index, _as_column(documents, "document", self.source), values


def _as_column(ids: list[Any], what: str, source: str) -> Any:
    """Return ids as other libraries can take them: texts as a list, numbers as int64."""
    from irbatch.data.from_columns import as_ids

    column = as_ids(ids, what, source)
    if not isinstance(column, TextColumn):
        return column
    if SURROGATE.search("".join(ids)):
        text = next(each for each in ids if SURROGATE.search(each))
        problem = f"{what} id {text!r} is no text that UTF-8 could hold"
        raise InputError(problem, source=source, value=text)
    return ids
