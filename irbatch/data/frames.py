"""Tables of any framework, and records, as judgments or rankings; no framework is imported for it.

What hands its memory over by Arrow's stream is read that way, other tables column by column. Only
the columns that are needed are asked for.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.data.column_names import ROLES, choose_columns, grade_of_all, rank_beside
from irbatch.data.columns import QueryTable, as_column, as_ids, as_scores, read_columns
from irbatch.data.ids import Column
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, shown

# The names of columns, and what makes of some names that which has their columns by name.
Opened = tuple[list[str], Callable[[list[str]], Any]]


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
        kind = "ranking" if by_rank else source
        (queries, documents, values), ranks = read_roles(table, kind, role_columns)
    return read_columns(queries, documents, values, source, name, repeats, ranks)


def read_roles(table: Any, kind: str, role_columns: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """Return a table's columns for the roles of a `kind` of `irbatch.data.column_names.ROLES`.

    Ranks in place of scores become scores, and a grade that all have becomes a column. Also returns
    the ranks that a run has beside its scores, or None.
    """
    names, select = _open(table, kind)
    chosen = choose_columns(names, kind, role_columns)
    rank = rank_beside(names, chosen)
    columns = select([*chosen.values(), *([] if rank is None else [rank])])
    ranks = None if rank is None else columns[rank]
    by_role = {role: columns[name] for role, name in chosen.items()}
    if "rank" in by_role:
        by_role["rank"] = as_scores(by_role["rank"], "run")
    elif "grade" in ROLES[kind] and "grade" not in by_role:
        by_role["document"] = as_ids(by_role["document"], "document", "qrels")
        by_role["grade"] = np.full(len(by_role["document"]), grade_of_all(role_columns))
        by_role = {role: by_role[role] for role in ROLES[kind]}
    return [*by_role.values()], ranks


def read_all(table: Any, source: str) -> dict[Any, Column]:
    """Return all columns of a table by name, as text or arrays."""
    names, select = _open(table, source)
    columns = select(names)
    return {name: as_column(columns[name], f"value of {name!r}", source) for name in names}


def _open(table: Any, source: str) -> Opened:
    if isinstance(table, Mapping):
        return list(table), lambda _: table
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return list(table.dtype.names), lambda _: table
    # Most of these can also hand over all their columns by Arrow.
    if _has(table, "collect_schema", "select"):  # frames of polars, lazy ones too
        is_lazy = hasattr(table, "collect")
        select = (lambda picks: table.select(picks).collect()) if is_lazy else (lambda _: table)
        return table.collect_schema().names(), select
    if _has(table, "iloc", "columns", "set_axis"):
        return _open_pandas(table)
    if _has(table, "column_names", "select_columns", "with_format", "__getitem__"):
        # Of Hugging Face, whose own table would not know of rows that were selected or shuffled.
        return table.column_names, lambda picks: table.select_columns(picks).with_format("arrow")[:]
    if _has(table, "__arrow_c_stream__"):
        return _open_arrow(table)
    if isinstance(table, Iterable) and not isinstance(table, str | bytes | os.PathLike):
        return _open_records(table, source)
    hint = "; files are read by irbatch.read_run and irbatch.read_qrels"
    problem = f"{kind_of(table)} is neither a table of columns nor records"
    raise InputError(problem + hint * isinstance(table, str | os.PathLike), source=source)


def _has(table: object, *names: str) -> bool:
    return all(hasattr(type(table), name) for name in names)


def _open_pandas(frame: Any) -> Opened:
    levels = [name for name in frame.index.names if name is not None]
    level = frame.index.get_level_values
    return [*levels, *frame.columns], lambda picks: {
        name: level(name) if name in levels else frame[name] for name in picks
    }


def _open_arrow(table: Any) -> Opened:
    pa = imported("Arrow tables", "arrow", "pyarrow")
    try:
        with ErrorsIn():
            columns = pa.RecordBatchReader.from_stream(table).read_all()
    except (ImportError, InputError):
        raise
    except Exception as problem:  # each producer has its own
        raise InputError(f"{kind_of(table)} is not a table of columns: {problem}") from problem
    return columns.column_names, lambda _: columns


def _open_records(records: Iterable[Any], source: str) -> Opened:
    """Open records as a table, whose columns are the fields of the first."""
    left, kind = iter(records), kind_of(records)
    first = next(left, None)
    if first is None:
        raise InputError(f"{kind} has no records", source=source)
    fields = first if isinstance(first, Mapping) else getattr(first, "_fields", None)
    fields = fields or getattr(first, "__dict__", None) or getattr(first, "__slots__", None)
    if not fields:
        forms = "an object, a named tuple or a mapping, with fields for query, document and value"
        problem = f"row 0 of {kind}: {shown(first)} is {kind_of(first)}, not a record: {forms}"
        raise InputError(problem, source=source)

    def select(picks: list[str]) -> Any:
        getter = operator.itemgetter if isinstance(first, Mapping) else operator.attrgetter
        fields_of, rows = getter(*picks), list[tuple[Any, ...]]()
        for record in itertools.chain([first], left):  # not all need be in memory at once
            try:
                rows.append(fields_of(record))
            except (AttributeError, KeyError, TypeError) as problem:
                lacks = f"row {len(rows)}: {shown(record)} lacks a field that row 0 has"
                raise InputError(lacks) from problem
        return dict(zip(picks, zip(*rows, strict=True), strict=True))

    return list(fields), select


# ---------------------------------------------------------------- labels of pandas


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
        if list(range(len(ours))) in (ours, others) and set(ours) != set(others):
            continue
        for place, (label, other) in enumerate(zip(ours, others, strict=True)):
            if label != other:
                problem = f"{what} {place} is {shown(other)}, that of the scores {shown(label)}"
                problem += ": give them in the order of the scores, or as arrays"
                raise InputError(problem, source="relevance", value=other)


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
