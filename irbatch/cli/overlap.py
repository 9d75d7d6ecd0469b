"""`irbatch overlap`: how alike two runs are, without judgments."""

from __future__ import annotations

import argparse
import sys

from irbatch.comparing.correlation import overlap, ranking_correlation
from irbatch.comparing.rank_biased_overlap import TIES
from irbatch.errors import InputError, on_one_line
from irbatch.evaluation.task import as_run

VALUES = ("extrapolated", "minimum", "maximum", "residual", "truncated", "evened", "average")
CORRELATIONS = ("tau", "tau_ap")
ALL = "all"  # the row of means


def add_overlap(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch overlap` takes."""
    parser.description = (
        "Compare two run files on the queries they share: rank-biased overlap (extrapolated, its "
        "bounds, truncated, cut to the same length, average overlap), and Kendall's tau and the AP "
        "correlation of the documents that both have."
    )
    parser.epilog = "example: irbatch overlap old.run new.run -p 0.9 --depth 100 -q"
    add = parser.add_argument
    add("first", metavar="RUN", help="lines of: query Q0 document rank score tag")
    add("second", metavar="RUN", help="another, compared with it")
    told = "persistence: how likely a reader goes on to the next document (default 0.9)"
    add("-p", "--persistence", metavar="P", type=float, default=0.9, help=told)
    add("--depth", metavar="RANK", type=int, help="leave out documents beyond this rank")
    told = "what becomes of documents of one score: id orders them, w, a and b are variants of "
    told += "rank-biased overlap, a and b of tau (default: id)"
    add("--ties", choices=TIES, default="id", help=told)
    add("-q", "--per-query", action="store_true", help="values of each query too")
    parser.set_defaults(command=run_overlap)


def run_overlap(options: argparse.Namespace) -> int:
    """Compare and print ``query  measure  value``, one value a line, with every digit."""
    if options.first == options.second == "-":
        raise InputError("standard input cannot be both runs", path="-")
    runs = as_run(options.first), as_run(options.second)
    found = overlap(*runs, options.persistence, options.depth, options.ties)
    columns = {name: (found.per_query(name), found.mean(name)) for name in VALUES}
    if options.ties != "w":
        related = ranking_correlation(*runs, options.depth, options.ties)
        columns |= {name: (related.per_query(name), related.mean(name)) for name in CORRELATIONS}
    lines = ["query\tmeasure\tvalue"]
    for query in found.query_ids if options.per_query else ():
        name = on_one_line(str(query))
        lines += [f"{name}\t{column}\t{values[query]}" for column, (values, _) in columns.items()]
    lines += [f"{ALL}\t{column}\t{mean}" for column, (_, mean) in columns.items()]
    print("\n".join(lines))
    alone = [len(run) - len(found.query_ids) for run in runs]
    for path, number in zip((options.first, options.second), alone, strict=True):
        if number:
            print(f"note: {number} queries stand in {on_one_line(path)} alone", file=sys.stderr)
    return 0
