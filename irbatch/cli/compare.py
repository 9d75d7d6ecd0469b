"""`irbatch compare`: systems against each other, on screen, in files, and as a gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from irbatch.cli.evaluate import DEFAULT_MEASURES
from irbatch.cli.messages import check_inputs
from irbatch.cli.writing import WRITTEN, add_written, check_written, save_plot
from irbatch.comparing import compare
from irbatch.comparing.gate import find_failures, parse_condition
from irbatch.errors import InputError, many, printable
from irbatch.evaluation.settings import OPTIONS, TIES
from irbatch.measures import parse_measures
from irbatch.statistics.intervals import INTERVALS
from irbatch.statistics.significance import CORRECTIONS, TESTS

SETTINGS = (
    *("baseline", "test", "correction", "level", "interval", "simultaneous", "draws"),
    *("seed", "margin"),
    *("missing", "ties"),
)
GATE_FAILED = 3  # exit status: a condition of --fail-if holds


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = (
        "Compare run files on the queries they share: means with intervals, differences, tests, "
        "corrected p-values."
    )
    parser.epilog = (
        "example: irbatch compare qrels.txt old.run new.run -m nDCG@10 --baseline old "
        f"--fail-if 'nDCG@10 drops 1% p<0.05' (exit status {GATE_FAILED} if so)"
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    add("runs", metavar="RUN", nargs="+", help="a system's file is its name")
    told = "repeat for more (default: as irbatch eval)"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=told)
    add("--baseline", metavar="NAME", help="compare all others with it (default: all with all)")
    add("--test", choices=list(TESTS), default="randomisation")
    add("--correction", choices=list(CORRECTIONS), default="holm")
    add("--level", type=float, default=0.05, metavar="P")
    add("--interval", choices=INTERVALS, default=INTERVALS[0])
    told = "intervals of differences each by itself, not adjusted as p-values are"
    add("--pointwise", dest="simultaneous", action="store_false", help=told)
    add("--draws", type=int, default=10_000, metavar="N")
    add("--seed", type=int, default=0, metavar="N")
    add("--margin", type=float, metavar="X", help="differences below it don't matter")
    add("--missing", choices=OPTIONS["missing"])
    add("--ties", choices=TIES, default="id")
    add("--format", choices=("text", "markdown", "latex", "csv", "json"), default="text")
    add_written(parser, "draw differences on the first measure")
    told = (
        "e.g. 'nDCG@10 drops 1%% p<0.05', p being corrected; needs a baseline; exit status "
        f"{GATE_FAILED} if it holds"
    )
    add("--fail-if", dest="conditions", metavar="CONDITION", action="append", default=[], help=told)
    parser.set_defaults(command=run_compare)


def run_compare(options: argparse.Namespace) -> int:
    """Compare, print, write files, and check the conditions."""
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    _check(options, [str(each) for each in measures])  # before anything is read
    settings = {name: getattr(options, name) for name in SETTINGS}
    found = compare(options.qrels, options.runs, measures, **settings)
    print(getattr(found, f"to_{options.format}")(), end="")
    failures = [each for text in options.conditions for each in find_failures(found, text)]
    for each in failures:  # first: a report that cannot be written must not hide it
        print(f"irbatch: failed: {printable(each)}", file=sys.stderr)
    for form in WRITTEN:
        if getattr(options, form) is not None:
            getattr(found, f"to_{form}")(path=getattr(options, form))
    if options.plot is not None:
        from irbatch.comparing.plots import plot_forest  # for those who draw

        save_plot(plot_forest(found, found.measures[0]), options.plot)
    _note(found.missing, "left out of all")
    _note(found.unanswered, "counting 0")
    return GATE_FAILED if failures else 0


def _check(options: argparse.Namespace, measures: list[str]) -> None:
    """Check all that can be checked before a file is read."""
    for text in options.conditions:
        condition = parse_condition(text)
        if options.baseline is None:
            raise InputError("--fail-if needs --baseline", source="baseline")
        if condition.measure not in measures:
            raise InputError(f"condition {text!r}: {condition.measure} is not compared", value=text)
    check_inputs(options.qrels, options.runs)
    check_written(options, [options.qrels, *options.runs])


def _note(missing: Mapping[str, Sequence[object]], what: str) -> None:
    for name, queries in missing.items():
        if queries:
            counted = many(len(queries), "query")
            print(f"note: {printable(name)}: {counted} missing, {what}", file=sys.stderr)
