"""What records say along an axis, and whether systems can be compared along it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.checks import check_quantity, of_system, refuse
from irbatch.efficiency.quantities import QUANTITIES
from irbatch.errors import join_words, many, shown, warn

Records = Sequence[EfficiencyRecord]

NEEDS = {  # what quantities that are worked out follow from
    "cost_per_million": ": it takes price_per_hour and a mean latency",
    "throughput_cost_per_million": ": it takes price_per_hour and throughput",
    "energy_per_query": ": it takes energy and n_queries",
    "emissions_per_query": ": it takes emissions and n_queries",
}


def read_values(records: Records, axis: str) -> Floats:
    """Return the values of a quantity, float64 ``(records,)``; NaN where unknown.

    Raises:
        InputError: naming the system, if a value is not finite.
    """
    known = [check_quantity(of_system(each.system), axis, each.value(axis)) for each in records]
    return np.array([np.nan if each is None else each for each in known], np.float64)


def read_bounds(records: Records, axis: str) -> Floats:
    """Return the intervals of a quantity, float64 ``(records, 2)``; NaN where there are none."""
    found = [each.interval(axis) or (np.nan, np.nan) for each in records]
    return np.array(found, np.float64).reshape(-1, 2)


def find_currencies(records: Records, axis: str) -> dict[str, str]:
    """Return each currency that a quantity is in, with a system whose value is in it."""
    if axis not in QUANTITIES or "{currency}" not in QUANTITIES[axis].unit:
        return {}
    known = [each for each in records if each.value(axis) is not None]
    return {each.currency: each.system for each in reversed(known)}


def check_comparable(records: Records, axis: str, values: Floats) -> None:
    """Refuse to compare systems along an axis; warn where times are of calls of different sizes.

    Raises:
        InputError: naming a system that has no value, or if values are in several currencies.
    """
    missing = [
        each.system for each, value in zip(records, values.tolist(), strict=True) if np.isnan(value)
    ]
    if missing:
        others = f", as for {many(len(missing) - 1, 'other system')}" if missing[1:] else ""
        problem = f"is missing{NEEDS.get(axis, '')}{others}"
        raise refuse(of_system(missing[0]), axis, problem, None)
    check_currencies(records, axis)
    sizes = list(dict.fromkeys(str(each.batch_size) for each in records))
    if axis.startswith("latency_") and len(sizes) > 1:
        warn(f"{axis} is of calls of {join_words(sizes)} queries, which take different times")


def check_currencies(records: Records, axis: str) -> None:
    """Refuse to compare amounts of different money.

    Raises:
        InputError: if values are in several currencies.
    """
    (one, system), *others = [*find_currencies(records, axis).items()] or [("", "")]
    for other, owner in others:
        problem = f"is in {one}, and that of {shown(owner)} in {other}"
        raise refuse(of_system(system), axis, problem, one)
