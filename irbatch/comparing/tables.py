"""A comparison as a document: tables of systems and of pairs, for every form of report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irbatch.comparing.compared import Compared
from irbatch.comparing.wording import say_all, tell_how, tell_test
from irbatch.errors import InputError, many
from irbatch.report import document, numbers
from irbatch.report.document import (
    Cell,
    Column,
    Document,
    Figures,
    Heading,
    Part,
    Row,
    Sentences,
    Table,
)
from irbatch.report.text import letter


def make_document(
    compared: Compared,
    digits: int,
    intervals: bool,
    pairs: bool,
    figures: Sequence[Figures] = (),
    *,
    judged: bool = False,
    words: bool = False,
    power: bool = False,
) -> Document:
    """Return the report of all queries, with figures, then of each group; see `Comparison`."""
    numbers.check_digits(digits)
    parts: list[Part] = []
    everything: list[tuple[str, Compared]] = [("all queries", compared), *compared.groups.items()]
    for name, each in everything:
        if compared.groups:
            parts.append(Heading(f"{name} ({many(len(each.query_ids), 'query')})"))
        parts.append(_means(each, digits, intervals, judged))
        if each is compared:
            parts += figures
        if pairs and each.pairs:
            parts.append(_pairs(each, digits, power))
        if words and each.pairs:
            parts.append(Sentences(say_all(each, digits)))
    title = f"Comparison of {many(len(compared.systems), 'system')}"
    note = f"{tell_test(compared)}." if compared.pairs else ""
    return Document(title, tell_how(compared), _legend(compared), parts, compared.signature, note)


def _legend(compared: Compared) -> document.Legend:
    if len(compared.systems) < 2:
        return []
    best = (document.BEST, "the best mean of a measure")
    if compared.baseline is None:
        return [best, (document.MARKS, "the systems it is significantly better than")]
    signs = f"{document.BETTER} {document.WORSE}"
    return [best, (signs, f"significantly better, worse than {compared.baseline}")]


def _means(compared: Compared, digits: int, intervals: bool, judged: bool) -> Table:
    """Lay out one row a system, in the order given; without a baseline, systems have letters."""
    if judged and not compared.judged:
        problem = "how much is judged isn't known: compare runs, on measures that have cutoffs"
        raise InputError(problem, source="judged")
    lettered = compared.baseline is None
    columns = [Column("system", "name"), *map(Column, compared.measures)]
    if lettered:
        columns.insert(0, Column("#", "mark", descends=False))
    signed = np.where(compared.sign_of() == 0, np.nan, compared.means * compared.sign_of())
    best = [numbers.is_best(means) for means in signed.T.tolist()]
    marks = _marks(compared)
    rows = []
    for i, system in enumerate(compared.systems):
        cells = [Cell(system, after="baseline" if system == compared.baseline else "")]
        if lettered:
            cells.insert(0, Cell(letter(i), i))
        for k, mean in enumerate(compared.means[i].tolist()):
            low, high = compared.intervals[i, k].tolist()
            within = numbers.show_interval(low, high, digits) if intervals else ""
            cells.append(Cell(numbers.show(mean, digits), mean, best[k][i], within, marks[i][k]))
        for cutoff, shares in compared.judged_shares.items() if judged else ():
            share, holes = float(shares[i]), int(compared.holes[cutoff][i])
            cells += [Cell(_show_share(share), share), Cell(str(holes), holes)]
        rows.append(Row(cells))
    for cutoff in compared.judged if judged else ():
        columns.append(Column(f"judged of {cutoff}"))
        columns.append(Column("queries with holes", descends=False))
    return Table(f"Means of {many(len(compared.query_ids), 'query')}", columns, rows)


def _show_share(share: float) -> str:
    """Write a share of documents; only all of them are 100%."""
    if math.isnan(share):
        return numbers.NOTHING
    return f"{math.floor(1000 * share) / 10:.1f}%"


def _marks(compared: Compared) -> list[list[list[str]]]:
    """Say for each system and measure what it beats (with a baseline: how it compares)."""
    marks: list[list[list[str]]] = [[[] for _ in compared.measures] for _ in compared.systems]
    for pair, k in np.argwhere(compared.significant).tolist():
        a, b = compared.pairs[pair]
        difference = compared.differences[pair, k] * compared.sign_of(k)
        if compared.baseline is not None and difference:
            marks[a][k].append(document.BETTER if difference > 0 else document.WORSE)
        elif difference > 0:
            marks[a][k].append(letter(b))
        elif difference < 0:
            marks[b][k].append(letter(a))
    for of_system in marks:
        for letters in of_system:
            letters.sort(key=lambda each: (len(each), each))
    return marks


def _pairs(compared: Compared, digits: int, power: bool) -> Table:
    """Lay out one row a measure and pair; a p-value that is significant stands out.

    What tells whether a difference is real comes first: of a wide table only that may be seen.
    """
    interval = f"{100 * (1 - compared.level):g}% interval"
    if compared.simultaneous and len(compared.pairs) > 1:
        interval = f"simultaneous {interval}"
    p_values = ["p"] if compared.correction == "none" else ["p", "corrected p"]
    columns = [
        *(Column(name, "name") for name in ("measure", "system", "against")),
        Column("difference"),
        *(Column(name, descends=False) for name in p_values),
        *map(Column, (interval, "relative", "wins/ties/losses", "effect")),
    ]
    if compared.equivalent is not None:
        columns += [Column("not worse"), Column("equivalent")]
    if power:
        columns += [Column("detectable", descends=False), Column("queries needed", descends=False)]
    systems = compared.systems
    rows = []
    for k, measure in enumerate(compared.measures):
        for pair, (a, b) in enumerate(compared.pairs):
            names = map(Cell, (measure, systems[a], systems[b]))
            cells = [*names, *_numbers(compared, pair, k, digits)]
            if power:
                least, needed = compared.detectable[pair, k], compared.queries_needed[pair, k]
                cells += [Cell(numbers.show(least, digits), least)]
                cells += [Cell(numbers.show(needed, 0), needed)]
            rows.append(Row(cells))
    return Table("Pairs of systems; significant p-values are bold", columns, rows, whole=True)


def _numbers(compared: Compared, pair: int, k: int, digits: int) -> list[Cell]:
    """Write the numbers of a pair."""
    at = pair, k
    difference, relative = float(compared.differences[at]), float(compared.relative[at])
    low, high = compared.difference_intervals[at].tolist()
    counts = [int(each[at]) for each in (compared.wins, compared.ties, compared.losses)]
    effect, p = float(compared.effects[at]), float(compared.p_values[at])
    p_values = [p] if compared.correction == "none" else [p, float(compared.corrected[at])]
    significant = bool(compared.significant[at])
    cells = [
        Cell(numbers.show_change(difference, digits), difference),
        *(
            Cell(numbers.show_p(each, compared.level), each, significant and k == len(p_values))
            for k, each in enumerate(p_values, 1)
        ),
        Cell(numbers.show_interval(low, high, digits, signed=True), low),
        Cell(numbers.show_percent(relative), relative),
        Cell("/".join(map(str, counts)), counts[0] - counts[2]),
        Cell(numbers.show_change(effect, 2), effect),
    ]
    for found in (compared.not_worse_p, compared.equivalence_p):
        if found is not None:
            each = float(found[at])
            told = "yes" if each < compared.level else "no"
            shown = numbers.show_p(each, compared.level)
            cells.append(Cell(f"{told}, p {shown}" if p == p else numbers.NOTHING, -each))
    return cells
