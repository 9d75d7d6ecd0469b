"""Records as JSON: what was measured, its units, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from irbatch.efficiency.checks import of_system, refuse
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.quantities import ALIASES, QUANTITIES
from irbatch.efficiency.record import FORMULAS, EfficiencyRecord
from irbatch.errors import InputError, did_you_mean, shown

__all__ = ["is_text", "read_object", "record_from_dict", "record_to_dict"]

Part = TypeVar("Part", Hardware, Latency)

STATED, FIELD = "cost_per_million", "stated_cost"  # what JSON and the record call it
UNITS = {
    "latency": "ms", "wall_time": "s", "user_time": "s", "system_time": "s", "energy": "J",
    "emissions": "kg CO2eq",
    **{name: each.unit for name, each in QUANTITIES.items() if not name.startswith("latency_")},
}  # fmt: skip
MEANT = {**ALIASES, FIELD: STATED}  # other names that people know
BLANK = "\ufeff \t\r\n"  # before JSON
OTHERS = ("units", "derived")  # said for readers


def record_to_dict(record: EfficiencyRecord) -> dict[str, Any]:
    """Return what a record knows, with units and what follows from it; see `record_from_dict`."""
    values = record.known()
    for name in ("hardware", "latency"):
        if name in values:
            parts = asdict(values[name]).items()
            values[name] = {key: part for key, part in parts if part not in (None, {})}
    if not values["hardware"]:
        del values["hardware"]
    if record.latency is not None and record.latency.intervals:
        bounds = {name: list(each) for name, each in record.latency.intervals.items()}
        values["latency"]["intervals"] = bounds
    elif record.latency is not None and record.latency.level == Latency.level:
        del values["latency"]["level"]  # it is of no intervals
    derived = {name: getattr(record, name) for name in FORMULAS}
    if FIELD in values:
        values[STATED] = values.pop(FIELD)
        del derived[STATED]
    derived = {
        name: {"value": value, "formula": FORMULAS[name]}
        for name, value in derived.items()
        if value is not None
    }
    units = {name: UNITS[name].format(currency=record.currency) for name in (*values, *derived)
             if name in UNITS}  # fmt: skip
    return {**values, "units": units, **({"derived": derived} if derived else {})}


def record_from_dict(values: Mapping[str, Any]) -> EfficiencyRecord:
    """Make a record of what JSON says; units must be ours, and what follows is not looked at.

    Raises:
        InputError: naming the system and the field of what can't be.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"a record is an object, not a {type(values).__name__}",
                         source="efficiency record", value=values)  # fmt: skip
    system = values.get("system")
    if not isinstance(system, str):
        raise InputError("a record names its system", source="efficiency record", value=system)
    source = of_system(system)
    known = {name: value for name, value in values.items() if name not in OTHERS}
    names = {each.name for each in fields(EfficiencyRecord)} - {FIELD} | {STATED}
    for name in known:
        if name not in names:
            hint = _hint(str(name), names)
            raise refuse(source, shown(name), f"is no field of a record{hint}", known[name])
    known[FIELD] = known.pop(STATED, None)
    _check_units(source, values)
    if isinstance(known.get("latency"), int | float):
        known["latency"] = {"mean": known["latency"]}
    if known.get("hardware") is not None and not isinstance(known["hardware"], str):
        known["hardware"] = _part(source, "hardware", Hardware, known["hardware"])
    if known.get("latency") is not None:
        known["latency"] = _part(source, "latency", Latency, known["latency"])
    return EfficiencyRecord(**{name: value for name, value in known.items() if value is not None})


def _check_units(source: str, values: Mapping[str, Any]) -> None:
    units = values.get("units") or {}
    if not isinstance(units, Mapping):
        raise refuse(source, "units", "are an object of names to units", units)
    for name, unit in units.items():
        ours = UNITS.get("latency" if str(name).startswith("latency_") else name)
        if ours is None:
            hint = did_you_mean(name, UNITS)
            raise refuse(source, f"unit of {shown(name)}", f"is of no field{hint}", unit)
        ours = ours.format(currency=values.get("currency") or EfficiencyRecord.currency)
        if unit != ours:
            raise refuse(source, f"unit of {name}", f"is {shown(unit)}; it is read as {ours}", unit)


def _hint(name: str, names: Iterable[str]) -> str:
    """Name the field that is meant."""
    group, _, part = name.partition("_")
    if group == "latency":
        return f'; write "latency": {{"{part}": …}}'
    return f"; did you mean {MEANT[name]}?" if name in MEANT else did_you_mean(name, names)


def _part(source: str, name: str, kind: type[Part], values: Any) -> Part:
    if not isinstance(values, Mapping):
        raise refuse(source, name, f"is {shown(values)}, not an object", values)
    names = {each.name for each in fields(kind)}
    for key in values:
        if key not in names:
            raise refuse(source, f"{name}: {shown(key)}", f"is not known{did_you_mean(key, names)}",
                         key)  # fmt: skip
    try:
        return kind(**{key: each for key, each in values.items() if each is not None})
    except InputError as problem:
        raise InputError(f"{name}: {problem.message}", source=source, value=problem.value) from None


def read_object(source: str | PathLike[str], what: str) -> Any:
    """Read JSON from a file, or from text that begins as an object or a list does.

    Args:
        source: a path or the text.
        what: it holds, for errors.

    Raises:
        InputError: naming the file and the line of what is no JSON, or has a key twice.
        OSError: as the system says.
    """
    if not isinstance(source, str | PathLike):
        raise InputError(f"JSON is read from a path or a text, not from a {type(source).__name__}",
                         source=what, value=source)  # fmt: skip
    if is_text(source):
        path, text = None, str(source).lstrip(BLANK)
    else:
        path = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("it is not UTF-8", source=what, path=path) from None
    try:
        return json.loads(text, object_pairs_hook=_with_single_keys)
    except json.JSONDecodeError as problem:
        raise InputError(f"no JSON: {problem.msg} at column {problem.colno}", source=what,
                         path=path, line=problem.lineno) from None  # fmt: skip
    except InputError as problem:
        raise problem.placed(source=what, path=path) from None
    except RecursionError:
        raise InputError("no JSON: it is nested too deeply", source=what, path=path) from None
    except ValueError:  # of whole numbers of more digits than Python reads
        raise InputError("no JSON: a number of thousands of digits", source=what,
                         path=path) from None  # fmt: skip


def is_text(source: object) -> bool:
    """Tell JSON from a path."""
    return isinstance(source, str) and source.lstrip(BLANK)[:1] in ("{", "[")


def _with_single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"key {shown(twice)} is given twice", value=twice)
    return values
