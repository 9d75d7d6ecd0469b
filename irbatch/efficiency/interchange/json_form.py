"""Records as JSON has them: what was measured, its units, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from irbatch.efficiency.checks import (
    check_quantity,
    check_text,
    of_system,
    only_known,
    part_of_record,
    refuse,
)
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import Latency
from irbatch.efficiency.quantities import ALIASES, FORMULAS, PER_HOUR, QUANTITIES, with_currency
from irbatch.errors import InputError, did_you_mean, kind_of, shown

STATED, FIELD = "cost_per_million", "stated_cost"  # what JSON and the record call it
UNITS = {
    "latency": "ms",
    "energy": "J",
    "emissions": "kg CO2eq",
    "sustained_p99": "ms",
    **dict.fromkeys(("wall_time", "user_time", "system_time", "children_time"), "s"),
    **{name: each.unit for name, each in QUANTITIES.items() if not name.startswith("latency_")},
}
MEANT = {**ALIASES, FIELD: STATED}  # other names that people know
PARTS: dict[str, tuple[type[Hardware | Latency], dict[str, str], str]] = {
    "latency": (Latency, {"avg": "mean", "average": "mean", "median": "p50"}, '{"mean": 8.5}'),
    "hardware": (
        Hardware,
        {"ram": "ram_gb", "memory": "ram_gb", "cores": "n_cpu", "cpus": "n_cpu", "gpus": "n_gpu"},
        '{"gpu": "A100"}',
    ),
}  # with other names of their fields, and an example
MONEY = (STATED, "throughput_cost_per_million", "price_per_hour")
BLANK = "\ufeff \t\r\n"  # before JSON
FOR_READERS = ("units", "derived")


def fields_to_json(known: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Return the known fields of a record, and what follows from them, with units."""
    values = {**known, "hardware": known["hardware"].known() or None}
    if "latency" in known:
        values["latency"] = latency = known["latency"].known()
        if "intervals" in latency:
            latency["intervals"] = {name: [*ends] for name, ends in latency["intervals"].items()}
    values = only_known(values)
    following = {name: {"value": each, "formula": FORMULAS[name]} for name, each in derived.items()}
    if FIELD in values:
        values[STATED] = values.pop(FIELD)
        following.pop(STATED, None)
    named = [name for name in (*values, *following) if name in UNITS]
    units = {name: with_currency(UNITS[name], known.get("currency")) for name in named}
    units = {name: unit for name, unit in units.items() if unit}
    return {**values, "units": units, **({"derived": following} if following else {})}


def json_to_fields(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the fields of a record, of all `names` that there are; units must be ours."""
    if not isinstance(values, Mapping):
        problem = f"a record is an object, not {kind_of(values)}"
        raise InputError(problem, source="efficiency record", value=values)
    system = values.get("system")
    if not isinstance(system, str):
        raise InputError("a record names its system", source="efficiency record", value=system)
    source = of_system(system)
    found = {name: value for name, value in values.items() if name not in FOR_READERS}
    names = [STATED, *(name for name in names if name != FIELD)]
    for name, value in found.items():
        if name not in names:
            raise refuse(source, shown(name), f"is no field of a record{_hint(name, names)}", value)
    found[FIELD] = check_quantity(source, STATED, found.pop(STATED, None))
    found["currency"] = _check_units(source, values)
    if isinstance(found.get("latency"), int | float):
        found["latency"] = {"mean": found["latency"]}
    for name in PARTS:
        part = found.get(name)
        if part is not None and not (name == "hardware" and isinstance(part, str)):
            found[name] = _part(source, name, part)
    return only_known(found)


def _check_units(source: str, values: Mapping[str, Any]) -> Any:
    """Check that units are ours; return the currency, which may stand among them."""
    units, currency = values.get("units"), values.get("currency")
    units = {} if units is None else units
    if not isinstance(units, Mapping):
        raise refuse(source, "units", "are an object of names to units", units)
    if currency is None:
        said = [str(units[name]) for name in MONEY if units.get(name, PER_HOUR) != PER_HOUR]
        currency = said[0].removesuffix("/h") if said else None
    check_text(source, "currency", currency)
    for name, unit in units.items():
        ours = UNITS.get("latency" if str(name).startswith("latency_") else name)
        if ours is None:
            problem = f"is of no field{did_you_mean(name, UNITS)}"
            raise refuse(source, f"unit of {shown(name)}", problem, unit)
        ours = with_currency(ours, currency)
        if not isinstance(unit, str) or unit != ours:
            raise refuse(
                source, f"unit of {name}", f"is {shown(unit)}; it is read as {ours:.80}", unit
            )
    return currency


def _hint(key: Any, names: Collection[str]) -> str:
    """Name the field that is meant, and the object that it belongs into."""
    word = str(key)
    if word in MEANT:
        return f"; did you mean {MEANT[word]}?"
    for name, (kind, others, _) in PARTS.items():
        inner = word.removeprefix(f"{name}_")
        inner = others.get(inner, inner)
        if inner not in _names(kind) and word.startswith("latency_"):
            inner = "mean"
        if inner in _names(kind):
            return f'; write "{name}": {{"{inner}": …}}'
    return did_you_mean(word, names)


def _names(kind: type[Hardware | Latency]) -> list[str]:
    return [each.name for each in fields(kind)]


def _part(source: str, name: str, values: Any) -> Any:
    kind, others, example = PARTS[name]
    if not isinstance(values, Mapping):
        problem = f"is {shown(values)}, not an object such as {example}"
        raise refuse(source, name, problem, values)
    names = _names(kind)
    for key in values:
        if key not in names:
            hint = f"; did you mean {others[key]}?" if key in others else did_you_mean(key, names)
            hint = hint or f": known are {', '.join(names)}"
            raise refuse(source, f"{name}: {shown(key)}", f"is not known{hint}", key)
    return part_of_record(source, name, kind, only_known(values))


def read_object(source: str | PathLike[str], what: str) -> Any:
    """Read JSON, no key twice, from a path or a text; `what` says in errors what is read."""
    if not isinstance(source, str | PathLike):
        problem = f"JSON is read from a path or a text, not from {kind_of(source)}"
        raise InputError(problem, source=what, value=source)
    path = None if is_text(source) else str(source)
    refuse = partial(InputError, source=what, path=path)
    try:
        text = str(source).lstrip(BLANK) if path is None else Path(path).read_text("utf-8-sig")
        return json.loads(text, object_pairs_hook=_with_single_keys)
    except UnicodeDecodeError:
        raise refuse("it is not UTF-8") from None
    except json.JSONDecodeError as problem:
        reason = f"no JSON: {problem.msg} at column {problem.colno}"
        raise refuse(reason, line=problem.lineno) from None
    except InputError as problem:
        raise problem.with_fields(source=what, path=path) from None
    except RecursionError:
        raise refuse("no JSON: it is nested too deeply") from None
    except OSError as problem:  # one of reading names no file
        problem.filename = problem.filename or path
        raise
    except ValueError:  # of whole numbers of more digits than Python reads
        raise refuse("no JSON: a number of thousands of digits") from None


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
