"""Printing results: for people (table, Markdown) and for programs (TSV, CSV, JSON).

People get four decimals, programs every digit.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from irbatch.cli.text import printable
from irbatch.evaluation.results import Results, csv_cell

__all__ = ["print_csv", "print_json", "print_markdown", "print_table", "print_tsv"]

AllResults = Mapping[str, Results]
ALL = "all"  # what trec_eval calls the row of means


def print_tsv(results: AllResults, style: str, per_query: bool) -> None:
    """Print ``run  query  measure  value``, one value a line; the mean's query is ``all``."""
    print("run\tquery\tmeasure\tvalue")
    for row in _values(results, style, per_query):
        print("\t".join(cell.replace("\t", " ") for cell in row))


def print_csv(results: AllResults, style: str, per_query: bool) -> None:
    """Print the same, separated by commas."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["run", "query", "measure", "value"])
    for row in _values(results, style, per_query):
        writer.writerow([csv_cell(cell) for cell in row[:3]] + [row[3]])


def print_json(results: AllResults, style: str, per_query: bool) -> None:
    """Print one object: run to signature, counts, means, and values per query if asked."""
    everything: dict[str, Any] = {}
    for name, each in results.items():
        everything[name] = {
            "signature": each.signature,
            "counts": asdict(each.counts),
            "mean": {key: _null(value) for key, value in each.mean(style).items()},
        }
        if per_query:
            everything[name]["per_query"] = {
                query: {key: _null(value) for key, value in row.items()}
                for query, row in each.to_dict(style).items()
            }
    print(json.dumps(everything, ensure_ascii=False, indent=1))


def print_markdown(results: AllResults, style: str, per_query: bool) -> None:
    """Print a table with one row a run, or one a run and query."""
    head, rows = _table(results, style, per_query)
    print("| " + " | ".join(_escape(cell) for cell in head) + " |")
    labels = 2 if per_query else 1
    print("|" + "---|" * labels + "--:|" * (len(head) - labels))
    for row in rows:
        print("| " + " | ".join(_escape(cell) for cell in row) + " |")


def print_table(results: AllResults, style: str, per_query: bool) -> None:
    """Print a table for a terminal, with the best of each measure in bold.

    Raises:
        ImportError: naming the extra, when rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError as missing:
        raise ImportError("for tables: pip install 'irbatch[cli]', or --format tsv") from missing
    head, rows = _table(results, style, per_query)
    if not per_query:
        rows = _embolden(results, rows)
        turned = [list(column) for column in zip(head, *rows, strict=True)]
        if _terminal_width() < _width([head, *rows]) > _width(turned):
            head, *rows = turned
            head[0] = "measure"
    labels = 2 if per_query else 1
    table = Table(*(escape(cell) for cell in head), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, column in enumerate(table.columns):
        column.justify = "left" if i < labels else "right"
        column.no_wrap = True
    for row in rows:
        table.add_row(*(_markup(cell, escape) for cell in row))
    # A table too wide is wrapped by the terminal: rich would cut numbers short.
    Console(width=max(_terminal_width(), _width([head, *rows]))).print(table, soft_wrap=True)


BOLD = "\x00"  # marks a cell until it is printed; no id can hold it


def _markup(cell: str, escape: Any) -> str:
    visible = printable(cell.strip(BOLD))
    return f"[bold]{escape(visible)}[/bold]" if cell.startswith(BOLD) else str(escape(visible))


def _embolden(results: AllResults, rows: list[list[str]]) -> list[list[str]]:
    """Mark the best of each measure, where there is more than one run; counts have no best."""
    if len(results) < 2:
        return rows
    means = [list(each.mean().values()) for each in results.values()]
    summed = next(iter(results.values())).summed()
    for column in range(len(rows[0]) - 1):
        values = [row[column] for row in means]
        if not summed[column]:
            for row, value in zip(rows, values, strict=True):
                if value == max(values):
                    row[column + 1] = BOLD + row[column + 1]
    return rows


def _table(results: AllResults, style: str, per_query: bool) -> tuple[list[str], list[list[str]]]:
    """Lay out the head and the rows of a table for people."""
    first = next(iter(results.values()))
    names = list(first.mean(style))
    if not per_query:
        rows = [[run, *map(each.shown, each.measures)] for run, each in results.items()]
        return ["run", *names], rows
    rows = []
    for run, each in results.items():
        for query, values in zip(each.query_ids, each.values.tolist(), strict=True):
            rows.append([run, str(query), *map(_four, values, each.summed())])
        rows.append([run, ALL, *map(each.shown, each.measures)])
    return ["run", "query", *names], rows


def _values(
    results: AllResults, style: str, per_query: bool
) -> Iterator[tuple[str, str, str, str]]:
    """Yield run, query, measure and value, the value with every digit."""
    for run, each in results.items():
        rows = each.to_dict(style) if per_query else {}
        for query, row in [*rows.items(), (ALL, each.mean(style))]:
            for (name, value), count in zip(row.items(), each.summed(), strict=True):
                yield run, str(query), name, _digits(value, count)


def _four(value: float, count: bool) -> str:
    return f"{value:.0f}" if count and value.is_integer() else f"{value:.4f}"


def _digits(value: float, count: bool) -> str:
    return str(int(value)) if count and value.is_integer() else repr(value)


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value


def _width(rows: list[list[str]]) -> int:
    """Return how many columns of a terminal a table takes."""
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True))


def _escape(cell: str) -> str:
    return printable(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
