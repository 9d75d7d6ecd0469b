"""Reading judgments and runs from Parquet, and runs while they are evaluated.

Files are read row group by row group, a few hundred thousand rows at a time, so that the memory
they take does not grow with them, nor with their row groups.
"""

from __future__ import annotations

import functools
import io
import itertools
import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.column_names import choose_columns, grade_of_all
from irbatch.data.columns import (
    QueryTable,
    as_column,
    as_ids,
    as_numbers,
    as_scores,
    group_columns,
    item_of,
)
from irbatch.data.ids import KINDS, NO_TEXTS, Column, IdColumn, join_ids
from irbatch.data.lookup import first_rows
from irbatch.errors import LISTED_PROBLEMS, ErrorsIn, InputError, imported, raise_problems
from irbatch.formats.lines import NOTHING
from irbatch.formats.reader import FEW, Done, Outcome, Piece, TableReader, Work, attempt
from irbatch.runtime.progress import Progress
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import map_items

BATCH = 1 << 18  # rows read at once
BUFFER = 1 << 20  # bytes of a column read at once
LENGTH = 4  # bytes before a text that stands in full, which has one at least itself
MAGIC, TAIL = b"PAR1", 8  # what a file begins with, and bytes behind its metadata
ARROW_TYPES = b"ARROW:schema"  # the key of types
IDS = "query", "document"  # roles

Find = Callable[[list[str]], dict[str, str]]  # by role the names of columns, of all there are


class Span(NamedTuple):
    """Consecutive rows of a file."""

    path: str
    first: int  # row
    batch: Any  # a record batch of pyarrow

    def runs(self, name: str) -> tuple[Span, Ints] | None:
        """Return the first rows of runs of the same text, alone; None if they are not told by it.

        Of a column that is a dictionary they are: no text is looked at. Their places in this are
        int64 ``(runs,)``.
        """
        column = self.batch.column(name) if hasattr(self.batch, "column") else None
        if column is None or column.null_count or not hasattr(column, "indices"):
            return None
        firsts = first_rows(np.asarray(column.indices))
        library = imported("Parquet files", "arrow", "pyarrow")
        batch = library.record_batch([column.take(library.array(firsts))], names=[name])
        return self._replace(batch=batch), firsts

    def parted(self, row: int) -> tuple[Span, Span]:
        """Part it before one of its rows."""
        after = self._replace(first=self.first + row, batch=self.batch.slice(row))
        return self._replace(batch=self.batch.slice(0, row)), after


class ParquetFiles:
    """Files that are read as one table, opened here: their columns are the same, by name and kind.

    `names` are those of the columns by role, which `find` finds among all. A pipe's `content` was
    read before.
    """

    def __init__(
        self,
        library: Any,
        paths: Sequence[str],
        source: str,
        find: Find,
        content: bytes | None = None,
    ) -> None:
        self._library = library
        self._paths, self._source, self._content = paths, source, content
        self.rows = self.size = 0
        self.names: dict[str, str] = {}
        self.kinds: dict[str, str] = {}  # of ids, by role
        for path in paths:
            with self._open(path) as file:
                schema = file.schema_arrow
                names = find(schema.names)
                kinds = {role: _kind(schema.field(names[role]).type) for role in IDS}
                if (names, kinds) != (self.names or names, self.kinds or kinds):
                    raise InputError(self._difference(names, kinds))
                self.names, self.kinds = names, kinds
                self.rows += file.metadata.num_rows
            self.size += os.path.getsize(path) if content is None else len(content)  # noqa: PTH202

    def spans(self) -> Iterator[Span]:
        """Read all rows in order, as often as it is called."""
        wanted = [*self.names.values()]
        for path in self._paths:
            with self._open(path) as file:
                metadata = self._without_types(file, path)
                options = {"metadata": metadata, "read_dictionary": _dictionaries(metadata, wanted)}
            first = 0
            with self._open(path, **options) as file:
                for group in range(file.num_row_groups):
                    chosen = {"row_groups": [group], "columns": wanted, "use_threads": False}
                    with naming(self._source, path, f"row group {group}: "):
                        for batch in file.iter_batches(BATCH, **chosen):
                            yield Span(path, first, batch)
                            first += batch.num_rows

    @contextmanager
    def _open(self, path: str, **options: Any) -> Iterator[Any]:
        # What is not said here reads all groups before it gives the first rows.
        options |= {"pre_buffer": False, "buffer_size": BUFFER}
        with naming(self._source, path):
            file = self._library.ParquetFile(self._raw(path), **options)
        with file, ErrorsIn(source=self._source, path=path):
            yield file

    def _raw(self, path: str) -> Any:
        return path if self._content is None else io.BytesIO(self._content)

    def _without_types(self, file: Any, path: str) -> Any:
        """Return a file's metadata without the types that columns had in Arrow.

        A column that was a dictionary there would be made one again, text by text: a fourth of
        the speed. `ARROW_TYPES` is under another name then, of the same length.
        """
        if ARROW_TYPES not in (file.metadata.metadata or {}):
            return file.metadata
        size = file.metadata.serialized_size + TAIL
        with nullcontext(self._raw(path)) if self._content else open(path, "rb") as raw:  # noqa: PTH123
            raw.seek(-size, os.SEEK_END)
            end = raw.read(size).replace(ARROW_TYPES, ARROW_TYPES.lower())
        return self._library.read_metadata(io.BytesIO(MAGIC + end))

    def _difference(self, names: dict[str, str], kinds: dict[str, str]) -> str:
        """Say how a file's columns differ from those of the first one."""
        for role, name in names.items():
            if name != self.names[role]:
                return f"the {role} is column {name!r}, in {self._paths[0]!r} {self.names[role]!r}"
        role = next(role for role in IDS if kinds[role] != self.kinds[role])
        ours, theirs = KINDS[kinds[role]], KINDS[self.kinds[role]]
        return f"column {names[role]!r} is {ours}, in {self._paths[0]!r} {theirs}"


class PolarsFiles:
    """Files that polars reads whole, where there is no pyarrow."""

    def __init__(
        self,
        library: Any,
        paths: Sequence[str],
        source: str,
        find: Find,
        content: bytes | None = None,
    ) -> None:
        self._library, self._paths, self._content = library, paths, content
        self._source = source
        self.rows = self.size = 0  # not known, so that it is read whole
        self.kinds = dict.fromkeys(IDS, "str")
        with naming(source, paths[0]):
            self.names = find(self._scan(paths[0]).collect_schema().names())

    def spans(self) -> Iterator[Span]:
        """Read the files."""
        for path in self._paths:
            with naming(self._source, path):
                frame = self._scan(path).select([*self.names.values()]).collect()
            yield Span(path, 0, frame)

    def _scan(self, path: str) -> Any:
        given = path if self._content is None else io.BytesIO(self._content)
        return self._library.scan_parquet(given, glob=False)


@contextmanager
def naming(source: str, path: str, place: str = "") -> Iterator[None]:
    """Name the file, and a place in it, in what a library raises while it is read."""
    with ErrorsIn(source=source, path=path):
        try:
            yield
        except InputError:
            raise
        except OSError as problem:
            raise InputError(place + (problem.strerror or str(problem))) from problem
        except Exception as problem:  # each library has its own for damaged files
            raise InputError(f"{place}cannot be read as Parquet: {problem}") from problem


def _kind(kind: Any) -> str:
    """Return what ids of an Arrow type are; those that cannot be are refused when they are read."""
    types = imported("Parquet files", "arrow", "pyarrow").types
    values = kind.value_type if types.is_dictionary(kind) else kind
    return "int" if types.is_integer(values) else "str"


def _dictionaries(metadata: Any, wanted: Sequence[str]) -> list[str]:
    """Return the columns of text in which each text stands once, and numbers in its places.

    Writers begin a dictionary and give it up when it becomes large. What is not wholly one takes
    longer to be read as one.
    """
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    return [
        column.path_in_schema
        for column in columns
        if column.path_in_schema in wanted
        and column.physical_type == "BYTE_ARRAY"
        and column.total_uncompressed_size < LENGTH * column.num_values
    ]


SCATTERED = 2  # groups of rows a query from which a run is read whole
Files = ParquetFiles | PolarsFiles
Read = TypeVar("Read")


class Columns(NamedTuple):
    """Rows of judgments or rankings."""

    queries: IdColumn  # (runs,): of runs of rows
    firsts: Ints  # (runs,): where these begin
    documents: IdColumn  # (rows,)
    values: Floats  # (rows,)


class ParquetReader(TableReader):
    """Reads judgments or rankings by columns, with pyarrow.

    Files that lack a column are refused here; reading them raises what is wrong, by file, column
    and row. `progress` is called with bytes read and all, about. Judgments without a column of
    grades have all the same `grade`.
    """

    def __init__(
        self,
        files: Files,
        name: str,
        source: str,
        progress: Progress | None = None,
        *,
        grade: float = 1.0,
    ) -> None:
        super().__init__()
        self._files, self._source, self._progress = files, source, progress
        self.name, self._grade = name, grade
        self.query_kind = files.kinds["query"]
        self.is_large = files.rows > BATCH and self._is_grouped()

    def _is_grouped(self) -> bool:
        """Tell whether queries stand together in the beginning, so that pieces can be evaluated."""
        runs = self._read(next(self._files.spans())).queries.tolist()
        return len(runs) <= SCATTERED * len(set(runs))

    def table(self) -> QueryTable:
        """Read all of it as columns."""
        table = group_columns(*_joined([self._read(span) for span in self._files.spans()]))
        if table.repeated >= 0:
            self._repeats = table.repeats(LISTED_PROBLEMS)
        self._raise_problems()
        return table

    def columns(self) -> dict[str, Column]:
        """Read all columns, by role and as they are."""
        names = self._files.names
        parts = [
            {
                role: self._convert(span, name, span.batch[name], as_column, what=role)
                for role, name in names.items()
            }
            for span in self._files.spans()
        ]
        return {role: join_ids([part[role] for part in parts]) for role in names}

    def _parsed(self, work: Work[Done]) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        done = 0
        parsed = map_items(lambda spans: self._worked(spans, work), self._pieces())
        for piece, outcome in parsed:
            done += piece.values.size
            if self._progress is not None:
                self._progress(self._files.size * done // self._files.rows, self._files.size)
            yield piece, outcome

    def _parsed_again(self) -> Iterator[Piece]:
        return map_items(self._piece, self._pieces())

    def _worked(self, spans: list[Span], work: Work[Done]) -> tuple[Piece, Outcome[Done] | None]:
        piece = self._piece(spans)
        # A piece of few queries is mostly cut within one: it is worked on when that is complete.
        if len(piece.queries) < FEW or piece.table.repeated >= 0:
            return piece.compact(), None
        return piece, attempt(work, piece.table)

    def _pieces(self) -> Iterator[list[Span]]:
        """Yield some rows at a time, that end where a query does as a rule."""
        held: list[Span] = []
        for span in self._files.spans():
            held.append(span)
            if sum(each.batch.num_rows for each in held) < BATCH:
                continue
            start = _query_start(span.batch.column(self._files.names["query"]))
            held, rest = [], held
            if start < span.batch.num_rows:
                head, tail = span.parted(start)
                held, rest = [tail], [*rest[:-1], head]
            yield rest
        if held:
            yield held

    def _piece(self, spans: list[Span]) -> Piece:
        runs, firsts, documents, values = _joined([self._read(span) for span in spans])
        queries = runs.tolist()
        if any(itertools.starmap(operator.eq, itertools.pairwise(queries))):  # across two spans
            kept = [i for i, query in enumerate(queries) if not i or query != queries[i - 1]]
            queries, firsts = [queries[i] for i in kept], firsts[kept]
        return Piece(queries, firsts, documents, values)

    def _read(self, span: Span) -> Columns:
        """Read queries, documents, and grades or scores."""
        query, document, *value = self._files.names.values()
        ids, firsts = self._runs(span, query)
        documents = self._convert(span, document, span.batch[document], as_ids, what="document")
        values = np.full(len(documents), self._grade)
        if value:
            read = as_scores if "rank" in self._files.names else as_numbers
            fields = functools.partial(_ids_of_row, ids, firsts, documents)
            values = self._convert(span, value[0], span.batch[value[0]], read, fields=fields)
        return Columns(ids, firsts, documents, values)

    def _runs(self, span: Span, name: str) -> tuple[IdColumn, Ints]:
        """Return the query of each run of rows, and its first row."""
        if (told := span.runs(name)) is not None:
            runs, firsts = told
            with suppress(InputError):  # it has other numbers of rows
                return as_ids(runs.batch[name], "query", self._source), firsts
        ids = self._convert(span, name, span.batch[name], as_ids, what="query")
        firsts = first_rows(ids)
        return ids.take(firsts), firsts

    def _convert(
        self,
        span: Span,
        name: str,
        column: Any,
        read: Callable[..., Read],
        **options: Any,
    ) -> Read:
        """Read a column as ids or numbers."""
        try:
            return read(column, source=self._source, first=span.first, **options)
        except InputError as error:
            error.message = f"column {name!r}, {error.message}"
            raise error.with_fields(path=span.path) from None

    def _raise_problems(self) -> None:
        if self._repeats:
            raise_problems(list(self._repeated_rows()))

    def _repeated_rows(self) -> Iterator[InputError]:
        """Say in which rows documents stand that their queries have twice."""
        wanted = dict.fromkeys(self._repeats)
        affected = {query for query, _ in self._repeats}
        before: dict[tuple[Any, Any], tuple[str, int]] = {}
        found = 0
        for span in self._files.spans():
            queries, firsts, documents, _ = self._read(span)
            ends = np.append(firsts[1:], len(documents))
            groups = zip(queries.tolist(), firsts, ends, strict=True)
            for query, first, end in (each for each in groups if each[0] in affected):
                ids = documents.take(np.arange(first, end)).tolist()
                for row, document in enumerate(ids, span.first + int(first)):
                    pair, place = (query, document), (span.path, row)
                    if pair in wanted and before.setdefault(pair, place) != place:
                        yield self._repeated(pair, before[pair], place)
                        found += 1
                        if found == LISTED_PROBLEMS:
                            return

    def _repeated(
        self, pair: tuple[Any, Any], first: tuple[str, int], second: tuple[str, int]
    ) -> InputError:
        rows = f"rows {first[1]} and {second[1]}"
        if first[0] != second[0]:
            rows = f"row {second[1]} and in row {first[1]} of {first[0]!r}"
        error = InputError(f"this document stands in {rows}", source=self._source, path=second[0])
        return error.with_fields(query=pair[0], document=pair[1])


def open_parquet(
    paths: list[str],
    name: str,
    source: str,
    kind: str | None = None,
    named: Mapping[str, Any] = NOTHING,
    *,
    content: bytes | None = None,
    progress: Progress | None = None,
) -> ParquetReader:
    """Open files that are one table, or one whose `content` was read.

    `kind` is a key of `irbatch.data.column_names.ROLES`, by default the source; `named` are its
    columns, as `choose_columns` takes them.
    """
    find = functools.partial(choose_columns, kind=kind or source, given=named)
    library = imported("Parquet files", "arrow", "pyarrow.parquet", "polars")
    opener = PolarsFiles if library.__name__ == "polars" else ParquetFiles
    files: Files = opener(library, paths, source, find, content)
    return ParquetReader(files, name, source, progress, grade=grade_of_all(named))


def _ids_of_row(queries: IdColumn, firsts: Ints, documents: IdColumn, row: int) -> dict[str, Any]:
    """Return the query and the document of a row of some; `queries` are those of runs of rows."""
    run = int(np.searchsorted(firsts, row, side="right")) - 1
    return {"query": item_of(queries, run), "document": item_of(documents, row)}


def _joined(parts: list[Columns]) -> Columns:
    """Put the rows of several spans one after the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Columns(NO_TEXTS, np.empty(0, np.int64), NO_TEXTS, np.empty(0))
    offsets = offsets_of([part.values.size for part in parts]).tolist()
    return Columns(
        join_ids([part.queries for part in parts]),
        np.concatenate([part.firsts + at for part, at in zip(parts, offsets, strict=False)]),
        join_ids([part.documents for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def _query_start(queries: Any) -> int:
    """Return where the rows of the last query begin, to cut there; how many there are if not.

    Rows of a query are taken to stand together. Where they don't, or few other queries stand
    before, pieces are cut elsewhere: what is left over must not grow from piece to piece.
    """
    rows = len(queries)
    last, low, high = queries[rows - 1].as_py(), -1, rows - 1
    while high - low > 1:  # the row at `high` is the query's, that at `low` not
        middle = (low + high) // 2
        if queries[middle].as_py() == last:
            high = middle
        else:
            low = middle
    return high if 2 * high >= rows else rows
