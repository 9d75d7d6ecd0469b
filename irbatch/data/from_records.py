"""Records - named tuples, objects, dictionaries - as judgments or rankings."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from irbatch.data.column_names import find_columns
from irbatch.data.from_columns import make_table
from irbatch.data.query_table import QueryTable
from irbatch.errors import InputError, shown

__all__ = ["read_records"]

PIECE = 1 << 14  # records at a time: what makes them need not have room for all


def read_records(
    records: Iterable[Any],
    source: str,
    given: Mapping[str, str | None],
    name: str | None = None,
) -> QueryTable:
    """Read records; arguments and errors are those of `read_table`."""
    try:
        columns, what = _read(records, source, given)
    except InputError as problem:
        raise problem.placed(source=source, path=name) from None
    queries, documents, values = columns
    return make_table(queries, documents, values, source, what, name)


def _read(
    records: Iterable[Any], source: str, given: Mapping[str, str | None]
) -> tuple[list[list[Any]], str]:
    """Return the columns, and what the last is called."""
    columns: list[list[Any]] = [[], [], []]
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise InputError(f"a {type(records).__name__} is no series of records")
    left = iter(records)
    piece = list(itertools.islice(left, PIECE))
    if not piece:
        return columns, "value"
    found = find_columns(_fields(piece[0]), source, given)
    get = _getter(piece[0], list(found.values()))
    while piece:
        try:
            parts: Iterable[Any] = zip(*map(get, piece), strict=True)
        except (AttributeError, KeyError, TypeError) as problem:
            raise _without_field(piece, get, len(columns[0])) from problem
        for column, part in zip(columns, parts, strict=True):
            column += part
        piece = list(itertools.islice(left, PIECE))
    return columns, [*found][-1]


def _fields(record: Any) -> list[str]:
    """List the names of a record's fields."""
    if isinstance(record, Mapping):
        return list(record)
    named = getattr(record, "_fields", None) or getattr(record, "__dataclass_fields__", None)
    if named is None and not isinstance(record, type):
        named = getattr(record, "__dict__", None) or getattr(record, "__slots__", None)
    if not named:
        raise InputError(
            f"row 0: {shown(record)} is a {type(record).__name__}, not a record: an object, "
            "a named tuple or a dictionary with fields for query, document and value"
        )
    return [named] if isinstance(named, str) else list(named)


def _getter(record: Any, names: list[str]) -> Callable[[Any], Any]:
    if isinstance(record, Mapping):
        return operator.itemgetter(*names)
    return operator.attrgetter(*names)


def _without_field(piece: list[Any], get: Callable[[Any], Any], first: int) -> InputError:
    """Name the first record that is not as the others are."""
    for row, record in enumerate(piece, first):
        try:
            get(record)
        except (AttributeError, KeyError, TypeError):
            return InputError(f"row {row}: {shown(record)} lacks a field that row 0 has")
    return InputError("the records changed while they were read")
