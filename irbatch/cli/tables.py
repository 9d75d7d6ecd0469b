"""Printing results for people, with four decimals: a table, or Markdown."""

from __future__ import annotations

import shutil
from typing import Literal

from irbatch.cli.values import ALL, AllResults
from irbatch.errors import printable
from irbatch.report import markdown
from irbatch.report.document import Cell, Column, Row, Table
from irbatch.report.numbers import is_best


def print_markdown(results: AllResults, style: str, per_query: bool) -> None:
    """Print a table with one row a run, or one a run and query."""
    print(markdown.write_table(_table(results, style, per_query)))


def print_table(results: AllResults, style: str, per_query: bool) -> None:
    """Print a table for a terminal, with the best of each measure in bold.

    Raises:
        ImportError: naming the extra, when rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.table import Table as Grid
        from rich.text import Text
    except ImportError as missing:
        raise ImportError("for tables: pip install 'irbatch[cli]', or --format tsv") from missing
    table = _table(results, style, per_query, best=not per_query and len(results) > 1)
    head = [Cell(column.heading) for column in table.columns]
    lines = [head, *(list(row.cells) for row in table.rows)]
    wide = shutil.get_terminal_size((100, 24)).columns
    turned = [list(line) for line in zip(*lines, strict=True)]
    if not per_query and wide < _width(lines) > _width(turned):
        lines = turned
        lines[0][0] = Cell("measure")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for k, cell in enumerate(lines[0]):
        left = k == 0 or table.columns[k].kind == "name"
        justify: Literal["left", "right"] = "left" if left else "right"
        grid.add_column(Text(printable(cell.text)), justify=justify, no_wrap=True)
    for line in lines[1:]:
        styled = ((printable(cell.text), "bold" * cell.stands_out) for cell in line)
        grid.add_row(*map(Text.assemble, styled))
    # A table too wide is wrapped by the terminal: rich would cut numbers short.
    Console(width=max(wide, _width(lines))).print(grid, soft_wrap=True)


def _table(results: AllResults, style: str, per_query: bool, best: bool = False) -> Table:
    """Lay out one row a run, or one a run and query; tell whether the best stand out."""
    first = next(iter(results.values()))
    columns = [Column("run", "name"), *map(Column, first.mean(style))]
    counts = first.summed()
    # Of more popular items, say, neither more nor less is better.
    ranked = [
        each.aggregate != "sum" and each.declaration.reads != "items" and each.sign != 0
        for each in first.columns
    ]
    rows = []
    means = zip(*(each.mean().values() for each in results.values()), strict=True)
    signed = zip(means, first.columns, strict=True)
    highest = [is_best([mean * each.sign for mean in column]) for column, each in signed]
    for i, (run, each) in enumerate(results.items()):
        cells = [
            Cell(each.shown(measure), stands_out=best and ranked[k] and highest[k][i])
            for k, measure in enumerate(each.measures)
        ]
        if per_query:
            for query, values in zip(each.query_ids, each.values.tolist(), strict=True):
                shown = map(_four, values, counts)
                rows.append(Row([Cell(run), Cell(str(query)), *map(Cell, shown)]))
            cells.insert(0, Cell(ALL))
        rows.append(Row([Cell(run), *cells]))
    if per_query:
        columns.insert(1, Column("query", "name"))
    return Table("", columns, rows)


def _four(value: float, count: bool) -> str:
    if value != value:  # of the whole run
        return ""
    return f"{value:.0f}" if count and value.is_integer() else f"{value:.4f}"


def _width(lines: list[list[Cell]]) -> int:
    """Return how many columns of a terminal a table takes."""
    return sum(max(len(cell.text) for cell in column) + 2 for column in zip(*lines, strict=True))
