"""Printing results for a person at a terminal."""

from __future__ import annotations

import shutil
from typing import Literal

from irbatch.cli.values import AllResults
from irbatch.errors import printable
from irbatch.evaluation.system_tables import make_table
from irbatch.report.document import Cell


def print_table(results: AllResults, names: str, per_query: bool, digits: int = 4) -> None:
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
    table = make_table(results, digits, names, False, per_query)
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


def _width(lines: list[list[Cell]]) -> int:
    """Return how many columns of a terminal a table takes."""
    return sum(max(len(cell.text) for cell in column) + 2 for column in zip(*lines, strict=True))
