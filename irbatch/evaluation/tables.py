"""Means and values of systems side by side: the columns, rows and lines of their reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.errors import InputError, many
from irbatch.evaluation.queries import QueryMark, level_of
from irbatch.measures import Measure, parse_measures
from irbatch.report import document
from irbatch.report.document import BEST, Cell, Column, Document, Record, Table
from irbatch.report.text import best_first, check_digits, is_best, show, show_interval, tell_few

ALL = "all"  # what trec_eval calls the row of means
VALUE = ("run", "query", "measure", "value")
BOUNDS = ("low", "high")
NO_BOUNDS = (math.nan, math.nan)
Systems = Mapping[str, Any]  # names to `Results`, which know of their tables


def show_value(value: float, measure: Measure, digits: int) -> str:
    """Write a value: a count as a whole number."""
    whole = measure.aggregate == "sum" and value.is_integer()
    return show(value, 0 if whole else digits)


def find_interval(
    results: Any, name: str | Measure, kind: str, level: float
) -> tuple[float, float]:
    """Return the bounds of one measure's mean; arguments are as of `Results.intervals`."""
    from irbatch.statistics.intervals import bounded_intervals, cut_intervals, find_intervals

    column = results.column_of(name)
    measure, values = results.columns[column], results.values[:, column]
    values = values[~np.isnan(values)]
    geometric = measure.aggregate == "geometric"
    is_mean = measure.aggregate == "mean" or (geometric and bool((values > 0).all()))
    if not is_mean or len(values) < 2:
        return NO_BOUNDS
    mean, least, most = map(np.array, (results[measure], *measure.range))
    if kind == "bounded" and np.isfinite(most - least) and not geometric:
        bounds = bounded_intervals(values[:, None], least[None], most[None], level)[0]
    else:
        table = (np.log(values) if geometric else values)[None, :, None]
        options = "t" if kind == "bounded" else kind, level, 2000, 0
        bounds = find_intervals(table, [], *options, geometric=np.array([geometric])).means[0, 0]
    low, high = cut_intervals(bounds, mean, least, most).tolist()
    return low, high


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
    if len(counts) < 2 and all(queries == ids[0] or set(queries) == set(ids[0]) for queries in ids):
        return ""
    several = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    common = set(ids[0] if ids else ()).intersection(*ids)
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


def list_measures(results: Systems) -> list[Measure]:
    """Return the measures that some system has, in order."""
    return list(dict.fromkeys(of for system in results.values() for of in system.columns))


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


class Line(NamedTuple):
    """The values of a query of a system, or its means; their intervals where they are asked for."""

    run: str
    query: str  # ALL of means
    is_mean: bool
    values: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]


def list_lines(results: Systems, names: str, per_query: bool, intervals: bool) -> Iterator[Line]:
    """Yield the means of each system, after the values of its queries if asked for."""
    for run, system in results.items():
        if per_query and system.has_values:
            for query, values in system.to_dict(names).items():
                yield Line(run, str(query), False, values, {})
        bounds = system.intervals(names=names) if intervals else {}
        yield Line(run, ALL, True, system.mean(names), bounds)


def _make_table(
    results: Systems, digits: int, names: str, per_query: bool, intervals: bool
) -> Table:
    """Lay out one row a system, or with those of its queries before it."""
    lines = [*list_lines(results, "irbatch", per_query, intervals)]
    compared = [] if tell_different_queries(results) else [line for line in lines if line.is_mean]
    columns = []
    if not per_query or len(results) > 1:
        columns.append(Column("run", "name", text=lambda line: line.run))
    if per_query:
        columns.append(Column("query", "name", text=lambda line: line.query))
    columns += [_column(of, compared, digits, names) for of in list_measures(results)]
    return document.make_table(f"Means of {many(len(results), 'system')}", columns, lines)


def _column(measure: Measure, means: Sequence[Line], digits: int, names: str) -> Column:
    """Return the column of a measure, in which the best of some means stand out."""
    name = str(measure)
    sign = 0 if measure.aggregate == "sum" else measure.sign  # more counts are no better
    signed = [line.values.get(name, math.nan) * sign for line in means]
    best = [line for line, it_is in zip(means, is_best(signed), strict=True) if it_is and sign]

    def more(line: Line) -> Record:
        low, high = line.bounds.get(name, NO_BOUNDS)
        within = "" if math.isnan(low) else show_interval(low, high, digits)
        return {"stands_out": line in best, "after": within}

    return Column(
        measure.spelled(names),
        descends=measure.sign >= 0,
        value=lambda line: line.values.get(name, math.nan),
        show=lambda value: show_value(value, measure, digits),
        more=more,
    )


def _sorted_systems(results: Systems, sort: str | Measure) -> Systems:
    by = parse_measures([sort])[0]
    if by not in list_measures(results):
        raise InputError(f"{by} was not evaluated", source="sort", value=str(by))
    means = (system[by] if by in system.columns else math.nan for system in results.values())
    names = list(results)
    return {names[place]: results[names[place]] for place in best_first(means, by.sign)}


def _by_measure(table: Table) -> Table:
    """Turn the means of an only system into a row a measure, under its name."""
    (name, *means), of_means = table.rows[0], table.columns[1:]
    rows = [(Cell(of.heading), cell) for of, cell in zip(of_means, means, strict=True)]
    return Table(table.caption, [Column("measure", "name"), Column(name.text)], rows)


def document_of(
    results: Systems,
    digits: int,
    names: str,
    per_query: bool,
    intervals: bool,
    sort: str | Measure | None,
) -> Document:
    """Return the report of systems, or of one; `Results` and `SystemResults` tell the options."""
    check_digits(digits)
    if sort is not None:
        results = _sorted_systems(results, sort)
    table = _make_table(results, digits, names, per_query, intervals)
    if len(results) == 1 and not per_query:
        table = _by_measure(table)
    stated = [system.settings for system in results.values()]
    shared = stated[0].items() if stated else ()
    common = {k: v for k, v in shared if all(settings.get(k) == v for settings in stated)}
    has_best = any(cell.stands_out for row in table.rows for cell in row)
    legend = [(BEST, "the best of its column")] if has_best else []
    apart, level = tell_different_queries(results), level_of(common)
    counts = sorted({system.counts.queries for system in results.values()})
    few = tell_few(counts[0]) if intervals and counts else ""
    remarks = [
        "" if level == "1" else f"Relevant from grade {level}.",
        f"In brackets: 95% intervals{few}." if intervals else "",
        f"{apart[0].upper()}{apart[1:]}." if apart else "",
    ]
    note = " ".join(filter(None, remarks))
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    queries = f", {least}{many(counts[-1], 'query')}" if counts else ""
    systems = many(len(results), "system")
    caption = f"{'. '.join([systems + queries, *list_notes(results)])}. {note}".rstrip()
    footer = " | ".join(f"{name}: {value}" for name, value in common.items())
    return Document(f"Results of {systems}", caption, legend, [table], footer, note)
