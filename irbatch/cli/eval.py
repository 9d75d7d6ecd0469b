"""Evaluate runs against judgments.

Files are in TREC's, BEIR's or MS MARCO's form, JSON lines or Parquet; a folder or a quoted pattern
of names is one run. Text files may be compressed (gzip, bzip2, xz, zstd); - is standard input. All
queries of the qrels are averaged.

example: irbatch eval qrels.txt bm25.run -m nDCG@10 -m "P@{5,10}" -q
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from irbatch.cli import note
from irbatch.cli.inputs import ITEM_COLUMNS, name_runs, read_items
from irbatch.cli.options import (
    SETTINGS,
    add_gate,
    add_measures,
    add_settings,
    check_sort,
    judge,
    measures_of,
)
from irbatch.cli.writing import TABLES, Output, add_output, add_paper, chosen
from irbatch.evaluation.results import SystemResults
from irbatch.evaluation.runs import evaluate, evaluate_runs
from irbatch.evaluation.tables import ask_about_parts, list_notes, tell_different_queries
from irbatch.formats.files import read_qrels
from irbatch.measures import Measure
from irbatch.runtime.numbers import check_whole

FORMS = (*TABLES, "tsv", "csv", "json")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch eval QRELS RUN [RUN ...] [-m MEASURE ...] [options]"
    add = parser.add_argument
    text = "lines of: query iter document grade; or as measures read them, of subtopics or samples"
    add("qrels", metavar="QRELS", help=text)
    text = "lines of: query Q0 document rank score tag; NAME=RUN says what to call it"
    add("runs", metavar="RUN", nargs="+", help=text)
    text = "evaluate runs, or the files of a run in parts (a folder, a pattern), in N processes"
    add("-j", "--jobs", metavar="N", type=int, default=1, help=text)
    add_measures(parser)
    add = add_output(parser, FORMS, default="text on a terminal, tsv in a pipe", sort=True)
    add("-q", "--per-query", action="store_true", help="values of each query too")
    text = "95%% intervals of means, by Student's t; of csv and tsv as columns low and high"
    add("--intervals", dest="bounds", action="store_true", help=text)
    add_gate(parser, "'nDCG@10 < 0.35'", "'nDCG@10 >= 0.35', 'missing queries <= 5'")
    add_settings(parser)
    add = parser.add_argument_group("items of recommendations").add_argument
    text = f"table of items, with a header: item, and any of {', '.join(ITEM_COLUMNS)} (csv, tsv)"
    add("--items", metavar="FILE", help=text)
    text = "what users had before, in a form of judgments: popularity and histories come from it"
    add("--interactions", metavar="FILE", help=text)
    text = "what a document does that isn't among the items (default: error)"
    add("--outside", choices=("error", "ignore"), default="error", help=text)
    text = "what to take out of rankings first, in a form of judgments: what users have seen"
    add("--exclude", metavar="FILE", help=text)
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    # All that can be rejected without reading anything is rejected first.
    measures = measures_of(options, alone=True)
    check_sort(options.sort, measures)
    runs = name_runs(options.runs)
    check_whole("jobs", options.jobs, 1)
    default_form = "text" if sys.stdout.isatty() else "tsv"
    files = chosen(options, ("items", "interactions", "exclude"))
    inputs = {name: [path] for name, path in files.items()}
    inputs |= {"qrels": [options.qrels], "run": [*runs.values()]}
    output = Output(options, inputs, FORMS, default_form)
    results = _evaluate(options, runs, measures)
    outcomes, status = judge(options, results)
    shape = {"per_query": options.per_query, "intervals": options.bounds}
    output.write(results, {"json": {"gates": outcomes}}, names=options.names, **shape)
    output.add_notes([*list_notes(results), tell_different_queries(results)])
    if question := ask_about_parts(results):
        note(question)
    return status


def _evaluate(
    options: argparse.Namespace, runs: Mapping[str, str], measures: tuple[Measure, ...]
) -> SystemResults:
    settings: dict[str, Any] = chosen(options, SETTINGS)
    settings["items"] = read_items(options.items, options.interactions, options.outside)
    if options.exclude is not None:
        settings["exclude"] = read_qrels(options.exclude, repeats="first")
    settings["progress"] = sys.stderr.isatty() and find_spec("rich") is not None
    settings["executor"] = options.jobs if options.jobs > 1 else None
    if len(runs) > 1:
        return evaluate_runs(options.qrels, runs, measures, **settings)
    ((name, run),) = runs.items()  # whose parts are what processes evaluate
    return SystemResults({name: evaluate(options.qrels, run, measures, **settings)})
