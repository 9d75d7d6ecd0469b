"""Where ir_metadata has the fields of a record, and how it writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.amounts import (
    BYTES,
    ENERGY,
    MASS,
    TIME,
    Node,
    Units,
    write_amount,
)
from irbatch.efficiency.latency import STATISTICS, Latency
from irbatch.efficiency.quantities import CURRENCY
from irbatch.errors import InputError

__all__ = ["add_energies", "fields_to_form", "form_to_fields"]

SCHEMA = 0.2
COSTS = {"price per hour": "price_per_hour", "per million queries": "stated_cost"}
DERIVED_COSTS = {
    "per million queries": "cost_per_million",
    "per million queries at full throughput": "throughput_cost_per_million",
}


class Form(NamedTuple):
    """How a field is read and written; both return None for nothing."""

    read: Callable[[Node], Any]
    write: Callable[[Any], Any] = lambda value: value


Table = Mapping[str, tuple[str, Form]]  # field to the keys that lead to it, and its form


def _amount(units: Units, unit: str, written: str | None = None, bare: str | None = None) -> Form:
    """Return the form of numbers in a unit, which may be written in a smaller one."""
    written = written or unit
    factor = int(units[unit] / units[written])
    return Form(
        lambda node: node.amount(units, unit, bare),
        lambda value: write_amount(value, written, factor),
    )


def _only(unit: str) -> Form:
    """Return the form of numbers that have always the same unit."""
    return _amount({unit: Decimal(1)}, unit)


TEXT, NUMBER, COUNT = Form(Node.text), Form(Node.number, float), Form(Node.count)
AT_LEAST_1 = Form(partial(Node.count, least=1))
MILLISECONDS, SECONDS = _amount(TIME, "ms"), _amount(TIME, "s", written="ms")
MEGABYTES, GIGABYTES = _amount(BYTES, "MB"), _amount(BYTES, "GB")


def _read(node: Node, table: Table) -> dict[str, Any]:
    """Read what is known of some fields."""
    found = {name: form.read(node.at(keys)) for name, (keys, form) in table.items()}
    return {name: value for name, value in found.items() if value is not None}


def _write(values: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Write what is known of some fields."""
    document: dict[str, Any] = {}
    for name, (keys, form) in table.items():
        value = values.get(name)
        written = None if value is None else form.write(value)
        if written is not None:
            *groups, last = keys.split(": ")
            place = document
            for group in groups:
                place = place.setdefault(group, {})
            place[last] = written
    return document


def _read_intervals(node: Node) -> dict[str, tuple[float, float]] | None:
    named = [name for name in STATISTICS if node.at(name).value is not None]
    return {name: node.at(name).bounds(TIME, "ms") for name in named}


def _write_intervals(intervals: Mapping[str, tuple[float, float]]) -> dict[str, Any] | None:
    written = {
        name: [write_amount(bound, "ms") for bound in bounds] for name, bounds in intervals.items()
    }
    return written or None


def _read_latency(node: Node) -> Latency | None:
    if node.value is None:
        return None
    values = _read(node, LATENCY)
    try:
        return Latency(**values)
    except InputError as problem:
        message = f"{node.path}: {problem.message}"
        raise InputError(message, source=node.source, value=problem.value) from None


def _write_latency(latency: Latency) -> dict[str, Any]:
    says_level = latency.intervals or latency.level != Latency.level
    return _write({**vars(latency), "level": latency.level if says_level else None}, LATENCY)


HARDWARE: Table = {
    "instance": ("instance", TEXT),
    "cpu": ("cpu: model", TEXT),
    "n_cpu": ("cpu: number of cores", COUNT),
    "gpu": ("gpu: model", TEXT),
    "n_gpu": ("gpu: number of gpus", COUNT),
    "ram_gb": ("ram", GIGABYTES),
}
LATENCY: Table = {
    **{name: (name, MILLISECONDS) for name in STATISTICS},
    "calls": ("calls", AT_LEAST_1),
    "level": ("level", NUMBER),
    "intervals": ("intervals", Form(_read_intervals, _write_intervals)),
}
RECORD: Table = {
    "dataset": ("data: test collection: name", TEXT),
    "source": ("data: source", TEXT),
    "start_time": ("resources: runtime: start time", TEXT),
    "wall_time": ("resources: runtime: wallclock", SECONDS),
    "user_time": ("resources: runtime: user", SECONDS),
    "system_time": ("resources: runtime: system", SECONDS),
    "n_queries": ("resources: queries: number", AT_LEAST_1),
    "batch_size": ("resources: queries: batch size", AT_LEAST_1),
    "warmup": ("resources: queries: warm-up calls", COUNT),
    "repeat": ("resources: queries: repeats", AT_LEAST_1),
    "latency": ("resources: latency", Form(_read_latency, _write_latency)),
    "throughput": ("resources: throughput: value", _only("queries/s")),
    "throughput_batch_size": ("resources: throughput: batch size", AT_LEAST_1),
    "peak_memory": ("resources: ram: used process: max", _amount(BYTES, "MB", "KB", bare="KB")),
    "model_memory": ("resources: memory: model", MEGABYTES),
    "index_memory": ("resources: memory: index", MEGABYTES),
    "model_disk": ("resources: disk: model", MEGABYTES),
    "index_disk": ("resources: disk: index", MEGABYTES),
    "flops": ("resources: compute: flops", _only("FLOPs/query")),
    "cpu_used": ("resources: compute: cores used", _only("cores")),
    "energy": ("resources: energy", _amount(ENERGY, "J")),
    "emissions": ("resources: emissions", _amount(MASS, "kg")),
}


def fields_to_form(fields: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Return what ir_metadata has of a record, numbers with their units as text.

    Args:
        fields: of the record, those that are known.
        derived: the quantities that follow from them.
    """
    hardware = _write(vars(fields["hardware"]), HARDWARE)
    form = {
        "schema version": SCHEMA,
        "tag": fields["system"],
        **({"platform": {"hardware": hardware}} if hardware else {}),
        "method": {"name": fields["system"]},
        **_write(fields, RECORD),
    }
    if cost := _write_cost(fields, derived):
        form["resources"]["cost"] = cost
    return form


def _write_cost(fields: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Write prices; costs that follow from them stand apart, where they are not read again."""
    currency = fields["currency"]
    cost: dict[str, Any] = {
        key: write_amount(fields[name], currency) for key, name in COSTS.items() if name in fields
    }
    if not cost and currency != CURRENCY:
        cost["currency"] = currency
    following = {
        key: write_amount(derived[name], currency)
        for key, name in DERIVED_COSTS.items()
        if name in derived and key not in cost and math.isfinite(derived[name])
    }
    return {**cost, "derived": following} if following else cost


def form_to_fields(form: Mapping[str, Any], system: str | None) -> dict[str, Any]:
    """Return the fields of a record that ir_metadata says; keys that are not known are not read.

    Raises:
        InputError: naming the system and the keys, if a value cannot be read, or if no system is
            named.
    """
    if system is None:
        top = Node("ir_metadata", form)
        system = top.at("method: name").text() or top.at("tag").text()
    if system is None:
        problem = "it names no system, neither as method: name nor as tag; say system="
        raise InputError(problem, source="ir_metadata")
    top = Node(of_system(system), form)
    resources = top.at("resources")
    fields = {
        "system": system,
        "hardware": Hardware(**_read(top.at("platform: hardware"), HARDWARE)),
        **_read(top, RECORD),
        **_read_cost(resources.at("cost")),
    }
    if "energy" not in fields:  # which tirex-tracker tells by part
        parts = ("cpu", "gpu", "ram")
        fields["energy"] = add_energies(resources.at(f"{p}: energy used system") for p in parts)
    return fields


def _read_cost(node: Node) -> dict[str, Any]:
    currency = node.at("currency").text()
    fields: dict[str, Any] = {}
    for key, name in COSTS.items():
        fields[name], unit = node.at(key).priced()
        if unit is not None and currency not in (None, unit):
            raise node.at(key).problem(f"but other amounts are in {currency}")
        currency = unit or currency
    fields["currency"] = currency
    return {name: value for name, value in fields.items() if value is not None}


def add_energies(parts: Iterable[Node]) -> float | None:
    """Return the sum of the energies that could be measured, in J; None if there are none."""
    known = [joules for part in parts if (joules := part.amount(ENERGY, "J", "J")) is not None]
    return sum(known) if known else None
