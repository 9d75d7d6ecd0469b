"""Records for programs: every number with every digit, as CSV, JSON and frames."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from types import SimpleNamespace
from typing import Any

import numpy as np

from irbatch.errors import CONTROLS, imported
from irbatch.runtime.files import written

Record = dict[str, Any]
FORMULAS = tuple("=+-@\t\r\n")  # what begins with these, a spreadsheet would run
UNQUOTED = {code: shown for code, shown in CONTROLS.items() if chr(code) not in "\t\n\r"}
SURROGATE = re.compile("[\ud800-\udfff]")  # may stand alone in Python, not in a file


def write_json(everything: Record, path: str | PathLike[str] | None) -> str:
    """Return, or also write, an object as JSON; NaN and infinite numbers become null."""
    import json

    text = json.dumps(_finite(everything), ensure_ascii=False, indent=1, allow_nan=False)
    return _written(text + "\n", path)


def _finite(value: Any) -> Any:
    """Put null in place of NaN and infinite numbers, however deep."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value


def write_csv(
    names: Sequence[str], records: Iterable[Record], path: str | PathLike[str] | None
) -> str:
    """Return, or also write, one line a record."""
    rows = (names, *(record.values() for record in records))
    cells = (["" if cell is None else csv_cell(cell) for cell in row] for row in rows)
    return _written(csv_text(cells), path)


def csv_cell(value: object) -> str:
    """Write text for a CSV cell; what a spreadsheet would run as a formula is defused."""
    text = str(value)
    if not isinstance(value, str):
        return text
    safe = text if text.isprintable() else text.translate(UNQUOTED)
    return f"'{safe}" if text.startswith(FORMULAS) else safe


def csv_text(*tables: Iterable[Iterable[str]]) -> str:
    """Write cells as CSV, one record after the other."""
    import csv

    lines: list[str] = []
    # With this line end a writer of Python before 3.13, too, quotes a lone "\r".
    target = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(target, lineterminator="\r\n")
    for table in tables:
        writer.writerows(table)
    return "".join(lines)


def make_pandas(names: Sequence[str], records: Iterable[Record]) -> Any:
    """Return a pandas frame, one row a record."""
    return imported("frames", "pandas", "pandas").DataFrame(list(records), columns=names)


def make_polars(names: Sequence[str], records: Iterable[Record]) -> Any:
    """Return a polars frame, one row a record."""
    pl = imported("frames", "polars", "polars")
    rows = [list(record.values()) for record in records]
    return pl.DataFrame(rows, schema=list(names), orient="row", infer_schema_length=None)


def _written(text: str, path: str | PathLike[str] | None) -> str:
    text = SURROGATE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)
    return written(text, path)
