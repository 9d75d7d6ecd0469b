"""What every format shows: blocks of systems and measures, and of pairs of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import many, printable
from irbatch.report.names import letter
from irbatch.report.numbers import (
    NOTHING,
    Shown,
    show,
    show_change,
    show_interval,
    show_p,
    show_percent,
)

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = [
    "BETTER",
    "WORSE",
    "Block",
    "Cell",
    "Column",
    "PairRow",
    "Row",
    "blocks",
    "is_best",
    "legend",
    "pair_columns",
    "pair_rows",
    "rows",
]

BETTER, WORSE = "↑", "↓"  # than the baseline


class Cell(NamedTuple):
    """A system's mean of a measure.

    Args:
        mean: see `Shown`; the best of a measure stands out.
        interval: of the mean; empty where none was asked for.
        marks: letters of the systems that it beats significantly; with a baseline `BETTER` or
            `WORSE` if it is one of them significantly.
    """

    mean: Shown
    interval: str
    marks: list[str]


class Row(NamedTuple):
    """A system: its letter (none with a baseline), its name, and one cell a measure."""

    letter: str
    system: str
    is_baseline: bool
    cells: list[Cell]


class Column(NamedTuple):
    """A column of the table of pairs; `descends` if the largest is what one looks for."""

    name: str
    descends: bool = True


class PairRow(NamedTuple):
    """A system, the one it is compared with, and one number for each of `pair_columns`."""

    measure: str
    system: str
    against: str
    numbers: list[Shown]


@dataclass(frozen=True)
class Block:
    """A group of queries, or all of them.

    Attributes:
        heading: names it; empty where it is the only one.
        comparison: of these queries.
    """

    heading: str
    comparison: Comparison


def blocks(comparison: Comparison) -> list[Block]:
    """List what is reported: all queries first, then each group of them."""
    if not comparison.groups:
        return [Block("", comparison)]
    named = {"all queries": comparison} | {
        printable(name): group for name, group in comparison.groups.items()
    }
    return [
        Block(f"{name} ({many(len(each.query_ids), 'query')})", each)
        for name, each in named.items()
    ]


def rows(comparison: Comparison, digits: int, intervals: bool) -> list[Row]:
    """Lay out one row a system, in the order given."""
    best, marks = is_best(comparison.means), _marks(comparison)
    table = []
    for i, system in enumerate(comparison.systems):
        cells = []
        for k, mean in enumerate(comparison.means[i].tolist()):
            low, high = comparison.intervals[i, k].tolist()
            shown = Shown(show(mean, digits), mean, bool(best[i, k]))
            within = show_interval(low, high, digits) if intervals else ""
            cells.append(Cell(shown, within, marks[i][k]))
        name = "" if comparison.baseline is not None else letter(i)
        table.append(Row(name, printable(system), system == comparison.baseline, cells))
    return table


def is_best(means: Floats) -> Bools:
    """Tell which means are the highest of their measure, to the last bit; no one is on its own.

    Args:
        means: float64 ``(systems, measures)``.
    """
    if len(means) < 2:
        return np.zeros(means.shape, np.bool_)
    highest = np.where(np.isnan(means), -np.inf, means).max(axis=0)
    best: Bools = means == highest
    return best


def _marks(comparison: Comparison) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in comparison.measures] for _ in comparison.systems]
    for pair, k in np.argwhere(comparison.significant).tolist():
        a, b = comparison.pairs[pair]
        difference = comparison.differences[pair, k]
        if comparison.baseline is not None and difference:
            marks[a][k].append(BETTER if difference > 0 else WORSE)
        elif difference > 0:
            marks[a][k].append(letter(b))
        elif difference < 0:
            marks[b][k].append(letter(a))
    for of_system in marks:
        for letters in of_system:
            letters.sort(key=lambda each: (len(each), each))
    return marks


def legend(comparison: Comparison, best: str, beats: str = "letters after a mean") -> str:
    """Explain the marks.

    Args:
        best: how the best mean stands out, as in ``"bold"``.
        beats: what the letters are called.
    """
    if len(comparison.systems) < 2:
        return ""
    highest = f"{best}: the highest mean of a measure"
    if comparison.baseline is None:
        return f"{highest}; {beats}: the systems it is significantly better than."
    baseline = printable(comparison.baseline)
    return f"{highest}; {BETTER} {WORSE}: significantly better, worse than {baseline}."


def pair_columns(comparison: Comparison) -> list[Column]:
    """Name the numbers of a pair; with no correction, there is no corrected p-value."""
    columns = [
        Column("difference"),
        Column("relative"),
        Column(f"{100 * (1 - comparison.level):g}% interval"),
        Column("wins/ties/losses"),
        Column("effect"),
        Column("p", descends=False),
    ]
    if comparison.correction != "none":
        columns.append(Column("corrected p", descends=False))
    if comparison.equivalent is not None:
        columns.append(Column("equivalent"))
    return columns


def pair_rows(comparison: Comparison, digits: int) -> list[PairRow]:
    """Lay out one row a measure and pair; a p-value that is significant stands out."""
    return [
        PairRow(
            printable(measure),
            printable(comparison.systems[a]),
            printable(comparison.systems[b]),
            _numbers(comparison, pair, k, digits),
        )
        for k, measure in enumerate(comparison.measures)
        for pair, (a, b) in enumerate(comparison.pairs)
    ]


def _numbers(comparison: Comparison, pair: int, k: int, digits: int) -> list[Shown]:
    """Write the numbers of a pair, in the order of `pair_columns`."""
    at = pair, k
    difference, relative = float(comparison.differences[at]), float(comparison.relative[at])
    low, high = comparison.difference_intervals[at].tolist()
    counts = [int(each[at]) for each in (comparison.wins, comparison.ties, comparison.losses)]
    effect, p = float(comparison.effects[at]), float(comparison.p_values[at])
    numbers = [
        Shown(show_change(difference, digits), difference),
        Shown(show_percent(relative), relative),
        Shown(show_interval(low, high, digits, signed=True), low),
        Shown("/".join(map(str, counts)), counts[0] - counts[2]),
        Shown(show_change(effect, 2), effect),
    ]
    significant = bool(comparison.significant[at])
    if comparison.correction == "none":
        numbers.append(Shown(show_p(p, comparison.level), p, significant))
    else:
        corrected = float(comparison.corrected[at])
        numbers.append(Shown(show_p(p, comparison.level), p))
        numbers.append(Shown(show_p(corrected, comparison.level), corrected, significant))
    if comparison.equivalent is not None:
        same = bool(comparison.equivalent[at])
        numbers.append(Shown("yes" if same else "no" if p == p else NOTHING, same))
    return numbers
