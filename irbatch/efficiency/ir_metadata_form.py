"""Where ir_metadata has what a record knows: mappings of records, and records of mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from irbatch.efficiency.amounts import BYTES, ENERGY, MASS, TIME, Node, only, write_amount
from irbatch.efficiency.checks import of_system
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.latency import STATISTICS, Latency
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.errors import InputError

__all__ = ["form_of", "record_of"]

SCHEMA = 0.2
LEVEL = Latency().level
CURRENCY = EfficiencyRecord(system="any").currency
RATE, FLOPS, CORES = "queries/s", "FLOPs/query", "cores"
DERIVED = {
    "per million queries": "cost_per_million",
    "per million queries at full throughput": "throughput_cost_per_million",
}


def form_of(record: EfficiencyRecord) -> dict[str, Any]:
    """Return what a record knows as ir_metadata has it, numbers with their units as text."""
    form = {
        "schema version": SCHEMA,
        "tag": record.system,
        "platform": {"hardware": _hardware(record.hardware)},
        "method": {"name": record.system},
        "data": {"test collection": {"name": record.dataset}, "source": record.source},
        "resources": _resources(record),
    }
    known: dict[str, Any] = _known(form)
    if record.latency is not None:  # one that says nothing is one
        known["resources"].setdefault("latency", {})
    return known


def _known(value: Any) -> Any:
    """Leave out what says nothing, however deep."""
    if not isinstance(value, dict):
        return value
    parts = {key: _known(each) for key, each in value.items()}
    return {key: each for key, each in parts.items() if each is not None and each != {}}


def _write(value: float | None, unit: str, shift: int = 0) -> str | None:
    return None if value is None else write_amount(value, unit, shift)


def _hardware(hardware: Hardware) -> dict[str, Any]:
    return {
        "instance": hardware.instance,
        "cpu": {"model": hardware.cpu, "number of cores": hardware.n_cpu},
        "gpu": {"model": hardware.gpu, "number of gpus": hardware.n_gpu},
        "ram": _write(hardware.ram_gb, "GB"),
    }


def _resources(record: EfficiencyRecord) -> dict[str, Any]:
    return {
        "runtime": {
            "start time": record.start_time,
            "wallclock": _write(record.wall_time, "ms", 3),
            "user": _write(record.user_time, "ms", 3),
            "system": _write(record.system_time, "ms", 3),
        },
        "queries": {
            "number": record.n_queries,
            "batch size": record.batch_size,
            "warm-up calls": record.warmup,
            "repeats": record.repeat,
        },
        "latency": _latency(record.latency),
        "throughput": {
            "value": _write(record.throughput, RATE),
            "batch size": record.throughput_batch_size,
        },
        "ram": {"used process": {"max": _write(record.peak_memory, "KB", 3)}},
        "memory": {
            "model": _write(record.model_memory, "MB"),
            "index": _write(record.index_memory, "MB"),
        },
        "disk": {
            "model": _write(record.model_disk, "MB"),
            "index": _write(record.index_disk, "MB"),
        },
        "compute": {
            "flops": _write(record.flops, FLOPS),
            "cores used": _write(record.cpu_used, CORES),
        },
        "energy": _write(record.energy, "J"),
        "emissions": _write(record.emissions, "kg"),
        "cost": _cost(record),
    }


def _latency(latency: Latency | None) -> dict[str, Any]:
    if latency is None:
        return {}
    said = latency.intervals or latency.level != LEVEL
    return {
        **{name: _write(getattr(latency, name), "ms") for name in STATISTICS},
        "calls": latency.calls,
        "level": float(latency.level) if said else None,
        "intervals": {
            name: [write_amount(bound, "ms") for bound in bounds]
            for name, bounds in latency.intervals.items()
        },
    }


def _cost(record: EfficiencyRecord) -> dict[str, Any]:
    """Tell prices; costs that follow from them stand apart, where they are not read again."""
    currency = record.currency
    price, stated = record.price_per_hour, record.stated_cost
    derived = {key: getattr(record, name) for key, name in DERIVED.items()}
    if stated is not None:
        del derived["per million queries"]
    said = price is not None or stated is not None or currency == CURRENCY
    return {
        "currency": None if said else currency,
        "price per hour": _write(price, currency),
        "per million queries": _write(stated, currency),
        "derived": {
            key: write_amount(value, currency)
            for key, value in derived.items()
            if value is not None and math.isfinite(value)
        },
    }


def record_of(form: Mapping[str, Any], system: str | None) -> EfficiencyRecord:
    """Make a record of ir_metadata; keys that are not known are not looked at.

    Raises:
        InputError: naming the system and where what can't be read stands.
    """
    system = _system(form) if system is None else system
    top = Node(of_system(system), form)
    found = top["resources"]
    fields: dict[str, Any] = {
        "dataset": top["data"]["test collection"]["name"].text(),
        "source": top["data"]["source"].text(),
        "hardware": _read_hardware(top["platform"]["hardware"]),
        "latency": _read_latency(found["latency"]),
        **_read_queries(found["queries"]),
        **_read_runtime(found["runtime"]),
        **_read_cost(found["cost"]),
        "throughput": found["throughput"]["value"].amount(only(RATE), RATE),
        "throughput_batch_size": found["throughput"]["batch size"].count(1),
        "peak_memory": found["ram"]["used process"]["max"].amount(BYTES, "MB", "KB"),
        **{
            f"{what}_{where}": found[where][what].amount(BYTES, "MB")
            for where in ("memory", "disk")
            for what in ("model", "index")
        },
        "flops": found["compute"]["flops"].amount(only(FLOPS), FLOPS),
        "cpu_used": found["compute"]["cores used"].amount(only(CORES), CORES),
        "energy": _read_energy(found),
        "emissions": found["emissions"].amount(MASS, "kg"),
    }
    known = {name: value for name, value in fields.items() if value is not None}
    return EfficiencyRecord(system=system, **known)


def _system(form: Mapping[str, Any]) -> str:
    """Return the name of the system: tirex-tracker's, or the tag of the run."""
    top = Node("ir_metadata", form)
    name = top["method"]["name"].text() or top["tag"].text()
    if name is None:
        raise InputError("it names no system, neither as method: name nor as tag; say system=",
                         source="ir_metadata")  # fmt: skip
    return name


def _read_hardware(node: Node) -> Hardware:
    return Hardware(
        instance=node["instance"].text(),
        cpu=node["cpu"]["model"].text(),
        n_cpu=node["cpu"]["number of cores"].count(),
        gpu=node["gpu"]["model"].text(),
        n_gpu=node["gpu"]["number of gpus"].count(),
        ram_gb=node["ram"].amount(BYTES, "GB"),
    )


def _read_queries(node: Node) -> dict[str, Any]:
    return {
        "n_queries": node["number"].count(1),
        "batch_size": node["batch size"].count(1),
        "warmup": node["warm-up calls"].count(),
        "repeat": node["repeats"].count(1),
    }


def _read_runtime(node: Node) -> dict[str, Any]:
    return {
        "start_time": node["start time"].text(),
        "wall_time": node["wallclock"].amount(TIME, "s"),
        "user_time": node["user"].amount(TIME, "s"),
        "system_time": node["system"].amount(TIME, "s"),
    }


def _read_latency(node: Node) -> Latency | None:
    if node.value is None:
        return None
    bounds = node["intervals"]
    named = [name for name in STATISTICS if bounds[name].value is not None]
    try:
        return Latency(
            **{name: node[name].amount(TIME, "ms") for name in STATISTICS},
            calls=node["calls"].count(1),
            level=LEVEL if (level := node["level"].number()) is None else level,
            intervals={name: bounds[name].bounds(TIME, "ms") for name in named},
        )
    except InputError as problem:
        if problem.source == node.source:
            raise
        where = ": ".join(node.path)
        raise InputError(f"{where}: {problem.message}", source=node.source,
                         value=problem.value) from None  # fmt: skip


def _read_energy(node: Node) -> float | None:
    """Return the energy; of tirex-tracker, the sum of what it could measure."""
    total = node["energy"].amount(ENERGY, "J")
    if total is not None:
        return total
    parts = [node[part]["energy used system"].amount(ENERGY, "J") for part in ("cpu", "gpu", "ram")]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _read_cost(node: Node) -> dict[str, Any]:
    currency = node["currency"].text()
    values = {}
    for name, key in (("price_per_hour", "price per hour"), ("stated_cost", "per million queries")):
        values[name], unit = node[key].priced()
        if unit is not None and currency not in (None, unit):
            raise node[key].problem(f"but other amounts are in {currency}")
        currency = unit or currency
    return {**values, "currency": currency}
