"""Tell how alike two runs are, without judgments.

On the queries they share: rank-biased overlap (extrapolated, its bounds, truncated, cut to the same
length, average overlap), and Kendall's tau and the AP correlation of the documents that both have.

example: irbatch overlap old.run new.run -p 0.9 --depth 100 -q
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from irbatch.cli import note
from irbatch.cli.options import add_columns
from irbatch.cli.writing import Output, add_output
from irbatch.comparing.rankings import TIES, Overlap, overlap, ranking_correlation
from irbatch.data.column_names import check_columns
from irbatch.errors import many
from irbatch.evaluation.evaluation import as_run
from irbatch.report import Reported
from irbatch.report.document import Record

NAMES = {name: f"rbo_{name}" for name in Overlap._fields} | {
    "average": "average_overlap", "tau": "tau", "tau_ap": "tau_ap",
}  # fmt: skip
ALL = "all"  # the row of means
FORMS = ("tsv", "csv", "json")
HEADS = ("query", "measure", "value")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch overlap RUN RUN [options]"
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


def run(options: argparse.Namespace) -> None:
    output = Output(options, {"run": [options.first, options.second]}, FORMS, "tsv")
    check_columns(options.columns, ("run",))
    read = functools.partial(as_run, columns=options.columns)
    runs = read(options.first), read(options.second)
    found = overlap(*runs, options.p, options.depth, options.ties)
    if options.ties != "w":
        correlation = ranking_correlation(*runs, options.depth, options.ties)
        found = replace(found, values=found.values | correlation.values)
    rows: dict[str, dict[str, float]] = {}
    for name in filter(found.values.__contains__, NAMES):
        per_query = found.per_query(name).items() if options.per_query else ()
        for query, value in (*per_query, (ALL, found.mean(name))):
            rows.setdefault(str(query), {})[NAMES[name]] = value
    output.write(Values(rows))
    alone = [len(run) - len(found.query_ids) for run in runs]
    for path, number in zip((options.first, options.second), alone, strict=True):
        if number:
            note(f"{many(number, 'query')} only in {path}")


class Values(Reported):
    """Values of queries and means: ``query  measure  value``, or in JSON by query and measure."""

    def __init__(self, rows: dict[str, dict[str, float]]) -> None:
        self._rows = rows

    def _everything(self) -> Record:
        return dict(self._rows)

    def _records(self) -> tuple[Sequence[str], Iterable[Record]]:
        rows = self._rows.items()
        cells = ((query, name, value) for query, of in rows for name, value in of.items())
        return HEADS, (dict(zip(HEADS, row, strict=True)) for row in cells)
