"""What is known of a system beside its accuracy: names, units, and which way is better."""

from __future__ import annotations

from typing import NamedTuple

from irbatch.errors import InputError, did_you_mean, shown

LOWER, HIGHER = "lower", "higher"  # is better
MEGA = 1e6  # bytes

PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}  # of latency
STATISTICS = ("mean", *PERCENTILES)


class Quantity(NamedTuple):
    """Something that a record tells of a system."""

    name: str  # in records, constraints and axes
    unit: str  # of its numbers
    better: str  # `LOWER` or `HIGHER`
    label: str  # for the heads of tables and the axes of pictures

    @property
    def heading(self) -> str:
        """Its label, with the unit where it has one."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1."""
        return 1.0 if self.better == HIGHER else -1.0


AT_FULL_THROUGHPUT = "cost per million queries at full throughput"
QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("latency_mean", "ms", LOWER, "mean latency"),
        *(Quantity(f"latency_{p}", "ms", LOWER, f"latency {p}") for p in PERCENTILES),
        Quantity("throughput", "queries/s", HIGHER, "throughput"),
        Quantity("sustained_rate", "queries/s", HIGHER, "sustained rate"),
        Quantity("peak_memory", "MB", LOWER, "peak memory"),
        Quantity("peak_gpu_memory", "MB", LOWER, "peak GPU memory"),
        Quantity("children_memory", "MB", LOWER, "peak memory of children"),
        Quantity("model_memory", "MB", LOWER, "model in memory"),
        Quantity("index_memory", "MB", LOWER, "index in memory"),
        Quantity("model_disk", "MB", LOWER, "model on disk"),
        Quantity("index_disk", "MB", LOWER, "index on disk"),
        Quantity("indexing_time", "s", LOWER, "indexing time"),
        Quantity("indexing_memory", "MB", LOWER, "peak memory of indexing"),
        Quantity("cpu_used", "cores", LOWER, "CPU used"),
        Quantity("children_cpu_used", "cores", LOWER, "CPU used by children"),
        Quantity("flops", "FLOPs/query", LOWER, "FLOPs"),
        Quantity("energy_per_query", "J", LOWER, "energy per query"),
        Quantity("emissions_per_query", "kg CO2eq", LOWER, "emissions per query"),
        Quantity("price_per_hour", "{currency}/h", LOWER, "price"),
        Quantity("cost_per_million", "{currency}", LOWER, "cost per million queries"),
        Quantity("throughput_cost_per_million", "{currency}", LOWER, AT_FULL_THROUGHPUT),
    )
}

DERIVED = (  # of other fields of a record
    "cost_per_million",
    "throughput_cost_per_million",
    "children_cpu_used",
    "energy_per_query",
    "emissions_per_query",
)

UNITS = {  # of a record in JSON
    **dict.fromkeys(("latency", "sustained_p99"), "ms"),
    "energy": "J",
    "emissions": "kg CO2eq",
    **dict.fromkeys(("wall_time", "user_time", "system_time", "children_time"), "s"),
    "stated_cost": "{currency}",
    **{name: quantity.unit for name, quantity in QUANTITIES.items()},
}

ALIASES = {
    "latency": "latency_mean",
    "qps": "throughput",
    "memory": "peak_memory",
    "gpu_memory": "peak_gpu_memory",
    "cost": "cost_per_million",
}


def with_currency(unit: str, currency: str | None) -> str:
    """Return a unit, which may be of money; where no currency is said, none is shown."""
    if currency is None and "{currency}" in unit:
        return "per hour" if unit.endswith("/h") else ""
    return unit.format(currency=currency)


def quantity_name(name: object) -> str:
    """Return a quantity's own name for any that it is known by."""
    own = ALIASES.get(name, name) if isinstance(name, str) else name
    if not isinstance(own, str) or own not in QUANTITIES:
        problem = f"there is no quantity {shown(name)}{did_you_mean(name, [*QUANTITIES, *ALIASES])}"
        raise InputError(problem, value=name)
    return own


def of_system(system: object) -> str:
    """Name the record of a system, for errors."""
    return f"record of {shown(system)}"
