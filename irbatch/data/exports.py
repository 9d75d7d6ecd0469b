"""Judgments and rankings as tables of other libraries, and as Parquet files of one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Ints
from irbatch.data.text_column import TextColumn
from irbatch.errors import InputError
from irbatch.runtime.extras import imported

if TYPE_CHECKING:
    from irbatch.data.rows import Rows

__all__ = ["Exports", "Tabular"]

VALUE = {"qrels": "relevance", "run": "score"}  # what ir_measures calls them
SURROGATE = re.compile("[\ud800-\udfff]")  # what UTF-8 has no bytes for


class Tabular(Protocol):
    """What hands over its columns by Arrow's interface, as the tables of most libraries do."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the capsule."""
        ...


class Exports:
    """What judgments and rankings can become.

    Attributes:
        source: ``"qrels"`` or ``"run"``.
    """

    source: ClassVar[str]

    def _pieces(self) -> Iterator[Rows]:
        """Yield all rows, those of a query next to each other."""
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """Return a pyarrow table: ``query_id``, ``doc_id``, and ``relevance`` or ``score``.

        Whole grades are integers. Scores stand in the order of the ranking.

        Raises:
            ImportError: naming the extra, when pyarrow is not installed.
        """
        pa = imported("Arrow tables", "arrow", "pyarrow")
        queries, row_index, documents, values = self._columns()
        columns = [
            pa.array(queries).take(pa.array(row_index)),
            pa.array(documents),
            pa.array(values),
        ]
        return pa.table(columns, names=self._names())

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
            InputError: naming an id that is no proper text.
            ImportError: naming the extra, when neither pyarrow nor polars is installed.
            OSError: as the system says.
        """
        from irbatch.runtime.files import replacing

        found = imported("Parquet files", "arrow", "pyarrow.parquet", "polars")
        if found.__name__ == "polars":
            frame = self.to_polars()
            with replacing(path) as file:
                frame.write_parquet(file)
        else:
            table = self.to_arrow()
            with replacing(path) as file:
                found.write_table(table, file)

    def _names(self) -> list[str]:
        return ["query_id", "doc_id", VALUE[self.source]]

    def _columns(self) -> tuple[Any, Ints, Any, Any]:
        """Return the queries, the place of each row's query, the documents and the values."""
        from irbatch.data.rows import join_rows

        rows = join_rows(self._pieces())
        queries = _checked(rows.queries, "query", self.source)
        documents = _checked(rows.documents, "document", self.source)
        values: npt.NDArray[Any] = rows.values
        if self.source == "qrels" and (values == np.rint(values)).all():
            values = values.astype(np.int64)
        return queries, rows.row_index, documents, values


def _checked(ids: list[Any], what: str, source: str) -> Any:
    """Return ids as other libraries can take them: texts as a list, numbers as int64."""
    from irbatch.data.from_columns import as_ids

    checked = as_ids(ids, what, source)
    if not isinstance(checked, TextColumn):
        return checked
    for text in ids if SURROGATE.search("".join(ids)) else ():
        if SURROGATE.search(text):
            raise InputError(f"{what} id {text!r} is no text that UTF-8 could hold", source=source,
                             value=text)  # fmt: skip
    return ids
