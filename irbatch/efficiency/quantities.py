"""What is known of a system beside its accuracy: names, units, which way is better, and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from irbatch.errors import ErrorsIn, InputError, did_you_mean, kind_of, shown
from irbatch.runtime.numbers import LARGEST_WHOLE, check_number, check_whole

LOWER, HIGHER = "lower", "higher"  # is better
MEGA = 1e6  # bytes

PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}  # of latency
FROM_ONE = ("n_queries", "batch_size", "repeat", "throughput_batch_size", "calls", "callers")


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

FORMULAS = {
    "cost_per_million": "price_per_hour / 3600 s * latency_mean / queries a call * 1,000,000",
    "throughput_cost_per_million": "price_per_hour / 3600 s / throughput * 1,000,000",
    "children_cpu_used": "children_time / wall_time",
    "energy_per_query": "energy / (n_queries * repeat)",
    "emissions_per_query": "emissions / (n_queries * repeat)",
}

UNITS = {  # of a record in JSON
    **dict.fromkeys(("latency", "sustained_p99"), "ms"),
    "energy": "J",
    "emissions": "kg CO2eq",
    **dict.fromkeys(("wall_time", "user_time", "system_time", "children_time"), "s"),
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
    """Return a unit, which may be of money; where no currency is said, none is shown.

    >>> with_currency("{currency}/h", "EUR"), with_currency("{currency}/h", None)
    ('EUR/h', 'per hour')
    """
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


def only_known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None."""
    return {name: value for name, value in values.items() if value is not None}


def refuse(source: str, field: str, problem: str, value: object) -> InputError:
    """Return the error that names a field, and what is wrong with it."""
    return InputError(f"{field} {problem}", source=source, value=value)


def check_quantity(source: str, field: str, value: Any) -> float | None:
    """Return a measured number, finite and from 0 on, as a float; None for None."""
    if value is None:
        return None
    with ErrorsIn(source=source):
        return check_number(field, value, least=0)


def check_count(source: str, field: str, value: Any, least: int) -> int | None:
    """Return a whole number that is large enough; None for None."""
    if value is None:
        return None
    with ErrorsIn(source=source):
        return check_whole(field, value, least, LARGEST_WHOLE)


def check_text(source: str, field: str, value: Any) -> None:
    """Reject what is neither None nor a text with characters in it."""
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise refuse(source, field, f"is {shown(value)}, which is not a text", value)


def require(source: str, **values: Any) -> None:
    """Reject None."""
    for name, value in values.items():
        if value is None:
            raise refuse(source, name, "is missing", None)


def check_fields(record: Any, source: str) -> None:
    """Check texts and numbers of a frozen dataclass by their annotations; make numbers Python's.

    All but whole numbers of `FROM_ONE` may be 0, and what can be None is said by the annotation.
    """
    for field in fields(record):
        name, (kind, _, optional) = field.name, str(field.type).partition(" | ")
        value = getattr(record, name)
        if not optional and kind != "Any":
            require(source, **{name: value})
        if kind == "str":
            check_text(source, name, value)
        elif kind == "float":
            object.__setattr__(record, name, check_quantity(source, name, value))
        elif kind == "int":
            least = int(name in FROM_ONE)
            object.__setattr__(record, name, check_count(source, name, value, least))


def part_of_record(source: str, name: str, kind: Any, values: Any) -> Any:
    """Make a frozen dataclass of a mapping of its fields; errors name the field of the record."""
    if not isinstance(values, Mapping):
        raise refuse(source, name, f"is {shown(values)}, {kind_of(values)}, not an object", values)
    known = {field.name: field for field in fields(kind)}
    for key in values:
        if key not in known:
            hint = did_you_mean(key, known) or f": known are {', '.join(known)}"
            raise refuse(source, f"{name}: {shown(key)}", f"is not known{hint}", key)
    for key, field in known.items():
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if values.get(key) is None and not optional:
            raise refuse(source, f"{name}: {key}", "is missing", None)
    try:
        return kind(**only_known(values))
    except InputError as problem:
        raise refuse(source, f"{name}:", problem.message, problem.value) from None
