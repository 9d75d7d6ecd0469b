"""`irbatch compare`: systems against each other, on screen, in files, and as a gate."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields, replace
from shlex import quote

from irbatch import compare
from irbatch.cli.inputs import name_runs, read_groups
from irbatch.cli.options import (
    DEFAULT_MEASURES,
    GATE_FAILED,
    SETTINGS,
    add_gate,
    add_measures,
    add_rows,
    add_settings,
    check_sort,
    judge,
    tell,
)
from irbatch.cli.terminal import note
from irbatch.cli.writing import TABLES, WRITTEN, Output, add_output, add_paper, chosen
from irbatch.comparing import Comparison
from irbatch.comparing.compare import check_baseline
from irbatch.comparing.comparison import tell_queries
from irbatch.comparing.differences import ComparisonOptions, ComparisonSettings
from irbatch.comparing.gate import MISSING, Limit, parse_condition
from irbatch.errors import InputError
from irbatch.measures import measure, parse_measures
from irbatch.report import axes


def declare(parser: argparse.ArgumentParser) -> None:
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
    text = "lines of: query group, or query,group in a .csv; tables are broken down by group"
    add("--groups", metavar="FILE", help=text)
    text = "a model's judgments of the same queries and more, which help to estimate means"
    add("--model-qrels", metavar="QRELS", help=text)
    add_measures(parser)
    own = {row.name: row.metadata["option"] for row in fields(ComparisonSettings)}
    add_rows(parser.add_argument_group("tests and intervals"), own)
    add = add_output(
        parser,
        digits="means and differences",
        beside=WRITTEN,
        plot="draw differences on the first measure",
        sort=True,
    )
    add("--intervals", action="store_true", help="means with their intervals, in tables")
    text = "list every pair of systems, in LaTeX in place of means (default: with a baseline)"
    add("--pairs", action="store_true", default=None, help=text)
    text = "which difference so many queries show, and how many the one seen takes"
    add("--power", action="store_true", help=text)
    add_gate(
        parser,
        "'nDCG@10 drops 1%% p<0.05', p being corrected; 'in every group: AP worsens 5%%'; "
        "'nDCG@10 < 0.35'",
        "'nDCG@10 not worse than baseline by 1%%', 'nDCG@10 equivalent to baseline within 1%%', "
        "'nDCG@10 lower bound >= 0.35', 'missing queries <= 5'",
    )
    add_settings(parser)
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, print, write files, and check the conditions."""
    measures = parse_measures(options.measures or DEFAULT_MEASURES)
    runs = name_runs(options.runs)
    check_sort(options.sort, measures)
    _check(options, runs, [str(parsed) for parsed in measures])  # before anything is read
    judged = [options.qrels, *filter(None, [options.model_qrels])]
    output = Output(options, {"qrels": judged, "run": runs.values()})
    settings = chosen(options, (*ComparisonOptions.__annotations__, *SETTINGS, "model_qrels"))
    groups = None if options.groups is None else read_groups(options.groups)
    comparison = compare(options.qrels, runs, measures, groups=groups, **settings)
    # First: a report that cannot be written must not hide it.
    outcomes = judge(options, comparison)
    status = tell((outcome.passed, outcome.told) for outcome in outcomes)
    names = {str(parsed): parsed.spelled(options.names) for parsed in measures}
    if options.sort is not None:
        options.sort = names[str(measure(options.sort))]
    shown = _renamed(comparison, [names[name] for name in comparison.measures])
    output.write_report(shown, json={"gates": outcomes})
    if options.plot is not None:
        axes.save(shown.plot(), options.plot)
    if options.output is not None or output.form not in TABLES:  # which say it
        for sentence in tell_queries(comparison):
            note(sentence)
    return status


def _renamed(comparison: Comparison, names: list[str]) -> Comparison:
    """Call the measures otherwise, in groups too."""
    groups = {group: _renamed(of_group, names) for group, of_group in comparison.groups.items()}
    return replace(comparison, measures=names, groups=groups)


def _check(options: argparse.Namespace, runs: Mapping[str, str], measures: list[str]) -> None:
    """Check what comparisons are of, before a file is read."""
    for text, required in options.conditions:
        condition = parse_condition(text, required=required)
        name, word = condition.form.name, "--require" if required else "--fail-if"
        if options.baseline is None and not isinstance(condition.form, Limit):
            raise InputError(f"{word} needs --baseline", source="baseline")
        if options.groups is None and condition.scope is not None:
            raise InputError(f"{word} {text!r} needs --groups", source="groups")
        if name not in (*measures, MISSING):
            problem = f"{name} is not compared: add -m {quote(name)}"
            raise InputError(f"condition {text!r}: {problem}", value=text)
    if options.baseline is not None:
        check_baseline(options.baseline, list(runs))
