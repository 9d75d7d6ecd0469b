"""A comparison as a page of HTML that stands alone: it works offline and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from irbatch.comparing.report.svg import bars, describe, dots
from irbatch.comparing.report.table import (
    BETTER,
    WORSE,
    Cell,
    Row,
    blocks,
    legend,
    pair_columns,
    pair_rows,
    rows,
)
from irbatch.errors import InputError, many, printable
from irbatch.report.html import (
    minus,
    sorted_by,
    write_figure,
    write_name,
    write_number,
    write_soft,
    write_table,
    write_words,
)
from irbatch.report.names import join_letters
from irbatch.report.numbers import Shown, check_digits
from irbatch.report.page import STYLE, document
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_html"]

FIGURE_SPACE = "\u2007"  # as wide as a digit
MARKS = {BETTER: ' class="up"', WORSE: ' class="down"'}


def to_html(
    comparison: Comparison,
    path: str | PathLike[str] | None = None,
    *,
    digits: int = 4,
    intervals: bool = False,
    pairs: bool = True,
    plots: bool = True,
    pair: tuple[str, str] | None = None,
    title: str | None = None,
    fragment: bool = False,
) -> str:
    """Return, or also write, a page: sortable tables, plots of means and of differences.

    Args:
        path: where to write it; an existing file is replaced whole or not at all.
        digits: how many decimals of means and differences.
        intervals: whether the table has the confidence intervals of means, as the plots do.
        pairs: whether the table of pairs follows.
        plots: whether there are plots.
        pair: the two systems whose differences are plotted query by query; the best of the first
            measure and the baseline, or without one the second best, if none is given.
        title: of the page.
        fragment: leave out what makes it a page, its script too, to stand in a notebook.

    Raises:
        InputError: for decimals that are none, or a pair that is not of two systems compared.
    """
    check_digits(digits)
    chosen = _chosen(comparison, pair)
    heading = printable(title or f"Comparison of {many(len(comparison.systems), 'system')}")
    pictures = list(_plots(comparison, chosen, digits)) if plots else []
    tables = _tables(comparison, pictures, digits, intervals, pairs)
    body = "\n".join([*_head(comparison, heading), *tables, write_soft(comparison.signature)])
    text = document(escape(heading), body)
    if fragment:
        text = f'<style>{STYLE}</style>\n<div class="irbatch">\n{body}\n</div>\n'
    return written(text, path)


def _head(comparison: Comparison, heading: str) -> Iterator[str]:
    yield f"<h1>{escape(heading)}</h1>\n<p>{write_words(comparison.caption())}</p>"
    explained = legend(comparison, "Bold", "superscripts")
    if explained:
        yield write_soft(explained)


def _tables(
    comparison: Comparison, pictures: Sequence[str], digits: int, intervals: bool, pairs: bool
) -> Iterator[str]:
    """Yield the tables of each group of queries, and the pictures of all."""
    for block in blocks(comparison):
        if block.heading:
            yield f"<h2>{write_name(block.heading)}</h2>"
        yield _means(block.comparison, digits, intervals)
        if block.comparison is comparison:
            yield from pictures
        if pairs and block.comparison.pairs:
            yield _pairs(block.comparison, digits)


def _chosen(comparison: Comparison, pair: tuple[str, str] | None) -> tuple[int, int] | None:
    """Find the pair whose differences are plotted; None where there is only one system."""
    systems = comparison.systems
    if pair is not None:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(systems):
            raise InputError(f"a pair is two of {', '.join(systems)}, not {pair!r}",
                             source="pair", value=pair)  # fmt: skip
        return systems.index(pair[0]), systems.index(pair[1])
    if len(systems) < 2 or not comparison.measures:
        return None
    best = np.argsort(-comparison.means[:, 0], kind="stable").tolist()
    if comparison.baseline is None:
        return best[0], best[1]
    baseline = systems.index(comparison.baseline)
    return next(i for i in best if i != baseline), baseline


def _means(comparison: Comparison, digits: int, intervals: bool) -> str:
    lettered = comparison.baseline is None
    head = '<th scope="col" data-first="ascending">#</th>' if lettered else ""
    head += '<th scope="col">system</th>' + "".join(
        f'<th scope="col" data-first="descending">{write_name(measure)}</th>'
        for measure in comparison.measures
    )
    table = rows(comparison, digits, intervals)
    sizes = [
        max(len(row.cells[k].mean.text) for row in table) for k in range(len(comparison.measures))
    ]
    body = [_row(row, i, sizes) for i, row in enumerate(table)]
    return write_table(f"Means of {many(len(comparison.query_ids), 'query')}", head, body)


def _row(row: Row, position: int, sizes: Sequence[int]) -> str:
    letter = f'<td data-v="{position}">{row.letter}</td>' if row.letter else ""
    note = " <small>baseline</small>" if row.is_baseline else ""
    cells = "".join(map(_cell, row.cells, sizes))
    return f'<tr>{letter}<th scope="row">{write_name(row.system)}{note}</th>{cells}</tr>'


def _cell(cell: Cell, size: int) -> str:
    """Write a mean flush right in so many digits' room, and after it what belongs to it."""
    marks = join_letters(cell.marks)
    above = f"<sup{MARKS.get(marks, '')}>{marks}</sup>" if marks else ""
    within = f" <small>{minus(cell.interval)}</small>" if cell.interval else ""
    room = FIGURE_SPACE * (size - len(cell.mean.text))
    mean = write_number(cell.mean)
    return f'<td class="mean"{sorted_by(cell.mean)}>{room}{mean}{above}{within}</td>'


def _pairs(comparison: Comparison, digits: int) -> str:
    labels = "".join(f'<th scope="col">{name}</th>' for name in ("measure", "system", "against"))
    columns = [
        f'<th scope="col" class="n" data-first="{"descending" if each.descends else "ascending"}">'
        f"{each.name}</th>"
        for each in pair_columns(comparison)
    ]
    body = [
        f'<tr><td>{write_name(row.measure)}</td><th scope="row">{write_name(row.system)}</th>'
        f'<td class="name">{write_name(row.against)}</td>'
        + "".join(
            f'<td class="n"{sorted_by(each)}>{write_number(each)}</td>' for each in row.numbers
        )
        + "</tr>"
        for row in pair_rows(comparison, digits)
    ]
    caption = "Pairs of systems; significant p-values are bold"
    return write_table(caption, labels + "".join(columns), body)


def _pair_cell(number: Shown) -> str:
    return f'<td class="n"{sorted_by(number)}>{write_number(number)}</td>'


def _plots(comparison: Comparison, pair: tuple[int, int] | None, digits: int) -> Iterator[str]:
    """Yield the pictures of each measure."""
    percent = f"{100 * (1 - comparison.level):g}%"
    for k, measure in enumerate(comparison.measures):
        pictures = write_figure(
            dots(comparison, k, f"means-{k}", digits), f"Means and their {percent} intervals."
        )
        if pair is not None:
            first, second = (write_name(comparison.systems[i]) for i in pair)
            counts = minus(describe(comparison, pair, k))
            told = f"{first} less {second}, query by query: {counts}."
            pictures += write_figure(bars(comparison, pair, k, f"differences-{k}"), told)
        yield f'<h3>{write_name(measure)}</h3>\n<div class="plots">\n{pictures}\n</div>'
