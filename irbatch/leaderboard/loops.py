"""Latency of closed and of open loops, which is not comparable: what a leaderboard says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.latency import CLOSED, OPEN
from irbatch.errors import join_words, warn
from irbatch.report.numbers import show_quantity

OPEN_MARK = "o"  # of latencies of an open loop beside others
MEANT = "of an open loop, from when a query was due, with its waiting: not comparable with others"
NAMED = 6  # systems of a loop


def is_latency(axis: str) -> bool:
    """Tell whether an axis is of latency."""
    return axis.startswith("latency_")


def is_open(record: EfficiencyRecord) -> bool:
    """Tell whether a record's latency is of an open loop."""
    return record.latency is not None and record.latency.loop == OPEN


def name_loop(label: str, records: Sequence[EfficiencyRecord]) -> str:
    """Say in the label of latency which loop it is of: ``"closed-loop mean latency"``."""
    loops = {each.latency.loop for each in records if each.latency is not None}
    if OPEN in loops and len(loops) > 1:
        return f"{label}, loops differ"
    loop = loops.pop() if len(loops) == 1 else None
    return label if loop is None else f"{loop}-loop {label}"


def are_mixed(records: Sequence[EfficiencyRecord]) -> bool:
    """Tell whether latencies are of open loops of several rates, or not all of an open loop."""
    return len(_systems_by_kind(records)) > 1 and any(map(is_open, records))


def tell_loop(records: Sequence[EfficiencyRecord]) -> str:
    """Return how a caption goes on after "Latency in ms": ``", in a closed loop"``, or nothing."""
    kind, *others = _systems_by_kind(records) or [""]
    return f", in {kind}" if kind and not others else ""


def tell_differences(records: Sequence[EfficiencyRecord]) -> Iterator[str]:
    """Say what is not the same for all: loops, and the bounds of sustained rates."""
    if are_mixed(records):
        kinds = _systems_by_kind(records)
        said = "; ".join(
            f"{_list(names)} in {kind or 'one unsaid'}" for kind, names in kinds.items()
        )
        yield f"Latency is not comparable across loops: {said}."
    bounds = _systems_by_bound(records)
    if len(bounds) == 1:
        yield f"Sustained rate: with {next(iter(bounds))}."
    elif bounds:
        said = "; ".join(f"{_list(names)} with {bound}" for bound, names in bounds.items())
        yield f"Sustained rates are of different bounds: {said}."


def warn_of_differences(axis: str, records: Sequence[EfficiencyRecord]) -> None:
    """Warn where values of an axis are compared that are of different loops or bounds."""
    if is_latency(axis) and are_mixed(records):
        kinds = [kind or "one unsaid" for kind in _systems_by_kind(records)]
        warn(f"{axis} is of different loops, {join_words(kinds)}: they are not comparable")
    if axis == "sustained_rate" and len(bounds := _systems_by_bound(records)) > 1:
        warn(f"{axis} is of different bounds, {join_words(list(bounds))}")


def _systems_by_kind(records: Sequence[EfficiencyRecord]) -> dict[str, list[str]]:
    """Return systems by what their latency is of, in words; nothing where it isn't said."""
    found: dict[str, list[str]] = {}
    for each in records:
        if each.latency is not None:
            rate = each.latency.rate
            kind = {None: "", CLOSED: "a closed loop", OPEN: "an open loop"}[each.latency.loop]
            kind += "" if rate is None else f" of {show_quantity(rate)} queries/s"
            found.setdefault(kind, []).append(each.system)
    return found


def _systems_by_bound(records: Sequence[EfficiencyRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in records:
        if each.sustained_rate is not None:
            bound = each.sustained_p99
            known = "a bound unsaid" if bound is None else f"p99 within {show_quantity(bound)} ms"
            found.setdefault(known, []).append(each.system)
    return found


def _list(names: list[str]) -> str:
    more = len(names) - NAMED
    return f"{', '.join(names[:NAMED])} and {more} more" if more > 0 else join_words(names)
