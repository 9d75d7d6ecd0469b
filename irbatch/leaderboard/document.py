"""A leaderboard as a document for people: a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.efficiency import Quantity
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import InputError, join_words, shown
from irbatch.leaderboard.axes import find_axis, list_axes
from irbatch.leaderboard.captions import (
    MEANT,
    OPEN_MARK,
    are_mixed,
    count_systems,
    is_latency,
    is_open,
)
from irbatch.leaderboard.joining import INTERVALS_ARE
from irbatch.leaderboard.machines import FACTS, machine_column
from irbatch.leaderboard.plots import Frontier, draw_frontier, find_frontier, tell_levels
from irbatch.leaderboard.systems import Systems
from irbatch.report.document import (
    BEST,
    Cell,
    Column,
    Document,
    Figure,
    Figures,
    Part,
    Row,
    Table,
    isolate,
)
from irbatch.report.numbers import NOTHING, check_digits, show, show_levels, show_quantity

MARK = "●"  # of systems on the frontier
AS_GOOD = "="  # of systems that are not significantly worse than the best of a measure
ON_FRONTIER = "on frontier (%)"
HARDWARE, BATCH, SOURCE = "hardware", "batch_size", "source"  # columns that are no axes
# Not the peak of memory: it is the process', which mostly holds several systems.
USUAL = (
    *("latency_mean", "latency_p95", "throughput", "sustained_rate"),
    *("index_memory", "index_disk", "indexing_time"),
    *("energy_per_query", "cost_per_million"),
)
PICTURED = ("cost_per_million", "latency_mean", "latency_p50")  # the first that all have, or some
NAMED = 6  # systems that dominate another one


def make_document(
    board: Systems,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
) -> Document:
    """Return the report of a leaderboard: a table with one row a system; see `Leaderboard`."""
    check_digits(digits)
    names = _usual_columns(board) if columns is None else _chosen_columns(board, columns)
    axes = [] if frontier is None else list_axes(frontier, board.measures)
    pareto = board.pareto([each.name for each in axes]) if axes and len(board) else None
    marked = [] if pareto is None else pareto.frontier
    described = [_describe(board, name, intervals, digits) for name in names]
    if board.stability is not None:
        shares = [board.stability.share(system) for system in board.systems]
        described.append((Column(ON_FRONTIER), [Cell(show(100 * x, 1), x) for x in shares]))
    heads = [Column("system", "name"), *(head for head, _ in described)]
    rows = []
    for i, system in enumerate(board.systems):
        cells = [Cell(system), *(column[i] for _, column in described)]
        if marked:
            strong = int(system in marked)
            cells.insert(0, Cell(MARK * strong, strong))
        rows.append(Row(cells, faint=pareto is not None and system in pareto.dominated_by))
    if marked:
        heads.insert(0, Column(MARK, "mark"))
    title = count_systems(board.records)
    table = Table(f"Values of {title}", heads, rows)
    legend = _explain(board, table, names, axes if marked else [])
    legend += _explain_draws(board)
    if pareto is not None and pareto.left_out:
        legend.append(("not compared", _tell_left_out(board, pareto.left_out, str)))
    settings = " | ".join(f"{name}: {value}" for name, value in board.settings.items())
    return Document(f"Leaderboard of {title}", board.caption(), legend, [table], settings)


def picture_frontier(
    board: Systems,
    x: str | None,
    y: str | None,
    frontier: Iterable[str] | None,
    digits: int,
) -> list[Part]:
    """Return a picture of the frontier, and a table of who dominates whom; see `Leaderboard`."""
    marked = [] if frontier is None else list_axes(frontier, board.measures)
    if x is None and y is None and len(marked) == 2:
        # A measure goes along the picture.
        y, x = sorted((each.name for each in marked), key=lambda name: name not in board.measures)
    if x is None:
        unknown = {name: np.isnan(board.values(name)) for name in PICTURED}
        of_all = [name for name, lacking in unknown.items() if not lacking.any()]
        of_some = [name for name, lacking in unknown.items() if not lacking.all()]
        x = next(iter(of_all + of_some), None)
    if x is None or not len(board):
        return []
    found = find_frontier(board, x, y)
    board = found.board
    values = [_show_values(found, row, digits) for row in range(len(board))]
    said = [f"{system}: {value}" for system, value in zip(board.systems, values, strict=True)]
    told = "; ".join(
        f"{each}{'' if strong else ' (dominated)'}"
        for each, strong in zip(said, found.strong.tolist(), strict=True)
    )

    def draw() -> Any:
        return draw_frontier(found)[0].get_figure()

    title = f"{found.y.label} against {found.x.label}"
    parts: list[Part] = [Figures("", [Figure(title, told, _tell(found), draw)])]
    if found.dominated_by:
        heads = [Column("system", "name"), Column("dominated by", "text")]
        rows = [
            Row([Cell(system), Cell(_list_names(others))])
            for system, others in found.dominated_by.items()
        ]
        parts.append(Table("Systems that others dominate", heads, rows))
    return parts


def _usual_columns(board: Systems) -> list[str]:
    """Choose columns where the caller does not."""
    names = [*board.measures, *(name for name in board.axes if name in USUAL)]
    if len({each.batch_size for each in board.records}) > 1:
        names.insert(0, BATCH)
    if len({str(each.hardware) for each in board.records}) > 1:
        names.insert(0, HARDWARE)
    if any(each.source is not None for each in board.records):
        names.append(SOURCE)
    return names


def _chosen_columns(board: Systems, columns: Iterable[str]) -> list[str]:
    """Return the names of the columns that are asked for."""
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable):
        problem = f"columns are names, not {shown(columns)}"
        raise InputError(problem, source="columns", value=columns)
    names: list[str] = []
    for each in columns:
        is_axis = each not in (HARDWARE, BATCH, SOURCE, *FACTS) or each in board.measures
        name = find_axis(each, board.measures).name if is_axis else each
        if name in names:
            raise InputError(f"{name} is given twice", source="columns", value=each)
        names.append(name)
    if not names:
        raise InputError("there is no column to show", source="columns")
    return names


def _describe(board: Systems, name: str, intervals: bool, digits: int) -> tuple[Column, list[Cell]]:
    """Return a column and its cells."""
    is_measure = name in board.measures
    if name in (HARDWARE, SOURCE) and not is_measure:
        texts = [str(getattr(each, name) or "") or NOTHING for each in board.records]
        return Column(name, "text"), [Cell(text) for text in texts]
    if name == BATCH and not is_measure:
        sizes = [Cell(f"{each.batch_size:,}", float(each.batch_size)) for each in board.records]
        return Column("batch size", descends=False), sizes
    if name in FACTS and not is_measure:
        return machine_column([each.hardware for each in board.records], name)
    axis, values = board.axis(name), board.values(name)
    descends = axis.better == HIGHER
    known = values[~np.isnan(values)]
    best = np.nan  # one value alone is not the best
    mixed = is_latency(name) and are_mixed(board.records)
    if len(known) > 1 and len(board.currencies(name)) < 2 and not mixed:
        best = known.max() if descends else known.min()

    decimals = board.decimals_of(name, digits) if is_measure else [None] * len(board)
    as_good = [] if board.significance is None else board.significance.not_worse(name)
    cells = []
    for system, record, value, (low, high), after_point in zip(
        board.systems,
        board.records,
        values.tolist(),
        board.bounds(name).tolist(),
        decimals,
        strict=True,
    ):
        bounded = intervals and not (np.isnan(low) and np.isnan(high))
        text, *ends = (_write(each, after_point) for each in (value, low, high))
        within = f"[{', '.join(ends)}]" if bounded else ""
        marks = [AS_GOOD] if system in as_good and value != best else []
        marks += [OPEN_MARK] if mixed and value == value and is_open(record) else []
        cells.append(Cell(text, value, value == best, within, marks))
    return Column(axis.heading, descends=descends), cells


def _explain(
    board: Systems, table: Table, names: Sequence[str], frontier: Sequence[Quantity]
) -> list[tuple[str, str]]:
    """Explain what stands out and what is marked."""
    legend = []
    if any(cell.stands_out for row in table.rows for cell in row.cells):
        legend.append((BEST, "the best of its column"))
    if frontier:
        labels = join_words([each.label for each in frontier])
        meaning = (
            f"on the Pareto frontier of {labels}, where no other system is as "
            "good along every axis and better along one"
        )
        legend.append((MARK, meaning))
    if any(OPEN_MARK in cell.marks for row in table.rows for cell in row.cells):
        legend.append((OPEN_MARK, MEANT))
    sure = {
        board.levels(name)[i]
        for k, name in enumerate(names, 2 if frontier else 1)
        for i, cell in enumerate(table.column(k))
        if cell.after
    }
    if sure:
        how = board.settings.get(INTERVALS_ARE)
        of_measures = f", of measures by {how}" if how else ""
        told = f"{show_levels(sure) or 'bounds of'} intervals{of_measures}"
        legend.append(("[low, high]", told))
    return legend


def _explain_draws(board: Systems) -> list[tuple[str, str]]:
    """Explain what tests and the bootstrap found."""
    legend = []
    if (tests := board.significance) is not None:
        meaning = f"not significantly worse than the best of the measure ({tests.caption()})"
        untested = [each for each in board.systems if not tests.has(each)]
        untested += [each for each in board.measures if each not in tests.p_values]
        if untested:
            meaning += f"; not tested: {_list_names(untested, str)}"
        legend.append((AS_GOOD, meaning))
    if (found := board.stability) is not None:
        labels = {axis: board.axis(axis).label for axis in found.axes}
        drawn = "; ".join(
            labels[axis]
            + ("" if len(some) == len(found.shares) else f" of {_list_names(some, str)}")
            for axis, some in found.drawn.items()
        )
        meaning = (
            f"share of {found.draws:,} bootstrap draws in which no other system was as good along "
            f"{join_words([*labels.values()])} and better along one; drawn, of queries or calls "
            f"with replacement: {drawn}; all else as it is; seed {found.seed}"
        )
        legend.append((ON_FRONTIER, meaning))
    return legend


def _show_values(found: Frontier, row: int, digits: int) -> str:
    """Write a system's values along both axes: ``0.3300, 30 ms``."""
    written = []
    for axis, value in zip((found.y, found.x), found.values[row, ::-1].tolist(), strict=True):
        is_measure = axis.name in found.board.measures
        decimals = found.board.decimals_of(axis.name, digits)[row] if is_measure else None
        written.append(f"{_write(value, decimals)} {axis.unit}".rstrip())
    return ", ".join(written)


def _write(value: float, decimals: int | None) -> str:
    """Write a measure's value with so many decimals, or a quantity's."""
    return show_quantity(value) if decimals is None else show(value, decimals)


def _tell(found: Frontier) -> str:
    """Say what the picture shows."""
    strong = [system for system in found.board.systems if system not in found.dominated_by]
    axes = " and ".join(isolate(axis.label) for axis in (found.y, found.x))
    said = [f"Pareto frontier of {axes}: {', '.join(map(isolate, strong))}."]
    if found.dominated_by:
        said.append("Grey: dominated.")
    if sure := tell_levels(found, found.bounds):
        said.append(f"Bars: {sure}.")
    if found.left_out:
        said.append(f"Left out: {_tell_left_out(found.board, found.left_out, isolate)}.")
    return " ".join(said)


def _tell_left_out(
    board: Systems, left_out: Mapping[str, list[str]], mark: Callable[[object], str]
) -> str:
    """Name systems that are not compared, those together that lack the same."""
    by_lack: dict[str, list[str]] = {}
    for system, names in left_out.items():
        lack = join_words([mark(board.axis(name).label) for name in names])
        by_lack.setdefault(lack, []).append(system)
    return "; ".join(
        f"{_list_names(some, mark)} (without {lack})" for lack, some in by_lack.items()
    )


def _list_names(systems: list[str], mark: Callable[[object], str] = isolate) -> str:
    """Name systems, the first of them where they are many."""
    more = len(systems) - NAMED
    named = ", ".join(map(mark, systems[:NAMED]))
    return f"{named} and {more} more" if more > 0 else named
