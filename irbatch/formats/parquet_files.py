"""Parquet as batches of the columns that are needed: one file, several, or a dataset of pyarrow.

Files are read row group by row group, a few hundred thousand rows at a time, so that the memory
they take does not grow with them, nor with their row groups.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.ids import KINDS
from irbatch.data.lookup import first_rows
from irbatch.errors import ErrorsIn, InputError, imported

BATCH = 1 << 18  # rows read at once
BUFFER = 1 << 20  # bytes of a column read at once
LENGTH = 4  # bytes before a text that stands in full, which has one at least itself
MAGIC, TAIL = b"PAR1", 8  # what a file begins with, and bytes behind its metadata
ARROW_TYPES = b"ARROW:schema"  # the key of types
READAHEAD = 2  # batches of a dataset that are read before they are asked for
DATASET = "dataset"  # what errors call one
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


class Dataset:
    """A dataset of pyarrow, read as `ParquetFiles` are."""

    def __init__(self, dataset: Any, find: Find) -> None:
        self._dataset = dataset
        with ErrorsIn(path=DATASET):
            self.names = find(dataset.schema.names)
        self.kinds = {role: _kind(dataset.schema.field(self.names[role]).type) for role in IDS}
        self.rows = self.size = dataset.count_rows()

    def spans(self) -> Iterator[Span]:
        """Read all rows in order, as often as it is called."""
        options = {"batch_size": BATCH, "batch_readahead": READAHEAD, "fragment_readahead": 1}
        scanner = self._dataset.scanner(columns=[*self.names.values()], **options)
        path, first = DATASET, 0
        batches = scanner.scan_batches()
        try:
            for each in batches:
                name = getattr(each.fragment, "path", None) or DATASET
                path, first = name, first if name == path else 0
                yield Span(path, first, each.record_batch)
                first += each.record_batch.num_rows
        except InputError:
            raise
        except Exception as problem:
            raise InputError(f"cannot be read: {problem}", path=path) from problem


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
