"""What tirex-tracker measured, as a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from irbatch.efficiency.amounts import BYTES, ENERGY, TIME, Node
from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.ir_metadata import read_ir_metadata
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError

__all__ = ["read_tirex"]

SOURCE = "tirex-tracker"
NOTHING = ("", "null")
MEASURES = (
    "CPU_MODEL_NAME", "CPU_AVAILABLE_SYSTEM_CORES", "CPU_CORES_PER_SOCKET", "GPU_MODEL_NAME",
    "RAM_AVAILABLE_SYSTEM_MB", "RAM_USED_PROCESS_KB", "TIME_START", "TIME_ELAPSED_WALL_CLOCK_MS",
    "TIME_ELAPSED_USER_MS", "TIME_ELAPSED_SYSTEM_MS", "CPU_ENERGY_SYSTEM_JOULES",
    "GPU_ENERGY_SYSTEM_JOULES", "RAM_ENERGY_SYSTEM_JOULES",
)  # fmt: skip


def read_tirex(source: Any, system: str | None) -> EfficiencyRecord:
    """Read a record from what tirex-tracker exported or holds.

    Energy is the sum of what could be measured, of the whole machine; a kilobyte is 1000 bytes, as
    the measures' names have it (on Linux, with subprocesses tracked, it is the kernel's, of 1024).
    Mean CPU percentages are not read, as they weigh steps of unequal length alike.

    Args:
        source: a path of a file in ir_metadata's form, or ``handle.results``: measures, or their
            names, to entries with a ``value``, or to the values themselves.
        system: the system's name; results have none, a file may have one.

    Raises:
        InputError: naming the system and the measure of what can't be read, and for no name.
        ImportError: naming the extra, when a file is read and PyYAML is not installed.

    >>> results = {"TIME_ELAPSED_WALL_CLOCK_MS": b"426", "CPU_ENERGY_SYSTEM_JOULES": b"null"}
    >>> record = read_tirex(results, "bm25")
    >>> record.wall_time, record.energy
    (0.426, None)
    """
    if isinstance(source, str | PathLike):
        return read_ir_metadata(source, system)
    if not isinstance(source, Mapping):
        raise InputError(f"it is read from a path or from results, not from a "
                         f"{type(source).__name__}", source=SOURCE, value=source)  # fmt: skip
    if system is None:
        raise InputError("results name no system; say system=", source=SOURCE)
    values = {getattr(key, "name", key): value for key, value in source.items()}
    if not any(name in values for name in MEASURES):
        raise InputError("there is no measure of tirex-tracker's in it that a record has",
                         source=SOURCE, value=source)  # fmt: skip
    found = {name: _node(of_system(system), name, values.get(name)) for name in MEASURES}
    fields: dict[str, Any] = {
        "start_time": found["TIME_START"].text(),
        "wall_time": found["TIME_ELAPSED_WALL_CLOCK_MS"].amount(TIME, "s", "ms"),
        "user_time": found["TIME_ELAPSED_USER_MS"].amount(TIME, "s", "ms"),
        "system_time": found["TIME_ELAPSED_SYSTEM_MS"].amount(TIME, "s", "ms"),
        "peak_memory": _most(found["RAM_USED_PROCESS_KB"]).amount(BYTES, "MB", "KB"),
        "energy": _energy(found),
    }
    return EfficiencyRecord(system=system, hardware=_hardware(found), **fields)


def _node(source: str, name: str, entry: Any) -> Node:
    """Return the value of a measure, which is a text in bytes; none where nothing was measured."""
    value = getattr(entry, "value", entry)
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise Node(source, value, (name,)).problem("which is not UTF-8") from None
    nothing = isinstance(value, str) and value.strip() in NOTHING
    return Node(source, None if nothing else value, (name,))


def _most(node: Node) -> Node:
    """Return the largest number of a series, which is an object in JSON."""
    series = node.value
    if isinstance(series, str):
        try:
            series = json.loads(series)
        except (ValueError, RecursionError):
            raise node.problem("which is no JSON") from None
    return Node(node.source, series, node.path)["max"]


def _energy(found: Mapping[str, Node]) -> float | None:
    parts = [found[f"{part}_ENERGY_SYSTEM_JOULES"].amount(ENERGY, "J", "J")
             for part in ("CPU", "GPU", "RAM")]  # fmt: skip
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _hardware(found: Mapping[str, Node]) -> Hardware:
    cores = found["CPU_AVAILABLE_SYSTEM_CORES"].count()
    return Hardware(
        cpu=found["CPU_MODEL_NAME"].text(),
        n_cpu=found["CPU_CORES_PER_SOCKET"].count() if cores is None else cores,
        gpu=found["GPU_MODEL_NAME"].text(),
        ram_gb=found["RAM_AVAILABLE_SYSTEM_MB"].amount(BYTES, "GB", "MB"),
    )
