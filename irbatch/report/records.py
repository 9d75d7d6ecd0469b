"""Records for programs: every number with every digit, as CSV, JSON and frames."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from irbatch.evaluation.results import csv_cell, csv_text
from irbatch.runtime.extras import imported
from irbatch.runtime.files import written

Record = dict[str, Any]
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


def make_frame(names: Sequence[str], records: Iterable[Record]) -> Any:
    """Return a pandas frame, one row a record."""
    pd = imported("frames", "pandas", "pandas")
    return pd.DataFrame(list(records), columns=names)


def _written(text: str, path: str | PathLike[str] | None) -> str:
    text = SURROGATE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)
    return written(text, path)
