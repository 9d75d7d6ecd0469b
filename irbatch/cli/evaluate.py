"""`irbatch eval`: read, evaluate, print."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Mapping

from irbatch.cli.output import print_csv, print_json, print_markdown, print_table, print_tsv
from irbatch.cli.progress import progress_of
from irbatch.errors import InputError
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.system_names import name_systems
from irbatch.formats import read_qrels
from irbatch.measures import parse_measures

__all__ = ["FORMATS", "run_eval"]

PRINTERS = {
    "table": print_table,
    "tsv": print_tsv,
    "json": print_json,
    "csv": print_csv,
    "markdown": print_markdown,
}
FORMATS = tuple(PRINTERS)
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


def run_eval(options: argparse.Namespace) -> int:
    """Evaluate every run and print one table of all."""
    # All that can be refused without reading anything is refused first.
    cutoffs = _cutoffs(options)
    default = (
        DEFAULT_MEASURES if cutoffs is None else [m.partition("@")[0] for m in DEFAULT_MEASURES]
    )
    measures = parse_measures(options.measures or default, cutoffs)
    runs = name_systems(options.runs)
    if options.qrels == "-" and "-" in options.runs:
        raise InputError("standard input cannot be both qrels and run", path="-")
    printer = PRINTERS[options.format or _default_format()]
    results: dict[str, Results] = {}
    with progress_of(1 + len(runs)) as progress:
        qrels = read_qrels(options.qrels, progress=progress(options.qrels))
        for name, run in runs.items():
            results[name] = evaluate(
                qrels,
                run,
                measures,
                missing=options.missing,
                no_relevant=options.no_relevant,
                judged_only=options.judged_only,
                score_dtype=options.score_dtype,
                ties=options.ties,
                rel=options.rel,
                max_depth=options.max_depth,
                trec_eval=options.trec_eval,
                order_by=options.order_by,
                progress=progress(str(run)),
            )
    printer(results, options.names, options.per_query)
    _note(results)
    return 0


def _cutoffs(options: argparse.Namespace) -> list[int] | None:
    text = ",".join(options.cutoffs)
    try:
        return [int(each) for each in text.split(",")] if text else None
    except ValueError:
        raise InputError(f"cutoffs {text!r} are not whole numbers, such as 1,5,10",
                         value=text) from None  # fmt: skip


def _default_format() -> str:
    """Choose a table for a person at a terminal, lines for a program."""
    if not sys.stdout.isatty():
        return "tsv"
    if importlib.util.find_spec("rich") is None:
        print("note: for tables: pip install 'irbatch[cli]'", file=sys.stderr)
        return "tsv"
    return "table"


def _note(results: Mapping[str, Results]) -> None:
    """Tell, beside the numbers, what queries they hide; once where it is so of all runs."""
    notes: dict[str, list[str]] = {}
    for name, each in results.items():
        for note in each.notes():
            notes.setdefault(note, []).append(name)
    for note, names in notes.items():
        whose = "" if len(names) == len(results) else f"{', '.join(names)}: "
        print(f"note: {whose}{note}", file=sys.stderr)
