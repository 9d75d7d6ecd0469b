"""What tirex-tracker measured, as the fields of a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.amounts import BYTES, TIME, Node
from irbatch.efficiency.interchange.ir_metadata import read_ir_metadata
from irbatch.efficiency.interchange.ir_metadata_fields import add_energies
from irbatch.errors import InputError

__all__ = ["read_tirex"]

SOURCE = "tirex-tracker"
NOTHING = ("", "null")
ENERGIES = tuple(f"{part}_ENERGY_SYSTEM_JOULES" for part in ("CPU", "GPU", "RAM"))
TIMES = {
    "wall_time": "TIME_ELAPSED_WALL_CLOCK_MS",
    "user_time": "TIME_ELAPSED_USER_MS",
    "system_time": "TIME_ELAPSED_SYSTEM_MS",
}
MEASURES = (
    *("CPU_MODEL_NAME", "CPU_AVAILABLE_SYSTEM_CORES", "CPU_CORES_PER_SOCKET", "GPU_MODEL_NAME"),
    *("RAM_AVAILABLE_SYSTEM_MB", "RAM_USED_PROCESS_KB", "TIME_START", *TIMES.values(), *ENERGIES),
)


def read_tirex(source: Any, system: str | None) -> dict[str, Any]:
    """Return the fields of a record; see `EfficiencyRecord.from_tirex`.

    Energy is the sum of what could be measured, of the whole machine; a kilobyte is 1000 bytes, as
    the measures' names have it (on Linux, with subprocesses tracked, it is the kernel's, of 1024).
    Mean CPU percentages are not read, as they weigh steps of unequal length alike.
    """
    if isinstance(source, str | PathLike):
        return read_ir_metadata(source, system)
    if not isinstance(source, Mapping):
        problem = f"it is read from a path or from results, not from a {type(source).__name__}"
        raise InputError(problem, source=SOURCE, value=source)
    if system is None:
        raise InputError("results name no system; say system=", source=SOURCE)
    values = {getattr(key, "name", key): value for key, value in source.items()}
    if not any(name in values for name in MEASURES):
        problem = "there is no measure of tirex-tracker's in it that a record has"
        raise InputError(problem, source=SOURCE, value=source)
    found = {name: _node(of_system(system), name, values.get(name)) for name in MEASURES}
    cores = found["CPU_AVAILABLE_SYSTEM_CORES"].count()
    hardware = Hardware(
        cpu=found["CPU_MODEL_NAME"].text(),
        n_cpu=found["CPU_CORES_PER_SOCKET"].count() if cores is None else cores,
        gpu=found["GPU_MODEL_NAME"].text(),
        ram_gb=found["RAM_AVAILABLE_SYSTEM_MB"].amount(BYTES, "GB", "MB"),
    )
    return {
        "system": system,
        "hardware": hardware,
        "start_time": found["TIME_START"].text(),
        **{field: found[name].amount(TIME, "s", "ms") for field, name in TIMES.items()},
        "peak_memory": _series(found["RAM_USED_PROCESS_KB"]).at("max").amount(BYTES, "MB", "KB"),
        "energy": add_energies(found[name] for name in ENERGIES),
    }


def _node(source: str, name: str, entry: Any) -> Node:
    """Return the value of a measure, a text in bytes; None where nothing was measured."""
    value = getattr(entry, "value", entry)
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise Node(source, value, name).problem("which is not UTF-8") from None
    nothing = isinstance(value, str) and value.strip() in NOTHING
    return Node(source, None if nothing else value, name)


def _series(node: Node) -> Node:
    """Read what was measured again and again: an object in JSON."""
    if not isinstance(node.value, str):
        return node
    try:
        return Node(node.source, json.loads(node.value), node.path)
    except (ValueError, RecursionError):
        raise node.problem("which is no JSON") from None
