"""What is known of items, from files: for measures that read items."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from irbatch.cli.messages import read_text
from irbatch.data.column_names import ITEM, POPULARITIES
from irbatch.errors import InputError, join_words, many, shown
from irbatch.formats.files import read_qrels

if TYPE_CHECKING:
    from irbatch.data.items import Items

NUMBERS = ("popularity", "propensity")
COLUMNS = (*NUMBERS, "group")


def add_items(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the files."""
    add = parser.add_argument_group("measures that read items").add_argument
    told = f"table of items, with a header: item, and any of {', '.join(COLUMNS)} (csv, tsv)"
    add("--items", metavar="FILE", help=f"{told}, for measures that read items")
    told = "what users had before, in a form of judgments: popularity and histories come from it"
    add("--interactions", metavar="FILE", help=told)


def read_items(table: str | None, interactions: str | None) -> Items | None:
    """Read both files, those that there are; None without any.

    Raises:
        InputError: naming the line of an item that is there twice, or lacks a number.
    """
    if table is None and interactions is None:
        return None
    from irbatch.data.items import Items  # for those who have items

    known: dict[str, Any] = {}
    if interactions is not None:
        known["interactions"] = read_qrels(interactions)
    if table is not None:
        known |= _read_table(table)
    return Items(**known)


def _read_table(path: str) -> dict[str, Any]:
    """Return the arguments of `Items` that a table of items gives."""
    import csv  # here: only these files need it

    text = read_text(path, "items")
    first = text.partition("\n")[0]
    rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in first else ",")
    names = (each.strip() for each in next(rows, []))
    header = ["popularity" if name in POPULARITIES else name for name in names]
    item = next((name for names in ITEM for name in names if name in header), None)
    odd = [name for name in header if name != item and name not in COLUMNS]
    if item is None or odd or len(set(header)) < len(header):
        problem = f"columns are item and any of {join_words(COLUMNS)}, not {shown(header)}"
        raise InputError(problem, source="items", path=path, line=1)
    columns: dict[str, dict[str, Any]] = {name: {} for name in header}
    for row in filter(None, rows):
        place: dict[str, Any] = {"source": "items", "path": path, "line": rows.line_num}
        if len(row) != len(header):
            raise InputError(
                f"{many(len(row), 'column')} where {len(header)} are expected", **place
            )
        cells = dict(zip(header, row, strict=True))
        document = cells[item]
        if document in columns[item]:
            raise InputError("this item is listed twice", document=document, **place)
        for name, cell in cells.items():
            if name == "group" and not cell.strip():
                continue  # it is in none, which is an error where groups are asked for
            columns[name][document] = _number(name, cell, place) if name in NUMBERS else cell
    given = {"popularity": "popularity", "propensity": "propensities", "group": "groups"}
    return {
        "items": list(columns[item]),
        **{argument: columns[name] for name, argument in given.items() if name in columns},
    }


def _number(name: str, cell: str, place: dict[str, Any]) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"{name} {shown(cell)} is not a number", value=cell, **place) from None
