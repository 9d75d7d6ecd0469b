"""`irbatch eval`: read, evaluate, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from irbatch.cli.inputs import check_there, name_runs, read_items
from irbatch.cli.options import (
    DEFAULT_MEASURES,
    SETTINGS,
    add_gate,
    add_items,
    add_measures,
    add_settings,
    check_sort,
    judge,
    tell,
)
from irbatch.cli.terminal import note, progress_of
from irbatch.cli.writing import TABLES, Output, add_output, add_paper, write_tsv
from irbatch.data.column_names import check_columns, names_for
from irbatch.errors import many
from irbatch.evaluation.evaluation import judgments_read
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate, evaluate_runs
from irbatch.formats.files import read_qrels
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import check_whole

FORMS = (*TABLES, "tsv", "csv", "json")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.usage = "irbatch eval QRELS RUN [RUN ...] [-m MEASURE ...] [options]"
    parser.description = (
        "Evaluate run files against a qrels file, in TREC's, BEIR's or MS MARCO's form, JSON lines "
        "or Parquet, of which a folder or a quoted pattern of names is one run. Text files may be "
        "compressed (gzip, bzip2, xz, zstd); - is standard input. All queries of the qrels are "
        "averaged."
    )
    parser.epilog = 'example: irbatch eval qrels.txt bm25.run -m nDCG@10 -m "P@{5,10}" -q'
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
    add_items(parser)
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    """Evaluate every run and print one table of all."""
    # All that can be rejected without reading anything is rejected first.
    measures = _with_required(options, parse_measures(options.measures or DEFAULT_MEASURES))
    check_sort(options.sort, measures)
    runs = name_runs(options.runs)
    check_whole("jobs", options.jobs, 1)
    default_form = "text" if sys.stdout.isatty() else "tsv"
    output = Output(options, [options.qrels, *runs.values()], FORMS, default_form)
    check_there(options.qrels, runs.values())
    results = _evaluate(options, runs, measures)
    shaped = {"names": options.names, "per_query": options.per_query}
    shaped["intervals"] = options.bounds
    outcomes = judge(options, results)
    output.write(lambda form, **shaping: _report(results, outcomes, form, {**shaped, **shaping}))
    _note(results)
    return tell((outcome.passed, outcome.told) for outcome in outcomes)


def _evaluate(
    options: argparse.Namespace, runs: Mapping[str, str], measures: tuple[Measure, ...]
) -> dict[str, Results]:
    """Read and evaluate, showing how far it is."""
    settings: dict[str, Any] = {name: getattr(options, name) for name in SETTINGS}
    settings["items"] = read_items(options.items, options.interactions)
    check_columns(options.columns)
    column_names, marks = names_for(options.columns, "qrels"), judgments_read(measures)
    if options.jobs > 1:
        settings["executor"] = options.jobs
    with progress_of(1 + len(runs)) as progress:
        reading = progress(options.qrels)
        how = {"marks": marks, "repeats": options.repeats, "progress": reading}
        qrels = read_qrels(options.qrels, columns=column_names, **how)
        if options.jobs > 1 and len(runs) > 1:
            settings["progress"] = progress(many(len(runs), "run"))
            return evaluate_runs(qrels, runs, measures, **settings)
        return {
            name: evaluate(qrels, run, measures, progress=progress(run), **settings)
            for name, run in runs.items()
        }


def _report(
    results: Mapping[str, Results], outcomes: Sequence[Any], form: str, shaped: dict[str, Any]
) -> str:
    """Return the form that is asked for, importing no other."""
    from irbatch.evaluation.systems import SystemResults
    from irbatch.evaluation.tables import BOUNDS, VALUE, list_values, make_table

    if form == "text":
        from irbatch.report.text import write_table

        shown = {name: shaped.pop(name) for name in ("ansi", "width") if name in shaped}
        return write_table(make_table(results, **shaped), **shown) + "\n"
    if form == "tsv":
        head = (*VALUE, *BOUNDS) if shaped["intervals"] else VALUE
        return write_tsv([head, *(row.values() for row in list_values(results, **shaped))])
    if outcomes and form == "json":
        from irbatch.report.reported import write_json

        everything = SystemResults(results)._everything(**shaped)
        for outcome in outcomes:
            everything[outcome.system].setdefault("gates", []).append(outcome._asdict())
        return write_json(everything, None)
    return str(getattr(SystemResults(results), f"to_{form}")(**shaped))


def _with_required(
    options: argparse.Namespace, measures: tuple[Measure, ...]
) -> tuple[Measure, ...]:
    """Add the measures that conditions are of, which are read here first."""
    if not options.conditions:
        return measures
    from irbatch.comparing.gate import MISSING, parse_condition  # for those who have a gate

    conditions = [
        parse_condition(text, required=required, alone=True)
        for text, required in options.conditions
    ]
    names = [condition.form.name for condition in conditions if condition.form.name != MISSING]
    return parse_measures([*measures, *names])


def _note(results: Mapping[str, Results]) -> None:
    """Print notes on missing and skipped queries."""
    from irbatch.evaluation.tables import list_notes, tell_different_queries

    for text in filter(None, [*list_notes(results), tell_different_queries(results)]):
        note(text)
