"""`irbatch explain`: the queries on which two systems differ, and why."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from irbatch.cli.inputs import check_inputs
from irbatch.cli.settings import SETTINGS, add_settings
from irbatch.cli.writing import add_written, check_written, files_asked
from irbatch.comparing.explaining import Explanation
from irbatch.comparing.explaining.verb import SIDES, explain
from irbatch.errors import InputError
from irbatch.measures import measure
from irbatch.report.numbers import check_digits

FORMATS = ("text", "markdown", "json")
WRITTEN = ("html", "markdown", "json")
TEXTS = ("topics", "documents")


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch explain` takes."""
    parser.description = (
        "Show the queries whose values changed most from one run to another, the documents that "
        "moved, were lost or missed, what each adds to the value, and both rankings side by side."
    )
    parser.epilog = (
        "example: irbatch explain qrels.txt old.run new.run -m nDCG@10 --only worse "
        "--topics queries.tsv --documents corpus.jsonl --html why.html"
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    add("a", metavar="A", help="a run: lines of query Q0 document rank score tag")
    add("b", metavar="B", help="another, compared with it")
    told = "one that reads grades (default: nDCG@10)"
    add("-m", "--measure", metavar="MEASURE", default="nDCG@10", help=told)
    add("--only", choices=SIDES, help="queries that got so with B (default: both)")
    told = "how many queries, those that changed most (default: 10)"
    add("-n", "--queries", metavar="N", type=int, default=10, help=told)
    told = "this query, whether it changed or not; repeat for more"
    add("--query", dest="ids", metavar="ID", action="append", help=told)
    told = "ranks of both rankings that are shown (default: to the cutoff, 20 at most)"
    add("--depth", metavar="RANK", type=int, help=told)
    told = "texts of {}: lines of an id, a tab and the text, or of JSON as BEIR has them"
    add("--topics", "--queries-file", metavar="FILE", help=told.format("queries"))
    add("--documents", metavar="FILE", help=told.format("documents"))
    add_settings(parser)
    add("--format", choices=FORMATS, default=FORMATS[0])
    told = "decimals of values, in tables (default: 4)"
    add("--digits", type=int, default=4, metavar="N", help=told)
    add_written(parser, forms=WRITTEN)
    parser.set_defaults(command=run_explain)


def run_explain(options: argparse.Namespace) -> int:
    """Explain, print, and write files."""
    wanted = measure(options.measure)
    texts = {name: getattr(options, name) for name in TEXTS}
    inputs = [options.qrels, options.a, options.b, *filter(None, texts.values())]
    check_inputs(options.qrels, inputs[1:])
    if inputs.count("-") > 1:
        raise InputError("standard input cannot be two of them", path="-")
    check_written(options, inputs)
    check_digits(options.digits)
    found = explain(
        options.qrels, options.a, options.b, wanted,
        queries=options.ids or options.queries, only=options.only, depth=options.depth,
        **texts, **{name: getattr(options, name) for name in SETTINGS},
    )  # fmt: skip
    found = replace(found, measure=wanted.spelled(options.names))
    print(_write(found, options.format, options.digits), end="")
    for form, path in files_asked(options, WRITTEN).items():
        _write(found, form, options.digits, path=path)
    return 0


def _write(found: Explanation, form: str, digits: int, **more: Any) -> str:
    """Return a form of the report, or also write it."""
    given = more if form == "json" else {"digits": digits, **more}
    return str(getattr(found, f"to_{form}")(**given))
