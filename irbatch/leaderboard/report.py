"""A leaderboard as a table: columns that every form is written from, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Quantity
from irbatch.efficiency.quantities import HIGHER, QUANTITIES
from irbatch.errors import InputError, join_words, many, shown
from irbatch.leaderboard.axes import Board, conditions_of, find_axis, is_of_machine
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
NOT_WORSE = "ns"  # of systems whose difference from the best of a measure is not significant
HARDWARE, BATCH, SOURCE = "hardware", "batch_size", "source"  # columns that are no axes
# Not the peak of memory: it is the process', which mostly holds several systems.
USUAL = (
    *("latency_mean", "latency_p95", "throughput", "sustained_rate"),
    *("index_memory", "index_disk", "indexing_time"),
    *("energy_per_query", "cost_per_million"),
)
MACHINE = {"instance": "instance", "cpu": "CPU", "n_cpu": "CPU cores", "gpu": "GPU",
           "n_gpu": "GPUs", "ram_gb": "RAM (GB)"}  # fmt: skip
INSIDE = (
    "system",
    "hardware",
    "latency",
    "stated_cost",
)  # fields of records that are no columns themselves
CALLS = [  # other columns that are no axes, of records and of their latencies
    *(each.name for each in fields(EfficiencyRecord) if each.name not in {*QUANTITIES, *INSIDE}),
    *("loop", "rate", "arrivals", "errors", "timeouts"),
]
NAMED = 6  # systems that are named where they are many


def list_facts(board: Board) -> list[Column]:
    """Return the columns of what is known beside the axes, a row's place being the item."""

    def column(name: str, heading: str, values: Sequence[Any]) -> Column:
        is_text = any(isinstance(value, str) for value in values)
        return Column(
            heading,
            "text" if is_text else "number",
            descends=name in MACHINE,
            name=name,
            value=values.__getitem__,
            show=str if is_text else lambda value: f"{value:,.10g}",
        )

    machines = [record.hardware for record in board.records]
    owners = [{**vars(record.latency or Latency()), **vars(record)} for record in board.records]
    hardware = [str(machine) or None for machine in machines]
    return [
        Column(HARDWARE, "text", value=hardware.__getitem__),
        *(
            column(name, heading, [getattr(machine, name) for machine in machines])
            for name, heading in MACHINE.items()
        ),
        *(column(name, name.replace("_", " "), [each[name] for each in owners]) for name in CALLS),
        column("queries", "queries", board.n_queries),
    ]


def list_axis(board: Board, name: str, intervals: bool, digits: int) -> list[Column]:
    """Return an axis' column, and those of its bounds, which only programs read."""
    axis, values, bounds = board.axis(name), board.values(name), board.bounds(name)
    decimals = digits if name in board.measures else None
    known = ~np.isnan(values)
    measured = {each for each, has in zip(board.conditions([name]), known, strict=True) if has}
    best = np.nan  # one value alone is not the best
    if known.sum() > 1 and len(board.currencies(name)) < 2 and len(measured) < 2:
        best = values[known].max() if axis.better == HIGHER else values[known].min()
    not_worse = [] if board.significance is None else board.significance.not_worse(name)
    rows = np.column_stack([values, bounds]).tolist()
    bounded = (intervals & ~np.isnan(bounds).all(axis=1)).tolist()

    def tell(i: int) -> Record:
        value = rows[i][0]
        text, low, high = (write_value(number, decimals) for number in rows[i])
        within = f"[{low}, {high}]" if bounded[i] else ""
        marks = [NOT_WORSE] if board.systems[i] in not_worse and value != best else []
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
    several = pareto is not None and bool(pareto.conditions)
    legend = [*_explain(board, table, shown_columns, frontier if pareto else [], several)]
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
    board: Board,
    table: Table,
    columns: Sequence[Column],
    frontier: Sequence[Quantity],
    several: bool,
) -> Iterator[tuple[str, str]]:
    """Explain what stands out and what is marked."""
    cells = [cell for row in table.rows for cell in row.cells]
    if any(cell.stands_out for cell in cells):
        yield BEST, "the best of its column"
    if frontier:
        labels = join_words([axis.label for axis in frontier])
        of_each = " of its conditions" if several else ""
        yield (
            MARK,
            f"on the Pareto frontier of {labels}{of_each}, where no other system is as good along "
            "every axis and better along one",
        )
    first = len(table.columns) - len(columns)
    sure = {
        board.levels(column.name)[i]
        for k, column in enumerate(columns, first)
        for i, cell in enumerate(table.column(k))
        if cell.after
    }
    if sure:
        yield "[low, high]", f"{show_levels(sure) or 'bounds of'} intervals"
    if (tests := board.significance) is not None:
        meaning = f"not significantly worse than the best of the measure ({tests.caption()})"
        tested = {system for by_system in tests.p_values.values() for system in by_system}
        untested = [system for system in board.systems if system not in tested]
        untested += [name for name in board.measures if name not in tests.p_values]
        more = f"; not tested: {list_names(untested, str)}" if untested else ""
        yield NOT_WORSE, meaning + more


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
    said = [f"{count_systems(records)}{queries}.", *_tell_calls(records)]
    machines = [record.hardware for record in records if record.hardware != Hardware()]
    if len(set(machines)) == 1:
        which = f"{many(len(machines), 'system')} measured"
        said.append(f"{'Measured' if len(machines) == len(records) else which} on {machines[0]}.")
    said += _tell_conditions(board)
    if board.constraints:
        said.append(f"Constraints: {', '.join(board.constraints)}.")
    who = []
    for system, reasons in board.left_out.items():
        others = [reason for reason in reasons if reason not in board.constraints]
        who.append(f"{system} ({', '.join(others)})" if others else system)
    if who:
        said.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(said)


def _tell_conditions(board: Board) -> Iterator[str]:
    """Say under which conditions times and rates were measured, where these differ."""
    groups: dict[str, list[str]] = {}
    times = [name for name in QUANTITIES if is_of_machine(name)]
    for system, record in zip(board.systems, board.records, strict=True):
        own = [name for name in times if record.value(name) is not None]
        if own:
            groups.setdefault(conditions_of(record, own), []).append(system)
    if len(groups) > 1:
        named = "; ".join(f"{kind}: {list_names(some, str)}" for kind, some in groups.items())
        yield f"Times and rates are compared only within the same conditions ({named})."


def count_systems(records: Sequence[EfficiencyRecord]) -> str:
    """Say how many systems there are, and on how many machines where that is more.

    >>> count_systems([EfficiencyRecord(system="dense", hardware=each) for each in ("a", "b")])
    '1 system on 2 machines'
    """
    systems = len({record.system for record in records})
    on = f" on {many(len(records), 'machine')}" if systems < len(records) else ""
    return f"{many(systems, 'system')}{on}"


def _tell_calls(records: Sequence[EfficiencyRecord]) -> Iterator[str]:
    """Say what latencies, throughputs and sustained rates are of, where that isn't a query."""

    def join(values: Iterable[float | None]) -> str:
        known = {value for value in values if value is not None} - {1}
        return join_words([show_quantity(value) for value in sorted(known)], "or")

    larger = [record.batch_size for record in records if record.latency is not None]
    if sizes := join(larger):
        yield f"Latency of calls of {sizes} queries."
    sizes = join(record.throughput_batch_size for record in records if record.throughput)
    if sizes:
        yield f"Throughput of calls of {sizes} queries."
    if bounds := join(record.sustained_p99 for record in records):
        yield f"Sustained rate: with p99 within {bounds} ms."
