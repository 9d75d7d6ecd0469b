"""What is known of a system beside its accuracy: names, units, and which way is better."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, NamedTuple

from irbatch.efficiency.fields import Count, Whole, kinds_of
from irbatch.errors import shown

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


# Those that follow from fields of a record.
DERIVED = {
    quantity.name: quantity
    for quantity in (
        Quantity("energy_per_query", "J", LOWER, "energy per query"),
        Quantity("emissions_per_query", "kg CO2eq", LOWER, "emissions per query"),
        Quantity("cost_per_million", "{currency}", LOWER, "cost per million queries"),
        Quantity("throughput_cost_per_million", "{currency}", LOWER,
                 "cost per million queries at full throughput"),
    )
}  # fmt: skip

ALIASES = {
    "latency": "latency_mean",
    "qps": "throughput",
    "memory": "peak_memory",
    "gpu_memory": "peak_gpu_memory",
    "cost": "cost_per_million",
}


def told(
    keys: str = "", unit: str = "", label: str = "", *, better: str = LOWER, **more: Any
) -> Any:
    """Return a field of a dataclass: its keys in ir_metadata, its unit, its label as a quantity."""
    if "default_factory" not in more:
        more.setdefault("default", None)
    about = {"keys": keys, "unit": unit, "label": label, "better": better}
    return field(metadata=about, **more)


def list_quantities(owner: Any, before: str = "") -> list[Quantity]:
    """Return the quantities among the fields of a dataclass."""
    return [
        Quantity(before + own.name, about["unit"], about["better"], about["label"])
        for own in fields(owner)
        if (about := own.metadata).get("label")
    ]


def list_places(owner: Any, before: str = "", part: str = "") -> dict[str, tuple[str, Any]]:
    """Return where fields stand in ir_metadata, and each one's unit there, or its type without."""
    places = {}
    for own in fields(owner):
        if own.metadata.get("keys"):
            unit, (kind, _) = own.metadata["unit"], kinds_of(owner)[own.name]
            kind = int if kind in (Whole, Count) else kind
            form = unit.partition(" ")[0] if unit and "{" not in unit else kind
            keys = own.metadata["keys"]
            is_whole = keys.startswith(("method: ", "data: "))
            places[part + own.name] = keys if is_whole else before + keys, form
    return places


def with_currency(unit: str, currency: str | None) -> str:
    """Return a unit, which may be of money; where no currency is said, none is shown."""
    if currency is None and "{currency}" in unit:
        return "per hour" if unit.endswith("/h") else ""
    return unit.format(currency=currency)


def of_system(system: object) -> str:
    """Name the record of a system, for errors."""
    return f"record of {shown(system)}"
