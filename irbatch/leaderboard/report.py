"""A leaderboard as a table: columns that every form is written from, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Quantity
from irbatch.efficiency.quantities import QUANTITIES
from irbatch.errors import InputError, join_words, many, shown
from irbatch.leaderboard.axes import Board, conditions_of, find_axis, is_of_machine
from irbatch.report.document import (
    BEST,
    Column,
    Document,
    Record,
    isolate,
    list_records,
    make_table,
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
NO_FACTS = {*QUANTITIES, "system", "hardware", "latency", "stated_cost"}  # fields of records
FACTS = [  # columns that are no axes, of records and of their latencies
    *(field.name for field in fields(EfficiencyRecord) if field.name not in NO_FACTS),
    *("loop", "rate", "arrivals", "errors", "timeouts"),
]
NAMED = 6  # systems that are named where they are many


def _list_facts(board: Board) -> list[Column]:
    """Return the columns of what is known beside the axes, a row's place being the item."""

    def column(name: str, heading: str, values: Sequence[Any]) -> Column:
        is_text = any(isinstance(value, str) for value in values)
        look = str if is_text else "{:,.10g}".format
        return Column(heading, "text" if is_text else "number", name in MACHINE, name,
                      values.__getitem__, look)  # fmt: skip

    machines = [vars(record.hardware) for record in board.records]
    facts = [{**vars(record.latency or Latency()), **vars(record)} for record in board.records]
    return [
        *(
            column(name, head, [machine[name] for machine in machines])
            for name, head in MACHINE.items()
        ),
        *(
            column(name, name.replace("_", " "), [record[name] for record in facts])
            for name in FACTS
        ),
        column("queries", "queries", board.n_queries),
    ]


def _list_axis(board: Board, name: str, intervals: bool = False, digits: int = 0) -> list[Column]:
    """Return an axis' column, and those of its bounds, which only programs read."""
    axis, values, bounds = board.axis(name), board.values(name), board.bounds(name)
    has_value = ~np.isnan(values)
    measured = {
        conditions
        for conditions, has in zip(board.conditions([name]), has_value, strict=True)
        if has
    }
    best = np.nan  # one value alone is not the best
    if has_value.sum() > 1 and len(board.currencies(name)) < 2 and len(measured) < 2:
        best = axis.sign * np.nanmax(axis.sign * values)
    not_worse = [] if board.significance is None else board.significance.not_worse(name)
    rows = np.column_stack([values, bounds]).tolist()
    has_bounds = (~np.isnan(bounds).all(axis=1)).tolist()

    def tell(i: int) -> Record:
        texts = [show(x, digits) if name in board.measures else show_quantity(x) for x in rows[i]]
        is_best = rows[i][0] == best
        return {
            "text": texts[0],
            "stands_out": is_best,
            "after": f"[{texts[1]}, {texts[2]}]" if intervals and has_bounds[i] else "",
            "marks": [NOT_WORSE] if board.systems[i] in not_worse and not is_best else [],
        }

    def values_of(k: int) -> Callable[[int], float | None]:
        return lambda i: rows[i][k] if rows[i][k] == rows[i][k] else None

    columns = [
        Column(axis.heading, descends=axis.sign > 0, name=name, value=values_of(0), more=tell)
    ]
    if any(has_bounds):
        columns.append(Column("", name=f"{name} low", value=values_of(1)))
        columns.append(Column("", name=f"{name} high", value=values_of(2)))
    return columns


def list_board(board: Board) -> tuple[list[str], list[Record]]:
    """Return the names of the columns of `Leaderboard.to_csv`, and a record for each system."""
    facts, rows = _list_facts(board), range(len(board))
    n = len(MACHINE)
    columns = [Column("system", name="system", value=board.systems.__getitem__), *facts[:n]]
    columns += [column for axis in board.axes for column in _list_axis(board, axis)]
    p_values = {} if board.significance is None else board.significance.p_values
    for measure, by_system in p_values.items():
        if measure not in board.measures:
            continue
        p = [by_system.get(system) for system in board.systems]
        columns.append(Column("", name=f"{measure} p against the best", value=p.__getitem__))
    columns += [fact for fact in facts[n:] if any(fact.value(i) is not None for i in rows)]
    return list_records(columns, rows)


def make_document(
    board: Board,
    names: Iterable[str] | None,
    frontier: Sequence[Quantity],
    intervals: bool,
    digits: int,
) -> Document:
    """Return the report of a leaderboard: a table with one row a system; see `Leaderboard`."""
    check_digits(digits)
    columns = _choose_columns(board, names, intervals, digits)
    heads = [Column("system", "name", value=board.systems.__getitem__), *columns]
    title = count_systems(board.records)
    legend, dominated = [], {}
    if frontier and len(board):
        pareto = board.pareto([axis.name for axis in frontier])
        dominated = pareto.dominated_by
        on = [int(system in pareto.frontier) for system in board.systems]
        heads.insert(0, Column(MARK, "mark", value=on.__getitem__, show=lambda x: MARK * x))
        labels = join_words([axis.label for axis in frontier])
        of_each = " of its conditions" if pareto.conditions else ""
        meaning = f"on the Pareto frontier of {labels}{of_each}, where no other system is as good "
        legend.append((MARK, f"{meaning}along every axis and better along one"))
        if pareto.left_out:
            legend.append(("not compared", tell_left_out(board, pareto.left_out, str)))
    rows = range(len(board))
    table = make_table(
        f"Values of {title}", heads, rows, is_faint=lambda i: board.systems[i] in dominated
    )
    if any(cell.stands_out for row in table.rows for cell in row.cells):
        legend.insert(0, (BEST, "the best of its column"))
    sure = {
        board.levels(column.name)[i]
        for k, column in enumerate(heads)
        for i, cell in enumerate(table.column(k))
        if cell.after
    }
    if sure:
        legend.append(("[low, high]", f"{show_levels(sure) or 'bounds of'} intervals"))
    if (tests := board.significance) is not None:
        tested = {*tests.p_values, *(name for by in tests.p_values.values() for name in by)}
        others = [name for name in (*board.systems, *board.measures) if name not in tested]
        more = f"; not tested: {list_names(others, str)}" if others else ""
        meaning = f"not significantly worse than the best of the measure ({tests.caption()}){more}"
        legend.append((NOT_WORSE, meaning))
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
    machines = [str(record.hardware) or None for record in board.records]
    facts = {HARDWARE: Column(HARDWARE, "text", value=machines.__getitem__)}
    facts |= {column.name: column for column in _list_facts(board)}
    chosen: dict[str, Column] = {}
    for name in names:
        if name in facts and name not in board.measures:
            own, column = name, facts[name]
        else:
            own = find_axis(name, board.measures).name
            column = _list_axis(board, own, intervals, digits)[0]
        if own in chosen:
            raise InputError(f"{own} is given twice", source="columns", value=name)
        chosen[own] = column
    if not chosen:
        raise InputError("there is no column to show", source="columns")
    return list(chosen.values())


def tell_left_out(
    board: Board, left_out: Mapping[str, list[str]], mark: Callable[[object], str]
) -> str:
    """Name systems that are not compared, and what they lack."""
    texts = []
    for system, names in left_out.items():
        lack = join_words([mark(board.axis(name).label) for name in names])
        texts.append(f"{mark(system)} (without {lack})")
    return list_names(texts, str)


def list_names(systems: list[str], mark: Callable[[object], str] = isolate) -> str:
    """Name systems, the first of them where they are many."""
    more = len(systems) - NAMED
    named = ", ".join(map(mark, systems[:NAMED]))
    return f"{named} and {more} more" if more > 0 else named


# ---------------------------------------------------------------- what stands above the table


def write_caption(board: Board) -> str:
    """Say how many systems and queries there are, how they were measured, and who is left out."""
    records = board.records
    queries = ""
    if board.n_queries and None not in board.n_queries:
        least, most = min(board.n_queries), max(board.n_queries)
        queries = f", {f'{least} to ' if least < most else ''}{many(most, 'query')}"
    sentences = [f"{count_systems(records)}{queries}.", *_tell_calls(records)]
    machines = {record.hardware for record in records}
    if len(machines) == 1 and machines != {Hardware()}:
        sentences.append(f"Measured on {machines.pop()}.")
    sentences += _tell_conditions(board)
    if board.constraints:
        sentences.append(f"Constraints: {', '.join(board.constraints)}.")
    who = []
    for system, reasons in board.left_out.items():
        others = [reason for reason in reasons if reason not in board.constraints]
        who.append(f"{system} ({', '.join(others)})" if others else system)
    if who:
        sentences.append(f"Left out by them: {', '.join(who)}.")
    return " ".join(sentences)


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
    calls = [record.batch_size for record in records if record.latency is not None]
    larger = [record.throughput_batch_size for record in records if record.throughput is not None]
    bounds = [record.sustained_p99 for record in records]
    for numbers, before, after in (
        (calls, "Latency of calls of", "queries"),
        (larger, "Throughput of calls of", "queries"),
        (bounds, "Sustained rate: with p99 within", "ms"),
    ):
        listed = sorted({number for number in numbers if number is not None} - {1})
        if listed:
            amounts = join_words([show_quantity(number) for number in listed], "or")
            yield f"{before} {amounts} {after}."


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
