"""Records - named tuples, objects, dictionaries - as judgments or rankings."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from irbatch.data.column_names import find_columns
from irbatch.data.from_columns import read_columns
from irbatch.data.query_table import QueryTable
from irbatch.errors import ErrorsIn, InputError, shown

PIECE = 1 << 14  # records at a time: not all need be in memory at once


def read_records(
    records: Iterable[Any], source: str, given: Mapping[str, str | None], name: str | None = None
) -> QueryTable:
    """Read records; arguments and errors are those of `read_table`."""
    with ErrorsIn(source=source, path=name):
        queries, documents, values = _read(records, source, given)
    return read_columns(queries, documents, values, source, name)


def _read(
    records: Iterable[Any], source: str, given: Mapping[str, str | None]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the queries, the documents and the values."""
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise InputError(f"a {type(records).__name__} is no series of records")
    left = iter(records)
    piece = list(itertools.islice(left, PIECE))
    if not piece:
        return columns
    found = find_columns(_fields(piece[0]), source, given)
    getter = operator.itemgetter if isinstance(piece[0], Mapping) else operator.attrgetter
    get = getter(*found.values())
    while piece:
        try:
            parts: Iterable[Any] = zip(*map(get, piece), strict=True)
        except (AttributeError, KeyError, TypeError) as problem:
            raise _without_field(piece, get, len(columns[0])) from problem
        for column, part in zip(columns, parts, strict=True):
            column += part
        piece = list(itertools.islice(left, PIECE))
    return columns


def _fields(record: Any) -> list[str]:
    """List the names of a record's fields."""
    if isinstance(record, Mapping):
        return list(record)
    named = getattr(record, "_fields", None) or getattr(record, "__dataclass_fields__", None)
    if named is None and not isinstance(record, type):
        named = getattr(record, "__dict__", None) or getattr(record, "__slots__", None)
    if not named:
        kinds = "an object, a named tuple or a dictionary with fields for query, document and value"
        given = f"{shown(record)} is a {type(record).__name__}"
        raise InputError(f"row 0: {given}, not a record: {kinds}")
    return [named] if isinstance(named, str) else list(named)


def _without_field(piece: list[Any], get: Callable[[Any], Any], first: int) -> InputError:
    """Name the first record that is not as the others are."""
    for row, record in enumerate(piece, first):
        try:
            get(record)
        except (AttributeError, KeyError, TypeError):
            return InputError(f"row {row}: {shown(record)} lacks a field that row 0 has")
    return InputError("the records changed while they were read")
