"""One system on several machines: a row for each, told apart by its instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.quantities import of_system, refuse
from irbatch.errors import InputError, did_you_mean, shown


def name_rows(records: Sequence[EfficiencyRecord]) -> list[str]:
    """Name each record's row: after its system, and of several of a system after the machine, too.

    Raises:
        InputError: naming a system of which two records are of one machine, or of none.

    >>> name_rows([EfficiencyRecord(system="bm25"),
    ...            EfficiencyRecord(system="dense", hardware="c6g.large"),
    ...            EfficiencyRecord(system="dense", hardware="p4d.24xlarge")])
    ['bm25', 'dense on c6g.large', 'dense on p4d.24xlarge']
    """
    often = Counter(each.system for each in records)
    rows: list[str] = []
    for each in records:
        row = each.system if often[each.system] == 1 else row_on_machine(each)
        if row in rows or (often[each.system] > 1 and row == each.system):
            problem = f"there are two records of {shown(each.system)}"
            advice = "several take an instance each, which tells them apart"
            raise InputError(f"{problem}; {advice}", source="records", value=each.system)
        rows.append(row)
    return rows


def row_on_machine(record: EfficiencyRecord) -> str:
    """Name a row after a system and its machine; after the system where that isn't known."""
    machine = record.hardware.instance or str(record.hardware)
    return f"{record.system} on {machine}" if machine else record.system


def share_by_system(
    records: Mapping[str, EfficiencyRecord], given: Mapping[Any, Any]
) -> dict[Any, Any]:
    """Return what is given by row, or by the system that several rows are of, by row."""
    systems = {each.system for each in records.values()}
    shared = {name: each for name, each in given.items() if name in records or name not in systems}
    for row, each in records.items():
        if row not in shared and each.system in given:
            shared[row] = given[each.system]
    return shared


def choose_rows(records: Sequence[EfficiencyRecord], axis: str, gains: Floats) -> list[int]:
    """Return the place of each system's best row, of which more is better; the first of equals.

    Raises:
        InputError: naming a system that is on several machines, if none of them has a value.
    """
    by_system: dict[str, list[int]] = {}
    for place, each in enumerate(records):
        by_system.setdefault(each.system, []).append(place)
    chosen = []
    for system, places in by_system.items():
        some = gains[places]
        if len(places) > 1 and np.isnan(some).all():
            raise refuse(of_system(system), axis, "is missing on every instance", None)
        best = 0 if len(places) == 1 else int(np.nanargmax(some))
        chosen.append(places[best])
    return chosen


def set_prices(
    records: Sequence[EfficiencyRecord], prices: Mapping[str, float], currency: str | None
) -> list[EfficiencyRecord]:
    """Return records with the prices of their instances.

    Raises:
        InputError: if no system was measured on an instance, or a price is negative or no number.
    """
    if not isinstance(prices, Mapping):
        problem = f"prices go from instances to numbers, not {shown(prices)}"
        raise InputError(problem, source="prices", value=prices)
    known = list(dict.fromkeys(each.hardware.instance for each in records))
    for instance in prices:
        if instance not in known or instance is None:
            hint = did_you_mean(instance, [each for each in known if each is not None])
            problem = f"no system was measured on {shown(instance)}{hint}"
            raise InputError(problem, source="prices", value=instance)
    found = []
    for each in records:
        own = each.hardware.instance
        price = None if own is None else prices.get(own)
        found.append(each if price is None else each.priced(price, currency))
    return found
