"""Judgments and rankings, in frames, bags or delayed parts of Dask's, as one frame by query."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from irbatch.data.column_names import ROLES, find_columns
from irbatch.data.ids import KINDS
from irbatch.errors import InputError, imported, kind_of
from irbatch.evaluation.evaluation import as_marked_qrels, as_qrels, as_run
from irbatch.formats.files import MARKED_QRELS
from irbatch.integrations.shuffled import (
    JUDGED,
    KIND,
    NUMBERS,
    RANKED,
    Columns,
    Task,
    check_kinds,
    check_rows,
    rows_of,
    source_of,
    with_kind,
    wrong_type,
)

_EXTRA = ("Dask", "dask")
_bag: Any = imported(*_EXTRA, "dask.bag")
_frames: Any = imported(*_EXTRA, "dask.dataframe")
_delayed: Any = imported(*_EXTRA, "dask.delayed")
_pd: Any = imported(*_EXTRA, "pandas")
_pa: Any = imported(*_EXTRA, "pyarrow")
_is: Any = imported(*_EXTRA, "pyarrow.types")

Types = dict[str, str]
"""Role to what its column holds: ``"str"`` or ``"int"`` of ids, or ``"float"``."""

# What columns are in Arrow and pandas, and what stands where a row has nothing.
FORMS: dict[str, tuple[Any, Any, Any]] = {
    "str": (_pa.large_string(), _pd.StringDtype("pyarrow"), ""),
    "int": (_pa.int64(), "int64", 0),
    "float": (_pa.float64(), "float64", 0.0),
    "row": (_pa.int8(), "int8", RANKED),
}


def rows_together(
    task: Task,
    qrels: Any,
    run: Any,
    qrels_columns: Columns,
    run_columns: Columns,
    parts: int | None,
) -> tuple[Any, Task]:
    """Return the rows of both, those of a query in one part, and the task that reads them."""
    if not _is_dask(run):
        problem = f"{kind_of(run)} is no frame, bag or list of delayed parts of Dask's"
        raise InputError(f"{problem}: irbatch.evaluate takes others", source="run")
    if not _is_dask(qrels):
        qrels = rows_of(task.partition.evaluation.judgments(qrels))
        task = replace(task, prepared=True)
    judged = Side(qrels, task.judgments, qrels_columns or {})
    ranked = Side(run, "run", run_columns or {})
    check_kinds(judged.types, ranked.types)
    roles = (*ROLES["run"], *ROLES[task.judgments])
    types = {role: "float" if role in NUMBERS else "str" for role in roles}
    types = {**types, **judged.types, **ranked.types, KIND: "row"}
    both = _frames.concat([ranked.rows(types), judged.rows(types)])
    return both.shuffle("query", npartitions=parts or ranked.parts), task


def _is_dask(given: Any) -> bool:
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(each, _delayed.Delayed) for each in given)
    return isinstance(given, _frames.DataFrame | _bag.Bag)


class Side:
    """Judgments or rankings in parts, or judgments as a table of rows.

    Attributes:
        types: of what is known of its columns, see `Types`.
        parts: how many there are.
    """

    def __init__(self, given: Any, kind: str, columns: Mapping[str, str]) -> None:
        if isinstance(given, _bag.Bag):
            given = given.to_dataframe()
        if isinstance(given, _frames.DataFrame) and given.index.name is not None:
            given = given.reset_index()
        self._given, self._kind = given, kind
        self._read = functools.partial(_read, kind=kind, columns=columns)
        self.parts = 1
        if isinstance(given, _frames.DataFrame):
            empty = {name: _pd.Series(dtype=type) for name, type in given.dtypes.items()}
            self.types = _types(self._read(_pd.DataFrame(empty)), kind)
            self.parts = given.npartitions
        elif isinstance(given, _pa.Table):
            self.types = _types(given, kind)
        else:
            self.types = _delayed.delayed(_types_read)(given[0], self._read, kind).compute()
            self.parts = len(given)

    def rows(self, types: Types) -> Any:
        """Return a dask frame of columns by role, of these types."""
        columns = {role: _pd.Series(dtype=FORMS[type][1]) for role, type in types.items()}
        meta, given = _pd.DataFrame(columns), self._given
        if isinstance(given, _frames.DataFrame):
            return given.map_partitions(_lay_out, self._read, self._kind, types, meta=meta)
        listed = [given] if isinstance(given, _pa.Table) else given
        parts = [_delayed.delayed(_lay_out)(each, self._read, self._kind, types) for each in listed]
        return _frames.from_delayed(parts, meta=meta, verify_meta=False)


def _read(part: Any, kind: str, columns: Mapping[str, str]) -> Any:
    """Return a part, whatever it comes as, as rows."""
    advice = "run_columns" if kind == "run" else "qrels_columns"
    if hasattr(part, "iloc"):
        names = find_columns(list(part.columns), kind, columns, advice)
        try:
            table = _pa.Table.from_pandas(part[[*names.values()]], preserve_index=False)
        except _pa.ArrowException as problem:
            problem_of_type = f"a column cannot be read: {problem}"
            raise InputError(problem_of_type, source=source_of(kind)) from problem
    elif hasattr(part, "__arrow_c_stream__"):
        table = _pa.table(part)
        if KIND in table.column_names:  # these are rows
            return table
        names = find_columns(table.column_names, kind, columns, advice)
    elif kind in MARKED_QRELS:
        return rows_of(as_marked_qrels(part, kind))
    else:
        return rows_of(as_run(part) if kind == "run" else as_qrels(part))
    table = table.select([*names.values()]).rename_columns([*names])
    return with_kind(table, RANKED if kind == "run" else JUDGED)


def _types(table: Any, kind: str) -> Types:
    """Say what columns hold; those of no type, as where there are no rows, are left out."""
    types = {}
    for role in ROLES[kind]:
        type = table.schema.field(role).type
        type = type.value_type if _is.is_dictionary(type) else type
        text = _is.is_string(type) or _is.is_large_string(type)
        whole = _is.is_integer(type)
        number = whole or _is.is_floating(type) or _is.is_boolean(type)
        if _is.is_null(type):
            continue
        if not (number if role in NUMBERS else text or whole):
            raise wrong_type(role, kind, type)
        types[role] = "float" if role in NUMBERS else "str" if text else "int"
    return types


def _types_read(part: Any, read: Callable[[Any], Any], kind: str) -> Types:
    return _types(read(part), kind)


def _lay_out(part: Any, read: Callable[[Any], Any], kind: str, types: Types) -> Any:
    """Return a part as a pandas frame of rows with all columns; refuse what is no id or number."""
    table = read(part)
    for role, type in _types(table, kind).items():
        if type != types[role]:
            problem = f"{role} ids are {KINDS[type]} in one part and {KINDS[types[role]]} in others"
            raise InputError(problem, source=source_of(kind))
    check_rows(table, kind)
    columns = {}
    for role, type in types.items():
        arrow, pandas, none = FORMS[type]
        column = table[role] if role in table.column_names else _pa.nulls(len(table))
        filled = column.cast(arrow, safe=False).fill_null(none)
        columns[role] = _pd.Series(filled.to_pandas(), dtype=pandas)
    return _pd.DataFrame(columns)
