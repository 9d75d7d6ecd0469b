"""Reading judgments and runs from Parquet, and runs while they are evaluated.

Files are read row group by row group, a few hundred thousand rows at a time, so that the memory
they take does not grow with them, nor with their row groups.
"""

from __future__ import annotations

import io
import itertools
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.column_names import choose_columns, grade_of_all
from irbatch.data.columns import RowError, as_column, as_ids, as_numbers, as_scores
from irbatch.data.ids import KINDS, Column, IdColumn, item_of, join_ids
from irbatch.data.lookup import first_rows
from irbatch.errors import ErrorsIn, InputError, imported
from irbatch.formats.lines import NOTHING, Place
from irbatch.formats.reader import Done, Piece, TableReader, Work
from irbatch.runtime.progress import Progress
from irbatch.runtime.threads import map_items

BATCH = 1 << 18  # rows read at once
BUFFER = 1 << 20  # bytes of a column read at once
LENGTH = 4  # bytes before a text that is written in full, which has one at least itself
MAGIC, TAIL = b"PAR1", 8  # what a file begins with, and bytes behind its metadata
ARROW_TYPES = b"ARROW:schema"  # the key of types
SCATTERED = 2  # runs of rows a query from which a file is read whole
VALUES = {"grade": as_numbers, "score": as_numbers, "rank": as_scores}  # what reads them, by role

Read = TypeVar("Read")


class Span(NamedTuple):
    """Consecutive rows of a file."""

    path: str
    first: int  # row
    batch: Any  # a record batch of pyarrow


class ParquetReader(TableReader):
    """Reads judgments or rankings by columns, with pyarrow: files that are one table.

    Their columns are the same, by name and kind of ids. Files that lack a column are rejected here;
    reading them raises what is wrong, by file, column and row. Judgments without a column of grades
    have all the same grade.

    Args:
        kind: a key of `irbatch.data.column_names.ROLES`; default: the source.
        named: names of columns by role, as `choose_columns` takes them.
        content: what was read from a pipe, in place of the only path.
        progress: called with bytes read and all, about.
    """

    unit = "row"

    def __init__(
        self,
        paths: Sequence[str],
        name: str,
        source: str,
        kind: str | None = None,
        column_names: Mapping[str, Any] = NOTHING,
        *,
        content: bytes | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(name, source, paths, progress)
        self._library = imported("Parquet files", "arrow", "pyarrow.parquet")
        self._content, self._grade = content, grade_of_all(column_names)
        self._names: dict[str, str] = {}  # of columns, by role
        self._rows = self._size = 0
        expected = ""
        for path in paths:
            with self._open(path) as file:
                schema = file.schema_arrow
                names = choose_columns(schema.names, kind or source, column_names)
                kinds = [_kind(schema.field(names[role]).type) for role in ("query", "document")]
                ids = " and ".join(KINDS[kind] for kind in kinds)
                columns = f"{[*names.values()]}, whose ids are {ids}"
                if columns != (expected := expected or columns):
                    raise InputError(f"columns are {columns}; in {paths[0]!r} {expected}")
                self._names, self.query_kind = names, kinds[0]
                self._rows += file.metadata.num_rows
            self._size += os.path.getsize(path) if content is None else len(content)  # noqa: PTH202
        self.is_large = False
        if self._rows > BATCH:  # pieces can be evaluated if queries stand together at the beginning
            runs = self._read(next(self._spans())).queries.tolist()
            self.is_large = len(runs) <= SCATTERED * len(set(runs))

    def columns(self) -> dict[str, Column]:
        """Read all columns, by role and as they are."""
        parts = [
            {role: self._convert(span, role, as_column, what=role) for role in self._names}
            for span in self._spans()
        ]
        return {role: join_ids([part[role] for part in parts]) for role in self._names}

    # ------------------------------------------------------------------ rows

    def _spans(self) -> Iterator[Span]:
        """Read all rows in order, as often as it is called."""
        options: dict[str, Any] = {"columns": [*self._names.values()], "use_threads": False}
        for path in self._paths:
            with self._open(path) as file:
                # What is damaged raises here; its metadata alone would end the process.
                next(file.iter_batches(1, **options), None)
                metadata, dictionaries = self._without_types(file, path), self._dictionaries(file)
            first = 0
            with self._open(path, metadata=metadata, read_dictionary=dictionaries) as file:
                for group in range(file.num_row_groups):
                    with _naming(self._source, path, f"row group {group}: "):
                        for batch in file.iter_batches(BATCH, row_groups=[group], **options):
                            yield Span(path, first, batch)
                            first += batch.num_rows

    @contextmanager
    def _open(self, path: str, **options: Any) -> Iterator[Any]:
        # What is not said here reads all groups before it gives the first rows.
        options |= {"pre_buffer": False, "buffer_size": BUFFER, "page_checksum_verification": True}
        with (
            _naming(self._source, path),
            self._library.ParquetFile(self._raw(path), **options) as file,
        ):
            yield file

    def _without_types(self, file: Any, path: str) -> Any:
        """Return a file's metadata without the types that columns had in Arrow.

        A column that was a dictionary there would be made one again, text by text: half the speed.
        `ARROW_TYPES` is under another name then, of the same length.
        """
        if ARROW_TYPES not in (file.metadata.metadata or {}):
            return file.metadata
        size = file.metadata.serialized_size + TAIL
        with nullcontext(self._raw(path)) if self._content else open(path, "rb") as raw:  # noqa: PTH123
            raw.seek(-size, os.SEEK_END)
            end = raw.read(size).replace(ARROW_TYPES, ARROW_TYPES.lower())
        return self._library.read_metadata(io.BytesIO(MAGIC + end))

    def _raw(self, path: str) -> Any:
        return path if self._content is None else io.BytesIO(self._content)

    def _dictionaries(self, file: Any) -> list[str]:
        """Return the columns of text that are wholly dictionaries: others are read sooner as text.

        Writers begin a dictionary and give it up when it becomes large.
        """
        if not file.num_row_groups:
            return []
        paths = [file.schema.column(i).path for i in range(len(file.schema))]
        group = file.metadata.row_group(0)
        columns = (group.column(paths.index(name)) for name in self._names.values())
        return [
            column.path_in_schema
            for column in columns
            if column.physical_type == "BYTE_ARRAY"
            and column.total_uncompressed_size < LENGTH * column.num_values
        ]

    def _read(self, span: Span) -> Piece:
        ids, firsts = self._runs(span)
        documents = self._convert(span, "document", as_ids, what="document")
        values = np.full(len(documents), self._grade)
        for role in VALUES.keys() & self._names:  # one, or none
            cells = ids, firsts, documents
            values = self._convert(span, role, VALUES[role], cells)
        return Piece(ids, firsts, documents, values)

    def _runs(self, span: Span) -> tuple[IdColumn, Ints]:
        """Return the query of each run of rows, and its first row.

        Of a column that is a dictionary, numbers tell runs: only the first text of each is read.
        """
        column = span.batch[self._names["query"]]
        if not column.null_count and hasattr(column, "indices"):
            firsts = first_rows(np.asarray(column.indices))
            with suppress(InputError):  # which has other numbers of rows
                return as_ids(column.take(firsts), "query", self._source), firsts
        ids = self._convert(span, "query", as_ids, what="query")
        firsts = first_rows(ids)
        return ids.take(firsts), firsts

    def _convert(
        self,
        span: Span,
        role: str,
        read: Callable[..., Read],
        cells: tuple[IdColumn, Ints, IdColumn] | None = None,
        **options: Any,
    ) -> Read:
        """Read a column as ids or numbers; `cells` are what `_runs` returns, and documents."""
        name = self._names[role]
        with _naming(self._source, span.path, f"column {name!r}, "):
            try:
                return read(span.batch[name], source=self._source, **options)
            except RowError as error:
                fields: dict[str, Any] = {"value": error.value}
                if cells is not None:
                    queries, firsts, documents = cells
                    run = int(np.searchsorted(firsts, error.row, side="right")) - 1
                    fields["query"] = item_of(queries, run)
                    fields["document"] = item_of(documents, error.row)
                raise RowError(span.first + error.row, error.problem, **fields) from error.__cause__

    # ------------------------------------------------------------------ pieces

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Done | None]]:
        def read(spans: list[Span]) -> tuple[Piece, Done | None]:
            piece = Piece.join([self._read(span) for span in spans])
            return piece, self._attempt(piece, work)

        done = 0
        for piece, outcome in map_items(read, self._pieces()):
            done += piece.values.size
            if self._progress is not None:
                self._progress(self._size * done // self._rows, self._size)
            yield piece, outcome

    def _pieces(self) -> Iterator[list[Span]]:
        """Yield some rows at a time, that end where a query does as a rule."""
        held: list[Span] = []
        for span in self._spans():
            held.append(span)
            if sum(part.batch.num_rows for part in held) < BATCH:
                continue
            start = _query_start(span.batch.column(self._names["query"]))
            head, tail = span.batch.slice(0, start), span.batch.slice(start)
            yield [*held[:-1], span._replace(batch=head)]
            held = [Span(span.path, span.first + start, tail)] if tail.num_rows else []
        if held:
            yield held

    def _places(self, queries: set[Any]) -> Iterator[tuple[tuple[Any, Any], Place]]:
        for span in self._spans():
            piece = self._read(span)
            names = piece.queries.tolist()
            if not queries.isdisjoint(names):
                sizes = np.diff(piece.firsts, append=piece.values.size).tolist()
                rows = itertools.chain.from_iterable(map(itertools.repeat, names, sizes))
                pairs = zip(rows, piece.documents.tolist(), strict=True)
                yield from ((pair, (span.path, row)) for row, pair in enumerate(pairs, span.first))


@contextmanager
def _naming(source: str, path: str, place: str = "") -> Iterator[None]:
    """Name the file, and a place in it, in whatever is raised while it is read."""
    with ErrorsIn(source=source, path=path):
        try:
            yield
        except MemoryError:
            raise
        except InputError as problem:
            problem.message = place + problem.message
            raise
        except OSError as problem:
            raise InputError(place + (problem.strerror or str(problem))) from problem
        except Exception as problem:  # each library has its own for damaged files
            raise InputError(f"{place}cannot be read as Parquet: {problem}") from problem


def _kind(kind: Any) -> str:
    """Return what ids of an Arrow type are; types that no ids have are rejected later."""
    types = imported("Parquet files", "arrow", "pyarrow").types
    values = kind.value_type if types.is_dictionary(kind) else kind
    return "int" if types.is_integer(values) else "str"


def _query_start(queries: Any) -> int:
    """Return where the last query's rows begin, in the second half, to cut there; or their end."""
    rows = len(queries)
    last = queries[rows - 1].as_py()
    begin = bisect_left(range(rows - 1), True, key=lambda row: queries[row].as_py() == last)
    return begin if 2 * begin >= rows else rows
