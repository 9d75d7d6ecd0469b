"""`irbatch compare`: systems against each other, on screen, in files, and as a gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any, cast

from irbatch.cli.evaluate import DEFAULT_MEASURES
from irbatch.cli.groups import read_groups
from irbatch.cli.inputs import check_inputs, name_runs
from irbatch.cli.paper import add_paper, check_paper, paper_options
from irbatch.cli.settings import SETTINGS, add_settings
from irbatch.cli.writing import add_written, check_written, files_asked, save_plot
from irbatch.comparing import Comparison, compare
from irbatch.comparing.gate import (
    Level,
    find_failures,
    find_unmet,
    parse_condition,
    parse_requirement,
)
from irbatch.comparing.testing import check_baseline
from irbatch.errors import InputError, join_words, many, printable
from irbatch.measures import parse_measures
from irbatch.report.numbers import check_digits
from irbatch.statistics.intervals import INTERVALS
from irbatch.statistics.margins import MARGIN_TESTS, read_margin
from irbatch.statistics.significance import ALTERNATIVES, CORRECTIONS, FAMILIES, TESTS

CHOICES = (
    *("baseline", "test", "alternative", "correction", "family", "level", "interval"),
    *("simultaneous", "draws", "seed", "margin", "margin_test"),
)
# Options of what is printed, and for which forms they are.
TABLES = ("text", "markdown", "latex", "html")
PRINTED = {
    **dict.fromkeys(("digits", "intervals", "judged"), TABLES),
    "words": ("text", "markdown", "html"),
    "power": ("csv", "json"),
}
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
    add("runs", metavar="RUN", nargs="+", help="its file is the system's name; or NAME=RUN")
    told = "repeat for more (default: as irbatch eval)"
    add("-m", "--measure", dest="measures", metavar="MEASURE", action="append", help=told)
    add("--baseline", metavar="NAME", help="compare all others with it (default: all with all)")
    add("--test", choices=list(TESTS), default="randomisation")
    told = "what to find: any difference, or a mean greater (less) than the baseline's"
    add("--alternative", choices=ALTERNATIVES, default=ALTERNATIVES[0], help=told)
    add("--correction", choices=list(CORRECTIONS), default="holm")
    told = "what is corrected for together: the pairs on a measure, or all on all measures"
    add("--family", choices=FAMILIES, default=FAMILIES[0], help=told)
    add("--level", type=float, default=0.05, metavar="P")
    add("--interval", choices=INTERVALS, default=INTERVALS[0])
    told = "intervals of differences each by itself, not adjusted as p-values are"
    add("--pointwise", dest="simultaneous", action="store_false", help=told)
    add("--draws", type=int, default=10_000, metavar="N")
    add("--seed", type=int, default=0, metavar="N")
    told = "differences below it don't matter: a number, or a share such as 1%% of the other's mean"
    add("--margin", type=_margin, metavar="X", help=told)
    told = "of differences against the margin"
    add("--margin-test", choices=MARGIN_TESTS, default=MARGIN_TESTS[0], help=told)
    told = "lines of: query group; tables are broken down by group"
    add("--groups", metavar="FILE", help=told)
    add_settings(parser)
    add("--format", choices=("text", "markdown", "latex", "csv", "json"), default="text")
    told = "decimals of means and differences, in tables (default: 4)"
    add("--digits", type=int, default=4, metavar="N", help=told)
    add("--intervals", action="store_true", help="means with their intervals, in tables")
    told = "the judged share of documents up to cutoffs beside means, in tables"
    add("--judged", action="store_true", help=told)
    told = "a sentence on each pair, for those who read no tables"
    add("--words", action="store_true", help=told)
    told = "which difference so many queries show, and how many the one seen takes, in csv and json"
    add("--power", action="store_true", help=told)
    add_written(parser, "draw differences on the first measure")
    add_paper(parser)
    add("--daggers", action="store_true", help="mark in LaTeX by daggers, not by arrows")
    told = (
        "e.g. 'nDCG@10 drops 1%% p<0.05', p being corrected; 'in every group: AP worsens 5%%'; "
        f"'nDCG@10 < 0.35'; exit status {GATE_FAILED} if it holds"
    )
    add("--fail-if", dest="conditions", metavar="CONDITION", action="append", default=[], help=told)
    told = (
        "e.g. 'nDCG@10 not worse than baseline by 1%%'; 'nDCG@10 lower bound >= 0.35'; exit status "
        f"{GATE_FAILED} if it isn't met"
    )
    add("--require", dest="required", metavar="CONDITION", action="append", default=[], help=told)
    parser.set_defaults(command=run_compare)


def _margin(text: str) -> float | str:
    """Read a number, or leave a share as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def run_compare(options: argparse.Namespace) -> int:
    """Compare, print, write files, and check the conditions."""
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    runs = name_runs(options.runs)
    _check(options, runs, [str(each) for each in measures])  # before anything is read
    settings = {name: getattr(options, name) for name in (*CHOICES, *SETTINGS)}
    groups = None if options.groups is None else read_groups(options.groups)
    found = compare(options.qrels, runs, measures, groups=groups, **settings)
    failures = [each for text in options.conditions for each in find_failures(found, text)]
    failures += [each for text in options.required for each in find_unmet(found, text)]
    found = _renamed(found, [each.spelled(options.names) for each in measures])
    print(_write(found, options.format, options), end="")
    for each in failures:  # first: a report that cannot be written must not hide it
        print(f"irbatch: failed: {printable(each)}", file=sys.stderr)
    for form, path in files_asked(options).items():
        _write(found, form, options, path=path)
    if options.plot is not None:
        from irbatch.comparing.plots import plot_forest  # for those who draw

        save_plot(plot_forest(found, found.measures[0]), options.plot)
    _note(found.missing, "left out of all")
    _note(found.unanswered, "counting 0")
    return GATE_FAILED if failures else 0


def _renamed(found: Comparison, names: list[str]) -> Comparison:
    """Call the measures otherwise, in groups too."""
    groups = {
        group: _renamed(cast(Comparison, each), names) for group, each in found.groups.items()
    }
    return replace(found, measures=names, groups=groups)


def _write(found: Comparison, form: str, options: argparse.Namespace, **more: str) -> str:
    """Return a form of the report, or also write it, with the options that are for it."""
    given: dict[str, Any] = {
        name: getattr(options, name) for name, forms in PRINTED.items() if form in forms
    }
    if form == "latex":
        given |= paper_options(options) | {"daggers": options.daggers}
    return str(getattr(found, f"to_{form}")(**given, **more))


def _check(options: argparse.Namespace, runs: Mapping[str, str], measures: list[str]) -> None:
    """Check all that can be checked before a file is read."""
    parsed = [("--fail-if", text, parse_condition(text)) for text in options.conditions]
    required = [("--require", text, parse_requirement(text)) for text in options.required]
    for word, text, condition in [*parsed, *required]:
        if options.baseline is None and not isinstance(condition, Level):
            raise InputError(f"{word} needs --baseline", source="baseline")
        if options.groups is None and condition.group is not None:
            raise InputError(f"{word} {text!r} needs --groups", source="groups")
        if condition.measure not in measures:
            problem = f"{condition.measure} is not compared: add -m {quote(condition.measure)}"
            raise InputError(f"condition {text!r}: {problem}", value=text)
    written = {options.format, *files_asked(options)}
    for name in ("intervals", "judged", "words", "power"):
        if getattr(options, name) and not written.intersection(PRINTED[name]):
            raise InputError(f"--{name} is for {join_words(PRINTED[name])}", value=options.format)
    if options.margin is not None:
        read_margin(options.margin)
    check_paper(options, written)
    check_digits(options.digits)
    if options.baseline is not None:
        check_baseline(options.baseline, list(runs))
    check_inputs(options.qrels, runs.values())
    check_written(options, [options.qrels, *runs.values()])


def _note(missing: Mapping[str, Sequence[object]], what: str) -> None:
    for name, queries in missing.items():
        if queries:
            counted = many(len(queries), "query")
            print(f"note: {printable(name)}: {counted} missing, {what}", file=sys.stderr)
