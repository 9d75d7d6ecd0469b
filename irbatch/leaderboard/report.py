"""A leaderboard as a table: columns that every form is written from, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Quantity
from irbatch.efficiency.quantities import HIGHER
from irbatch.efficiency.record import CLOSED, OPEN
from irbatch.errors import InputError, join_words, many, shown, warn
from irbatch.leaderboard.axes import Board, find_axis
from irbatch.leaderboard.joining import INTERVALS_ARE
from irbatch.report.document import (
    BEST,
    Column,
    Document,
    Record,
    Row,
    Table,
    isolate,
    list_records,
)
from irbatch.report.numbers import check_digits, show, show_levels, show_quantity

MARK = "●"  # of systems on the frontier
AS_GOOD = "="  # of systems that are not significantly worse than the best of a measure
OPEN_MARK = "o"  # of latencies of an open loop beside others
MEANT = "of an open loop, from when a query was due, with its waiting: not comparable with others"
HARDWARE, BATCH, SOURCE = "hardware", "batch_size", "source"  # columns that are no axes
# Not the peak of memory: it is the process', which mostly holds several systems.
USUAL = (
    *("latency_mean", "latency_p95", "throughput", "sustained_rate"),
    *("index_memory", "index_disk", "indexing_time"),
    *("energy_per_query", "cost_per_million"),
)
MACHINE = {"instance": "instance", "cpu": "CPU", "n_cpu": "CPU cores", "gpu": "GPU",
           "n_gpu": "GPUs", "ram_gb": "RAM (GB)"}  # fmt: skip
CALLS = (  # fields of records
    *("batch_size", "n_queries", "warmup", "warmed_queries", "repeat", "throughput_batch_size"),
    *("sustained_p99", "wall_time", "user_time", "system_time", "children_time", "start_time"),
    *("energy", "emissions", "dataset"),
    *("source", "currency"),
)
LOOP = ("loop", "rate", "arrivals", "errors", "timeouts")  # fields of latencies
NAMED = 6  # systems that are named where they are many


def list_facts(board: Board) -> list[Column]:
    """Return the columns of what is known beside the axes, a row's place being the item."""

    def column(name: str, owners: Sequence[Any], heading: str | None = None) -> Column:
        values = [getattr(owner, name) for owner in owners]
        is_text = any(isinstance(value, str) for value in values)
        heading = heading or name.replace("_", " ")
        return Column(
            heading,
            "text" if is_text else "number",
            descends=name in MACHINE,
            name=name,
            value=values.__getitem__,
            show=str if is_text else lambda value: f"{value:,.10g}",
        )

    machines = [record.hardware for record in board.records]
    latencies = [record.latency or Latency() for record in board.records]
    hardware = [str(machine) or None for machine in machines]
    counts = Column("queries", name="queries", value=board.n_queries.__getitem__)
    return [
        Column(HARDWARE, "text", value=hardware.__getitem__),
        *(column(each.name, machines, MACHINE[each.name]) for each in fields(Hardware)),
        *(column(name, board.records) for name in CALLS),
        *(column(name, latencies) for name in LOOP),
        counts,
    ]


def list_axis(board: Board, name: str, intervals: bool, digits: int) -> list[Column]:
    """Return an axis' column, and those of its bounds, which only programs read."""
    axis, values, bounds = board.axis(name), board.values(name), board.bounds(name)
    is_measure = name in board.measures
    decimals = board.decimals_of(name, digits) if is_measure else [None] * len(board)
    known = values[~np.isnan(values)]
    mixed = is_latency(name) and are_mixed(board.records)
    best = np.nan  # one value alone is not the best
    if len(known) > 1 and len(board.currencies(name)) < 2 and not mixed:
        best = known.max() if axis.better == HIGHER else known.min()
    as_good = [] if board.significance is None else board.significance.not_worse(name)

    rows = np.column_stack([values, bounds]).tolist()
    bounded = (intervals & ~np.isnan(bounds).all(axis=1)).tolist()

    def tell(i: int) -> Record:
        value = rows[i][0]
        text, low, high = (write_value(each, decimals[i]) for each in rows[i])
        within = f"[{low}, {high}]" if bounded[i] else ""
        marks = [AS_GOOD] if board.systems[i] in as_good and value != best else []
        marks += [OPEN_MARK] if mixed and value == value and is_open(board.records[i]) else []
        return {"text": text, "stands_out": value == best, "after": within, "marks": marks}

    def values_of(k: int) -> Callable[[int], float | None]:
        return lambda i: rows[i][k] if rows[i][k] == rows[i][k] else None

    columns = [
        Column(axis.heading, descends=axis.better == HIGHER, name=name, value=values_of(0),
               more=tell)
    ]  # fmt: skip
    if not np.isnan(bounds).all():
        columns += [
            Column("", name=f"{name} {end}", value=values_of(k))
            for k, end in enumerate(("low", "high"), 1)
        ]
    return columns


def list_board(board: Board) -> tuple[list[str], list[Record]]:
    """Return the names of the columns of `Leaderboard.to_csv`, and a record for each system."""
    facts = list_facts(board)
    machine = [column for column in facts if column.name in MACHINE]
    rows = range(len(board))
    calls = [
        column
        for column in facts
        if column.name not in MACHINE and any(column.value(i) is not None for i in rows)
    ]
    columns = [Column("system", "name", name="system", value=board.systems.__getitem__), *machine]
    columns += [each for axis in board.axes for each in list_axis(board, axis, False, 0)]
    p_values = {} if board.significance is None else board.significance.p_values
    for measure, by_system in p_values.items():
        p = [by_system.get(system) for system in board.systems]
        columns.append(Column("", name=f"{measure} p against the best", value=p.__getitem__))
    return list_records([*columns, *calls], rows)


def make_document(
    board: Board,
    columns: Iterable[str] | None,
    frontier: Sequence[Quantity],
    intervals: bool,
    digits: int,
) -> Document:
    """Return the report of a leaderboard: a table with one row a system; see `Leaderboard`."""
    check_digits(digits)
    shown_columns = _choose_columns(board, columns, intervals, digits)
    pareto = board.pareto([axis.name for axis in frontier]) if frontier and len(board) else None
    heads = [Column("system", "name", value=board.systems.__getitem__), *shown_columns]
    if pareto is not None:
        on = [int(system in pareto.frontier) for system in board.systems]
        heads.insert(0, Column(MARK, "mark", value=on.__getitem__, show=lambda x: MARK * x))
    dominated = {} if pareto is None else pareto.dominated_by
    rows = [
        Row([column.cell(i) for column in heads], faint=system in dominated)
        for i, system in enumerate(board.systems)
    ]
    title = count_systems(board.records)
    table = Table(f"Values of {title}", heads, rows)
    legend = [*_explain(board, table, shown_columns, frontier if pareto else [])]
    if pareto is not None and pareto.left_out:
        legend.append(("not compared", tell_left_out(board, pareto.left_out, str)))
    settings = " | ".join(f"{name}: {value}" for name, value in board.settings.items())
    return Document(f"Leaderboard of {title}", board.caption(), legend, [table], settings)


def _choose_columns(
    board: Board, names: Iterable[str] | None, intervals: bool, digits: int
) -> list[Column]:
    """Return the columns that are asked for, or the usual ones."""
    if names is None:
        usual = [*board.measures, *(name for name in board.axes if name in USUAL)]
        if len({record.batch_size for record in board.records}) > 1:
            usual.insert(0, BATCH)
        if len({str(record.hardware) for record in board.records}) > 1:
            usual.insert(0, HARDWARE)
        if any(record.source is not None for record in board.records):
            usual.append(SOURCE)
        names = usual
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, Iterable):
        problem = f"columns are names, not {shown(names)}"
        raise InputError(problem, source="columns", value=names)
    facts = {column.name or column.heading: column for column in list_facts(board)}
    chosen: dict[str, Column] = {}
    for each in names:
        if each in facts and each not in board.measures:
            name, column = each, facts[each]
        else:
            name = find_axis(each, board.measures).name
            column = list_axis(board, name, intervals, digits)[0]
        if name in chosen:
            raise InputError(f"{name} is given twice", source="columns", value=each)
        chosen[name] = column
    if not chosen:
        raise InputError("there is no column to show", source="columns")
    return list(chosen.values())


def _explain(
    board: Board, table: Table, columns: Sequence[Column], frontier: Sequence[Quantity]
) -> Iterator[tuple[str, str]]:
    """Explain what stands out and what is marked."""
    cells = [cell for row in table.rows for cell in row.cells]
    if any(cell.stands_out for cell in cells):
        yield BEST, "the best of its column"
    if frontier:
        labels = join_words([axis.label for axis in frontier])
        yield (
            MARK,
            f"on the Pareto frontier of {labels}, where no other system is as good along every "
            "axis and better along one",
        )
    if any(OPEN_MARK in cell.marks for cell in cells):
        yield OPEN_MARK, MEANT
    first = len(table.columns) - len(columns)
    sure = {
        board.levels(column.name)[i]
        for k, column in enumerate(columns, first)
        for i, cell in enumerate(table.column(k))
        if cell.after
    }
    if sure:
        how = board.settings.get(INTERVALS_ARE)
        of_measures = f", of measures by {how}" if how else ""
        yield "[low, high]", f"{show_levels(sure) or 'bounds of'} intervals{of_measures}"
    if (tests := board.significance) is not None:
        meaning = f"not significantly worse than the best of the measure ({tests.caption()})"
        untested = [system for system in board.systems if not tests.has(system)]
        untested += [name for name in board.measures if name not in tests.p_values]
        more = f"; not tested: {list_names(untested, str)}" if untested else ""
        yield AS_GOOD, meaning + more


def write_value(value: float, decimals: int | None) -> str:
    """Write a measure's value with so many decimals, or a quantity's."""
    return show_quantity(value) if decimals is None else show(value, decimals)


def tell_left_out(
    board: Board, left_out: Mapping[str, list[str]], mark: Callable[[object], str]
) -> str:
    """Name systems that are not compared, those together that lack the same."""
    by_lack: dict[str, list[str]] = {}
    for system, names in left_out.items():
        lack = join_words([mark(board.axis(name).label) for name in names])
        by_lack.setdefault(lack, []).append(system)
    return "; ".join(f"{list_names(some, mark)} (without {lack})" for lack, some in by_lack.items())


def list_names(systems: list[str], mark: Callable[[object], str] = isolate) -> str:
    """Name systems, the first of them where they are many."""
    more = len(systems) - NAMED
    named = ", ".join(map(mark, systems[:NAMED]))
    return f"{named} and {more} more" if more > 0 else named


# ---------------------------------------------------------------- what stands above the table


def write_caption(board: Board) -> str:
    """Say how many systems and queries there are, how they were measured, and who is left out."""
    records = board.records
    counts = sorted({count for count in board.n_queries if count is not None})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    known = counts and None not in board.n_queries
    queries = f", {least}{many(counts[-1], 'query')}" if known else ""
    said = [f"{count_systems(records)}{queries}.", *_calls(records, counts if known else [])]
    machines = [record.hardware for record in records if record.hardware != Hardware()]
    if len(set(machines)) > 1:
        said.append("Not all were measured on the same hardware.")
    elif machines:
        all_known = len(machines) == len(records)
        which = "Measured" if all_known else f"{many(len(machines), 'system')} measured"
        said.append(f"{which} on {machines[0]}.")
    if board.constraints:
        said.append(f"Constraints: {', '.join(board.constraints)}.")
    who = []
    for system, reasons in board.left_out.items():
        others = [reason for reason in reasons if reason not in board.constraints]
        who.append(f"{system} ({', '.join(others)})" if others else system)
    if who:
        said.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(said)


def count_systems(records: Sequence[EfficiencyRecord]) -> str:
    """Say how many systems there are, and on how many machines where that is more.

    >>> count_systems([EfficiencyRecord(system="dense", hardware=each) for each in ("a", "b")])
    '1 system on 2 machines'
    """
    systems = len({record.system for record in records})
    on = f" on {many(len(records), 'machine')}" if systems < len(records) else ""
    return f"{many(systems, 'system')}{on}"


def _calls(records: Sequence[EfficiencyRecord], counts: list[int]) -> Iterator[str]:
    """Say how latency and throughput were measured, of systems of which it is known."""
    timed = [record for record in records if record.latency is not None and record.latency.calls]
    if timed:
        sizes = {record.batch_size for record in timed}
        queries = sorted({record.n_queries for record in timed if record.n_queries is not None})
        others = queries and queries != counts
        of = f", of {join_words(list(map(str, queries)))} queries" if others else ""
        kinds = list(_by_loop(timed))
        loop = f", in {kinds[0]}" if len(kinds) == 1 and kinds[0] else ""
        yield f"Latency in ms, of calls of {_tell_sizes(sizes)}{of}{loop}."
    if are_mixed(records):
        yield f"Latency is not comparable across loops: {_tell_groups('in', _by_loop(records))}."
    bounds = _by_bound(records)
    if len(bounds) == 1:
        yield f"Sustained rate: with {next(iter(bounds))}."
    elif bounds:
        yield f"Sustained rates are of different bounds: {_tell_groups('with', bounds)}."
    larger = {record.throughput_batch_size for record in records if record.throughput is not None}
    if stated := {size for size in larger if size is not None}:
        yield f"Throughput of calls of {_tell_sizes(stated)}."


def _tell_sizes(sizes: set[int]) -> str:
    written = join_words([str(size) for size in sorted(sizes)], "or")
    return f"{written} {'query' if sizes == {1} else 'queries'}"


def _tell_groups(word: str, groups: Mapping[str, list[str]]) -> str:
    return "; ".join(
        f"{list_names(names, str) if len(names) > NAMED else join_words(names)} {word} "
        f"{kind or 'one unsaid'}"
        for kind, names in groups.items()
    )


def is_latency(axis: str) -> bool:
    """Tell whether an axis is of latency."""
    return axis.startswith("latency_")


def is_open(record: EfficiencyRecord) -> bool:
    """Tell whether a record's latency is of an open loop."""
    return record.latency is not None and record.latency.loop == OPEN


def name_loop(label: str, records: Sequence[EfficiencyRecord]) -> str:
    """Say in the label of latency which loop it is of: ``"closed-loop mean latency"``."""
    loops = {record.latency.loop for record in records if record.latency is not None}
    if OPEN in loops and len(loops) > 1:
        return f"{label}, loops differ"
    loop = loops.pop() if len(loops) == 1 else None
    return label if loop is None else f"{loop}-loop {label}"


def are_mixed(records: Sequence[EfficiencyRecord]) -> bool:
    """Tell whether latencies are of open loops of several rates, or not all of an open loop."""
    return len(_by_loop(records)) > 1 and any(map(is_open, records))


def warn_of_differences(axis: str, records: Sequence[EfficiencyRecord]) -> None:
    """Warn where values along an axis are compared that are not of the same."""
    if is_latency(axis) and are_mixed(records):
        kinds = [kind or "one unsaid" for kind in _by_loop(records)]
        warn(f"{axis} is of different loops, {join_words(kinds)}: they are not comparable")
    if axis == "sustained_rate" and len(bounds := _by_bound(records)) > 1:
        warn(f"{axis} is of different bounds, {join_words(list(bounds))}")


def _by_loop(records: Sequence[EfficiencyRecord]) -> dict[str, list[str]]:
    """Return systems by what their latency is of, in words; nothing where it isn't said."""
    found: dict[str, list[str]] = {}
    for record in records:
        if record.latency is not None:
            rate = record.latency.rate
            kind = {None: "", CLOSED: "a closed loop", OPEN: "an open loop"}[record.latency.loop]
            kind += "" if rate is None else f" of {show_quantity(rate)} queries/s"
            found.setdefault(kind, []).append(record.system)
    return found


def _by_bound(records: Sequence[EfficiencyRecord]) -> dict[str, list[str]]:
    """Return systems by the bound of their sustained rate, in words."""
    found: dict[str, list[str]] = {}
    for record in records:
        if record.sustained_rate is not None:
            bound = record.sustained_p99
            known = "a bound unsaid" if bound is None else f"p99 within {show_quantity(bound)} ms"
            found.setdefault(known, []).append(record.system)
    return found
