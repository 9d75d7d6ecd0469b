"""`irbatch explain`: the queries on which two systems differ, and why."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from irbatch.cli.inputs import check_inputs
from irbatch.cli.settings import SETTINGS, add_measure, add_settings
from irbatch.cli.writing import (
    TABLES,
    add_output,
    check_written,
    files_asked,
    form_of,
    of_terminal,
    write_result,
)
from irbatch.comparing.explain import SIDES, explain
from irbatch.comparing.explanation import Explanation
from irbatch.errors import InputError
from irbatch.measures import measure
from irbatch.report.numbers import check_digits

FORMS = ("text", "markdown", "html", "json")
WRITTEN = ("html", "markdown", "json")
TEXTS = ("topics", "documents")


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Declare what `irbatch explain` takes."""
    parser.usage = "irbatch explain QRELS A B [-m MEASURE] [options]"
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
    add_measure(parser, "one that reads grades (default: nDCG@10)", default="nDCG@10")
    add = parser.add_argument_group("what is shown").add_argument
    add("--only", choices=SIDES, help="queries that got so with B (default: both)")
    told = "so many queries at most, those that changed most (default: 10)"
    add("-n", "--most", metavar="N", type=int, help=told)
    told = "this query, whether it changed or not; repeat for more"
    add("--query", dest="queries", metavar="ID", action="append", help=told)
    told = "ranks of both rankings that are shown (default: to the cutoff, 20 at most)"
    add("--depth", metavar="RANK", type=int, help=told)
    told = "texts of {}: lines of an id, a tab and the text, or of JSON as BEIR has them"
    add("--topics", metavar="FILE", help=told.format("queries"))
    add("--documents", metavar="FILE", help=told.format("documents"))
    add_output(parser, FORMS, beside=WRITTEN)
    add_settings(parser)
    parser.set_defaults(command=run_explain)


def run_explain(options: argparse.Namespace) -> int:
    """Explain, print, and write files."""
    wanted = measure(options.measure)
    texts = {name: getattr(options, name) for name in TEXTS}
    inputs = [options.qrels, options.a, options.b, *filter(None, texts.values())]
    if inputs.count("-") > 1:
        raise InputError("standard input cannot be two of them", path="-")
    check_written(options, inputs)
    form = form_of(options, FORMS)
    if options.digits is not None:
        check_digits(options.digits)
    check_inputs(options.qrels, inputs[1:3])
    found = explain(
        options.qrels, options.a, options.b, wanted,
        queries=options.queries, most=options.most, only=options.only, depth=options.depth,
        **texts, **{name: getattr(options, name) for name in SETTINGS},
    )  # fmt: skip
    found = replace(found, measure=wanted.spelled(options.names))
    shown = of_terminal(options, form)
    write_result(options, _write(found, form, options.digits, **shown))
    for form, path in files_asked(options, WRITTEN).items():
        _write(found, form, options.digits, path=path)
    return 0


def _write(found: Explanation, form: str, digits: int | None, **more: Any) -> str:
    """Return a form of the report, or also write it."""
    given = {"digits": digits} if form in TABLES and digits is not None else {}
    return str(getattr(found, f"to_{form}")(**given, **more))
