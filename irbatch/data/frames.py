"""Tables of any framework, and records, as judgments or rankings; no framework is imported for it.

What hands its memory over by Arrow's stream is read that way, other tables column by column. Only
the columns that are needed are asked for.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.data.column_names import (
    MARK,
    RANKS,
    ROLES,
    Columns,
    choose_columns,
    find_name,
    grade_of_all,
    names_for,
)
from irbatch.data.columns import (
    QueryTable,
    as_column,
    as_ids,
    as_numbers,
    as_scores,
    read_columns,
)
from irbatch.data.ids import Column, TextColumn
from irbatch.data.lookup import first_rows
from irbatch.errors import ErrorsIn, InputError, imported, keyword, kind_of, many, shown, warn

PIECE = 1 << 14  # records at a time: not all need be in memory at once

# From the names of columns to what is in them.
Reader = Callable[[list[str]], Sequence[Any]]
Opened = tuple[list[str], Reader]


def read_table(
    table: Any,
    source: str,
    given: Mapping[str, Any],
    name: str | None = None,
    *,
    by_rank: bool = False,
) -> QueryTable:
    """Read a table, see `irbatch.Run.from_table`; `given` as `choose_columns` takes it.

    With `by_rank` ranks order the documents, not scores.
    """
    with ErrorsIn(source=source, path=name):
        kind = "ranking" if by_rank else source
        (queries, documents, values), ranks = _read_roles(table, kind, given)
        read = read_columns(queries, documents, values, source)
    if ranks is not None:
        _warn_of_ranks(queries, ranks, values, name)
    return read


def _warn_of_ranks(queries: Any, ranks: Any, scores: Any, name: str | None) -> None:
    """Warn of the ranks beside scores, where they contradict these."""
    ranks = as_column(ranks, "rank", "run")
    if isinstance(ranks, TextColumn) or ranks.dtype.kind not in "iuf" or not ranks.size:
        return
    ids = as_ids(queries, "query", "run")
    changes = np.sign(np.diff(ranks.astype(np.float64)))
    changes[first_rows(ids)[1:] - 1] = 0
    rows = np.flatnonzero(changes * np.diff(as_numbers(scores, "run")) > 0)
    if rows.size:
        first, *others = dict.fromkeys(ids.take(rows).tolist())
        also = f" and {many(len(others), 'other query')}" if others else ""
        problem = f"in query {first!r}{also} ranks and scores contradict each other"
        whose = "run" if name is None else f"run {name!r}"
        warn(f"{whose}: {problem}; scores decide, or ranks with {keyword('order_by', 'rank')}")


def read_given(
    table: Any, source: str, columns: Columns, name: str | None = None, *, by_rank: bool = False
) -> QueryTable:
    """Read a table whose columns have the names of `irbatch.evaluate`'s ``columns=``."""
    given = names_for(columns, source)
    return read_table(table, source, given, name, by_rank=by_rank)


def read_named(table: Any, kind: str, given: Mapping[str, Any]) -> Sequence[Any]:
    """Return a table's columns for the roles of a `kind` of `irbatch.data.column_names.ROLES`.

    Ranks in place of scores become scores, and a grade that all have becomes a column.
    """
    return _read_roles(table, kind, given)[0]


def _read_roles(table: Any, kind: str, given: Mapping[str, Any]) -> tuple[Sequence[Any], Any]:
    """Return what `read_named` does, and the ranks that a run has beside its scores, or None."""
    if isinstance(table, str | os.PathLike):
        problem = f"{kind_of(table)} is neither a table of columns nor a mapping"
        if kind != "popularity":
            reader = "read_run" if kind in ("run", "ranking") else "read_qrels"
            named = {role: name for role, name in given.items() if name is not None}
            options = f", columns={named}" * bool(named) + f", marks={kind!r}" * (kind in MARK)
            problem += f"; files are read by irbatch.{reader}({os.fspath(table)!r}{options})"
        raise InputError(problem, source=kind)
    names, read = _open(table, kind)
    found = choose_columns(names, kind, given)
    others = [name for name in names if name not in found.values()]
    rank = find_name(others, RANKS) if "score" in found else None
    columns = list(read([*found.values(), *([] if rank is None else [rank])]))
    ranks = None if rank is None else columns.pop()
    return _completed(dict(zip(found, columns, strict=True)), kind, given), ranks


def _completed(columns: dict[str, Any], kind: str, given: Mapping[str, Any]) -> Sequence[Any]:
    """Return columns in order: ranks become scores, and the grade that all have a column."""
    if "rank" in columns:
        columns["rank"] = as_scores(columns["rank"], "run")
    elif "grade" in ROLES[kind] and "grade" not in columns:
        columns["document"] = as_ids(columns["document"], "document", "qrels")
        columns["grade"] = np.full(len(columns["document"]), grade_of_all(given))
        return [columns[role] for role in ROLES[kind]]
    return [*columns.values()]


def names_of_columns(table: Any, kind: str) -> list[str]:
    """Return the names of a table's columns."""
    return _open(table, kind)[0]


def read_all(table: Any, source: str) -> dict[Any, Column]:
    """Return all columns of a table by name, as text or arrays."""
    names, read = _open(table, source)
    columns = zip(names, read(names), strict=True)
    return {name: as_column(column, f"value of {name!r}", source) for name, column in columns}


def read_records(records: Iterable[Any], source: str, name: str | None = None) -> QueryTable:
    """Read records, see `irbatch.Run.from_records`."""
    with ErrorsIn(source=source, path=name):
        fields = _read_fields(records, source)
        queries, documents, values = _completed(fields, source, {})
        return read_columns(queries, documents, values, source)


def _open(table: Any, source: str) -> Opened:
    if is_series(table):
        raise InputError(f"{kind_of(table)} is not a table of columns", source=source)
    if isinstance(table, Mapping):
        return list(table), lambda picks: [table[name] for name in picks]
    for fits, open_table in KINDS:
        if fits(table):
            return open_table(table)
    noun = {"qrels": "Qrels", "run": "Run"}.get(source)
    hint = f"; records are read by irbatch.{noun}.from_records(…)" if noun else ""
    kind = kind_of(table)
    raise InputError(f"{kind} is neither a table of columns nor a mapping{hint}", source=source)


def _open_polars(frame: Any) -> Opened:
    def read(picks: list[str]) -> Sequence[Any]:
        chosen = frame.select(picks)
        chosen = chosen.collect() if hasattr(chosen, "collect") else chosen
        return [chosen[name] for name in picks]

    return frame.collect_schema().names(), read


def _open_pandas(frame: Any) -> Opened:
    levels = [name for name in frame.index.names if name is not None]

    def read(picks: list[str]) -> Sequence[Any]:
        chosen = frame[[name for name in picks if name not in levels]]
        if indexed := [name for name in picks if name in levels]:
            chosen = chosen.reset_index(level=indexed)
        chosen = chosen[picks].reset_index(drop=True)
        try:
            # Under new names: Arrow has no others than texts.
            numbers = [str(i) for i in range(len(picks))]
            return _open_arrow(chosen.set_axis(numbers, axis=1))[1](numbers)
        except (ImportError, InputError):  # without pyarrow; or of types that it does not have
            return [chosen[name] for name in picks]

    return [*levels, *frame.columns], read


def _open_dataset(dataset: Any) -> Opened:
    def read(picks: list[str]) -> Sequence[Any]:
        # Its own table would not know of rows that were selected or shuffled.
        return _open_arrow(dataset.select_columns(picks).with_format("arrow")[:])[1](picks)

    return dataset.column_names, read


def _open_arrow(table: Any) -> Opened:
    pa = imported("Arrow tables", "arrow", "pyarrow")
    try:
        with ErrorsIn():
            stream = pa.RecordBatchReader.from_stream(table)
    except (ImportError, InputError):
        raise
    except Exception as problem:
        raise InputError(f"{kind_of(table)} is not a table of columns: {problem}") from problem

    def read(picks: list[str]) -> Sequence[Any]:
        try:
            columns = stream.read_all()
        except Exception as problem:
            raise InputError(f"{kind_of(table)} cannot be read: {problem}") from problem
        return [columns.column(name) for name in picks]

    return stream.schema.names, read


def _open_named(table: Any) -> Opened:
    names = table.dtype.names if isinstance(table, np.ndarray) else table.column_names
    return list(names), lambda picks: [table[name] for name in picks]


def _has(*names: str) -> Callable[[object], bool]:
    return lambda table: all(hasattr(type(table), name) for name in names)


# The first that fits is taken: most of these can also hand over all their columns by Arrow.
KINDS: tuple[tuple[Callable[[object], bool], Callable[[Any], Opened]], ...] = (
    (lambda table: isinstance(table, np.ndarray) and table.dtype.names is not None, _open_named),
    (_has("collect_schema", "select"), _open_polars),
    (_has("iloc", "columns", "set_axis"), _open_pandas),
    (_has("column_names", "__getitem__", "__len__", "with_format"), _open_dataset),
    (_has("__arrow_c_stream__"), _open_arrow),
    (_has("column_names", "__getitem__", "__len__"), _open_named),
)


def _read_fields(records: Iterable[Any], source: str) -> dict[str, list[Any]]:
    """Return the queries, the documents and the values, by role."""
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise InputError(f"{kind_of(records)} is not a series of records")
    left = iter(records)
    piece = list(itertools.islice(left, PIECE))
    if not piece:
        return {role: [] for role in ROLES[source]}
    found = choose_columns(_fields(piece[0]), source, {})
    columns: dict[str, list[Any]] = {role: [] for role in found}
    getter = operator.itemgetter if isinstance(piece[0], Mapping) else operator.attrgetter
    get = getter(*found.values())
    while piece:
        try:
            parts: Iterable[Any] = zip(*map(get, piece), strict=True)
        except (AttributeError, KeyError, TypeError) as problem:
            raise _without_field(piece, get, len(columns["query"])) from problem
        for column, part in zip(columns.values(), parts, strict=True):
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
        given = f"{shown(record)} is {kind_of(record)}"
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


def pair_series(one: Any, other: Any, *, sliced: bool = False) -> tuple[Any, Any]:
    """Return two series, unless both are indexed by 0, 1, …, as mappings of their labels to rows.

    Anything but two series comes back as it is; and so do, if they may be `sliced` from a longer
    one, those with the same whole numbers as an index.

    Raises:
        InputError: if a label comes twice, or one alone is a series with labels.
    """
    if not (is_series(one) and is_series(other)):
        return _unlabelled(one, other, sliced=sliced), _unlabelled(other, one, sliced=sliced)
    if _is_plain(one) and _is_plain(other):
        return one, other
    if sliced and one.index.dtype.kind == "i" and one.index.equals(other.index):
        return one, other
    return rows_by_label(one), rows_by_label(other)


def _unlabelled(one: Any, other: Any, *, sliced: bool) -> Any:
    """Return one of two that are not both series; reject labels that pair with nothing."""
    if not is_series(one) or isinstance(other, Mapping) or _is_plain(one):
        return one
    if sliced and one.index.dtype.kind == "i":
        return one.tolist()
    problem = (
        f"{kind_of(one)} has labels such as {shown(one.index.tolist()[0])}, and {kind_of(other)} "
        "has none to pair with: give two series or mappings, or its .tolist() where they stand in "
        "the same order"
    )
    raise InputError(problem)


def is_series(given: Any) -> bool:
    """Tell a series of pandas."""
    return hasattr(given, "iloc") and getattr(given, "ndim", 0) == 1 and hasattr(given, "index")


def check_same_labels(scores: Any, relevance: Any) -> None:
    """Reject two frames of pandas whose rows or columns have other labels, or in another order.

    Labels that are 0, 1, … of one frame say nothing of the other's, unless those are the same ones
    in another order.

    Raises:
        InputError: naming the first label that differs.
    """
    if not (_is_frame(scores) and _is_frame(relevance)) or scores.shape != relevance.shape:
        return
    for axis, what in enumerate(("row", "column")):
        ours, others = scores.axes[axis], relevance.axes[axis]
        if ours.equals(others):
            continue
        ours, others = ours.tolist(), others.tolist()
        positions = list(range(len(ours)))
        same = Counter(ours) == Counter(others)
        if ours == others or (positions in (ours, others) and not same):
            continue
        pairs = enumerate(zip(ours, others, strict=True))
        place, (one, other) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
        problem = (
            f"{what} {place} is {shown(other)}, that of the scores {shown(one)}: give them in the "
            "order of the scores, such as .reindex_like(scores), or as arrays"
        )
        raise InputError(problem, source="relevance", value=other)


def ids_of_rows(given: Any) -> list[Any] | None:
    """Return the labels of a frame's rows if they are ids; None if not, or if they are 0, 1, …."""
    if not _is_frame(given) or given.index.nlevels > 1 or _is_plain(given):
        return None
    labels = given.index.tolist()
    ids = given.index.is_unique and all(type(each) in (int, str) for each in labels)
    return labels if ids and len({*map(type, labels)}) == 1 else None


def _is_frame(given: Any) -> bool:
    return hasattr(given, "iloc") and getattr(given, "ndim", 0) == 2 and hasattr(given, "axes")


def rows_by_label(given: Any) -> dict[Any, Any]:
    """Return the rows of a series or a frame by the labels of its index.

    Raises:
        InputError: if a label comes twice.
    """
    labels = given.index.tolist()
    found = dict(zip(labels, given.tolist() if given.ndim == 1 else given.to_numpy(), strict=True))
    if len(found) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"label {shown(twice)} of {kind_of(given)} comes twice")
    return found


def by_label(given: Any) -> Any:
    """Return a series or a frame that is indexed by ids as a mapping of these to its rows.

    Anything else comes back as it is, and so does what is indexed by 0, 1, ….

    Raises:
        InputError: if a label comes twice.
    """
    framed = hasattr(given, "iloc") and hasattr(given, "index")
    return given if not framed or _is_plain(given) else rows_by_label(given)


def _is_plain(given: Any) -> bool:
    """Tell whether the index is 0, 1, …."""
    return bool(given.index.tolist() == list(range(len(given))))
