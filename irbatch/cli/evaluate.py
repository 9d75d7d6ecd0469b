"""`irbatch eval`: read, evaluate, print."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib.util import find_spec

from irbatch.cli.inputs import check_inputs, name_runs
from irbatch.cli.items import add_items, read_items
from irbatch.cli.paper import add_paper, check_paper, paper_options
from irbatch.cli.progress import progress_of
from irbatch.cli.settings import SETTINGS, add_settings
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, join_words, printable
from irbatch.evaluation.marked import judgments_read
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate, evaluate_runs
from irbatch.formats import read_marked_qrels, read_qrels
from irbatch.measures import parse_measures
from irbatch.runtime.checks import check_whole
from irbatch.runtime.files import write_text

FORMATS = ("table", "tsv", "json", "csv", "markdown", "latex", "html")
ENDINGS = {"md": "markdown", "tex": "latex", "json": "json", "csv": "csv", "html": "html"}
ROUNDED = ("table", "markdown", "latex", "html")  # the others have every digit
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def add_eval(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Evaluate run files against a qrels file, in TREC's, BEIR's or MS MARCO's form, JSON lines "
        "or Parquet, of which a folder or a quoted pattern of names is one run. Text files may be "
        "compressed (gzip, bzip2, xz, zstd); - is standard input. All queries of the qrels are "
        "averaged."
    )
    parser.epilog = 'example: irbatch eval qrels.txt bm25.run -m nDCG@10 -m "P@{5,10}" -q'
    add = parser.add_argument
    told = "lines of: query iter document grade; or as measures read them, of subtopics or samples"
    add("qrels", metavar="QRELS", help=told)
    told = "lines of: query Q0 document rank score tag; NAME=RUN says what to call it"
    add("runs", metavar="RUN", nargs="+", help=told)
    default = f"default: {' '.join(DEFAULT_MEASURES)}; with -k, these at its cutoffs"
    told = f"e.g. nDCG@10, 'P@{{5,10}}', ndcg_cut_10; several with commas or spaces ({default})"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=told)
    told = "for every measure given without a cutoff"
    add("-k", "--cutoffs", metavar="K,K", action="append", default=[], help=told)
    add("-q", "--per-query", action="store_true", help="values of each query too")
    told = "evaluate runs, or the files of a run in parts (a folder, a pattern), in N processes"
    add("-j", "--jobs", metavar="N", type=int, default=1, help=told)
    told = "default: table on a terminal, tsv in a pipe, what --output ends in (.json, .tex, …)"
    add("--format", choices=FORMATS, help=told)
    add("-o", "--output", metavar="FILE", help="where to write it, whole or not at all")
    told = f"decimals, in {join_words(ROUNDED)} (default: 4)"
    add("--digits", type=int, metavar="N", help=told)
    add_paper(parser)
    add_settings(parser)
    add_items(parser)
    parser.set_defaults(command=run_eval)


def run_eval(options: argparse.Namespace) -> int:
    """Evaluate every run and print one table of all."""
    # All that can be refused without reading anything is refused first.
    cutoffs = _cutoffs(options)
    default = [each.partition("@")[0] if cutoffs else each for each in DEFAULT_MEASURES]
    measures = parse_measures(options.measures or default, cutoffs)
    runs = name_runs(options.runs)
    check_whole("jobs", options.jobs, 1)
    check_inputs(options.qrels, runs.values())
    if options.output is not None:
        from irbatch.cli.writing import check_written

        check_written(options, [options.qrels, *runs.values()])
    form = options.format or _default_format(options.output)
    if options.digits is not None and form not in ROUNDED:
        raise InputError(f"--digits is for {join_words(ROUNDED)}", value=form)
    if options.digits is not None:
        from irbatch.report.numbers import check_digits

        check_digits(options.digits)
    check_paper(options, (form,))
    said = {name: getattr(options, name) for name in SETTINGS}
    results: dict[str, Results] = {}
    items = read_items(options.items, options.interactions)
    with progress_of(1 + len(runs)) as progress:
        reading = progress(options.qrels)
        qrels: Qrels | MarkedQrels
        if reads := judgments_read(measures):
            qrels = read_marked_qrels(options.qrels, reads)
        else:
            qrels = read_qrels(options.qrels, progress=reading)
        said["items"] = items
        if options.jobs > 1:
            several = f"{len(runs)} runs"
            said |= {"executor": options.jobs, "progress": progress(several)}
        if options.jobs > 1 and len(runs) > 1:
            results = evaluate_runs(qrels, runs, measures, **said)
        else:
            for name, run in runs.items():
                results[name] = evaluate(
                    qrels, run, measures, **{"progress": progress(str(run)), **said}
                )
    if options.output is None:
        _print(results, form, options)
    else:
        with redirect_stdout(io.StringIO()) as text:
            _print(results, form, options)
        write_text(options.output, text.getvalue())
    _note(results)
    return 0


def _print(results: Mapping[str, Results], form: str, options: argparse.Namespace) -> None:
    """Print a form, importing no other."""
    given = {"names": options.names, "per_query": options.per_query}
    if options.digits is not None:
        given["digits"] = options.digits
    if form == "tsv":
        from irbatch.cli.values import print_tsv

        print_tsv(results, **given)
    elif form == "table":
        from irbatch.cli.tables import print_table

        print_table(results, **given)
    else:
        from irbatch.evaluation.system_results import SystemResults

        more = paper_options(options) if form == "latex" else {}
        print(getattr(SystemResults(results), f"to_{form}")(**given, **more), end="")


def _cutoffs(options: argparse.Namespace) -> list[int] | None:
    text = ",".join(options.cutoffs)
    try:
        return [int(each) for each in text.split(",")] if text else None
    except ValueError:
        problem = f"cutoffs {text!r} are not whole numbers, such as 1,5,10"
        raise InputError(problem, value=text) from None


def _default_format(output: str | None) -> str:
    """Choose a table for a person at a terminal, lines for a program, for a file by its name."""
    if output is not None:
        return ENDINGS.get(output.rpartition(".")[2].lower(), "tsv")
    if not sys.stdout.isatty():
        return "tsv"
    if find_spec("rich") is None:
        print("note: for tables: pip install 'irbatch[cli]'", file=sys.stderr)
        return "tsv"
    return "table"


def _note(results: Mapping[str, Results]) -> None:
    """Print notes on missing and skipped queries; once where a note holds for all runs."""
    notes: dict[str, list[str]] = {}
    for name, each in results.items():
        for note in each.notes():
            notes.setdefault(note, []).append(name)
    for note, names in notes.items():
        whose = "" if len(names) == len(results) else f"{', '.join(map(printable, names))}: "
        print(f"note: {whose}{note}", file=sys.stderr)
