"""Tables of any framework, and records, as judgments or rankings; no framework is imported for it.

What hands its memory over by Arrow's stream is read that way, other tables column by column. Only
the columns that are needed are asked for.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.data.column_names import ROLES, choose_columns, grade_of_all, rank_beside
from irbatch.data.columns import (
    QueryTable,
    as_column,
    as_ids,
    as_scores,
    compare_ranks,
    read_columns,
)
from irbatch.data.ids import Column
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, shown

RECORDS = {"qrels": "Qrels", "run": "Run"}  # what reads records

# From the names of columns to what is in them.
Reader = Callable[[list[str]], Sequence[Any]]
Opened = tuple[list[str], Reader]


def read_table(
    table: Any,
    source: str,
    role_columns: Mapping[str, Any],
    name: str | None = None,
    *,
    by_rank: bool = False,
    repeats: str = "error",
) -> QueryTable:
    """Read a table, see `irbatch.Qrels.from_table`; `role_columns` as `choose_columns` has.

    With `by_rank` ranks order the documents, not scores.
    """
    with ErrorsIn(source=source, path=name):
        opened = _open(table, source)
        kind = "ranking" if by_rank else source
        (queries, documents, values), ranks = _read_roles(opened, kind, role_columns)
        read = read_columns(queries, documents, values, source, repeats=repeats)
    if ranks is not None:
        compare_ranks(queries, ranks, values, name)
    return read


def read_records(records: Iterable[Any], source: str, name: str | None = None) -> QueryTable:
    """Read records, see `irbatch.Run.from_records`."""
    with ErrorsIn(source=source, path=name):
        (queries, documents, values), _ = _read_roles(_open_records(records, source), source, {})
        return read_columns(queries, documents, values, source)


def read_named(table: Any, kind: str, role_columns: Mapping[str, Any]) -> list[Any]:
    """Return a table's columns for the roles of a `kind` of `irbatch.data.column_names.ROLES`.

    Ranks in place of scores become scores, and a grade that all have becomes a column.
    """
    return _read_roles(_open(table, kind), kind, role_columns)[0]


def _read_roles(
    opened: Opened, kind: str, role_columns: Mapping[str, Any]
) -> tuple[list[Any], Any]:
    """Return what `read_named` does, and the ranks that a run has beside its scores, or None."""
    names, read = opened
    chosen = choose_columns(names, kind, role_columns)
    rank = rank_beside(names, chosen)
    columns = list(read([*chosen.values(), *([] if rank is None else [rank])]))
    ranks = None if rank is None else columns.pop()
    by_role = dict(zip(chosen, columns, strict=True))
    if "rank" in by_role:
        by_role["rank"] = as_scores(by_role["rank"], "run")
    elif "grade" in ROLES[kind] and "grade" not in by_role:
        by_role["document"] = as_ids(by_role["document"], "document", "qrels")
        by_role["grade"] = np.full(len(by_role["document"]), grade_of_all(role_columns))
        by_role = {role: by_role[role] for role in ROLES[kind]}
    return [*by_role.values()], ranks


def read_all(table: Any, source: str) -> dict[Any, Column]:
    """Return all columns of a table by name, as text or arrays."""
    names, read = _open(table, source)
    columns = zip(names, read(names), strict=True)
    return {name: as_column(column, f"value of {name!r}", source) for name, column in columns}


def _open(table: Any, kind: str) -> Opened:
    if isinstance(table, Mapping):
        return list(table), lambda picks: [table[name] for name in picks]
    for fits, open_table in () if is_series(table) else KINDS:
        if fits(table):
            return open_table(table)
    hint = ""
    if isinstance(table, str | os.PathLike):
        reader = "read_run" if kind in ("run", "ranking") else "read_qrels"
        hint = f"; files are read by irbatch.{reader}({os.fspath(table)!r}, …)"
    elif kind in RECORDS:
        hint = f"; records are read by irbatch.{RECORDS[kind]}.from_records(…)"
    problem = f"{kind_of(table)} is neither a table of columns nor a mapping{hint}"
    raise InputError(problem, source=kind)


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


def _open_records(records: Iterable[Any], source: str) -> Opened:
    """Open records as a table, whose columns are the fields of the first."""
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise InputError(f"{kind_of(records)} is not a series of records")
    left = iter(records)
    first = next(left, None)
    if first is None:
        return _open({role: [] for role in ROLES[source]}, source)

    def read(picks: list[str]) -> Sequence[Any]:
        getter = operator.itemgetter if isinstance(first, Mapping) else operator.attrgetter
        fields_of, rows = getter(*picks), list[tuple[Any, ...]]()
        for record in itertools.chain([first], left):  # not all need be in memory at once
            try:
                rows.append(fields_of(record))
            except (AttributeError, KeyError, TypeError) as problem:
                lacks = f"row {len(rows)}: {shown(record)} lacks a field that row 0 has"
                raise InputError(lacks) from problem
        return list(zip(*rows, strict=True))

    return _fields(first), read


def _fields(record: Any) -> list[str]:
    """List the names of a record's fields."""
    if isinstance(record, Mapping):
        return list(record)
    named = getattr(record, "_fields", None) or getattr(record, "__dataclass_fields__", None)
    if named is None and not isinstance(record, type):
        named = getattr(record, "__dict__", None) or getattr(record, "__slots__", None)
    if not named:
        kinds = "an object, a named tuple or a dictionary with fields for query, document and value"
        problem = f"{shown(record)} is {kind_of(record)}, not a record: {kinds}"
        raise InputError(f"row 0: {problem}")
    return [named] if isinstance(named, str) else list(named)


def pair_series(one: Any, other: Any, *, sliced: bool = False) -> tuple[Any, Any]:
    """Return two series, unless both are indexed by 0, 1, …, as mappings of their labels to rows.

    Anything but two series comes back as it is; and so do, if they may be `sliced` from a longer
    one, those with the same whole numbers as an index.
    """
    labelled = [side for side in (one, other) if is_series(side) and not _is_plain(side)]
    if not labelled or isinstance(one, Mapping) or isinstance(other, Mapping):
        return one, other
    may_be_slices = sliced and all(series.index.dtype.kind == "i" for series in labelled)
    if is_series(one) and is_series(other):
        same = may_be_slices and one.index.equals(other.index)
        return (one, other) if same else (rows_by_label(one), rows_by_label(other))
    if may_be_slices:
        return tuple(side.tolist() if is_series(side) else side for side in (one, other))
    label = shown(labelled[0].index.tolist()[0])
    problem = f"a series has labels such as {label}, and the other side has none to pair with"
    raise InputError(f"{problem}: give two series or mappings, or its .tolist()")


def is_series(value: Any) -> bool:
    """Tell a series of pandas."""
    return hasattr(value, "iloc") and getattr(value, "ndim", 0) == 1 and hasattr(value, "index")


def check_same_labels(scores: Any, relevance: Any) -> None:
    """Reject two frames of pandas whose rows or columns have other labels, or in another order.

    Labels that are 0, 1, … of one frame say nothing of the other's, unless those are the same ones
    in another order.
    """
    if not (_is_frame(scores) and _is_frame(relevance)) or scores.shape != relevance.shape:
        return
    for what, *axes in zip(("row", "column"), scores.axes, relevance.axes, strict=True):
        ours, others = (axis.tolist() for axis in axes)
        place = next((i for i, one in enumerate(ours) if one != others[i]), None)
        plain = list(range(len(ours))) in (ours, others)
        if place is None or (plain and set(ours) != set(others)):
            continue
        problem = (
            f"{what} {place} is {shown(others[place])}, that of the scores {shown(ours[place])}: "
            "give them in the order of the scores, such as .reindex_like(scores), or as arrays"
        )
        raise InputError(problem, source="relevance", value=others[place])


def ids_of_rows(table: Any) -> list[Any] | None:
    """Return the labels of a frame's rows if they are ids; None if not, or if they are 0, 1, …."""
    if not _is_frame(table) or table.index.nlevels > 1 or _is_plain(table):
        return None
    labels = table.index.tolist()
    ids = table.index.is_unique and all(type(label) in (int, str) for label in labels)
    return labels if ids and len({*map(type, labels)}) == 1 else None


def _is_frame(value: Any) -> bool:
    return hasattr(value, "iloc") and getattr(value, "ndim", 0) == 2 and hasattr(value, "axes")


def rows_by_label(table: Any) -> dict[Any, Any]:
    """Return the rows of a series or a frame by the labels of its index."""
    labels = table.index.tolist()
    rows = dict(zip(labels, table.tolist() if table.ndim == 1 else table.to_numpy(), strict=True))
    if len(rows) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"label {shown(twice)} of {kind_of(table)} comes twice")
    return rows


def by_label(table: Any) -> Any:
    """Return a series or a frame that is indexed by ids as a mapping of these to its rows.

    Anything else comes back as it is, and so does what is indexed by 0, 1, ….
    """
    framed = hasattr(table, "iloc") and hasattr(table, "index")
    return table if not framed or _is_plain(table) else rows_by_label(table)


def _is_plain(table: Any) -> bool:
    """Tell whether the index is 0, 1, …."""
    return bool(table.index.tolist() == list(range(len(table))))
