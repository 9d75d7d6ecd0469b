"""What is said of the systems of a leaderboard above their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irbatch.efficiency import EfficiencyRecord, Hardware
from irbatch.efficiency.record import CLOSED, OPEN
from irbatch.errors import join_words, many, warn
from irbatch.report.numbers import show_quantity

OPEN_MARK = "o"  # of latencies of an open loop beside others
MEANT = "of an open loop, from when a query was due, with its waiting: not comparable with others"
NAMED = 6  # systems of a loop


def write_caption(
    records: Sequence[EfficiencyRecord],
    n_queries: Sequence[int | None],
    constraints: Sequence[str],
    left_out: Mapping[str, list[str]],
) -> str:
    """Say how many systems and queries there are, how they were measured, and who is left out."""
    counts = sorted({count for count in n_queries if count is not None})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    known = counts and None not in n_queries
    queries = f", {least}{many(counts[-1], 'query')}" if known else ""
    said = [f"{count_systems(records)}{queries}.", *_calls(records, counts if known else [])]
    machines = [each.hardware for each in records if each.hardware != Hardware()]
    if len(set(machines)) > 1:
        said.append("Not all were measured on the same hardware.")
    elif machines:
        all_known = len(machines) == len(records)
        which = "Measured" if all_known else f"{many(len(machines), 'system')} measured"
        said.append(f"{which} on {machines[0]}.")
    if constraints:
        said.append(f"Constraints: {', '.join(constraints)}.")
    if left_out:
        who = (_tell_left_out(*each, constraints) for each in left_out.items())
        said.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(said)


def count_systems(records: Sequence[EfficiencyRecord]) -> str:
    """Say how many systems there are, and on how many machines where that is more.

    >>> count_systems([EfficiencyRecord(system="dense", hardware=each) for each in ("a", "b")])
    '1 system on 2 machines'
    """
    systems = len({each.system for each in records})
    on = f" on {many(len(records), 'machine')}" if systems < len(records) else ""
    return f"{many(systems, 'system')}{on}"


def _tell_left_out(system: str, reasons: Sequence[str], constraints: Sequence[str]) -> str:
    """Name a system, and what is wrong with it but for constraints that it did not meet."""
    others = [each for each in reasons if each not in constraints]
    return f"{system} ({', '.join(others)})" if others else system


def _calls(records: Sequence[EfficiencyRecord], counts: list[int]) -> Iterator[str]:
    """Say how latency and throughput were measured, of systems of which it is known."""
    timed = [each for each in records if each.latency is not None and each.latency.calls]
    if timed:
        sizes = {each.batch_size for each in timed}
        queries = sorted({each.n_queries for each in timed if each.n_queries is not None})
        others = queries and queries != counts
        of = f", of {join_words(list(map(str, queries)))} queries" if others else ""
        yield f"Latency in ms, of calls of {_tell_sizes(sizes)}{of}{tell_loop(timed)}."
    yield from tell_differences(records)
    larger = {each.throughput_batch_size for each in records if each.throughput is not None}
    if stated := {size for size in larger if size is not None}:
        yield f"Throughput of calls of {_tell_sizes(stated)}."


def _tell_sizes(sizes: set[int]) -> str:
    written = join_words([str(size) for size in sorted(sizes)], "or")
    return f"{written} {'query' if sizes == {1} else 'queries'}"


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
