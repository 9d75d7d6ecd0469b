"""Where ir_metadata has the fields of a record, and how it writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from irbatch.efficiency.checks import of_system, only_known
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.documents import (
    COUNT,
    NUMBER,
    TEXT,
    Form,
    Node,
    Table,
    add_energies,
    amounts,
    counts,
    read_fields,
    write_amount,
    write_fields,
)
from irbatch.efficiency.latency import STATISTICS, Latency
from irbatch.efficiency.quantities import CURRENCY
from irbatch.errors import InputError

SCHEMA = 0.2
COSTS = {"price per hour": "price_per_hour", "per million queries": "stated_cost"}
DERIVED_COSTS = {
    "per million queries": "cost_per_million",
    "per million queries at full throughput": "throughput_cost_per_million",
}


def _read_intervals(node: Node) -> dict[str, tuple[float, float]]:
    named = [name for name in STATISTICS if node.at(name).value is not None]
    return {name: node.at(name).bounds("ms") for name in named}


def _write_intervals(intervals: Mapping[str, tuple[float, float]]) -> dict[str, list[str]]:
    return {name: [write_amount(end, "ms") for end in ends] for name, ends in intervals.items()}


def _read_latency(node: Node) -> Latency | None:
    if node.value is None:
        return None
    values = read_fields(node, LATENCY)
    try:
        return Latency(**values)
    except InputError as problem:
        message = f"{node.path}: {problem.message}"
        raise InputError(message, source=node.source, value=problem.value) from None


FROM_1 = counts(1)
SECONDS, MEGABYTES = amounts("s", written="ms"), amounts("MB")

HARDWARE: Table = {
    "instance": ("instance", TEXT),
    "cpu": ("cpu: model", TEXT),
    "n_cpu": ("cpu: number of cores", COUNT),
    "gpu": ("gpu: model", TEXT),
    "n_gpu": ("gpu: number of gpus", COUNT),
    "ram_gb": ("ram", amounts("GB")),
}
LATENCY: Table = {
    **{name: (name, amounts("ms")) for name in STATISTICS},
    "calls": ("calls", FROM_1),
    "level": ("level", NUMBER),
    "intervals": ("intervals", Form(_read_intervals, _write_intervals)),
}
LATENCY_FORM = Form(_read_latency, lambda latency: write_fields(latency.known(), LATENCY))
RECORD: Table = {
    "dataset": ("data: test collection: name", TEXT),
    "source": ("data: source", TEXT),
    "start_time": ("resources: runtime: start time", TEXT),
    "wall_time": ("resources: runtime: wallclock", SECONDS),
    "user_time": ("resources: runtime: user", SECONDS),
    "system_time": ("resources: runtime: system", SECONDS),
    "n_queries": ("resources: queries: number", FROM_1),
    "batch_size": ("resources: queries: batch size", FROM_1),
    "warmup": ("resources: queries: warm-up calls", COUNT),
    "repeat": ("resources: queries: repeats", FROM_1),
    "latency": ("resources: latency", LATENCY_FORM),
    "throughput": ("resources: throughput: value", amounts("queries/s")),
    "throughput_batch_size": ("resources: throughput: batch size", FROM_1),
    "peak_memory": ("resources: ram: used process: max", amounts("MB", "KB", bare="KB")),
    "model_memory": ("resources: memory: model", MEGABYTES),
    "index_memory": ("resources: memory: index", MEGABYTES),
    "model_disk": ("resources: disk: model", MEGABYTES),
    "index_disk": ("resources: disk: index", MEGABYTES),
    "flops": ("resources: compute: flops", amounts("FLOPs/query")),
    "cpu_used": ("resources: compute: cores used", amounts("cores")),
    "energy": ("resources: energy", amounts("J")),
    "emissions": ("resources: emissions", amounts("kg")),
}


def fields_to_form(fields: Mapping[str, Any], derived: Mapping[str, float]) -> dict[str, Any]:
    """Return what ir_metadata has of a record, numbers with their units as text.

    Args:
        fields: of the record, those that are known.
        derived: the quantities that follow from them.
    """
    hardware = write_fields(fields["hardware"].known(), HARDWARE)
    form = {
        "schema version": SCHEMA,
        "tag": fields["system"],
        **({"platform": {"hardware": hardware}} if hardware else {}),
        "method": {"name": fields["system"]},
        **write_fields(fields, RECORD),
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
        "hardware": Hardware(**read_fields(top.at("platform: hardware"), HARDWARE)),
        **read_fields(top, RECORD),
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
    return only_known({**fields, "currency": currency})
