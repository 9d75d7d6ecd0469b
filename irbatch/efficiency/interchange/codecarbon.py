"""What codecarbon measured, as the fields of a record."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from functools import partial
from os import PathLike, fspath
from typing import Any

from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.amounts import BYTES, ENERGY, TIME, Node
from irbatch.errors import InputError, shown
from irbatch.formats.streams import numbered_lines

__all__ = ["read_codecarbon"]

SOURCE = "codecarbon"
NEEDED = ("duration", "emissions", "energy_consumed")
COLUMNS = (
    *(*NEEDED, "project_name", "cpu_model", "cpu_count"),
    *("gpu_model", "gpu_count", "ram_total_size"),
)


def read_codecarbon(source: Any, system: str | None) -> dict[str, Any]:
    """Return the fields of a record; see `EfficiencyRecord.from_codecarbon`.

    Its kWh become joules, and its gigabytes, which are of 1024³ bytes, those of 10⁹. Its time stamp
    is of the end, in a zone that isn't said, and is not read.
    """
    if not isinstance(source, str | PathLike):
        return _fields(_values(source), system)
    path = fspath(source)
    values, line = _last_line(path)
    try:
        return _fields(values, system)
    except InputError as problem:
        raise problem.placed(path=path, line=line) from None


def _values(source: Any) -> dict[str, Any]:
    """Return what a mapping or an object says."""
    if isinstance(source, Mapping):
        values = dict(source)
    else:
        values = {name: getattr(source, name) for name in COLUMNS if hasattr(source, name)}
    missing = [name for name in NEEDED if name not in values]
    if missing:
        problem = f"a {type(source).__name__} has no {', '.join(missing)}"
        raise InputError(problem, source=SOURCE, value=source)
    return values


def _last_line(path: str) -> tuple[dict[str, Any], int]:
    """Read the last line of a table by its first one, and count it."""
    refuse = partial(InputError, source=SOURCE, path=path)
    reader = csv.reader(_lines(path), strict=True)
    row: list[str] = []
    line = 0
    try:
        head = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if cells:
                row, line = cells, reader.line_num
    except csv.Error as problem:
        raise refuse(f"no CSV: {problem}", line=reader.line_num) from None
    missing = [name for name in NEEDED if name not in head]
    if missing:
        what = f"has no {', '.join(missing)}" if head else "is empty"
        raise refuse(f"it {what}", line=1 if head else None)
    if not row:
        raise refuse("it has no line below its head")
    if len(row) != len(head):
        raise refuse(f"{len(row)} cells stand below {len(head)} names", line=line)
    return dict(zip(head, row, strict=True)), line


def _lines(path: str) -> Iterator[str]:
    for number, line in numbered_lines(path, SOURCE):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise InputError("it is not UTF-8", source=SOURCE, path=path, line=number) from None


def _fields(values: Mapping[str, Any], system: str | None) -> dict[str, Any]:
    name = values.get("project_name") if system is None else system
    if not isinstance(name, str) or not name.strip():
        problem = f"project_name is {shown(name)}, which is no name; say system="
        raise InputError(problem, source=SOURCE, value=name)
    nodes = {column: _node(of_system(name), column, values.get(column)) for column in COLUMNS}
    for column in NEEDED:
        if nodes[column].value is None:
            raise nodes[column].problem("which is no number")
    model, count = nodes["gpu_model"].text(), nodes["gpu_count"].count()
    if model is not None and model.startswith(f"{count} x "):
        model = model.removeprefix(f"{count} x ")
    elif model is not None and " x " in model:  # of several models, which it counts by itself
        count = None
    hardware = Hardware(
        cpu=nodes["cpu_model"].text(),
        n_cpu=nodes["cpu_count"].count(),
        gpu=model,
        n_gpu=count,
        ram_gb=nodes["ram_total_size"].amount(BYTES, "GB", "GiB"),
    )
    return {
        "system": name,
        "hardware": hardware,
        "wall_time": nodes["duration"].amount(TIME, "s", "s"),
        "energy": nodes["energy_consumed"].amount(ENERGY, "J", "kWh"),
        "emissions": nodes["emissions"].number(),
    }


def _node(source: str, name: str, value: Any) -> Node:
    """Return a cell; one that is empty, or NaN in a frame, says nothing."""
    empty = isinstance(value, str) and not value.strip()
    nan = isinstance(value, float) and math.isnan(value)
    return Node(source, None if empty or nan else value, name)
