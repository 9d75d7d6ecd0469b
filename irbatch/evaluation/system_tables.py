"""Results of several systems as a document: one row a system, or one a system and query."""

from __future__ import annotations

from collections.abc import Mapping

from irbatch.errors import many
from irbatch.evaluation.means import better_of, heading, show_value, tell_different_queries
from irbatch.evaluation.results import ALL, Results
from irbatch.measures import Measure
from irbatch.report.document import BEST, BETTER, WORSE, Cell, Column, Document, Row, Table
from irbatch.report.numbers import check_digits, is_best


def make_document(
    results: Mapping[str, Results],
    digits: int = 4,
    names: str = "irbatch",
    arrows: bool = False,
    per_query: bool = False,
) -> Document:
    """Return the report of several systems; see `SystemResults`."""
    check_digits(digits)
    table = make_table(results, digits, names, arrows, per_query)
    legend = []
    if any(cell.stands_out for row in table.rows for cell in row.cells):
        legend.append((BEST, "the best of its column"))
    if arrows and any(better_of(each) for each in list_measures(results)):
        legend.append((f"{BETTER} {WORSE}", "more, less is better"))
    title = f"Results of {many(len(results), 'system')}"
    apart = tell_different_queries(results)
    note = f"{apart[0].upper()}{apart[1:]}." if apart else ""
    caption = f"{_caption(results)} {note}".rstrip()
    return Document(title, caption, legend, [table], _settings(results), note)


def make_table(
    results: Mapping[str, Results], digits: int, names: str, arrows: bool, per_query: bool
) -> Table:
    """Lay out one row a system, or with those of its queries before it."""
    measures = list_measures(results)
    columns = [Column("run", "name"), *([Column("query", "name")] if per_query else [])]
    for measure in measures:
        head = heading(measure, names, arrows=arrows)
        columns.append(Column(head, descends=measure.sign >= 0))
    means = {name: [_mean(each, measure) for measure in measures] for name, each in results.items()}
    alike = not tell_different_queries(results)
    best = [
        is_best([of_system[k] * better_of(measure) for of_system in means.values()])
        if better_of(measure) and alike
        else [False] * len(results)
        for k, measure in enumerate(measures)
    ]
    rows = []
    for i, (name, each) in enumerate(results.items()):
        cells = [
            Cell(show_value(mean, measure, digits), mean, best[k][i])
            for k, (mean, measure) in enumerate(zip(means[name], measures, strict=True))
        ]
        if per_query:
            rows += _rows_of_queries(name, each, measures, digits)
            cells.insert(0, Cell(ALL))
        rows.append(Row([Cell(name), *cells]))
    return Table(f"Means of {many(len(results), 'system')}", columns, rows)


def list_measures(results: Mapping[str, Results]) -> list[Measure]:
    """Return the measures that some system has, in order."""
    return list(dict.fromkeys(each for of_system in results.values() for each in of_system.columns))


def _mean(results: Results, measure: Measure) -> float:
    return results[measure] if str(measure) in results.measures else float("nan")


def _rows_of_queries(
    name: str, results: Results, measures: list[Measure], digits: int
) -> list[Row]:
    places = {str(each): k for k, each in enumerate(results.columns)}
    rows = []
    for query, values in zip(results.query_ids, results.values.tolist(), strict=True):
        cells = [Cell(name), Cell(str(query))]
        for each in measures:
            value = values[places[str(each)]] if str(each) in places else float("nan")
            # Measures of the whole run have no values of queries.
            text = "" if each.aggregate == "run" else show_value(value, each, digits)
            cells.append(Cell(text, value))
        rows.append(Row(cells))
    return rows


def _caption(results: Mapping[str, Results]) -> str:
    """Say how many systems and queries there are, and what the means hide."""
    counts = sorted({each.counts.queries for each in results.values()})
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    queries = f", {least}{many(counts[-1], 'query')}" if counts else ""
    said = [f"{many(len(results), 'system')}{queries}."]
    by_note: dict[str, list[str]] = {}
    for name, each in results.items():
        for note in each.notes():
            by_note.setdefault(note, []).append(name)
    for note, names in by_note.items():
        whose = "" if len(names) == len(results) else f"{', '.join(names)}: "
        said.append(f"{whose}{note}.")
    return " ".join(said)


def _settings(results: Mapping[str, Results]) -> str:
    """Write the settings that all have."""
    stated = [each.settings for each in results.values()]
    first = stated[0] if stated else {}
    shared = {k: v for k, v in first.items() if all(each.get(k) == v for each in stated)}
    return " | ".join(f"{name}: {value}" for name, value in shared.items())
