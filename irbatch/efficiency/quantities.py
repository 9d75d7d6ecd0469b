"""What is known of a system beside its accuracy: names, units, and which way is better."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALIASES", "HIGHER", "LOWER", "MEGA", "PERCENTILES", "QUANTITIES", "Quantity"]

LOWER, HIGHER = "lower", "higher"  # is better
MEGA = 1e6  # bytes

PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}  # of latency


class Quantity(NamedTuple):
    """Something that a record tells of a system.

    Args:
        name: what records, constraints and axes call it.
        unit: of its numbers.
        better: `LOWER` or `HIGHER`.
        label: for the heads of tables and the axes of pictures.
    """

    name: str
    unit: str
    better: str
    label: str

    @property
    def heading(self) -> str:
        """Its label, with the unit where it has one."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


QUANTITIES = {
    each.name: each
    for each in (
        Quantity("latency_mean", "ms", LOWER, "mean latency"),
        *(Quantity(f"latency_{p}", "ms", LOWER, f"latency {p}") for p in PERCENTILES),
        Quantity("throughput", "queries/s", HIGHER, "throughput"),
        Quantity("peak_memory", "MB", LOWER, "peak memory"),
        Quantity("model_memory", "MB", LOWER, "model in memory"),
        Quantity("index_memory", "MB", LOWER, "index in memory"),
        Quantity("model_disk", "MB", LOWER, "model on disk"),
        Quantity("index_disk", "MB", LOWER, "index on disk"),
        Quantity("cpu_used", "cores", LOWER, "CPU used"),
        Quantity("flops", "FLOPs/query", LOWER, "FLOPs"),
        Quantity("energy_per_query", "J", LOWER, "energy per query"),
        Quantity("emissions_per_query", "kg CO2eq", LOWER, "emissions per query"),
        Quantity("price_per_hour", "{currency}/h", LOWER, "price"),
        Quantity("cost_per_million", "{currency}", LOWER, "cost per million queries"),
        Quantity(
            "throughput_cost_per_million", "{currency}", LOWER,
            "cost per million queries at full throughput",
        ),
    )
}  # fmt: skip

ALIASES = {
    "latency": "latency_mean",
    "qps": "throughput",
    "memory": "peak_memory",
    "cost": "cost_per_million",
}
