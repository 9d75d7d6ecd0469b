"""What tirex-tracker and codecarbon measured, as the fields of a record."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from typing import Any

from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.documents import COUNT, NUMBER, TEXT, Node, amounts
from irbatch.efficiency.interchange.ir_metadata import read_ir_metadata
from irbatch.errors import ErrorsIn, InputError, kind_of, shown
from irbatch.formats.streams import numbered_lines

MILLISECONDS = amounts("s", bare="ms")
TIREX = {
    "start_time": ("TIME_START", TEXT),
    "wall_time": ("TIME_ELAPSED_WALL_CLOCK_MS", MILLISECONDS),
    "user_time": ("TIME_ELAPSED_USER_MS", MILLISECONDS),
    "system_time": ("TIME_ELAPSED_SYSTEM_MS", MILLISECONDS),
    "peak_memory": ("RAM_USED_PROCESS_KB: max", amounts("MB", bare="KB")),
}
TIREX_HARDWARE = {
    "cpu": ("CPU_MODEL_NAME", TEXT),
    "n_cpu": ("CPU_AVAILABLE_SYSTEM_CORES", COUNT),
    "gpu": ("GPU_MODEL_NAME", TEXT),
    "ram_gb": ("RAM_AVAILABLE_SYSTEM_MB", amounts("GB", bare="MB")),
}
CORES, SERIES = "CPU_CORES_PER_SOCKET", "RAM_USED_PROCESS_KB"
ENERGIES = [f"{part}_ENERGY_SYSTEM_JOULES" for part in ("CPU", "GPU", "RAM")]
PLACES = [*TIREX.values(), *TIREX_HARDWARE.values()]
MEASURES = {CORES, *ENERGIES, *(keys.partition(":")[0] for keys, _ in PLACES)}

CODECARBON = {
    "wall_time": ("duration", amounts("s", bare="s")),
    "emissions": ("emissions", NUMBER),
    "energy": ("energy_consumed", amounts("J", bare="kWh")),
}
CODECARBON_HARDWARE = {
    "cpu": ("cpu_model", TEXT),
    "n_cpu": ("cpu_count", COUNT),
    "gpu": ("gpu_model", TEXT),
    "n_gpu": ("gpu_count", COUNT),
    "ram_gb": ("ram_total_size", amounts("GB", bare="GiB")),
}
NEEDED = [column for column, _ in CODECARBON.values()]
COLUMNS = ["project_name", *NEEDED, *(column for column, _ in CODECARBON_HARDWARE.values())]


def read_tirex(source: Any, system: str | None) -> dict[str, Any]:
    """Return the fields of a record; see `EfficiencyRecord.from_tirex`.

    Energy is the sum of what could be measured, of the whole machine; a kilobyte is 1000 bytes, as
    the measures' names have it (on Linux, with subprocesses tracked, it is the kernel's, of 1024).
    Mean CPU percentages are not read, as they weigh steps of unequal length alike.
    """
    if isinstance(source, str | PathLike):
        return read_ir_metadata(source, system)
    refuse = partial(InputError, source="tirex-tracker")
    if not isinstance(source, Mapping):
        problem = f"it is read from a path or from results, not from {kind_of(source)}"
        raise refuse(problem, value=source)
    if system is None:
        raise refuse("results name no system; say system=")
    values = {getattr(key, "name", key): value for key, value in source.items()}
    known = MEASURES & values.keys()
    if not known:
        raise refuse("there is no measure of tirex-tracker's in it that a record has", value=source)
    record = of_system(system)
    found = Node(record, {name: _measured(record, name, values[name]) for name in known})
    hardware = found.fields(TIREX_HARDWARE)
    if "n_cpu" not in hardware:
        hardware["n_cpu"] = found.at(CORES).count()
    fields = {"system": system, "hardware": Hardware(**hardware), "energy": found.energy(*ENERGIES)}
    return {**fields, **found.fields(TIREX)}


def _measured(source: str, name: str, entry: Any) -> Any:
    """Return the value of a measure; None where nothing was measured."""
    value = getattr(entry, "value", entry)
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise Node(source, value, name).problem("which is not UTF-8") from None
    if isinstance(value, str) and value.strip() in ("", "null"):
        return None
    if name != SERIES or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise Node(source, value, name).problem("which is no JSON") from None


def read_codecarbon(source: Any, system: str | None) -> dict[str, Any]:
    """Return the fields of a record; see `EfficiencyRecord.from_codecarbon`.

    Its gigabytes are of 1024³ bytes. Its time stamp, of the end and without a zone, is not read.
    """
    if isinstance(source, str | PathLike):
        path = fspath(source)
        values, line = _last_line(path)
        with ErrorsIn(path=path, line=line):
            return _codecarbon_fields(values, system)
    if isinstance(source, Mapping):
        values = dict(source)
    else:
        values = {name: getattr(source, name) for name in COLUMNS if hasattr(source, name)}
    missing = [name for name in NEEDED if name not in values]
    if missing:
        lacking = f"{kind_of(source)} has no {', '.join(missing)}"
        raise InputError(lacking, source="codecarbon", value=source)
    return _codecarbon_fields(values, system)


def _last_line(path: str) -> tuple[dict[str, Any], int]:
    """Read the last line of a table by its first one, and count it."""
    refuse = partial(InputError, source="codecarbon", path=path)
    lines = (line.decode() for _, line in numbered_lines(path, "codecarbon"))
    reader = csv.reader(lines, strict=True)
    row: list[str] = []
    line = 0
    try:
        head = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if cells:
                row, line = cells, reader.line_num
    except csv.Error as problem:
        raise refuse(f"no CSV: {problem}", line=reader.line_num) from None
    except UnicodeDecodeError:
        raise refuse("it is not UTF-8", line=reader.line_num + 1) from None
    missing = [name for name in NEEDED if name not in head]
    if missing:
        what = f"has no {', '.join(missing)}" if head else "is empty"
        raise refuse(f"it {what}", line=1 if head else None)
    if not row:
        raise refuse("it has no line below its head")
    if len(row) != len(head):
        raise refuse(f"{len(row)} cells stand below {len(head)} names", line=line)
    return dict(zip(head, row, strict=True)), line


def _codecarbon_fields(values: Mapping[str, Any], system: str | None) -> dict[str, Any]:
    name = values.get("project_name") if system is None else system
    if not isinstance(name, str) or not name.strip():
        problem = f"project_name is {shown(name)}, which is no name; say system="
        raise InputError(problem, source="codecarbon", value=name)
    said = {column: cell for column, cell in values.items() if not _is_empty(cell)}
    found = Node(of_system(name), said)
    for column in NEEDED:
        if found.at(column).value is None:
            raise found.at(column).problem("which is no number")
    hardware = found.fields(CODECARBON_HARDWARE)
    model, count = hardware.get("gpu", ""), f"{hardware.get('n_gpu')} x "
    if model.startswith(count):
        hardware["gpu"] = model.removeprefix(count)
    elif " x " in model:  # of several models, which it counts by itself
        hardware.pop("n_gpu", None)
    return {"system": name, "hardware": Hardware(**hardware), **found.fields(CODECARBON)}


def _is_empty(cell: Any) -> bool:
    """Tell whether a cell says nothing, as NaN in a frame."""
    if isinstance(cell, str):
        return not cell.strip()
    return isinstance(cell, float) and math.isnan(cell)
