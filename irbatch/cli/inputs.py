"""The files that commands are given: checked, as far as possible, before any is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from irbatch.data.column_names import DOCUMENTS, ITEMS, POPULARITIES, QUERIES, USERS, find_name
from irbatch.errors import InputError, join_words, shown
from irbatch.evaluation.runs import name_systems
from irbatch.formats.files import read_qrels

if TYPE_CHECKING:
    from irbatch.data.items import Items

ITEM_COLUMNS = {"popularity": "popularity", "propensity": "propensities", "group": "groups"}
"""Columns of a table of items, and the arguments of `Items` that they are."""

NUMBERS = ("popularity", "propensity")


def name_runs(words: Iterable[str], source: str = "run") -> dict[str, str]:
    """Return paths by name, that of ``NAME=PATH`` or the file's; errors say they are `source`."""
    named: list[tuple[str, str]] = []  # the name, empty if none is said, and the path
    for word in words:
        name, _, path = word.partition("=")
        is_named = bool(name and path) and not os.path.exists(word) and name[-1] not in "<>"  # noqa: PTH110 - pathlib takes 5 ms to import
        named.append((name, path) if is_named else ("", word))
    unnamed = dict.fromkeys(path for name, path in named if not name)
    own = {path: name for name, path in name_systems(list(unnamed)).items()}
    systems: dict[str, str] = {}
    for name, path in named:
        name = name or own[path]
        if name in systems:
            problem = f"two files are called {name!r}: NAME=PATH tells them apart"
            raise InputError(problem, source=source, path=path)
        systems[name] = path
    return systems


def read_text(path: str, source: str) -> str:
    """Return the text of a small file; `source` is what errors call what it holds."""
    from irbatch.formats.streams import open_input  # here: few have such files

    with open_input(path, source) as file:
        try:
            return b"".join(file.pieces()).decode()
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text", source=source, path=path) from None


def read_groups(path: str) -> dict[str, str]:
    """Read lines of a query and the name of its group, which may hold spaces.

    In a file named ``.csv`` a comma is between them, and a first line may name the columns.
    """
    import csv  # here: few have groups

    groups: dict[str, str] = {}
    lines = read_text(path, "groups").splitlines()
    commas = path.lower().endswith(".csv") and bool(lines) and "," in lines[0]
    rows = csv.reader(lines, skipinitialspace=True) if commas else (x.split(None, 1) for x in lines)
    for number, row in enumerate(rows, 1):
        query, group = (row[0].strip(), ",".join(row[1:]).strip()) if row else ("", "")
        if not query or (commas and number == 1 and find_name([query], (*QUERIES, *USERS))):
            continue
        place: dict[str, Any] = {"source": "groups", "path": path, "line": number, "query": query}
        if not group:
            problem = f"a line is of a query and its group, not {shown(lines[number - 1].strip())}"
            raise InputError(problem, **place)
        if groups.setdefault(query, group) != group:
            raise InputError(f"is in group {groups[query]!r} already", **place)
    return groups


def read_items(table: str | None, interactions: str | None, outside: str) -> Items | None:
    """Read both files, those that there are; None without any."""
    if table is None and interactions is None:
        return None
    from irbatch.data.items import Items  # for those who have items

    arguments = {} if table is None else _read_table(table)
    if interactions is not None:
        arguments["interactions"] = read_qrels(interactions)
    return Items(**arguments, outside=outside)


def _read_table(path: str) -> dict[str, Any]:
    """Return the arguments of `Items` that a table of items gives."""
    import csv  # here: only these files need it

    text = read_text(path, "items")
    tabs = "\t" in text.partition("\n")[0]
    rows = csv.reader(text.splitlines(), delimiter="\t" if tabs else ",")
    names = (word.strip() for word in next(rows, []))
    header = ["popularity" if name in POPULARITIES else name for name in names]
    item = find_name(header, (*ITEMS, *DOCUMENTS))
    if item is None or len(set(header)) < len(header) or {*header} - {item, *ITEM_COLUMNS}:
        allowed = join_words(list(ITEM_COLUMNS))
        problem = f"columns are item and any of {allowed}, not {shown(header)}"
        raise InputError(problem, source="items", path=path, line=1)
    columns: dict[str, dict[str, Any]] = {name: {} for name in header}
    for row in filter(None, rows):
        cells = dict(zip(header, row, strict=False))
        document = cells.get(item, "")
        if len(row) != len(header) or document in columns[item]:
            problem = f"{len(row)} columns where {len(header)} are expected"
            problem = problem if len(row) != len(header) else f"item {document!r} is listed twice"
            raise InputError(problem, source="items", path=path, line=rows.line_num)
        for name, cell in cells.items():
            if name != "group" or cell.strip():  # without one it is in no group
                columns[name][document] = cell
            if name in NUMBERS:
                with suppress(ValueError):  # it is rejected with its item, where it is used
                    columns[name][document] = float(cell)
    arguments = {ITEM_COLUMNS[name]: columns[name] for name in header if name != item}
    return {"items": list(columns[item]), **arguments}
