"""Means and values of systems side by side: the columns, rows and lines of their reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from irbatch.errors import InputError, many
from irbatch.evaluation.queries import QueryMark, level_of
from irbatch.measures import Measure, parse_measures
from irbatch.report.document import (
    BEST,
    BETTER,
    WORSE,
    Cell,
    Column,
    Document,
    Record,
    Row,
    Table,
)
from irbatch.report.numbers import best_first, check_digits, is_best, show, show_interval

ARROWS = {1: " ↑", -1: " ↓", 0: ""}
ALL = "all"  # what trec_eval calls the row of means
VALUE = ("run", "query", "measure", "value")
BOUNDS = ("low", "high")
NO_BOUNDS = (math.nan, math.nan)
Systems = Mapping[str, Any]  # names to `Results`, which know of their tables


def better_of(measure: Measure) -> int:
    """Return `Measure.sign`; 0 of counts, of which neither more nor less is better."""
    return 0 if measure.aggregate == "sum" else measure.sign


def show_value(value: float, measure: Measure, digits: int) -> str:
    """Write a value: a count as a whole number."""
    whole = measure.aggregate == "sum" and value.is_integer()
    return show(value, 0 if whole else digits)


def tell_how(settings: Mapping[str, str], intervals: bool) -> str:
    """Say what is relevant, unless that is usual, and what stands in brackets."""
    level = level_of(settings)
    relevant = [] if level == "1" else [f"Relevant from grade {level}."]
    return " ".join([*relevant, "In brackets: 95% intervals."] if intervals else relevant)


def tell_different_queries(results: Systems) -> str:
    """Say that systems' means are over different queries; nothing if all have the same.

    >>> import irbatch
    >>> qrels, run = {"q1": {"d": 1}, "q2": {"d": 1}}, {"d": 1.0}
    >>> runs = {"a": {"q1": run}, "b": {"q2": run}}
    >>> tell_different_queries(irbatch.evaluate_runs(qrels, runs, "AP", missing="skip"))
    'means over different queries, 1 a system, 0 in all of them: none is marked as best'
    """
    counts = sorted({system.counts.queries for system in results.values()})
    # Means alone have no ids: their counts may still tell.
    ids = [system.query_ids for system in results.values() if system.has_values]
    if len(counts) < 2 and all(queries == ids[0] for queries in ids):
        return ""
    common = set(ids[0] if ids else ()).intersection(*ids)
    if len(counts) < 2 and all(len(queries) == len(common) for queries in ids):
        return ""  # in other orders
    several = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    shared = f", {len(common)} in all of them" if len(ids) == len(results) else ""
    return f"means over different queries, {several} a system{shared}: none is marked as best"


def ask_about_parts(results: Systems) -> str:
    """Ask about systems of which each answers other queries; nothing of others."""
    ids = [system.query_ids for system in results.values()]
    if len(ids) < 2 or any(queries != ids[0] for queries in ids):
        return ""
    lacking = np.array([QueryMark.MISSING.holds(system.marks) for system in results.values()])
    if lacking.all(axis=1).any() or (lacking.sum(axis=0) < len(ids) - 1).any():
        return ""
    problem = "each system answers other queries: is it one run in parts?"
    return f"{problem} Give its files as one system, in a list, a folder or a pattern"


def list_values(
    results: Systems, *, names: str = "irbatch", per_query: bool = False, intervals: bool = False
) -> tuple[tuple[str, ...], Iterator[Record]]:
    """Return the names of columns, and a row for each value with every digit."""
    heads = (*VALUE, *BOUNDS) if intervals else VALUE
    return heads, _iterate_values(results, names, per_query, intervals)


def _iterate_values(
    results: Systems, names: str, per_query: bool, intervals: bool
) -> Iterator[Record]:
    """Yield run, query and measure of each value; the mean's query is ``all``."""
    for run, system in results.items():
        rows = system.to_dict(names) if per_query else {}
        if ALL in system.rows and rows:
            problem = "a query is called 'all', as rows of means are: to_json() tells them apart"
            raise InputError(problem, source="results", query=ALL)
        bounds = system.intervals(names=names) if intervals else {}
        sums = {of.spelled(names) for of in system.columns if of.aggregate == "sum"}
        for query, row in [*rows.items(), (ALL, system.mean(names))]:
            for name, value in row.items():
                whole = name in sums and value.is_integer()
                number: Any = int(value) if whole else value
                record = dict(zip(VALUE, (run, str(query), name, number), strict=True))
                if intervals:
                    ends = bounds[name] if query == ALL else ("", "")
                    record |= dict(zip(BOUNDS, ends, strict=True))
                yield record


def make_table(
    results: Systems,
    *,
    digits: int = 4,
    names: str = "irbatch",
    arrows: bool = False,
    per_query: bool = False,
    intervals: bool = False,
    sort: str | Measure | None = None,
) -> Table:
    """Lay out one row a system, or with those of its queries before it; see `SystemResults`."""
    check_digits(digits)
    if sort is not None:
        results = _sorted_systems(results, sort)
    measures = list_measures(results)
    columns = [Column("run", "name"), *([Column("query", "name")] if per_query else [])]
    for measure in measures:
        arrow = ARROWS[better_of(measure)] if arrows else ""
        columns.append(Column(measure.spelled(names) + arrow, descends=measure.sign >= 0))
    means = {
        name: [system[of] if of in system.columns else math.nan for of in measures]
        for name, system in results.items()
    }
    alike = not tell_different_queries(results)
    best = [
        is_best([of_system[k] * better_of(measure) for of_system in means.values()])
        if better_of(measure) and alike
        else [False] * len(results)
        for k, measure in enumerate(measures)
    ]
    rows = []
    for i, (name, system) in enumerate(results.items()):
        bounds = system.intervals() if intervals else {}
        cells = []
        for k, (mean, measure) in enumerate(zip(means[name], measures, strict=True)):
            low, high = bounds.get(str(measure), NO_BOUNDS)
            within = "" if math.isnan(low) else show_interval(low, high, digits)
            cells.append(Cell(show_value(mean, measure, digits), mean, best[k][i], within))
        if per_query:
            rows += _rows_of_queries(name, system, measures, digits)
            cells.insert(0, Cell(ALL))
        rows.append(Row([Cell(name), *cells]))
    return Table(f"Means of {many(len(results), 'system')}", columns, rows)


def document_of_results(results: Any, *, per_query: bool, **shaped: Any) -> Document:
    """Return the report of one system; see `Results` for its options."""
    title = results.name or type(results).__name__
    table = make_table({title: results}, per_query=per_query, **shaped)
    if per_query:
        columns, rows = table.columns[1:], [Row(row.cells[1:]) for row in table.rows]
        table = Table("Queries, and all of them", columns, rows)
    else:
        means = zip(table.columns[1:], table.rows[0].cells[1:], strict=True)
        rows = [Row([Cell(column.heading), cell]) for column, cell in means]
        table = Table("Over all queries", [Column("measure", "name"), Column("value")], rows)
    note = tell_how(results.settings, shaped["intervals"])
    caption = ". ".join([many(results.counts.queries, "query"), *results.notes()])
    return Document(title, f"{caption}. {note}".rstrip(), [], [table], results.signature, note)


def document_of_systems(results: Systems, *, arrows: bool, **shaped: Any) -> Document:
    """Return the report of systems; see `SystemResults` for its options."""
    table = make_table(results, arrows=arrows, **shaped)
    legend = []
    if any(cell.stands_out for row in table.rows for cell in row.cells):
        legend.append((BEST, "the best of its column"))
    if arrows and any(map(better_of, list_measures(results))):
        legend.append((f"{BETTER} {WORSE}", "more, less is better"))
    apart, systems = tell_different_queries(results), many(len(results), "system")
    note = f"{apart[0].upper()}{apart[1:]}." if apart else ""
    counts = sorted({system.counts.queries for system in results.values()})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    queries = f", {least}{many(counts[-1], 'query')}" if counts else ""
    stated = [system.settings for system in results.values()]
    shared = stated[0].items() if stated else ()
    common = {k: v for k, v in shared if all(settings.get(k) == v for settings in stated)}
    note = f"{tell_how(common, shaped['intervals'])} {note}".strip()
    caption = f"{'. '.join([systems + queries, *list_notes(results)])}. {note}".rstrip()
    footer = " | ".join(f"{name}: {value}" for name, value in common.items())
    return Document(f"Results of {systems}", caption, legend, [table], footer, note)


def _sorted_systems(results: Systems, sort: str | Measure) -> Systems:
    by = parse_measures([sort])[0]
    if by not in list_measures(results):
        raise InputError(f"{by} was not evaluated", source="sort", value=str(by))
    means = (system[by] if by in system.columns else math.nan for system in results.values())
    names = list(results)
    return {names[place]: results[names[place]] for place in best_first(means, by.sign)}


def list_measures(results: Systems) -> list[Measure]:
    """Return the measures that some system has, in order."""
    return list(dict.fromkeys(of for system in results.values() for of in system.columns))


def _rows_of_queries(name: str, results: Any, measures: list[Measure], digits: int) -> list[Row]:
    places = {measure: k for k, measure in enumerate(results.columns)}
    rows = []
    for query, values in zip(results.query_ids, results.values.tolist(), strict=True):
        cells = [Cell(name), Cell(str(query))]
        for measure in measures:
            value = values[places[measure]] if measure in places else math.nan
            # Measures of the whole run have no values of queries.
            text = "" if measure.aggregate == "run" else show_value(value, measure, digits)
            cells.append(Cell(text, value))
        rows.append(Row(cells))
    return rows


def list_notes(results: Systems) -> list[str]:
    """List what means hide, each note once, with the systems of which it holds if not of all."""
    by_note: dict[str, list[str]] = {}
    for name, system in results.items():
        for note in system.notes():
            by_note.setdefault(note, []).append(name)
    return [
        note if len(names) == len(results) else f"{', '.join(names)}: {note}"
        for note, names in by_note.items()
    ]
