"""`irbatch overlap`: how alike two runs are, without judgments."""

from __future__ import annotations

import argparse
import functools

from irbatch.cli import note
from irbatch.cli.options import add_columns
from irbatch.cli.writing import Output, add_output, write_tsv
from irbatch.comparing.rankings import TIES, overlap, ranking_correlation
from irbatch.data.column_names import check_columns
from irbatch.errors import many
from irbatch.evaluation.evaluation import as_run
from irbatch.report import write_csv, write_json

VALUES = ("extrapolated", "minimum", "maximum", "residual", "truncated", "evened", "average")
NAMES = {name: f"rbo_{name}" for name in VALUES} | {"average": "average_overlap"}
CORRELATIONS = ("tau", "tau_ap")
ALL = "all"  # the row of means
FORMS = ("tsv", "csv", "json")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch overlap` takes."""
    parser.usage = "irbatch overlap RUN RUN [options]"
    parser.description = (
        "Compare two run files on the queries they share: rank-biased overlap (extrapolated, its "
        "bounds, truncated, cut to the same length, average overlap), and Kendall's tau and the AP "
        "correlation of the documents that both have."
    )
    parser.epilog = "example: irbatch overlap old.run new.run -p 0.9 --depth 100 -q"
    add = parser.add_argument
    add("first", metavar="RUN", help="lines of: query Q0 document rank score tag")
    add("second", metavar="RUN", help="another, compared with it")
    text = "of RBO, the persistence: how likely a reader goes on to the next document (default 0.9)"
    add("-p", metavar="P", type=float, default=0.9, help=text)
    add("--depth", metavar="RANK", type=int, help="leave out documents beyond this rank")
    text = "what becomes of documents of one score: id orders them, w, a and b are variants of "
    text += "rank-biased overlap, a and b of tau (default: id)"
    add("--ties", choices=TIES, default="id", help=text)
    add = add_output(parser, FORMS, default="tsv", digits=None)
    add("-q", "--per-query", action="store_true", help="values of each query too")
    add_columns(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, and print or write every value with every digit."""
    output = Output(options, {"run": [options.first, options.second]}, FORMS, "tsv")
    check_columns(options.columns, ("run",))
    read = functools.partial(as_run, columns=options.columns)
    runs = read(options.first), read(options.second)
    overlaps = overlap(*runs, options.p, options.depth, options.ties)
    columns = {NAMES[name]: (overlaps.per_query(name), overlaps.mean(name)) for name in VALUES}
    if options.ties != "w":
        related = ranking_correlation(*runs, options.depth, options.ties)
        columns |= {name: (related.per_query(name), related.mean(name)) for name in CORRELATIONS}
    per_query = {
        str(query): {name: values[query] for name, (values, _) in columns.items()}
        for query in (overlaps.query_ids if options.per_query else ())
    }
    means = {name: mean for name, (_, mean) in columns.items()}
    output.write(lambda form: _write(form, {**per_query, ALL: means}))
    alone = [len(run) - len(overlaps.query_ids) for run in runs]
    for path, number in zip((options.first, options.second), alone, strict=True):
        if number:
            note(f"{many(number, 'query')} only in {path}")
    return 0


def _write(form: str, rows: dict[str, dict[str, float]]) -> str:
    """Return the values of rows in a form: ``query  measure  value``, one value a line, or JSON."""
    if form == "json":
        return write_json(dict(rows), None)
    names = ["query", "measure", "value"]
    records = [
        dict(zip(names, (query, name, value), strict=True))
        for query, values in rows.items()
        for name, value in values.items()
    ]
    if form == "csv":
        return write_csv(names, records, None)
    return write_tsv([names, *(record.values() for record in records)])
