"""`irbatch compare`: systems against each other, on screen, in files, and as a gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from irbatch.cli.evaluate import DEFAULT_MEASURES
from irbatch.cli.writing import add_written, check_written, save_plot
from irbatch.comparing import Comparison, compare
from irbatch.comparing.gate import find_failures, parse_condition
from irbatch.errors import InputError, many, printable
from irbatch.evaluation.settings import OPTIONS, TIES
from irbatch.measures import parse_measures
from irbatch.runtime.files import write_text
from irbatch.statistics.corrections import CORRECTIONS
from irbatch.statistics.intervals import INTERVALS
from irbatch.statistics.significance import TESTS

__all__ = ["GATE_FAILED", "add_compare"]

GATE_FAILED = 3  # exit status: a condition of --fail-if holds


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the words of the command."""
    parser.description = (
        "Compare run files on the queries they share: means with intervals, differences, tests, "
        "corrected p-values."
    )
    parser.epilog = (
        "example: irbatch compare qrels.txt old.run new.run -m nDCG@10 --baseline old "
        f"--fail-if 'nDCG@10 drops 1% p<0.05' (exit status {GATE_FAILED} if so)"
    )
    parser.add_argument("qrels", metavar="QRELS", help="lines of: query iter document grade")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a system's file is its name")
    parser.add_argument("-m", "--measure", dest="measures", metavar="MEASURE", action="append",
                        help="repeat for more (default: as irbatch eval)")  # fmt: skip
    parser.add_argument("--baseline", metavar="NAME",
                        help="compare all others with it (default: all with all)")  # fmt: skip
    parser.add_argument("--test", choices=list(TESTS), default="randomisation")
    parser.add_argument("--correction", choices=list(CORRECTIONS), default="holm")
    parser.add_argument("--level", type=float, default=0.05, metavar="P")
    parser.add_argument("--interval", choices=INTERVALS, default="percentile")
    parser.add_argument("--draws", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--margin", type=float, metavar="X",
                        help="differences below it don't matter")  # fmt: skip
    parser.add_argument("--missing", choices=OPTIONS["missing"])
    parser.add_argument("--ties", choices=TIES, default="id")
    parser.add_argument("--format", choices=("text", "markdown", "latex", "csv", "json"),
                        default="text")  # fmt: skip
    add_written(parser, "draw differences on the first measure")
    parser.add_argument("--fail-if", dest="conditions", metavar="CONDITION", action="append",
                        default=[], help="e.g. 'nDCG@10 drops 1%% p<0.05', p being corrected; "
                        f"needs a baseline; exit status {GATE_FAILED} if it holds")  # fmt: skip
    parser.set_defaults(command=run_compare, parser=parser)


def run_compare(options: argparse.Namespace) -> int:
    """Compare, print, write, and judge."""
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    _check(options, [str(each) for each in measures])  # before anything is read
    found = compare(
        options.qrels, options.runs, measures,
        baseline=options.baseline, test=options.test, correction=options.correction,
        level=options.level, interval=options.interval, draws=options.draws, seed=options.seed,
        margin=options.margin, missing=options.missing, ties=options.ties,
    )  # fmt: skip
    print(getattr(found, f"to_{options.format}")(), end="")
    failures = [each for text in options.conditions for each in find_failures(found, text)]
    for each in failures:  # first: a report that cannot be written must not hide it
        print(f"irbatch: failed: {printable(each)}", file=sys.stderr)
    for form in ("html", "csv", "json"):
        if getattr(options, form) is not None:
            getattr(found, f"to_{form}")(getattr(options, form))
    if options.latex is not None:
        write_text(options.latex, found.to_latex())
    if options.plot is not None:
        _plot(found, options.plot)
    _note(found.missing, "left out of all")
    _note(found.unanswered, "counting 0")
    return GATE_FAILED if failures else 0


def _check(options: argparse.Namespace, measures: list[str]) -> None:
    """Refuse what can be refused without reading anything."""
    for text in options.conditions:
        condition = parse_condition(text)
        if options.baseline is None:
            raise InputError("--fail-if needs --baseline", source="baseline")
        if condition.measure not in measures:
            raise InputError(f"condition {text!r}: {condition.measure} is not compared", value=text)
    check_written(options, [options.qrels, *options.runs])


def _note(missing: Mapping[str, Sequence[object]], what: str) -> None:
    for name, queries in missing.items():
        if queries:
            print(
                f"note: {printable(name)}: {many(len(queries), 'query')} missing, {what}",
                file=sys.stderr,
            )


def _plot(found: Comparison, path: str) -> None:
    from irbatch.comparing.plots import plot_forest  # for those who draw

    axes: Any = plot_forest(found, found.measures[0])
    save_plot(axes, path)
