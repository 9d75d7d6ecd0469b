"""`irbatch compare`: systems against each other, on screen, in files, and as a gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from irbatch import compare
from irbatch.cli.gates import GATE_FAILED, NOT_SO, add_gate, check_axes, say_outcome
from irbatch.cli.groups import read_groups
from irbatch.cli.inputs import check_inputs, name_runs
from irbatch.cli.paper import add_paper, check_paper, paper_options
from irbatch.cli.settings import DEFAULT_MEASURES, SETTINGS, add_measures, add_settings
from irbatch.cli.writing import (
    FORMS,
    TABLES,
    WRITTEN,
    add_output,
    check_written,
    files_asked,
    form_of,
    of_terminal,
    save_plot,
    write_result,
)
from irbatch.comparing import Comparison
from irbatch.comparing.compare import check_baseline
from irbatch.comparing.differences import ComparisonOptions
from irbatch.comparing.gate import Limit, parse_condition
from irbatch.errors import InputError, imported, join_words, many, printable
from irbatch.measures import parse_measures
from irbatch.report.numbers import check_digits
from irbatch.statistics.intervals import INTERVALS
from irbatch.statistics.tests import (
    ALTERNATIVES,
    CORRECTIONS,
    FAMILIES,
    MARGIN_TESTS,
    TESTS,
    plain_name,
    read_margin,
)

CHOICES = tuple(ComparisonOptions.__annotations__)
# Options of what is printed, and for which forms they are.
PRINTED = {
    **dict.fromkeys(("digits", "intervals", "judged"), TABLES),
    "pairs": TABLES,
    "power": ("text", "markdown", "html", "csv", "json"),
}


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.usage = "irbatch compare QRELS RUN RUN [RUN ...] [-m MEASURE ...] [options]"
    parser.description = (
        "Compare run files on the queries of the qrels, of which those that a run lacks count 0 "
        "(--missing says otherwise): means with intervals, differences, tests, corrected p-values."
    )
    parser.epilog = (
        "example: irbatch compare qrels.txt old.run new.run -m nDCG@10 --baseline old "
        f"--fail-if 'nDCG@10 drops 1% p<0.05' (exit status {GATE_FAILED} if so)"
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    add("runs", metavar="RUN", nargs="+", help="its file is the system's name; or NAME=RUN")
    add("--baseline", metavar="NAME", help="compare all others with it (default: all with all)")
    told = "lines of: query group, or query,group in a .csv; tables are broken down by group"
    add("--groups", metavar="FILE", help=told)
    add_measures(parser)
    _add_tests(parser)
    add = add_output(
        parser,
        digits="means and differences",
        beside=WRITTEN,
        plot="draw differences on the first measure",
    )
    add("--intervals", action="store_true", help="means with their intervals, in tables")
    told = "the judged share of documents up to cutoffs beside means, in tables"
    add("--judged", action="store_true", help=told)
    told = "list every pair of systems, in LaTeX in place of means (default: with a baseline)"
    add("--pairs", action="store_true", default=None, help=told)
    told = "which difference so many queries show, and how many the one seen takes"
    add("--power", action="store_true", help=told)
    add_gate(
        parser,
        "'nDCG@10 drops 1%% p<0.05', p being corrected; 'in every group: AP worsens 5%%'; "
        "'nDCG@10 < 0.35'",
        "'nDCG@10 not worse than baseline by 1%%', 'nDCG@10 equivalent to baseline within 1%%', "
        "'nDCG@10 lower bound >= 0.35'",
    )
    add_settings(parser)
    add = add_paper(parser)
    add("--daggers", action="store_true", help="mark by daggers, not by arrows")
    parser.set_defaults(command=run_compare)


def _add_tests(parser: argparse.ArgumentParser) -> None:
    """Add the options of tests and of intervals."""
    add = parser.add_argument_group("tests and intervals").add_argument
    told = f"of paired differences: {', '.join(TESTS)} (default: randomisation)"
    add(
        "--test",
        type=plain_name,
        choices=list(TESTS),
        default="randomisation",
        metavar="TEST",
        help=told,
    )
    told = "what to find: any difference, or a mean greater (less) than the baseline's"
    add("--alternative", choices=ALTERNATIVES, default=ALTERNATIVES[0], help=told)
    told = f"of p-values of several pairs: {', '.join(CORRECTIONS)} (default: holm)"
    add(
        "--correction",
        type=plain_name,
        choices=list(CORRECTIONS),
        default="holm",
        metavar="NAME",
        help=told,
    )
    told = "what is corrected for together: the pairs on a measure, or all on all measures"
    add("--family", choices=FAMILIES, default=FAMILIES[0], help=told)
    told = "of significance; intervals are as sure as it leaves (default: 0.05, so 95%%)"
    add("--level", type=float, default=0.05, metavar="P", help=told)
    told = "by Student's t, or by bootstrap (default: t)"
    add("--interval", choices=INTERVALS, default=INTERVALS[0], help=told)
    told = "intervals of differences each by itself, not adjusted as p-values are"
    add("--no-simultaneous", dest="simultaneous", action="store_false", help=told)
    told = "resamples, of tests and intervals that draw them (default: 10000)"
    add("--draws", type=int, default=10_000, metavar="N", help=told)
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    told = "differences below it don't matter: a number, or a share such as 1%% of the other's mean"
    add("--margin", type=_margin, metavar="X", help=told)
    told = "of differences against the margin (default: bounded)"
    add("--margin-test", choices=MARGIN_TESTS, default=MARGIN_TESTS[0], help=told)


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
    outcome = [(f"{text}{NOT_SO}", found.failures(text)) for text in options.conditions]
    outcome += [(text, found.unmet(text)) for text in options.required]
    found = _renamed(found, [each.spelled(options.names) for each in measures])
    status = say_outcome(outcome)  # first: a report that cannot be written must not hide it
    form = form_of(options, FORMS)
    write_result(options, _write(found, form, options, **of_terminal(options, form)))
    for form, path in files_asked(options).items():
        _write(found, form, options, path=path)
    if options.plot is not None:
        from irbatch.comparing.plots import plot_forest  # for those who draw

        save_plot(plot_forest(found, found.measures[0]), options.plot)
    _note(found.missing, "left out of all")
    _note(found.unanswered, "counting 0")
    return status


def _renamed(found: Comparison, names: list[str]) -> Comparison:
    """Call the measures otherwise, in groups too."""
    groups = {group: _renamed(each, names) for group, each in found.groups.items()}
    return replace(found, measures=names, groups=groups)


def _write(found: Comparison, form: str, options: argparse.Namespace, **more: Any) -> str:
    """Return a form of the report, or also write it, with the options that are for it."""
    given: dict[str, Any] = {
        name: value
        for name, forms in PRINTED.items()
        if form in forms and (value := getattr(options, name)) is not None
    }
    if form == "latex":
        given |= paper_options(options) | {"daggers": options.daggers}
    return str(getattr(found, f"to_{form}")(**given, **more))


def _check(options: argparse.Namespace, runs: Mapping[str, str], measures: list[str]) -> None:
    """Check all that can be checked before a file is read."""
    if options.conditions or options.required:
        check_axes([*options.conditions, *options.required])
    parsed = [parse_condition(text, required=False) for text in options.conditions]
    parsed += [parse_condition(text, required=True) for text in options.required]
    for condition in parsed:
        text, name = condition.text, condition.form.name
        word = "--require" if condition.required else "--fail-if"
        if options.baseline is None and not isinstance(condition.form, Limit):
            raise InputError(f"{word} needs --baseline", source="baseline")
        if options.groups is None and condition.scope is not None:
            raise InputError(f"{word} {text!r} needs --groups", source="groups")
        if name not in measures:
            problem = f"{name} is not compared: add -m {quote(name)}"
            raise InputError(f"condition {text!r}: {problem}", value=text)
    written = {form_of(options, FORMS), *files_asked(options)}
    for name in ("intervals", "judged", "pairs", "power"):
        if getattr(options, name) and not written.intersection(PRINTED[name]):
            raise InputError(f"--{name} is for {join_words(PRINTED[name])}", value=options.format)
    if options.power:
        imported("power", "stats", "scipy.stats")
    if options.margin is not None:
        read_margin(options.margin)
    check_paper(options, written)
    if options.digits is not None:
        check_digits(options.digits)
    if options.baseline is not None:
        check_baseline(options.baseline, list(runs))
    check_written(options, [options.qrels, *runs.values()])
    check_inputs(options.qrels, runs.values())


def _note(missing: Mapping[str, Sequence[object]], what: str) -> None:
    for name, queries in missing.items():
        if queries:
            counted = many(len(queries), "query")
            print(f"note: {printable(name)}: {counted} missing, {what}", file=sys.stderr)
