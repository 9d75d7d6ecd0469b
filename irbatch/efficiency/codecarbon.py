"""What codecarbon measured, as a record."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from irbatch.efficiency.amounts import BYTES, ENERGY, TIME, Node
from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError, shown
from irbatch.formats.streams import numbered_lines

__all__ = ["read_codecarbon"]

SOURCE = "codecarbon"
NEEDED = ("duration", "emissions", "energy_consumed")
COLUMNS = (
    *NEEDED, "project_name", "cpu_model", "cpu_count", "gpu_model", "gpu_count", "ram_total_size",
)  # fmt: skip


def read_codecarbon(source: Any, system: str | None, n_queries: int | None) -> EfficiencyRecord:
    """Read a record from what codecarbon wrote or holds.

    Its kWh become joules, and its gigabytes, which are of 1024³ bytes, those of 10⁹. Its time stamp
    is of the end, in a zone that isn't said, and is not read.

    Args:
        source: a path of ``emissions.csv``, of which the last line counts; the `EmissionsData` that
            a tracker has as ``final_emissions_data``, or a mapping with the same names.
        system: the system's name; default: the name of the project.
        n_queries: how many queries were answered meanwhile.

    Raises:
        InputError: naming the file, the line, the system and the column of what can't be read.

    >>> measured = {"duration": 2.5, "emissions": 1e-6, "energy_consumed": 1e-6}
    >>> read_codecarbon(measured, "bm25", 10).energy_per_query
    0.36
    """
    if not isinstance(source, str | PathLike):
        return _record(_values(source), system, n_queries)
    path = fspath(source)
    values, line = _last_line(path)
    try:
        return _record(values, system, n_queries)
    except InputError as problem:
        raise problem.placed(path=path, line=line) from None


def _values(source: Any) -> dict[str, Any]:
    if isinstance(source, Mapping):
        values = {name: source[name] for name in COLUMNS if name in source}
    else:
        values = {name: getattr(source, name) for name in COLUMNS if hasattr(source, name)}
    missing = [name for name in NEEDED if name not in values]
    if missing:
        raise InputError(f"a {type(source).__name__} has no {', '.join(missing)}", source=SOURCE,
                         value=source)  # fmt: skip
    return values


def _last_line(path: str) -> tuple[dict[str, Any], int]:
    """Read the last line of a table by its first one, and count it."""
    reader = csv.reader(_texts(path), strict=True)
    row: list[str] = []
    line = 0
    try:
        head = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if cells:
                row, line = cells, reader.line_num
    except csv.Error as problem:
        raise InputError(f"no CSV: {problem}", source=SOURCE, path=path,
                         line=reader.line_num) from None  # fmt: skip
    missing = [name for name in NEEDED if name not in head]
    if missing:
        what = f"has no {', '.join(missing)}" if head else "is empty"
        raise InputError(f"it {what}", source=SOURCE, path=path, line=1 if head else None)
    if not row:
        raise InputError("it has no line below its head", source=SOURCE, path=path)
    if len(row) != len(head):
        raise InputError(f"{len(row)} cells stand below {len(head)} names", source=SOURCE,
                         path=path, line=line)  # fmt: skip
    return dict(zip(head, row, strict=True)), line


def _texts(path: str) -> Iterator[str]:
    for number, line in numbered_lines(path, SOURCE):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise InputError("it is not UTF-8", source=SOURCE, path=path, line=number) from None


def _record(
    values: Mapping[str, Any], system: str | None, n_queries: int | None
) -> EfficiencyRecord:
    name = values.get("project_name") if system is None else system
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"project_name is {shown(name)}, which is no name; say system=",
                         source=SOURCE, value=name)  # fmt: skip
    source = of_system(name)
    nodes = {column: _node(source, column, values.get(column)) for column in COLUMNS}
    for column in NEEDED:
        if nodes[column].value is None:
            raise nodes[column].problem("which is no number")
    count = nodes["gpu_count"].count()
    return EfficiencyRecord(
        system=name,
        n_queries=n_queries,
        hardware=Hardware(
            cpu=nodes["cpu_model"].text(),
            n_cpu=nodes["cpu_count"].count(),
            gpu=_model(nodes["gpu_model"].text(), count),
            n_gpu=None if _several(nodes["gpu_model"].text(), count) else count,
            ram_gb=nodes["ram_total_size"].amount(BYTES, "GB", "GiB"),
        ),
        wall_time=nodes["duration"].amount(TIME, "s", "s"),
        energy=nodes["energy_consumed"].amount(ENERGY, "J", "kWh"),
        emissions=nodes["emissions"].number(),
    )


def _node(source: str, name: str, value: Any) -> Node:
    """Return a cell; what is empty, NaN in a frame, says nothing."""
    nothing = isinstance(value, str) and not value.strip()
    nothing = nothing or (isinstance(value, float) and math.isnan(value))
    return Node(source, None if nothing else value, (name,))


def _several(model: str | None, count: int | None) -> bool:
    """Tell whether a text counts accelerators of several models by itself."""
    return model is not None and " x " in model and not model.startswith(f"{count} x ")


def _model(model: str | None, count: int | None) -> str | None:
    """Return the name of an accelerator, without how many there are of it."""
    return None if model is None else model.removeprefix(f"{count} x ")
